package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/bits"
	"testing"
)

// Pictures of the tests have four quarters, in these colours.
var (
	red    = color.NRGBA{0xff, 0, 0, 0xff}
	green  = color.NRGBA{0, 0xff, 0, 0xff}
	blue   = color.NRGBA{0, 0, 0xff, 0xff}
	yellow = color.NRGBA{0xff, 0xff, 0, 0xff}
	white  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// quarters returns a picture whose quarters are red and green above blue and yellow.
func quarters(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.SetNRGBA(x, y, [4]color.NRGBA{red, green, blue, yellow}[2*(2*y/height)+2*x/width])
		}
	}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func encodeJPEG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func encodePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

func encodeGIF(t testing.TB, frames ...*image.Paletted) []byte {
	t.Helper()
	var b bytes.Buffer
	screen := image.Rectangle{}
	for _, frame := range frames {
		screen = screen.Union(frame.Rect)
	}
	must(t, gif.EncodeAll(&b, &gif.GIF{
		Image: frames, Delay: make([]int, len(frames)), Config: image.Config{Width: screen.Dx(), Height: screen.Dy()},
	}))
	return b.Bytes()
}

// paletted returns a picture in few colours.
func paletted(m image.Image) *image.Paletted {
	p := image.NewPaletted(m.Bounds(), color.Palette{color.Transparent, red, green, blue, yellow, white})
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			p.Set(x, y, m.At(x, y))
		}
	}
	return p
}

// segment returns a segment of a JPEG.
func segment(marker byte, data string) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// withSegments puts segments behind the start of a JPEG.
func withSegments(file []byte, segments ...[]byte) []byte {
	return append(append([]byte{0xff, 0xd8}, bytes.Join(segments, nil)...), file[2:]...)
}

// flatJPEG describes a JPEG whose blocks have one value each. No encoder writes the kinds that it can.
type flatJPEG struct {
	width, height int
	frame         byte // the marker of its header
	precision     byte
	components    []jpegComponent
	segments      [][]byte // before the frame
	scans         int      // further ones, which are empty
	// value returns the value of a component in a block.
	value func(component, x, y int) int
}

// ofComponents returns components with numbers from 1 on, by their sampling.
func ofComponents(sampling ...int) []jpegComponent {
	var components []jpegComponent
	for i, each := range sampling {
		components = append(components, jpegComponent{byte(i + 1), each / 10, each % 10})
	}
	return components
}

func adobe(transform byte) []byte {
	return segment(markAPP14, "Adobe\x00\x64\x00\x00\x00\x00"+string([]byte{transform}))
}

// encode returns the file. Its table for the first coefficient has codes of four bits, and for the others one code,
// of one bit, for the end of a block.
func (f flatJPEG) encode() []byte {
	file := withSegments([]byte{0xff, 0xd8}, f.segments...)
	quantization := bytes.Repeat([]byte{1}, 65)
	quantization[0] = 0
	file = append(file, segment(0xdb, string(quantization))...)
	header := []byte{max(f.precision, 8), byte(f.height >> 8), byte(f.height), byte(f.width >> 8), byte(f.width), byte(len(f.components))}
	scan := []byte{byte(len(f.components))}
	for _, c := range f.components {
		header = append(header, c.id, byte(c.horizontal<<4|c.vertical), 0)
		scan = append(scan, c.id, 0)
	}
	file = append(file, segment(f.frame, string(header))...)
	file = append(file, segment(0xc4, "\x00\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")...)
	file = append(file, segment(0xc4, "\x10\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")...)
	end := byte(63)
	if f.frame == markSOF2 {
		end = 0
	}
	file = append(file, segment(markSOS, string(append(scan, 0, end, 0)))...)
	file = append(file, f.coded()...)
	for range f.scans {
		file = append(file, segment(markSOS, string([]byte{1, f.components[0].id, 0, 1, 63, 0}))...)
	}
	return append(file, 0xff, markEOI)
}

// coded returns the coded blocks.
func (f flatJPEG) coded() []byte {
	var w bitWriter
	last := make([]int, len(f.components))
	put := func(component, x, y int) {
		value := 0
		if f.value != nil {
			value = 8 * (f.value(component, x, y) - 128)
		}
		difference := value - last[component]
		last[component] = value
		size := bits.Len(uint(max(difference, -difference)))
		w.put(uint(size), 4)
		if difference < 0 {
			difference += 1<<size - 1
		}
		w.put(uint(difference), size)
		if f.frame != markSOF2 {
			w.put(0, 1)
		}
	}
	if len(f.components) == 1 {
		for y := range ceil(f.height, 8) {
			for x := range ceil(f.width, 8) {
				put(0, x, y)
			}
		}
		return w.flush()
	}
	first := f.components[0]
	for my := range ceil(f.height, 8*first.vertical) {
		for mx := range ceil(f.width, 8*first.horizontal) {
			for i, c := range f.components {
				for v := range c.vertical {
					for h := range c.horizontal {
						put(i, mx*c.horizontal+h, my*c.vertical+v)
					}
				}
			}
		}
	}
	return w.flush()
}

// bitWriter writes the bits of a JPEG, the highest first.
type bitWriter struct {
	data  []byte
	bits  uint
	count int
}

func (w *bitWriter) put(value uint, count int) {
	for count--; count >= 0; count-- {
		w.bits = w.bits<<1 | value>>count&1
		if w.count++; w.count == 8 {
			if w.data = append(w.data, byte(w.bits)); byte(w.bits) == 0xff {
				w.data = append(w.data, 0)
			}
			w.bits, w.count = 0, 0
		}
	}
}

func (w *bitWriter) flush() []byte {
	for w.count > 0 {
		w.put(1, 1)
	}
	return w.data
}

// chunk returns a chunk of a PNG.
func chunk(name string, data []byte) []byte {
	c := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...)
	c = append(c, data...)
	return binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
}

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write(data)
	must(t, err)
	must(t, w.Close())
	return b.Bytes()
}

const pngSignature = "\x89PNG\r\n\x1a\n"

func pngHeader(width, height uint32, depth, colorType, interlace byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return append(header, depth, colorType, 0, 0, interlace)
}

// zeroPNG returns a PNG of zeros, of any kind, with chunks before its pixels.
func zeroPNG(t testing.TB, width, height int, depth, colorType, interlace byte, chunks ...[]byte) []byte {
	t.Helper()
	samples := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colorType]
	size := func(width, height int) int {
		if width == 0 {
			return 0
		}
		return height * (1 + ceil(width*samples*int(depth), 8))
	}
	total := size(width, height)
	if interlace == 1 {
		total = 0
		for _, pass := range [][4]int{{8, 8, 0, 0}, {8, 8, 4, 0}, {4, 8, 0, 4}, {4, 4, 2, 0}, {2, 4, 0, 2}, {2, 2, 1, 0}, {1, 2, 0, 1}} {
			total += size(ceil(width-pass[2], pass[0]), ceil(height-pass[3], pass[1]))
		}
	}
	file := append([]byte(pngSignature), chunk("IHDR", pngHeader(uint32(width), uint32(height), depth, colorType, interlace))...)
	file = append(file, bytes.Join(chunks, nil)...)
	if colorType == pngPaletted {
		file = append(file, chunk("PLTE", []byte{1, 2, 3})...)
	}
	file = append(file, chunk("IDAT", compress(t, make([]byte, total)))...)
	return append(file, chunk("IEND", nil)...)
}

// withChunks puts chunks behind the header of a PNG.
func withChunks(file []byte, chunks ...[]byte) []byte {
	const header = len(pngSignature) + pngChunkBytes + pngHeaderBytes + pngSumBytes
	return append(append(bytes.Clone(file[:header]), bytes.Join(chunks, nil)...), file[header:]...)
}

// riff returns a WebP of chunks.
func riff(chunks ...[]byte) []byte {
	data := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(data))), data...)
}

func riffChunk(name string, data []byte) []byte {
	c := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	return append(append(c, data...), make([]byte, len(data)&1)...)
}

func vp8x(flags byte, width, height int) []byte {
	data := make([]byte, vp8xBytes)
	data[0] = flags
	putUint24(data[4:], width-1)
	putUint24(data[7:], height-1)
	return riffChunk("VP8X", data)
}

func anmf(x, y, width, height int, chunks ...[]byte) []byte {
	data := make([]byte, anmfBytes)
	putUint24(data, x/2)
	putUint24(data[3:], y/2)
	putUint24(data[6:], width-1)
	putUint24(data[9:], height-1)
	return riffChunk("ANMF", append(data, bytes.Join(chunks, nil)...))
}

// lossless returns a chunk of a picture in colours of 0 and 255: each channel has a table of these two values.
func lossless(m image.Image) []byte {
	size := m.Bounds().Size()
	var data []byte
	at := 0
	put := func(value, count int) {
		for i := range count {
			if at%8 == 0 {
				data = append(data, 0)
			}
			data[at/8] |= byte(value >> i & 1 << (at % 8))
			at++
		}
	}
	put(0x2f, 8)
	put(size.X-1, 14)
	put(size.Y-1, 14)
	put(0b0000, 4) // no hint of transparency, the version
	put(0b000, 3)  // no transformation, no cache, one group of tables
	for range 4 {  // green, red, blue, transparency
		put(0b111, 3)     // a simple table, two symbols, of eight bits
		put(0xff<<8, 8*2) // 0 and 255
	}
	put(0b0001, 4) // distances: a simple table, one symbol, of one bit, 0
	for y := range size.Y {
		for x := range size.X {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			for _, value := range []byte{c.G, c.R, c.B, c.A} {
				put(int(value>>7), 1)
			}
		}
	}
	return riffChunk("VP8L", data)
}

// Quarters of 32 × 32 pixels, written by cwebp 1.2: lossy; lossy, with the lower half transparent; lossy, the first
// frame of an animation whose second one is black.
const (
	lossyWebP = "UklGRmYAAABXRUJQVlA4IFoAAACQAwCdASogACAAAoBCJaACdMoRwN4B+Kv5Ac4ZoF25zPwM+BMQAP7vdtf+EzLov/e2Mx/7V6hv" +
		"AuMXzmyubK5srmy/2gA5ObhLtqXOP8KFtyjz/vG/YyIAAAA="
	lossyAlphaWebP = "UklGRowAAABXRUJQVlA4WAoAAAAQAAAAHwAAHwAAQUxQSBMAAAABDzD/ERFCIJDsLz1AAhH9z3kcAFZQOCBSAAAAcAMAnQEqIAAg" +
		"AAKAQiWgAnTM0MDeAfir+QHIBdzcz8DPgdjAAP7vdtf+FFUXb/3tj/612ntnhUwmkq5srmy7my7my/2gBKVm8dOJLpbhM5wAAA=="
	animatedWebP = "UklGRt4AAABXRUJQVlA4WAoAAAACAAAAHwAAHwAAQU5JTQYAAAAAAP//AABBTk1GbgAAAAAAAAAAAB8AAB8AAGQAAAJWUDggVgAA" +
		"ANADAJ0BKiAAIAACADQloAJ0yhHA3gH4V/rNzBmgXZ39cM77EBU0wAD+8MQL/x+iBpv/kBkAPZfVuj9cj119q1nf8o9b6Nxy+wvb" +
		"Tf6hK9GbrNeldmAAQU5NRjwAAAAAAAAAAAAfAAAfAABkAAAAVlA4ICQAAAB0AgCdASogACAAPpFEnUqCgIAAASCWkAAD2joAAP74" +
		"zxrAAAA="
)

func fromBase64(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	must(t, err)
	return data
}

// tiff returns EXIF data with an orientation and a text that must not leave the file.
func tiff(order binary.AppendByteOrder, orientation uint16) []byte {
	data := []byte(map[bool]string{true: "II", false: "MM"}[order == binary.AppendByteOrder(binary.LittleEndian)])
	data = order.AppendUint32(order.AppendUint16(data, 42), tiffHeaderBytes)
	data = order.AppendUint16(data, 2)
	data = order.AppendUint32(order.AppendUint16(order.AppendUint16(data, 0x010e), 2), uint32(len(secret)))
	data = order.AppendUint32(data, tiffHeaderBytes+2+2*tiffEntryBytes+4)
	data = order.AppendUint32(order.AppendUint16(order.AppendUint16(data, orientationTag), typeShort), 1)
	data = order.AppendUint16(order.AppendUint16(data, orientation), 0)
	return append(order.AppendUint32(data, 0), secret...)
}

const secret = "SECRET: 25.034N 121.564E <script>alert(1)</script>"

// iccProfile returns a profile for a colour space, of a size.
func iccProfile(space string, size int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i * 7)
	}
	binary.BigEndian.PutUint32(data, uint32(size))
	copy(data[profileSpaceAt:], space)
	copy(data[profileMagicAt:], profileMagic)
	return data
}
