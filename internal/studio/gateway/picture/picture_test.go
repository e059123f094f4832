package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
)

// Files of libwebp's encoder, 31 x 17 pixels: lossless, and lossy with transparency.
const (
	losslessWebP = "UklGRpoAAABXRUJQVlA4TI4AAAAvHgAEAAankWxb0ckHRT4o8kGRD4p8UOhRsP/VcxjSthXrNCGkEkIqIaQSQiohfJXxsIkkKdD4QA05ashRQ46az19K938kQmpMjdRAxdpCbUFb1F6Ax2L3wDO8A57jtwDP8t9xtNlW2+00rtgxo0cNBiw48OA/sGHBhAEp0mTIkiO3+MUbd5yf9kqFt0Qq"
	alphaWebP    = "UklGRqIBAABXRUJQVlA4WAoAAAAQAAAAHgAAEAAAQUxQSAoAAAABB9DAiAhERP8DVlA4IHIBAABQCgCdASofABEAPpE8mUiloyKhMBgIALASCWwAnTKEcDeX8Z3pr3u2hEgXUf9k2UDQR/9j/OdYd/QD2AP4B/HfSV/Zn4Rf2ImIB9zy9Fs8wkY48NkdHXw2O+qYAP797Y95M98N/BFfT/d1/K3EsN2+abJ58xKsYOeNL6Kp1T9mxZFkbnZs1ddR0+2453CHUxEDIuTO2/SE55Vf5MObRQTCqrE1j1EwRovbjOTuoi7muy00ObVZ4cP+gCeqtnBCb3GAaZrlX/BpVIQP654Tujv58f/XdvE7UcQWveLsA323L86MFZSf5Sh0rmMLte1R2VPU+6JKVh/J2iTjrq/H4YW9MPSZXuBIMy2Z96OOCrT1cncHLvSvWFvo3GBeph4qsCtgjd62S/8Gv6mFNQD8DB1yNY+mejLDYwrMGmoH8McB73Rmh/db3WA97l6r4lhqPX/4a/9M5QzdgmeWmHleuqG+IqT/JZw0DggTxNOUNu2byAAA"
)

func decoded(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// drawn encodes a picture as Go's encoders do.
func drawn(t testing.TB, typ string, w, h int) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 3 & 1)
	}
	var b bytes.Buffer
	var err error
	switch typ {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 100})
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inserted is b with bytes in between, and replaced with them in place of what was there.
func inserted(b []byte, at int, more ...byte) []byte {
	return slices.Insert(slices.Clone(b), at, more...)
}

func replaced(b []byte, at int, by ...byte) []byte {
	return slices.Replace(slices.Clone(b), at, at+len(by), by...)
}

func pngChunk(kind string, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func webpChunk(kind string, body ...byte) []byte {
	b := append([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
	b = append(b, body...)
	return append(b, make([]byte, len(body)%2)...)
}

func webpFile(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), slices.Concat(chunks...)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...), body...)
}

func canvas(flags byte, w, h int) []byte {
	w, h = w-1, h-1
	return webpChunk("VP8X", flags, 0, 0, 0, byte(w), byte(w>>8), byte(w>>16), byte(h), byte(h>>8), byte(h>>16))
}

func lossy(w, h int) []byte {
	return webpChunk("VP8 ", 0x10, 0, 0, 0x9d, 1, 0x2a, byte(w), byte(w>>8), byte(h), byte(h>>8))
}

type sample struct {
	name, typ string
	file      []byte
	size      Size
	err       error
}

// gifBlocks is where the blocks of a GIF without a table of colours for all begin.
const gifBlocks = 6 + 7

func samples(t testing.TB) []sample {
	t.Helper()
	p, j, g := drawn(t, "png", 40, 30), drawn(t, "jpeg", 40, 30), drawn(t, "gif", 40, 30)
	big := Size{4000, 3000}
	bigGIF, bigJPEG, bigPNG := drawn(t, "gif", 4000, 3000), drawn(t, "jpeg", 400, 300), drawn(t, "png", 400, 300)
	frame := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black, color.White})
	var anim bytes.Buffer
	if err := gif.EncodeAll(&anim, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	iend := len(p) - 12
	sof := bytes.Index(j, []byte{0xff, 0xc0})
	sos := bytes.Index(j, []byte{0xff, 0xda})
	sofSegment := slices.Clone(j[sof : sof+2+int(j[sof+3])])
	return []sample{
		{"plain", "png", p, Size{40, 30}, nil},
		{"text chunk", "png", inserted(p, iend, pngChunk("tEXt", 'a', 0, 'b')...), Size{40, 30}, nil},
		{"byte after the end", "png", append(slices.Clone(p), 0), Size{}, ErrTrailing},
		{"chunk after the end", "png", append(slices.Clone(p), pngChunk("tEXt", 'a', 0)...), Size{}, ErrTrailing},
		{"picture after the end", "png", slices.Concat(p, bigPNG), Size{}, ErrTrailing},
		{"animation control", "png", inserted(p, 33, pngChunk("acTL", 0, 0, 0, 2, 0, 0, 0, 0)...), Size{}, ErrFrames},
		{"frame data", "png", inserted(p, iend, pngChunk("fdAT", 0, 0, 0, 1, 0)...), Size{}, ErrFrames},
		{"second header", "png", inserted(p, 33, p[8:33]...), Size{}, ErrMalformed},
		{"chunk before the header", "png", inserted(p, 8, pngChunk("tEXt", 'a', 0)...), Size{}, ErrMalformed},
		{"damaged header", "png", replaced(p, 19, 1), Size{}, ErrMalformed},
		{"parted data", "png", inserted(p, iend, slices.Concat(pngChunk("tEXt", 'a', 0), pngChunk("IDAT", 0))...), Size{}, ErrMalformed},
		{"unknown chunk that must be understood", "png", inserted(p, 33, pngChunk("CgBI", 0)...), Size{}, ErrMalformed},
		{"no end", "png", p[:iend], Size{}, ErrMalformed},
		{"no data", "png", slices.Concat(p[:33], p[iend:]), Size{}, ErrMalformed},
		{"chunk longer than the file", "png", replaced(p, iend, 0x7f, 0xff, 0xff, 0xff), Size{}, ErrMalformed},

		{"plain", "jpeg", j, Size{40, 30}, nil},
		{"fill bytes", "jpeg", inserted(j, sof, 0xff, 0xff), Size{40, 30}, nil},
		{"a thumbnail in a segment", "jpeg", inserted(j, 2, slices.Concat([]byte{0xff, 0xe1, byte((len(bigJPEG)%60000 + 2) >> 8), byte(len(bigJPEG)%60000 + 2)}, bigJPEG[:len(bigJPEG)%60000])...), Size{40, 30}, nil},
		{"picture after the end", "jpeg", slices.Concat(j, bigJPEG), Size{}, ErrTrailing},
		{"byte after the end", "jpeg", append(slices.Clone(j), 0), Size{}, ErrTrailing},
		{"picture before the end", "jpeg", slices.Concat(j[:len(j)-2], bigJPEG), Size{}, ErrFrames},
		{"second frame", "jpeg", inserted(j, sos, sofSegment...), Size{}, ErrFrames},
		{"second frame behind the scan", "jpeg", inserted(j, len(j)-2, sofSegment...), Size{}, ErrFrames},
		{"lines told after the scan", "jpeg", inserted(j, len(j)-2, 0xff, 0xdc, 0, 4, 0x0f, 0xa0), Size{}, ErrMalformed},
		{"arithmetic", "jpeg", replaced(j, sof+1, 0xc9), Size{}, ErrMalformed},
		{"hierarchical", "jpeg", inserted(j, sof, slices.Concat([]byte{0xff, 0xde}, sofSegment[2:])...), Size{}, ErrMalformed},
		{"bytes between segments", "jpeg", inserted(j, sof, 0), Size{}, ErrMalformed},
		{"no frame", "jpeg", slices.Concat(j[:sof], j[sof+len(sofSegment):]), Size{}, ErrMalformed},
		{"no scan", "jpeg", slices.Concat(j[:sos], j[len(j)-2:]), Size{}, ErrMalformed},
		{"no end", "jpeg", j[:len(j)-2], Size{}, ErrMalformed},
		{"a segment of no length", "jpeg", inserted(j, sof, 0xff, 0xfe, 0, 1), Size{}, ErrMalformed},

		{"plain", "gif", g, Size{40, 30}, nil},
		{"comment", "gif", inserted(g, len(g)-1, 0x21, 0xfe, 2, 'h', 'i', 0), Size{40, 30}, nil},
		{"frame on a small screen", "gif", replaced(bigGIF, 6, 1, 0, 1, 0), big, nil},
		{"small frame on a large screen", "gif", replaced(g, 6, 0xa0, 0x0f, 0xb8, 0x0b), big, nil},
		{"frame of which a corner is seen", "gif", replaced(g, bytes.Index(g, []byte{0x2c, 0, 0, 0, 0, 40, 0, 30, 0})+1, 0xff, 0xff), Size{65535 + 40, 30}, nil},
		{"two frames", "gif", anim.Bytes(), Size{}, ErrFrames},
		{"picture after the end", "gif", slices.Concat(g, bigGIF), Size{}, ErrTrailing},
		{"byte after the end", "gif", append(slices.Clone(g), 0x3b), Size{}, ErrTrailing},
		{"no end", "gif", g[:len(g)-1], Size{}, ErrMalformed},
		{"no frame", "gif", append(replaced(g[:gifBlocks], 10, 0), 0x3b), Size{}, ErrMalformed},
		{"plain text", "gif", inserted(g, len(g)-1, 0x21, 1, 1, 0, 0), Size{}, ErrMalformed},
		{"long graphic control", "gif", inserted(g, len(g)-1, 0x21, 0xf9, 5, 0, 0, 0, 0, 0, 0), Size{}, ErrMalformed},
		{"block of no kind", "gif", inserted(g, len(g)-1, 0), Size{}, ErrMalformed},

		{"lossless", "webp", decoded(t, losslessWebP), Size{31, 17}, nil},
		{"with transparency", "webp", decoded(t, alphaWebP), Size{31, 17}, nil},
		{"lossy", "webp", webpFile(lossy(40, 30)), Size{40, 30}, nil},
		{"frame on a small canvas", "webp", webpFile(canvas(0, 1, 1), lossy(4000, 3000)), big, nil},
		{"small frame on a large canvas", "webp", webpFile(canvas(0, 4000, 3000), lossy(1, 1)), big, nil},
		{"scaled by its reader", "webp", webpFile(lossy(0x4000|40, 0x8000|30)), Size{40, 30}, nil},
		{"animation's flag", "webp", webpFile(canvas(2, 1, 1), lossy(1, 1)), Size{}, ErrFrames},
		{"animation's frame", "webp", webpFile(canvas(0, 1, 1), webpChunk("ANMF", lossy(4000, 3000)...)), Size{}, ErrFrames},
		{"two pictures", "webp", webpFile(canvas(0, 1, 1), lossy(1, 1), lossy(4000, 3000)), Size{}, ErrFrames},
		{"two pictures without a canvas", "webp", webpFile(lossy(1, 1), lossy(4000, 3000)), Size{}, ErrFrames},
		{"byte after the end", "webp", append(webpFile(lossy(1, 1)), 0), Size{}, ErrTrailing},
		{"picture after the end", "webp", slices.Concat(webpFile(lossy(1, 1)), webpFile(lossy(4000, 3000))), Size{}, ErrTrailing},
		{"chunk behind a simple picture", "webp", webpFile(lossy(1, 1), webpChunk("EXIF", 0)), Size{}, ErrTrailing},
		{"canvas behind the picture", "webp", webpFile(lossy(1, 1), canvas(0, 1, 1)), Size{}, ErrMalformed},
		{"unknown chunk", "webp", webpFile(canvas(0, 1, 1), lossy(1, 1), webpChunk("ABCD", 0)), Size{}, ErrMalformed},
		{"no picture", "webp", webpFile(canvas(0, 1, 1)), Size{}, ErrMalformed},
		{"cut", "webp", webpFile(lossy(1, 1))[:24], Size{}, ErrMalformed},
		{"no key frame", "webp", webpFile(webpChunk("VP8 ", 1, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0)), Size{}, ErrMalformed},
		{"lossless of another version", "webp", webpFile(webpChunk("VP8L", 0x2f, 0, 0, 0, 0x20)), Size{}, ErrMalformed},

		{"another format", "gif", p, Size{}, ErrMalformed},
		{"nothing", "png", nil, Size{}, ErrMalformed},
		{"nothing", "jpeg", nil, Size{}, ErrMalformed},
		{"nothing", "gif", nil, Size{}, ErrMalformed},
		{"nothing", "webp", nil, Size{}, ErrMalformed},
		{"unknown format", "bmp", p, Size{}, ErrMalformed},
	}
}

// A picture is paid for by its pixels: none may say less than a reader will
// see, and there may be no second picture for another reader.
func TestMeasure(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.typ+" "+s.name, func(t *testing.T) {
			size, err := Measure("image/"+s.typ, s.file)
			if size != s.size || !errors.Is(err, s.err) || (err == nil) != (s.err == nil) {
				t.Errorf("%+v, %v; want %+v, %v", size, err, s.size, s.err)
			}
		})
	}
}

// Files come from whoever the agent listens to. What passes has its end at the
// file's: one byte more or less is another verdict.
func FuzzMeasure(f *testing.F) {
	for _, s := range samples(f) {
		if len(s.file) < 10_000 {
			f.Add(s.typ, s.file)
		}
	}
	f.Fuzz(func(t *testing.T, typ string, file []byte) {
		kept := bytes.Clone(file)
		size, err := Measure("image/"+typ, file)
		if !bytes.Equal(kept, file) {
			t.Fatal("the file was changed")
		}
		if err != nil {
			if size != (Size{}) {
				t.Fatalf("%+v beside %v", size, err)
			}
			return
		}
		if size.Width < 0 || size.Height < 0 {
			t.Fatalf("%+v", size)
		}
		if _, err := Measure("image/"+typ, file[:len(file)-1]); err == nil {
			t.Fatal("it passes without its last byte")
		}
		if _, err := Measure("image/"+typ, append(kept, 0)); !errors.Is(err, ErrTrailing) {
			t.Fatalf("it passes with a byte more: %v", err)
		}
	})
}
