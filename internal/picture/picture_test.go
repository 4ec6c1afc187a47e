package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"runtime"
	"testing"
)

const testMemory = 512 << 20

func open(file []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file)))
}

// makeAll decodes a file and returns the bytes of its view and its thumbnail. It checks the memory that both calls take.
func makeAll(t testing.TB, file []byte, maxMemory int64) (p *Picture, view, thumbnail []byte, err error) {
	t.Helper()
	var large, small bytes.Buffer
	taken := allocated(func() { p, err = Inspect(t.Context(), open(file), maxMemory) })
	if limit := int64(InspectMemory + 2*len(file)); taken > limit {
		t.Errorf("Inspect allocated %d bytes of %d", taken, limit)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	large.Grow(min(8<<20, 1<<16+2*p.Width*p.Height)) // what the writers allocate is not the package's
	small.Grow(1 << 17)
	if taken = allocated(func() { err = p.Make(t.Context(), &large, &small) }); taken > p.Memory {
		t.Errorf("Make allocated %d bytes and has said %d", taken, p.Memory)
	}
	return p, large.Bytes(), small.Bytes(), err
}

// allocated returns how many bytes a call allocates, those that it drops included.
func allocated(call func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// wantColours checks the colours in the middle of the quarters of a JPEG: above from left to right, then below.
func wantColours(t *testing.T, file []byte, want ...color.NRGBA) {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(file))
	must(t, err)
	size := m.Bounds().Size()
	for i, w := range want {
		got := color.NRGBAModel.Convert(m.At(size.X*(1+2*(i%2))/4, size.Y*(1+2*(i/2))/4)).(color.NRGBA)
		for _, pair := range [][2]byte{{got.R, w.R}, {got.G, w.G}, {got.B, w.B}} {
			if off := int(pair[0]) - int(pair[1]); off < -12 || off > 12 {
				t.Errorf("quarter %d of %v is %v, want %v", i+1, size, got, w)
				break
			}
		}
	}
}

func uniform(side int, c color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	return m
}

// half returns a half transparent colour on white.
func half(c color.NRGBA) color.NRGBA { return color.NRGBA{c.R/2 + 128, c.G/2 + 128, c.B/2 + 128, 0xff} }

func TestColoursAreThoseOfTheFile(t *testing.T) {
	m := quarters(64, 48)
	wide := image.NewNRGBA64(m.Rect)
	draw.Draw(wide, m.Rect, m, image.Point{}, draw.Src)
	translucent, hidden := image.NewNRGBA(m.Rect), quarters(64, 48)
	for i := 0; i < len(m.Pix); i += 4 {
		copy(translucent.Pix[i:], m.Pix[i:i+3])
		translucent.Pix[i+3] = 0x80
		if i >= len(m.Pix)/2 {
			hidden.Pix[i+3] = 0
		}
	}
	grey16 := image.NewGray16(m.Rect)
	draw.Draw(grey16, m.Rect, m, image.Point{}, draw.Src)
	later := image.NewPaletted(m.Rect, paletted(m).Palette) // all transparent
	ycc := func(component, x, y int) int {
		r, g, b, _ := m.At(8*x, 8*y).RGBA()
		yy, cb, cr := color.RGBToYCbCr(byte(r>>8), byte(g>>8), byte(b>>8))
		return int([]byte{yy, cb, cr}[component])
	}
	// Adobe writes the inks as if they were light.
	inverted := func(component, x, y int) int {
		r, g, b, _ := m.At(8*x, 8*y).RGBA()
		yy, cb, cr := color.RGBToYCbCr(^byte(r>>8), ^byte(g>>8), ^byte(b>>8))
		return int([]byte{yy, cb, cr, 0xff}[component])
	}
	rgb := func(component, x, y int) int {
		c := m.NRGBAAt(8*x, 8*y)
		return int([]byte{c.R, c.G, c.B, 0xff}[component])
	}
	inks := [4]color.NRGBA{red, green, blue, yellow}
	greys := [4]color.NRGBA{}
	for i, c := range inks {
		y := color.GrayModel.Convert(c).(color.Gray).Y
		greys[i] = color.NRGBA{y, y, y, 0xff}
	}
	small := riff(vp8x(2, 32, 32), anmf(16, 16, 16, 16, lossless(uniform(16, blue))))
	for name, each := range map[string]struct {
		file []byte
		want [4]color.NRGBA
	}{
		"JPEG":                          {encodeJPEG(t, m), inks},
		"JPEG in grey":                  {encodeJPEG(t, grey(m)), greys},
		"JPEG, progressive":             {flatJPEG{64, 48, markSOF2, 8, ofComponents(11, 11, 11), nil, 0, ycc}.encode(), inks},
		"JPEG, RGB of Adobe":            {flatJPEG{64, 48, markSOF0, 8, ofComponents(11, 11, 11), [][]byte{adobe(0)}, 0, rgb}.encode(), inks},
		"JPEG, CMYK of Adobe":           {flatJPEG{64, 48, markSOF0, 8, ofComponents(11, 11, 11, 11), [][]byte{adobe(0)}, 0, rgb}.encode(), inks},
		"JPEG, YCCK of Adobe":           {flatJPEG{64, 48, markSOF2, 8, ofComponents(11, 11, 11, 11), [][]byte{adobe(2)}, 0, inverted}.encode(), inks},
		"PNG":                           {encodePNG(t, m), inks},
		"PNG of 16 bits":                {encodePNG(t, wide), inks},
		"PNG in grey":                   {encodePNG(t, grey(m)), greys},
		"PNG in grey of 16 bits":        {encodePNG(t, grey16), greys},
		"PNG with a palette":            {encodePNG(t, paletted(m)), inks},
		"PNG, half transparent":         {encodePNG(t, translucent), [4]color.NRGBA{half(red), half(green), half(blue), half(yellow)}},
		"PNG, transparent below":        {encodePNG(t, hidden), [4]color.NRGBA{red, green, white, white}},
		"GIF, the first of two":         {encodeGIF(t, paletted(m), later), inks},
		"GIF, a part":                   {encodeGIF(t, later.SubImage(image.Rect(0, 0, 32, 24)).(*image.Paletted), paletted(m)), [4]color.NRGBA{white, white, white, white}},
		"WebP, lossless":                {riff(lossless(m)), inks},
		"WebP, lossy":                   {fromBase64(t, lossyWebP), inks},
		"WebP, lossy, clear below":      {fromBase64(t, lossyAlphaWebP), [4]color.NRGBA{red, green, white, white}},
		"WebP, the first of two":        {fromBase64(t, animatedWebP), inks},
		"WebP, a frame that is a part":  {small, [4]color.NRGBA{white, white, white, blue}},
		"WebP, transparent but no flag": {riff(lossless(hidden)), [4]color.NRGBA{red, green, white, white}},
	} {
		t.Run(name, func(t *testing.T) {
			p, view, thumbnail, err := makeAll(t, each.file, testMemory)
			must(t, err)
			wantColours(t, view, each.want[:]...)
			wantColours(t, thumbnail, each.want[:]...)
			if config, err := jpeg.DecodeConfig(bytes.NewReader(view)); err != nil || config.Width != p.Width || config.Height != p.Height {
				t.Errorf("the view of %d × %d is %+v, %v", p.Width, p.Height, config, err)
			}
		})
	}
}

// EXIF says on which sides the first row and the first column are seen.
func TestPicturesAreUprightInAllOrientations(t *testing.T) {
	const top, right, bottom, left = 0, 1, 2, 3
	sides := [][2]int{{top, left}, {top, left}, {top, right}, {bottom, right}, {bottom, left}, {left, top}, {right, top}, {right, bottom}, {left, bottom}, {top, left}}
	corner := func(a, b int) int {
		i := 0
		if a == bottom || b == bottom {
			i += 2
		}
		if a == right || b == right {
			i++
		}
		return i
	}
	other := func(side int) int { return (side + 2) % 4 }
	m := quarters(64, 48)
	for orientation, side := range sides {
		row, column := side[0], side[1]
		var want [4]color.NRGBA
		want[corner(row, column)], want[corner(row, other(column))] = red, green
		want[corner(other(row), column)], want[corner(other(row), other(column))] = blue, yellow
		for i, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			data := tiff(order, uint16(orientation))
			for name, file := range map[string][]byte{
				"JPEG": withSegments(encodeJPEG(t, m), segment(markAPP1, exifHeader+string(data))),
				"grey": withSegments(encodeJPEG(t, grey(m)), segment(markAPP1, exifHeader+string(data))),
				"PNG":  withChunks(encodePNG(t, m), chunk("eXIf", data)),
				"WebP": riff(vp8x(8, 64, 48), lossless(m), riffChunk("EXIF", data)),
			} {
				t.Run(fmt.Sprint(name, " ", orientation, " ", i), func(t *testing.T) {
					p, view, thumbnail, err := makeAll(t, file, testMemory)
					must(t, err)
					if isTurned := row == left || row == right; isTurned != (p.Width == 48) || isTurned != (p.Height == 64) {
						t.Errorf("it has %d × %d pixels", p.Width, p.Height)
					}
					want := want
					if name == "grey" {
						for i, c := range want {
							y := color.GrayModel.Convert(c).(color.Gray).Y
							want[i] = color.NRGBA{y, y, y, 0xff}
						}
					}
					wantColours(t, view, want[:]...)
					wantColours(t, thumbnail, want[:]...)
					for _, made := range [][]byte{view, thumbnail} {
						if bytes.Contains(made, []byte("SECRET")) || bytes.Contains(made, []byte("Exif")) {
							t.Error("EXIF data is left")
						}
					}
				})
			}
		}
	}
}

func grey(m image.Image) *image.Gray {
	g := image.NewGray(m.Bounds())
	draw.Draw(g, m.Bounds(), m, image.Point{}, draw.Src)
	return g
}

func TestTheColourProfileIsCarriedOver(t *testing.T) {
	m := quarters(64, 48)
	inJPEG := func(file, data []byte) []byte { return withSegments(file, profile(data).segments()) }
	inPNG := func(file, data []byte) []byte {
		return withChunks(file, chunk("iCCP", append([]byte("name\x00\x00"), compress(t, data)...)))
	}
	ofRGB, long, ofGrey, ofInk := iccProfile(spaceRGB, 3000), iccProfile(spaceRGB, 200_000), iccProfile(spaceGray, 400), iccProfile("CMYK", 5000)
	isCut := bytes.Clone(ofRGB)
	isCut[3]++
	ga := image.NewNRGBA(m.Rect)
	inks := flatJPEG{64, 48, markSOF0, 8, ofComponents(11, 11, 11, 11), [][]byte{adobe(0), profile(ofInk).segments()}, 0, nil}
	for name, each := range map[string]struct{ file, want []byte }{
		"JPEG":                           {inJPEG(encodeJPEG(t, m), ofRGB), ofRGB},
		"JPEG, in several segments":      {inJPEG(encodeJPEG(t, m), long), long},
		"JPEG, without a segment":        {withSegments(encodeJPEG(t, m), profile(long).segments()[:maxSegmentBytes+2]), nil},
		"JPEG in grey":                   {inJPEG(encodeJPEG(t, grey(m)), ofGrey), ofGrey},
		"JPEG in grey, profile of RGB":   {inJPEG(encodeJPEG(t, grey(m)), ofRGB), nil},
		"JPEG, CMYK":                     {inks.encode(), nil},
		"JPEG, wrong size":               {inJPEG(encodeJPEG(t, m), isCut), nil},
		"PNG":                            {inPNG(encodePNG(t, m), ofRGB), ofRGB},
		"PNG, grey and transparency":     {inPNG(zeroPNG(t, 64, 48, 8, pngGrayAlpha, 0), ofGrey), ofGrey},
		"PNG, profile too long":          {inPNG(encodePNG(t, m), iccProfile(spaceRGB, maxProfileBytes+1)), nil},
		"PNG, damaged profile":           {withChunks(encodePNG(t, ga), chunk("iCCP", []byte("name\x00\x00x\x9cxyz"))), nil},
		"WebP":                           {riff(vp8x(0x20, 64, 48), riffChunk("ICCP", ofRGB), lossless(m)), ofRGB},
		"WebP, profile longer than said": {riff(vp8x(0x20, 64, 48), riffChunk("ICCP", isCut), lossless(m)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, view, thumbnail, err := makeAll(t, each.file, testMemory)
			must(t, err)
			for _, made := range [][]byte{view, thumbnail} {
				again, err := Inspect(t.Context(), open(made), testMemory)
				must(t, err)
				if !bytes.Equal(again.structure.profile, each.want) {
					t.Errorf("it has a profile of %d bytes, want %d", len(again.structure.profile), len(each.want))
				}
			}
		})
	}
}

func TestSizesAreAtMostThoseOfAViewAndAThumbnail(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {1, 4000}, {4001, 3}, {319, 320}, {321, 320}, {1600, 1200}, {1601, 1601}, {2000, 777}, {3333, 2222}} {
		file := flatJPEG{size.X, size.Y, markSOF0, 8, ofComponents(22, 11, 11), nil, 0, nil}.encode()
		_, view, thumbnail, err := makeAll(t, file, testMemory)
		must(t, err)
		for longest, made := range map[int][]byte{ViewPixels: view, ThumbnailPixels: thumbnail} {
			config, err := jpeg.DecodeConfig(bytes.NewReader(made))
			must(t, err)
			side := max(size.X, size.Y)
			if max(config.Width, config.Height) != min(longest, side) {
				t.Errorf("%v became %d × %d", size, config.Width, config.Height)
			}
			scale := min(1, float64(longest)/float64(side))
			for _, each := range [][2]int{{size.X, config.Width}, {size.Y, config.Height}} {
				if off := float64(each[0])*scale - float64(each[1]); off < -0.51 && each[1] > 1 || off > 0.51 {
					t.Errorf("%v became %d × %d", size, config.Width, config.Height)
				}
			}
		}
	}
}

// A pixel is the mean of what it covers: the mean of a picture stays, whatever the sizes.
func TestScalingKeepsTheMean(t *testing.T) {
	for _, sizes := range [][2]image.Point{{{7, 5}, {3, 2}}, {{100, 1}, {33, 1}}, {{64, 64}, {64, 64}}, {{9, 11}, {18, 22}}, {{10, 10}, {1, 1}}} {
		from, to := image.NewGray(image.Rectangle{Max: sizes[0]}), sizes[1]
		sum := 0
		for i := range from.Pix {
			from.Pix[i] = byte(i * 37)
			sum += int(from.Pix[i])
		}
		made := firstChannel(scaled(from, from.Rect, to))
		if from.Rect.Max == to && !bytes.Equal(made.Pix, from.Pix) {
			t.Error("a picture of the same size has other values")
		}
		got := 0
		for _, value := range made.Pix {
			got += int(value)
		}
		mean, want := float64(got)/float64(len(made.Pix)), float64(sum)/float64(len(from.Pix))
		if mean-want > 0.5 || want-mean > 0.5 {
			t.Errorf("%v: mean %.2f, want %.2f", sizes, mean, want)
		}
	}
}

// Every kind of file takes what Inspect says, and at least a third of that if it is large.
func TestMemoryIsWhatInspectSays(t *testing.T) {
	files := map[string][]byte{}
	for _, sampling := range [][]int{{11}, {11, 11, 11}, {21, 11, 11}, {22, 11, 11}, {12, 11, 11}, {41, 11, 11}, {42, 11, 11}, {11, 11, 11, 11}, {22, 11, 11, 22}} {
		for _, frame := range []byte{markSOF0, markSOF2} {
			for name, segments := range map[string][][]byte{"": nil, " adobe": {adobe(0)}} {
				if len(sampling) == 4 && segments == nil {
					continue
				}
				files[fmt.Sprintf("JPEG %v %x%s", sampling, frame, name)] =
					flatJPEG{703, 607, frame, 8, ofComponents(sampling...), segments, 0, nil}.encode()
			}
		}
	}
	for _, kind := range [][2]byte{{1, 0}, {8, 0}, {16, 0}, {8, 2}, {16, 2}, {1, 3}, {8, 3}, {8, 4}, {16, 4}, {8, 6}, {16, 6}} {
		for interlace := range byte(2) {
			files[fmt.Sprintf("PNG of %d bits, type %d, interlace %d", kind[0], kind[1], interlace)] =
				zeroPNG(t, 703, 607, kind[0], kind[1], interlace)
			if transparent := map[byte]int{0: 2, 2: 6}[kind[1]]; transparent > 0 {
				files[fmt.Sprintf("PNG of %d bits, type %d, interlace %d, tRNS", kind[0], kind[1], interlace)] =
					zeroPNG(t, 703, 607, kind[0], kind[1], interlace, chunk("tRNS", make([]byte, transparent)))
			}
		}
	}
	files["GIF"] = encodeGIF(t, image.NewPaletted(image.Rect(0, 0, 703, 607), color.Palette{red, blue}))
	files["WebP"] = riff(lossless(quarters(703, 607)))
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			p, err := Inspect(t.Context(), open(file), testMemory)
			must(t, err)
			taken := allocated(func() { must(t, p.Make(t.Context(), io.Discard, io.Discard)) })
			isGuess := p.Format == WebP // whose tables nobody can foresee
			if taken > p.Memory || 3*taken < p.Memory-makingBytes(p.structure) && !isGuess {
				t.Errorf("it took %d bytes, Inspect says %d", taken, p.Memory)
			}
		})
	}
}

type failingReader struct{ err error }

func (f failingReader) ReadAt([]byte, int64) (int, error) { return 0, f.err }

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestErrorsOfOthersAreNoRefusals(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, file := range map[string][]byte{
		"JPEG": encodeJPEG(t, quarters(64, 48)), "PNG": encodePNG(t, quarters(64, 48)),
		"GIF": encodeGIF(t, paletted(quarters(64, 48))), "WebP": riff(lossless(quarters(64, 48))),
	} {
		t.Run(name, func(t *testing.T) {
			ended, end := context.WithCancel(t.Context())
			end()
			if _, err := Inspect(ended, open(file), testMemory); !errors.Is(err, context.Canceled) {
				t.Errorf("Inspect after the end of the context: %v", err)
			}
			if _, err := Inspect(t.Context(), io.NewSectionReader(failingReader{broken}, 0, 100), testMemory); !errors.Is(err, broken) {
				t.Errorf("Inspect of a broken disk: %v", err)
			}
			p, err := Inspect(t.Context(), open(file), testMemory)
			must(t, err)
			if err := p.Make(ended, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
				t.Errorf("Make after the end of the context: %v", err)
			}
			if err := p.Make(t.Context(), failingWriter{broken}, io.Discard); !errors.Is(err, broken) {
				t.Errorf("Make of a view on a broken disk: %v", err)
			}
			if err := p.Make(t.Context(), io.Discard, failingWriter{broken}); !errors.Is(err, broken) {
				t.Errorf("Make of a thumbnail on a broken disk: %v", err)
			}
			p.file = io.NewSectionReader(failingReader{broken}, 0, 100)
			if err := p.Make(t.Context(), io.Discard, io.Discard); !errors.Is(err, broken) {
				t.Errorf("Make from a broken disk: %v", err)
			}
			p.file = open(file)
			p.structure.decode = func(io.Reader) (image.Image, error) { panic("index out of range") }
			var refusal *Refusal
			if err := p.Make(t.Context(), io.Discard, io.Discard); !errors.As(err, &refusal) || refusal.Reason != Damaged {
				t.Errorf("Make with a decoder that panics: %v", err)
			}
		})
	}
}
