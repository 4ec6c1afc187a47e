package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/replies.txt")

const replies = "testdata/replies.txt"

// hostileMemory is the limit of the tests of hostile files.
const hostileMemory = 64 << 20

// hostile is a file that no camera writes.
type hostile struct {
	name string
	file []byte
}

func hostileFiles(t testing.TB) []hostile {
	return slices.Concat(otherFormats(), bombs(t), lies(t), oddities(t), polyglots(t))
}

func otherFormats() []hostile {
	ftyp := func(brand string) []byte { return []byte("\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x00\x00mif1heic") }
	return []hostile{
		{"an empty file", nil},
		{"one byte", []byte{0xff}},
		{"text", []byte("Alishan at dawn")},
		{"SVG named photo.jpg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)},
		{"SVG with a declaration", []byte("\xef\xbb\xbf  <?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<SVG onload=\"alert(1)\">")},
		{"HTML named photo.png", []byte("<!DOCTYPE html><script>alert(1)</script>")},
		{"HTML after a comment", []byte("<!-- --><html><body>")},
		{"HEIC of a phone", ftyp("heic")},
		{"HEIC of ten bits", ftyp("heix")},
		{"HEIF", ftyp("mif1")},
		{"AVIF", ftyp("avif")},
		{"CR3 of a camera", ftyp("crx ")},
		{"MP4", ftyp("isom")},
		{"QuickTime", ftyp("qt  ")},
		{"JPEG XL", []byte("\xff\x0a\xfa\x7f")},
		{"JPEG XL in a container", []byte("\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a")},
		{"JPEG 2000", []byte("\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a")},
		{"TIFF", []byte("II*\x00\x08\x00\x00\x00")},
		{"DNG of a camera", []byte("MM\x00*\x00\x00\x00\x08")},
		{"BMP", []byte("BM\x36\x00\x00\x00")},
		{"Photoshop", []byte("8BPS\x00\x01")},
		{"an icon", []byte("\x00\x00\x01\x00\x01\x00")},
		{"PDF", []byte("%PDF-1.7")},
		{"ZIP", []byte("PK\x03\x04\x14\x00")},
		{"a sound in RIFF", []byte("RIFF\x24\x00\x00\x00WAVEfmt ")},
		{"a script that begins like a GIF", []byte("GIF89a/*<script>*/=0;alert(1)")},
	}
}

// bombs are small files that ask for much memory or time.
func bombs(t testing.TB) []hostile {
	flat := func(width, height int, frame byte, sampling ...int) []byte {
		f := flatJPEG{16, 16, frame, 8, ofComponents(sampling...), [][]byte{adobe(0)}, 0, nil}.encode()
		at := bytes.Index(f, []byte{0xff, frame}) + 5
		binary.BigEndian.PutUint16(f[at:], uint16(height))
		binary.BigEndian.PutUint16(f[at+2:], uint16(width))
		return f
	}
	header := func(width, height uint32, depth, colorType, interlace byte) []byte {
		return slices.Concat([]byte(pngSignature), chunk("IHDR", pngHeader(width, height, depth, colorType, interlace)),
			chunk("IDAT", compress(t, make([]byte, 1000))), chunk("IEND", nil))
	}
	screen := func(width, height uint16) []byte {
		f := encodeGIF(t, paletted(quarters(8, 8)))
		binary.LittleEndian.PutUint16(f[6:], width)
		binary.LittleEndian.PutUint16(f[8:], height)
		return f
	}
	small, tiny := fromBase64(t, lossyWebP), lossless(quarters(2, 2))
	vp8 := bytes.Clone(small[riffHeaderBytes:])
	binary.LittleEndian.PutUint16(vp8[riffChunkBytes+6:], vp8MaxPixels)
	binary.LittleEndian.PutUint16(vp8[riffChunkBytes+8:], vp8MaxPixels)
	vp8l := bytes.Clone(tiny)
	binary.LittleEndian.PutUint32(vp8l[riffChunkBytes+1:], 1<<28-1)
	frames := tiny
	for range 10_000 {
		frames = append(append([]byte("ANMF\xff\xff\xff\x7f"), make([]byte, anmfBytes)...), frames...)
	}
	return []hostile{
		{"JPEG of 65,500 × 65,500", flat(65500, 65500, markSOF0, 22, 11, 11)},
		{"JPEG of 8,000 × 8,000, progressive", flat(8000, 8000, markSOF2, 11, 11, 11)},
		{"JPEG of 4,000 × 4,000, CMYK", flat(4000, 4000, markSOF0, 22, 11, 11, 22)},
		{"JPEG of 65,500 × 1", flat(65500, 1, markSOF0, 22, 11, 11)},
		{"JPEG with 101 passes", flatJPEG{16, 16, markSOF2, 8, ofComponents(11), nil, 100, nil}.encode()},
		{"JPEG with 10,000 passes", flatJPEG{16, 16, markSOF2, 8, ofComponents(11), nil, 9999, nil}.encode()},
		{"PNG of 60,000 × 60,000", header(60000, 60000, 8, 6, 0)},
		{"PNG of 2³¹-1 × 2³¹-1", header(1<<31-1, 1<<31-1, 8, 0, 0)},
		{"PNG of 2³¹-1 × 1", header(1<<31-1, 1, 1, 0, 0)},
		{"PNG of 2³⁰ × 2³⁰, interlaced", header(1<<30, 1<<30, 16, 6, 1)},
		{"PNG of 9,000 × 9,000 of one bit, whole", zeroPNG(t, 9000, 9000, 1, 0, 0)},
		{"PNG of 4,000 × 4,000 of one bit, whole", zeroPNG(t, 4000, 4000, 1, 0, 0)},
		{"PNG with a profile of 10 MB in 10 kB", withChunks(encodePNG(t, quarters(8, 8)),
			chunk("iCCP", append([]byte("x\x00\x00"), compress(t, make([]byte, 10<<20))...)))},
		{"GIF of 65,535 × 65,535", screen(65535, 65535)},
		{"GIF of 6,000 × 6,000 with a frame of 8 × 8", screen(6000, 6000)},
		{"WebP of 16,383 × 16,383", riff(vp8)},
		{"WebP of 16,384 × 16,384, lossless", riff(vp8l)},
		{"WebP with a canvas of 2²² × 2²² and a frame of 2 × 2", riff(vp8x(2, 1<<22, 1<<22), anmf(0, 0, 2, 2, tiny))},
		{"WebP with a canvas of 2²⁴ × 2²⁴ and a picture of 2 × 2", riff(vp8x(0, 1<<24, 1<<24), tiny)},
		{"WebP with 10,000 frames in each other", riff(vp8x(2, 2, 2), frames)},
	}
}

// lies are files whose sizes are wrong.
func lies(t testing.TB) []hostile {
	m := quarters(32, 32)
	whole := flatJPEG{32, 32, markSOF0, 8, ofComponents(11, 11, 11), nil, 0, nil}
	patched := func(file []byte, at int, with ...byte) []byte {
		file = bytes.Clone(file)
		copy(file[at:], with)
		return file
	}
	jpegFile, pngFile, gifFile := whole.encode(), encodePNG(t, m), encodeGIF(t, paletted(m))
	frame := bytes.Index(jpegFile, []byte{0xff, markSOF0})
	header := func(width, height uint32) []byte {
		return slices.Concat([]byte(pngSignature), chunk("IHDR", pngHeader(width, height, 8, 0, 0)),
			chunk("IDAT", compress(t, make([]byte, 32*33))), chunk("IEND", nil))
	}
	gifFrame := bytes.IndexByte(gifFile[13:], ',') + 13
	lossy, picture := fromBase64(t, lossyWebP), lossless(m)
	alpha := fromBase64(t, lossyAlphaWebP)
	var files []hostile
	for _, each := range []hostile{
		{"JPEG", encodeJPEG(t, m)},
		{"JPEG, progressive", flatJPEG{320, 320, markSOF2, 8, ofComponents(11, 11, 11), nil, 3, nil}.encode()},
		{"PNG", pngFile}, {"GIF", gifFile}, {"WebP, lossless", riff(picture)}, {"WebP, lossy", lossy}, {"WebP, animated", fromBase64(t, animatedWebP)},
	} {
		for tenth := 1; tenth < 10; tenth++ {
			files = append(files, hostile{fmt.Sprintf("%s, cut at %d tenths", each.name, tenth), each.file[:len(each.file)*tenth/10]})
		}
		files = append(files, hostile{each.name + ", cut by a byte", each.file[:len(each.file)-1]})
	}
	return append(files, []hostile{
		{"JPEG with more rows than it has", patched(jpegFile, frame+5, 0, 200)},
		{"JPEG with fewer rows than it has", patched(jpegFile, frame+5, 0, 8)},
		{"JPEG of no height", patched(jpegFile, frame+5, 0, 0)},
		{"JPEG of no width", patched(jpegFile, frame+7, 0, 0)},
		{"JPEG with a segment of length 0", withSegments(jpegFile, []byte{0xff, 0xfe, 0, 0})},
		{"JPEG with a segment beyond its end", withSegments(jpegFile, []byte{0xff, 0xfe, 0xff, 0xff})},
		{"JPEG with a short frame header", patched(jpegFile, frame+2, 0, 8)},
		{"PNG with more rows than it has", header(32, 3200)},
		{"PNG with fewer rows than it has", header(32, 2)},
		{"PNG of no width", header(0, 32)},
		{"PNG with a chunk of 4 GB", withChunks(pngFile, []byte("\xff\xff\xff\xffteXt"))},
		{"PNG with a wrong sum", patched(pngFile, len(pngFile)-1, 1)},
		{"PNG with a wrong sum of pixels", patched(pngFile, len(pngFile)-18, 1, 2, 3)},
		{"GIF with a frame beyond its screen", patched(gifFile, gifFrame+5, 200)},
		{"GIF of no width", patched(gifFile, 6, 0, 0)},
		{"GIF with a frame of no width", patched(gifFile, gifFrame+5, 0, 0)},
		{"WebP longer than its file", patched(riff(picture), 4, 0xff, 0xff)},
		{"WebP with a chunk longer than it", patched(riff(picture), riffHeaderBytes+4, 0xff, 0xff)},
		{"WebP with a picture larger than its canvas", riff(vp8x(0, 8, 8), picture)},
		{"WebP with a frame outside its canvas", riff(vp8x(2, 32, 32), anmf(16, 16, 32, 32, picture))},
		{"WebP of no width", patched(lossy, riffHeaderBytes+riffChunkBytes+6, 0, 0)},
		{"WebP with a plane of transparency that is too short", riff(alpha[riffHeaderBytes:30], riffChunk("ALPH", []byte{0, 1, 2}), lossy[riffHeaderBytes:])},
	}...)
}

// oddities break a rule, or use one that hardly anybody does.
func oddities(t testing.TB) []hostile {
	m := quarters(32, 32)
	of := func(frame, precision byte, segments [][]byte, sampling ...int) []byte {
		return flatJPEG{32, 32, frame, precision, ofComponents(sampling...), segments, 0, nil}.encode()
	}
	plain := of(markSOF0, 8, nil, 11, 11, 11)
	frame := bytes.Index(plain, []byte{0xff, markSOF0})
	header := plain[frame : frame+19]
	exif := func(data string) []byte { return withSegments(plain, segment(markAPP1, exifHeader+data)) }
	swapped := encodePNG(t, paletted(m))
	return []hostile{
		{"JPEG, 4:1:0", of(markSOF0, 8, nil, 42, 11, 11)},
		{"JPEG, sampling 3 × 1", of(markSOF0, 8, nil, 31, 11, 11)},
		{"JPEG, two kinds of sampling of colour", of(markSOF0, 8, nil, 22, 21, 11)},
		{"JPEG, colour finer than brightness", of(markSOF0, 8, nil, 11, 22, 22)},
		{"JPEG, sampling 0 × 0", of(markSOF0, 8, nil, 11, 0, 11)},
		{"JPEG of twelve bits", of(markSOF0, 12, nil, 11, 11, 11)},
		{"JPEG, lossless", of(0xc3, 8, nil, 11, 11, 11)},
		{"JPEG, arithmetic coding", of(0xc9, 8, nil, 11, 11, 11)},
		{"JPEG of two colours", of(markSOF0, 8, nil, 11, 11)},
		{"JPEG of five colours", of(markSOF0, 8, nil, 11, 11, 11, 11, 11)},
		{"JPEG, CMYK of nobody", of(markSOF0, 8, nil, 11, 11, 11, 11)},
		{"JPEG with two frame headers", withSegments(plain, header)},
		{"JPEG without a frame header", slices.Concat(plain[:frame], plain[frame+19:])},
		{"JPEG without pixels", slices.Concat([]byte{0xff, 0xd8}, header, []byte{0xff, markEOI})},
		{"JPEG that becomes RGB at its end", slices.Concat(plain[:len(plain)-2], adobe(0), plain[len(plain)-2:])},
		{"JPEG with bytes between its segments", slices.Concat(plain[:frame], []byte("\x00\x01\xff\x00\xff\xff"), plain[frame+1:])},
		{"EXIF with orientation 9", exif(string(tiff(binary.LittleEndian, 9)))},
		{"EXIF with a directory beyond its end", exif("II*\x00\xff\xff\xff\xff")},
		{"EXIF with a directory of 65,535 entries", exif("MM\x00*\x00\x00\x00\x08\xff\xff")},
		{"EXIF whose directory is its header", exif("II*\x00\x00\x00\x00\x00")},
		{"EXIF of two bytes", exif("II")},
		{"PNG with two headers", withChunks(encodePNG(t, m), chunk("IHDR", pngHeader(9999, 9999, 8, 6, 0)))},
		{"PNG of an unknown type of colour", slices.Concat([]byte(pngSignature), chunk("IHDR", pngHeader(8, 8, 8, 5, 0)))},
		{"PNG without pixels", slices.Concat([]byte(pngSignature), chunk("IHDR", pngHeader(8, 8, 8, 6, 0)), chunk("IEND", nil))},
		{"PNG whose pixels are not in its palette", bytes.Replace(swapped, []byte("PLTE"), []byte("pLTE"), 1)},
		{"PNG of an iPhone's developer tools", slices.Concat([]byte(pngSignature), chunk("CgBI", make([]byte, 4)), encodePNG(t, m)[len(pngSignature):])},
		{"GIF without colours", slices.Concat([]byte("GIF89a\x08\x00\x08\x00\x00\x00\x00,\x00\x00\x00\x00\x08\x00\x08\x00\x00"), make([]byte, 20))},
		{"GIF without a picture", []byte("GIF89a\x08\x00\x08\x00\x00\x00\x00;")},
		{"GIF with an unknown block", []byte("GIF89a\x08\x00\x08\x00\x00\x00\x00\x77")},
		{"WebP without a picture", riff(vp8x(0, 8, 8))},
		{"WebP with a video's frame", riff(riffChunk("VP8 ", append([]byte{1}, make([]byte, 20)...)))},
		{"WebP with a header of three bytes", riff(riffChunk("VP8X", make([]byte, 3)))},
		{"WebP of random bits", riff(riffChunk("VP8L", append([]byte("\x2f\x1f\xc0\x07\x00"), bytes.Repeat([]byte{0x5a, 0xc3, 0x17}, 50)...)))},
	}
}

const payload = "<script>alert('payload')</script>"

// polyglots are pictures that hold something else, too.
func polyglots(t testing.TB) []hostile {
	m := quarters(32, 32)
	loop := paletted(m)
	gifFile := encodeGIF(t, loop)
	comment := slices.Concat([]byte{'!', 0xfe, byte(len(payload))}, []byte(payload), []byte{0})
	const at = 13 // behind the header
	return []hostile{
		{"JPEG with a web page after its end", append(encodeJPEG(t, m), payload...)},
		{"JPEG with a web page in a comment", withSegments(encodeJPEG(t, m), segment(0xfe, payload))},
		{"JPEG with a web page in EXIF", withSegments(encodeJPEG(t, m), segment(markAPP1, exifHeader+"II*\x00"+payload))},
		{"JPEG with a web page between its segments", withSegments(encodeJPEG(t, m), segment(0xfe, "x"), []byte(payload))},
		{"PNG with an archive after its end", append(encodePNG(t, m), "PK\x03\x04"+payload...)},
		{"PNG with a web page in a chunk", withChunks(encodePNG(t, m), chunk("tEXt", []byte("Comment\x00"+payload)))},
		{"GIF with a web page in a comment", slices.Concat(gifFile[:at], comment, gifFile[at:])},
		{"GIF with a web page after its end", append(bytes.Clone(gifFile), payload...)},
		{"WebP with a web page in a chunk", riff(vp8x(0, 32, 32), lossless(m), riffChunk("XMP ", []byte(payload)))},
		{"WebP with a web page after its end", append(riff(lossless(m)), payload...)},
	}
}

// Every hostile file gets the reply of the table, within the memory that Inspect has said. What is made of it is a
// JPEG without anything else. Update the table with -update.
func TestHostileFilesGetTheRepliesOfTheTable(t *testing.T) {
	var table strings.Builder
	for _, each := range hostileFiles(t) {
		p, view, thumbnail, err := makeAll(t, each.file, hostileMemory)
		var refusal *Refusal
		reply := ""
		switch {
		case err == nil:
			reply = fmt.Sprintf("%s of %d × %d", p.Format, p.Width, p.Height)
			for _, made := range [][]byte{view, thumbnail} {
				if _, err := jpeg.Decode(bytes.NewReader(made)); err != nil || !bytes.HasSuffix(made, []byte{0xff, markEOI}) {
					t.Errorf("%s: what was made is no JPEG: %v", each.name, err)
				}
				if bytes.Contains(made, []byte("payload")) || bytes.Contains(made, []byte("PK")) {
					t.Errorf("%s: the payload is left", each.name)
				}
			}
		case errors.As(err, &refusal):
			reason := map[Reason]string{NotSupported: "PHOTO NOT SUPPORTED", TooLarge: "PHOTO TOO LARGE", Damaged: "PHOTO DAMAGED"}[refusal.Reason]
			reply = reason + ": " + refusal.Message
		default:
			t.Errorf("%s: %v is no refusal", each.name, err)
		}
		fmt.Fprintf(&table, "%s | %s\n", each.name, reply)
	}
	if *update {
		must(t, os.WriteFile(replies, []byte(table.String()), 0o600))
	}
	want, err := os.ReadFile(replies)
	must(t, err)
	if got := table.String(); got != string(want) {
		for i, line := range strings.Split(got, "\n") {
			if lines := strings.Split(string(want), "\n"); i >= len(lines) || lines[i] != line {
				t.Errorf("got  %s\nwant %s", line, append(lines, make([]string, i+1)...)[i])
			}
		}
	}
}

func FuzzFilesAreMadeWithinTheirMemoryOrRefused(f *testing.F) {
	m := quarters(32, 32)
	for _, file := range [][]byte{
		encodeJPEG(f, m), withSegments(encodeJPEG(f, m), segment(markAPP1, exifHeader+string(tiff(binary.BigEndian, 6))), profile(iccProfile(spaceRGB, 200)).segments()),
		flatJPEG{32, 32, markSOF2, 8, ofComponents(22, 11, 11), nil, 1, nil}.encode(),
		flatJPEG{32, 32, markSOF0, 8, ofComponents(11, 11, 11, 11), [][]byte{adobe(2)}, 0, nil}.encode(),
		encodePNG(f, m), encodePNG(f, paletted(m)), zeroPNG(f, 32, 32, 16, 6, 1),
		encodeGIF(f, paletted(m), image.NewPaletted(m.Rect, color.Palette{red})),
		riff(lossless(m)), fromBase64(f, lossyWebP), fromBase64(f, lossyAlphaWebP), fromBase64(f, animatedWebP),
	} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, view, thumbnail, err := makeAll(t, file, hostileMemory)
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			if strings.Contains(refusal.Error(), "panic") {
				t.Logf("a decoder panics: %v", refusal)
			}
			return
		case err != nil:
			t.Fatalf("%v is no refusal", err)
		}
		for longest, made := range map[int][]byte{ViewPixels: view, ThumbnailPixels: thumbnail} {
			config, err := jpeg.DecodeConfig(bytes.NewReader(made))
			if want := fit(image.Pt(p.Width, p.Height), longest); err != nil || image.Pt(config.Width, config.Height) != want {
				t.Errorf("a picture of %d × %d pixels became %+v, %v", p.Width, p.Height, config, err)
			}
		}
	})
}
