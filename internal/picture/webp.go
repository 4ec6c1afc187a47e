package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"
)

const (
	riffHeaderBytes  = 12 // RIFF, a length, WEBP
	riffChunkBytes   = 8  // the name and the length before a chunk
	vp8xBytes        = 10
	vp8xAlpha        = 1 << 4
	vp8HeaderBytes   = 10
	vp8MaxPixels     = 1<<14 - 1 // of a side, in both formats of pixels
	vp8lHeaderBytes  = 5
	anmfBytes        = 16 // before the chunks of a frame of an animation
	webpWorkingBytes = 512 << 10
)

// webpFile is what the chunks of a WebP say.
type webpFile struct {
	file *io.SectionReader
	// canvas is the size of an extended file.
	canvas image.Point
	// frame has the chunks of the first picture: its pixels and their transparency.
	frame       webpFrame
	orientation orientation
	profile     profile
}

type webpFrame struct {
	offset, size  image.Point
	pixels, alpha webpChunk
}

// webpChunk is a chunk and where its data lie in the file.
type webpChunk struct {
	name         string
	from, length int64
}

func inspectWebP(file *io.SectionReader) (structure, error) {
	w := &webpFile{file: file}
	var length [4]byte
	if _, err := file.ReadAt(length[:], 4); err != nil {
		return structure{}, err
	}
	end := riffChunkBytes + int64(binary.LittleEndian.Uint32(length[:]))
	if end > file.Size() {
		return structure{}, errNoEnd
	}
	if err := w.walk(riffHeaderBytes, end, w.take); err != nil {
		return structure{}, err
	}
	if err := w.measure(); err != nil {
		return structure{}, err
	}
	return structure{
		canvas: image.Rectangle{Max: w.canvas}, offset: w.frame.offset, open: w.open,
		decode: decodeWebP, decoding: w.decodingBytes(), orientation: w.orientation, profile: w.profile,
	}, nil
}

// walk reads the chunks in a part of the file.
func (w *webpFile) walk(from, end int64, take func(webpChunk) error) error {
	for end-from >= riffChunkBytes {
		var head [riffChunkBytes]byte
		if _, err := w.file.ReadAt(head[:], from); err != nil {
			return err
		}
		chunk := webpChunk{string(head[:4]), from + riffChunkBytes, int64(binary.LittleEndian.Uint32(head[4:]))}
		if from = chunk.from + chunk.length; from > end {
			return errors.New("a chunk is longer than the file")
		}
		if err := take(chunk); err != nil {
			return err
		}
		from += chunk.length & 1
	}
	return nil
}

func (w *webpFile) take(chunk webpChunk) error {
	switch chunk.name {
	case "VP8X":
		data, err := w.data(chunk, vp8xBytes)
		if err == nil {
			w.canvas = image.Pt(uint24(data[4:])+1, uint24(data[7:])+1)
		}
		return err
	case "ANMF":
		if w.frame.pixels.name != "" {
			return nil // not the first frame
		}
		data, err := w.data(chunk, anmfBytes)
		if err != nil {
			return err
		}
		w.frame.offset = image.Pt(2*uint24(data), 2*uint24(data[3:]))
		return w.walk(chunk.from+anmfBytes, chunk.from+chunk.length, w.frame.take)
	case "EXIF":
		data, err := w.data(chunk, min(chunk.length, maxSegmentBytes))
		if err == nil && w.orientation == 0 {
			w.orientation = orientationIn(bytes.TrimPrefix(data, []byte(exifHeader)))
		}
		return err
	case "ICCP":
		if w.profile != nil || chunk.length > maxProfileBytes {
			return nil
		}
		data, err := w.data(chunk, chunk.length)
		w.profile = newProfile(data)
		return err
	}
	return w.frame.take(chunk)
}

// take keeps a chunk of a picture.
func (f *webpFrame) take(chunk webpChunk) error {
	switch {
	case f.pixels.name != "":
	case chunk.name == "VP8 ", chunk.name == "VP8L":
		f.pixels = chunk
	case chunk.name == "ALPH":
		f.alpha = chunk
	}
	return nil
}

// data returns the first n bytes of a chunk.
func (w *webpFile) data(chunk webpChunk, n int64) ([]byte, error) {
	if chunk.length < n {
		return nil, errors.New("a chunk is too short")
	}
	data := make([]byte, n)
	_, err := w.file.ReadAt(data, chunk.from)
	return data, err
}

// measure reads the size of the first picture, which is the size of a file that is not an extended
// one.
func (w *webpFile) measure() error {
	switch w.frame.pixels.name {
	case "VP8 ":
		data, err := w.data(w.frame.pixels, vp8HeaderBytes)
		if err != nil {
			return err
		}
		width, height := binary.LittleEndian.Uint16(data[6:]), binary.LittleEndian.Uint16(data[8:])
		w.frame.size = image.Pt(int(width&vp8MaxPixels), int(height&vp8MaxPixels))
	case "VP8L":
		data, err := w.data(w.frame.pixels, vp8lHeaderBytes)
		if err != nil {
			return err
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		w.frame.size = image.Pt(int(bits&vp8MaxPixels)+1, int(bits>>14&vp8MaxPixels)+1)
	default:
		return errors.New("no picture")
	}
	if w.canvas == (image.Point{}) {
		w.canvas = w.frame.size
	}
	return nil
}

// open returns a file with the first picture alone.
func (w *webpFile) open(file *io.SectionReader) io.Reader {
	var extended []byte
	chunks := []webpChunk{w.frame.pixels}
	if w.frame.hasAlpha() {
		extended = make([]byte, riffChunkBytes+vp8xBytes)
		copy(extended, "VP8X")
		extended[4], extended[riffChunkBytes] = vp8xBytes, vp8xAlpha
		putUint24(extended[12:], w.frame.size.X-1)
		putUint24(extended[15:], w.frame.size.Y-1)
		chunks = []webpChunk{w.frame.alpha, w.frame.pixels}
	}
	size := 4 + int64(len(extended))
	readers := []io.Reader{nil, bytes.NewReader(extended)}
	for _, chunk := range chunks {
		head := binary.LittleEndian.AppendUint32([]byte(chunk.name), uint32(chunk.length))
		padding := make([]byte, chunk.length&1)
		data := io.NewSectionReader(file, chunk.from, chunk.length)
		readers = append(readers, bytes.NewReader(head), data, bytes.NewReader(padding))
		size += riffChunkBytes + chunk.length + chunk.length&1
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(size))
	readers[0] = bytes.NewReader(append(head, "WEBP"...))
	return io.MultiReader(readers...)
}

// hasAlpha reports whether the transparency is in a chunk of its own.
func (f webpFrame) hasAlpha() bool { return f.alpha.name != "" && f.pixels.name == "VP8 " }

// decodingBytes returns what x/image/webp allocates.
func (w *webpFile) decodingBytes() int64 {
	width, height := int64(w.frame.size.X), int64(w.frame.size.Y)
	if w.frame.pixels.name == "VP8L" {
		return losslessBytes(width, height, w.frame.pixels.length) + webpWorkingBytes
	}
	// Planes of 16 × 16 samples and two of 8 × 8, filter parameters and a row of states, and the
	// coded data.
	units := ((width + 15) / 16) * ((height + 15) / 16)
	decoding := units*(256+2*64+16) + width + 2*w.frame.pixels.length + webpWorkingBytes
	if w.frame.hasAlpha() {
		decoding += width*height + losslessBytes(width, height, w.frame.alpha.length)
	}
	return decoding
}

// losslessBytes returns what x/image/vp8l allocates: pixels twice, three pictures of a pixel for
// each 4 × 4, and Huffman tables. It decodes 2,600 groups of tables at most. A table of one symbol
// takes few bits and some 10 kB while it is read; one of all symbols takes some 150 bytes and 60
// kB.
func losslessBytes(width, height, coded int64) int64 {
	const pixel = 4
	tables := min(2500*coded, 40<<20+400*coded, 216<<20)
	return 2*pixel*width*height + 3*pixel*((width+3)/4)*((height+3)/4) + tables
}

// decodeWebP decodes a file. The lossy format has the reduced range of values of video, which
// x/image/webp returns as if it were the full one: black would be dark grey.
func decodeWebP(r io.Reader) (image.Image, error) {
	decoded, err := webp.Decode(r)
	switch m := decoded.(type) {
	case *image.YCbCr:
		widenRange(m)
	case *image.NYCbCrA:
		widenRange(&m.YCbCr)
	}
	return decoded, err
}

// widenRange changes values from 16 to 235 for brightness, and to 240 for colour, into values from
// 0 to 255.
func widenRange(m *image.YCbCr) {
	var brightness, colour [256]byte
	for i := range 256 {
		brightness[i] = clamp(((i-16)*255*2 + 219) / (2 * 219))
		colour[i] = clamp(128 + ((i-128)*255)/224)
	}
	for i, value := range m.Y {
		m.Y[i] = brightness[value]
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = colour[m.Cb[i]], colour[m.Cr[i]]
	}
}

func clamp(value int) byte { return byte(max(0, min(255, value))) }

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func putUint24(b []byte, value int) { b[0], b[1], b[2] = byte(value), byte(value>>8), byte(value>>16) }
