package strictjson

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// longString is from what length on a string may be a picture.
const longString = 4 << 10

// str reads a string and gives its content, and whether it is a long one of
// base64. Most strings hold no escape, and
// are a piece of the text itself: a picture of a megabyte is not copied here.
func (p *parser) str() (text []byte, is64 bool, err *Error) {
	p.i++
	end := bytes.IndexByte(p.b[p.i:], '"')
	if end < 0 {
		p.i = len(p.b)
		return nil, false, p.fail(Syntax, "a string does not end")
	}
	s := p.b[p.i : p.i+end]
	if end >= longString && IsBase64(s) {
		p.i += end + 1
		return s, true, nil
	}
	plain, ascii := scan(s)
	if !plain {
		text, err = p.escaped()
		return text, false, err
	}
	if !ascii && !utf8.Valid(s) {
		return nil, false, p.fail(BadUTF8, "a string is not UTF-8")
	}
	p.i += end + 1
	return s, false, nil
}

// scan says whether s holds neither a backslash nor a control character, and
// whether it is ASCII.
func scan(s []byte) (plain, ascii bool) {
	const highs = 0x8080808080808080
	var high uint64
	for len(s) >= 32 {
		b := (*[32]byte)(s)
		w0, w1 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
		w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if (special(w0)|special(w1)|special(w2)|special(w3))&highs != 0 {
			return false, false
		}
		high |= w0 | w1 | w2 | w3
		s = s[32:]
	}
	for _, c := range s {
		if c < 0x20 || c == '\\' {
			return false, false
		}
		high |= uint64(c)
	}
	return true, high&highs == 0
}

// special sets a high bit among eight bytes when one of them is below 0x20 or
// a backslash. A borrow can only set one too many above a byte that counts
// itself.
func special(w uint64) uint64 {
	const ones = 0x0101010101010101
	slash := w ^ ones*'\\'
	return (w-ones*0x20)&^w | (slash-ones)&^slash
}

func (p *parser) escaped() ([]byte, *Error) {
	var out []byte
	for {
		from := p.i
		for p.i < len(p.b) && p.b[p.i] >= 0x20 && p.b[p.i] != '"' && p.b[p.i] != '\\' {
			p.i++
		}
		if !utf8.Valid(p.b[from:p.i]) {
			return nil, p.fail(BadUTF8, "a string is not UTF-8")
		}
		out = append(out, p.b[from:p.i]...)
		switch {
		case p.i >= len(p.b):
			return nil, p.fail(Syntax, "a string does not end")
		case p.b[p.i] == '"':
			p.i++
			return out, nil
		case p.b[p.i] != '\\':
			return nil, p.fail(Syntax, "a control character must be escaped")
		}
		p.i++
		var err *Error
		if out, err = p.escape(out); err != nil {
			return nil, err
		}
	}
}

// escape reads what follows a backslash.
func (p *parser) escape(out []byte) ([]byte, *Error) {
	c := p.peek()
	p.i++
	if at := bytes.IndexByte([]byte(`"\/bfnrt`), c); at >= 0 {
		return append(out, "\"\\/\b\f\n\r\t"[at]), nil
	}
	if c != 'u' {
		return nil, p.fail(Syntax, "an unknown escape")
	}
	r, ok := p.hex4()
	if !ok {
		return nil, p.fail(Syntax, "four hex digits should follow \\u")
	}
	if r >= 0xD800 && r <= 0xDFFF {
		var low rune
		if r < 0xDC00 && bytes.HasPrefix(p.b[min(p.i, len(p.b)):], []byte(`\u`)) {
			p.i += 2
			low, ok = p.hex4()
		}
		if !ok || low < 0xDC00 || low > 0xDFFF {
			return nil, p.fail(LoneSurrogate, "half a surrogate pair")
		}
		r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
	}
	return utf8.AppendRune(out, r), nil
}

func (p *parser) hex4() (rune, bool) {
	if p.i+4 > len(p.b) {
		return 0, false
	}
	for _, c := range p.b[p.i : p.i+4] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(p.b[p.i:p.i+4]), 16, 32)
	p.i += 4
	return rune(n), err == nil
}
