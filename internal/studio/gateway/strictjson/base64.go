package strictjson

import (
	"bytes"
	"encoding/binary"
)

// IsBase64 says whether s is standard base64, padded, and nothing else.
func IsBase64(s []byte) bool {
	if len(s) == 0 || len(s)%4 != 0 {
		return false
	}
	for range 2 {
		s = bytes.TrimSuffix(s, []byte{'='})
	}
	for len(s) >= 32 {
		b := (*[32]byte)(s)
		if foreign(binary.LittleEndian.Uint64(b[0:]))|foreign(binary.LittleEndian.Uint64(b[8:]))|
			foreign(binary.LittleEndian.Uint64(b[16:]))|foreign(binary.LittleEndian.Uint64(b[24:])) != 0 {
			return false // most long strings are text
		}
		s = s[32:]
	}
	for _, c := range s {
		l := c | 0x20
		if (l < 'a' || l > 'z' || c > 0x7f) && (c < '/' || c > '9') && c != '+' {
			return false
		}
	}
	return true
}

// foreign sets the high bit of each of eight bytes that is not of base64's
// alphabet. With all of them below 0x80, adding 0x80-lo sets a byte's high bit
// when it is at least lo, and 0x7f-hi when it is above hi; nothing is carried.
func foreign(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := w &^ highs
	letter := low | ones*0x20
	in := (letter+ones*(0x80-'a'))&^(letter+ones*(0x7f-'z')) | // A-Z, a-z
		(low+ones*(0x80-'/'))&^(low+ones*(0x7f-'9')) | // /, 0-9
		(low+ones*(0x80-'+'))&^(low+ones*(0x7f-'+'))
	return (w | ^in) & highs
}
