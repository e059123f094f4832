package renderer

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// strip is a scene whose every frame bears its number as 16 black and white
// blocks, beside colours that are known and small text.
const strip = `export const meta = { width: 640, height: 360, fps: 30, duration: 3 };
const flat = ["#ff0000", "#00ff00", "#0000ff", "#000000", "#404040", "#808080", "#c0c0c0", "#ffffff"];
export function draw(ctx, t, frame) {
  ctx.fillStyle = "#203050";
  ctx.fillRect(0, 0, 640, 360);
  for (let i = 0; i < 16; i++) {
    ctx.fillStyle = (frame >> i) & 1 ? "#fff" : "#000";
    ctx.fillRect(i * 40, 0, 40, 40);
  }
  flat.forEach((c, i) => { ctx.fillStyle = c; ctx.fillRect(i * 80, 60, 80, 80); });
  for (let x = 0; x < 640; x++) { const v = Math.floor(x * 256 / 640); ctx.fillStyle = "rgb(" + v + "," + v + "," + v + ")"; ctx.fillRect(x, 160, 1, 60); }
  ctx.fillStyle = "#fff";
  ctx.font = "12px Inter";
  ctx.fillText("The quick brown fox jumps over the lazy dog 0123456789", 20, 260);
  ctx.fillRect((frame * 7) % 600, 300, 40, 40);
}`

// decode gives a film's frames as RGB, as a player that knows BT.709 shows them.
func decode(t *testing.T, path string, width, height int) [][]byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path,
		"-vf", "scale=in_color_matrix=bt709:in_range=tv:flags=accurate_rnd+full_chroma_int+bicubic", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	size := width * height * 3
	if len(out)%size != 0 {
		t.Fatalf("%d bytes are no whole number of frames", len(out))
	}
	var frames [][]byte
	for at := 0; at < len(out); at += size {
		frames = append(frames, out[at:at+size])
	}
	return frames
}

// A frame that is missing, repeated or shifted, a colour that is off, text that
// can't be read: what users of such renderers complain about.
func TestFilmShowsWhatWasDrawn(t *testing.T) {
	const w, h = 640, 360
	s := newStudio(t)
	dir := t.TempDir()
	path, out := writeScene(t, strip), filepath.Join(dir, "film.mp4")
	res, err := s.Render(t.Context(), RenderOptions{Source: Source{Scene: path, Workers: 2}, Out: out, Poster: filepath.Join(dir, "p.jpg")})
	if err != nil {
		t.Fatal(err)
	}
	frames := decode(t, out, w, h)
	if len(frames) != 90 || res.Frames != 90 || res.Seconds != 3 {
		t.Fatalf("%d frames were decoded, the answer says %d", len(frames), res.Frames)
	}
	pixel := func(f []byte, x, y int) []byte { return f[3*(y*w+x) : 3*(y*w+x)+3] }
	for n, f := range frames {
		number := 0
		for i := range 16 {
			if pixel(f, i*40+20, 20)[1] > 127 {
				number |= 1 << i
			}
		}
		if number != n {
			t.Fatalf("frame %d bears the number %d", n, number)
		}
	}
	flat := []color.RGBA{{255, 0, 0, 0}, {0, 255, 0, 0}, {0, 0, 255, 0}, {0, 0, 0, 0}, {64, 64, 64, 0}, {128, 128, 128, 0}, {192, 192, 192, 0}, {255, 255, 255, 0}}
	for i, c := range flat {
		got := pixel(frames[45], i*80+40, 100)
		for k, want := range []uint8{c.R, c.G, c.B} {
			if math.Abs(float64(got[k])-float64(want)) > 2 {
				t.Errorf("colour %v decodes as %v", c, got)
				break
			}
		}
	}
	for x := 4; x < w; x += 32 {
		if got, want := pixel(frames[45], x, 190)[1], x*256/640; math.Abs(float64(got)-float64(want)) > 2 {
			t.Errorf("the ramp at %d is %d, want %d", x, got, want)
		}
	}

	// Text: the decoded area against the exact still of the same frame.
	still, err := s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{1.5}, Out: filepath.Join(dir, "s.png")})
	if err != nil {
		t.Fatal(err)
	}
	exact := readPNG(t, still.Stills[0].Path)
	if db := psnr(exact, frames[45], w, image.Rect(16, 244, 360, 268)); db < 30 {
		t.Errorf("12 px text has %.1f dB, want 30", db)
	}
	if st, err := os.Stat(filepath.Join(dir, "p.jpg")); err != nil || st.Size() < 1000 {
		t.Errorf("the poster: %v", err)
	}
}

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func psnr(want image.Image, got []byte, width int, r image.Rectangle) float64 {
	var sum float64
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA)
			at := 3 * (y*width + x)
			for k, v := range []uint8{c.R, c.G, c.B} {
				d := float64(v) - float64(got[at+k])
				sum += d * d
			}
		}
	}
	mse := sum / float64(3*r.Dx()*r.Dy())
	if mse == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255/mse)
}

// Stills are the film's source pixels: the exact colours, whatever else was
// asked for beside them, in any order.
func TestStills(t *testing.T) {
	s := newStudio(t)
	path, dir := writeScene(t, strip), filepath.Join(t.TempDir(), "new", "folder")
	res, err := s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{2, 0, 1.4, 2, 3}, Out: dir})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{60, 0, 42, 60, 89} { // 3 s is the film's end: its last frame
		got := res.Stills[i]
		if got.Frame != want {
			t.Errorf("still %d is of frame %d, want %d", i, got.Frame, want)
		}
		img := readPNG(t, got.Path)
		number := 0
		for b := range 16 {
			if r, _, _, _ := img.At(b*40+20, 20).RGBA(); r > 0x7FFF {
				number |= 1 << b
			}
		}
		if number != want {
			t.Errorf("the picture of frame %d bears the number %d", want, number)
		}
		for b, c := range []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}} {
			if px := color.NRGBAModel.Convert(img.At(b*80+40, 100)); px != c {
				t.Errorf("colour %v is %v", c, px)
			}
		}
	}
	if _, err := s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{3.1}, Out: dir}); err == nil {
		t.Error("there is a frame after the end")
	}
	if _, err := s.Stills(t.Context(), StillOptions{Source: Source{Scene: path}, At: []float64{1, 2}, Out: filepath.Join(dir, "x.png")}); err == nil {
		t.Error("two frames fit into one file")
	}
}

func TestSheet(t *testing.T) {
	s := newStudio(t)
	out := filepath.Join(t.TempDir(), "sheet.png")
	res, err := s.Sheet(t.Context(), SheetOptions{Source: Source{Scene: writeScene(t, strip)}, Out: out, Columns: 3, Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint([]int{0, 18, 36, 53, 71, 89}); fmt.Sprint(res.Frames) != want {
		t.Errorf("frames %v, want %s", res.Frames, want)
	}
	img := readPNG(t, out)
	if img.Bounds().Dx() != res.Width || img.Bounds().Dy() != res.Height || res.Width != sheetWidth {
		t.Errorf("size %v, the answer says %dx%d", img.Bounds(), res.Width, res.Height)
	}
	// The middle of the third tile's third colour block is blue.
	tile := (sheetWidth - 2*sheetMargin - 2*sheetGap) / 3
	x := sheetMargin + 2*(tile+sheetGap) + tile*200/640
	if r, g, b, _ := img.At(x, sheetMargin+tile*100/640).RGBA(); r > 0x1000 || g > 0x1000 || b < 0xE000 {
		t.Errorf("the tile shows %x %x %x", r, g, b)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n, all int
		want   string
	}{{1, 90, "[0]"}, {2, 90, "[0 89]"}, {3, 3, "[0 1 2]"}, {4, 100, "[0 33 66 99]"}, {1, 1, "[0]"}} {
		if got := fmt.Sprint(spread(c.n, c.all)); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.all, got, c.want)
		}
	}
}
