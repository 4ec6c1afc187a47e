package console_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

// The pictures of a camera have these colours in their upright corners, and patch in the middle.
var (
	corners = [4]color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}}
	patch   = color.RGBA{200, 80, 80, 255}
)

// cameraPhoto is a photo as a phone takes it: turned by EXIF, with the place, a small picture of itself and, of some, the
// colours of Display P3 or the progressive form.
type cameraPhoto struct {
	// number is drawn in black and white squares, the lowest bit first.
	number, orientation               int
	isPortrait, isWide, isProgressive bool
}

// nthPhoto returns one of 20, which have all orientations, both colour spaces and both forms.
func nthPhoto(n int) cameraPhoto {
	return cameraPhoto{number: n, orientation: n%8 + 1, isPortrait: n%3 == 0, isWide: n%2 == 0, isProgressive: n%5 == 1}
}

// size returns the size of the upright picture.
func (c cameraPhoto) size() (width, height int) {
	if c.isPortrait {
		return 1200, 1600
	}
	return 1600, 1200
}

// at returns the colour of a place in the upright picture.
func (c cameraPhoto) at(x, y, width, height int) color.RGBA {
	cell, row := 8*x/width, 8*y/height
	switch {
	case (cell == 0 || cell == 7) && (row == 0 || row == 7):
		return corners[row/7*2+cell/7]
	case row == 4 && cell >= 1 && cell <= 5:
		return [2]color.RGBA{{0, 0, 0, 255}, {255, 255, 255, 255}}[c.number>>(cell-1)&1]
	case row == 2 && (cell == 3 || cell == 4):
		return patch
	case y > height/2+(x*(c.number+3)/7+c.number*50)%160:
		return color.RGBA{uint8(60 + c.number*5), 120, uint8(70 + x%16), 255}
	}
	return color.RGBA{uint8(110 + y*60/height), uint8(150 + y*60/height), 235, 255}
}

// encode returns the file.
func (c cameraPhoto) encode(t *testing.T) []byte {
	t.Helper()
	width, height := c.size()
	var file, small bytes.Buffer
	for _, each := range []struct {
		into  *bytes.Buffer
		scale int
	}{{&small, 10}, {&file, 1}} {
		if err := jpeg.Encode(each.into, c.stored(width/each.scale, height/each.scale), &jpeg.Options{Quality: 90}); err != nil {
			t.Fatal(err)
		}
	}
	data := file.Bytes()
	if c.isProgressive {
		data = progressive(data)
	}
	segments := segment(0xe1, append([]byte("Exif\x00\x00"), c.exif(small.Bytes())...))
	if c.isWide {
		segments = append(segments, segment(0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), displayP3()...))...)
	}
	return append(append([]byte{0xff, 0xd8}, segments...), data[2:]...)
}

// stored draws the picture as the sensor has it. EXIF says on which sides the first row and the first column are seen.
func (c cameraPhoto) stored(width, height int) image.Image {
	across, down := width, height
	if c.orientation > 4 {
		across, down = height, width
	}
	m := image.NewRGBA(image.Rect(0, 0, across, down))
	for y := range down {
		for x := range across {
			right, below := across-1-x, down-1-y
			upright := [8][2]int{{x, y}, {right, y}, {right, below}, {x, below}, {y, x}, {below, x}, {below, right}, {y, right}}[c.orientation-1]
			m.SetRGBA(x, y, c.at(upright[0], upright[1], width, height))
		}
	}
	return m
}

// compare says what a picture of the photo that the browser shows has otherwise.
func (c cameraPhoto) compare(shown looked, longest int) error {
	width, height := c.size()
	if shown.Width != width*longest/1600 || shown.Height != height*longest/1600 {
		return fmt.Errorf("it has %d × %d pixels", shown.Width, shown.Height)
	}
	isNear := func(got [3]int, want color.RGBA) bool {
		far := 0
		for i, value := range [3]uint8{want.R, want.G, want.B} {
			far = max(far, got[i]-int(value), int(value)-got[i])
		}
		return far < 30
	}
	for i, corner := range corners {
		if !isNear(shown.Corners[i], corner) {
			return fmt.Errorf("it is not upright: its corners are %v", shown.Corners)
		}
	}
	number := 0
	for i, square := range shown.Squares {
		number += square[0] / 128 << i
	}
	// The red of Display P3 is stronger.
	if isStronger := shown.Patch[0] > int(patch.R)+8; number != c.number || isStronger != c.isWide || shown.Profile != c.isWide {
		return fmt.Errorf("it is photo %d, and shows %v", number, shown.Patch)
	}
	if shown.HasExif {
		return errors.New("it has the data of the camera")
	}
	return nil
}

func segment(marker byte, data []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// exif returns EXIF data as phones write it, one half of them in one byte order.
func (c cameraPhoto) exif(small []byte) []byte {
	order, data := binary.AppendByteOrder(binary.BigEndian), []byte("MM\x00\x2a\x00\x00\x00\x08")
	if c.number%4 < 2 {
		order, data = binary.LittleEndian, []byte("II\x2a\x00\x08\x00\x00\x00")
	}
	// 4 entries at 8, 4 of the place at 62, their numbers at 116, 3 entries of the small picture at 164, that at 206.
	entry := func(tag, kind uint16, count, value uint32) {
		data = order.AppendUint32(order.AppendUint16(order.AppendUint16(data, tag), kind), count)
		switch kind {
		case 2: // letters
			data = binary.BigEndian.AppendUint32(data, value)
		case 3:
			data = order.AppendUint16(order.AppendUint16(data, uint16(value)), 0)
		default:
			data = order.AppendUint32(data, value)
		}
	}
	data = order.AppendUint16(data, 4)
	entry(0x010f, 2, 4, 0x43616d00) // the maker, Cam
	entry(0x0112, 3, 1, uint32(c.orientation))
	entry(0x0131, 2, 4, 0x31372e00) // the software
	entry(0x8825, 4, 1, 62)         // the place
	data = order.AppendUint16(order.AppendUint32(data, 164), 4)
	entry(0x0001, 2, 2, 0x4e000000) // N
	entry(0x0002, 5, 3, 116)
	entry(0x0003, 2, 2, 0x45000000) // E
	entry(0x0004, 5, 3, 140)
	data = order.AppendUint32(data, 0)
	for _, value := range []uint32{25, 2, 3, 121, 33, 52} {
		data = order.AppendUint32(order.AppendUint32(data, value), 1)
	}
	data = order.AppendUint16(data, 3)
	entry(0x0103, 3, 1, 6)
	entry(0x0201, 4, 1, 206)
	entry(0x0202, 4, 1, uint32(len(small)))
	return append(order.AppendUint32(data, 0), small...)
}

// displayP3 returns the profile of Display P3, with a gamma of 2.2.
func displayP3() []byte {
	fixed := func(values ...float64) (data []byte) {
		for _, value := range values {
			data = binary.BigEndian.AppendUint32(data, uint32(int32(value*65536)))
		}
		return data
	}
	name := append([]byte("desc\x00\x00\x00\x00\x00\x00\x00\x0bDisplay P3\x00"), make([]byte, 78+11)...)[:104]
	gamma := []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33\x00\x00")
	xyz := func(x, y, z float64) []byte { return append([]byte("XYZ \x00\x00\x00\x00"), fixed(x, y, z)...) }
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", name}, {"cprt", []byte("text\x00\x00\x00\x00none\x00\x00\x00\x00")}, {"wtpt", xyz(0.9642, 1, 0.82491)},
		{"rXYZ", xyz(0.51512, 0.2412, -0.00105)}, {"gXYZ", xyz(0.29198, 0.69225, 0.04189)}, {"bXYZ", xyz(0.1571, 0.06657, 0.78407)},
		{"rTRC", gamma}, {"gTRC", gamma}, {"bTRC", gamma},
	}
	const headBytes = 128
	table, body := binary.BigEndian.AppendUint32(nil, uint32(len(tags))), []byte(nil)
	for _, tag := range tags {
		at := headBytes + 4 + 12*len(tags) + len(body)
		table = binary.BigEndian.AppendUint32(append(table, tag.name...), uint32(at))
		table = binary.BigEndian.AppendUint32(table, uint32(len(tag.data)))
		body = append(body, tag.data...)
	}
	head := make([]byte, headBytes)
	binary.BigEndian.PutUint32(head, uint32(headBytes+len(table)+len(body)))
	copy(head[8:], "\x02\x10\x00\x00mntrRGB XYZ ")
	copy(head[36:], "acsp")
	copy(head[68:], fixed(0.9642, 1, 0.82491))
	return append(append(head, table...), body...)
}

// progressive returns a file of image/jpeg in the progressive form: the bits of its blocks in other scans. Its sides are
// multiples of 16.
func progressive(file []byte) []byte {
	out, tables := append([]byte(nil), file[:2]...), map[byte]map[[2]int]byte{}
	var width, height int
	at := 2
	for ; file[at+1] != 0xda; at += 2 + int(binary.BigEndian.Uint16(file[at+2:])) {
		end := at + 2 + int(binary.BigEndian.Uint16(file[at+2:]))
		next, data := bytes.Clone(file[at:end]), file[at+4:end]
		switch next[1] {
		case 0xc0:
			next[1] = 0xc2
			height, width = int(binary.BigEndian.Uint16(data[1:])), int(binary.BigEndian.Uint16(data[3:]))
		case 0xc4:
			for len(data) > 0 {
				counts, symbols, code := data[1:17], data[17:], 0
				table := map[[2]int]byte{} // by length and code
				tables[data[0]] = table
				for length, count := range counts {
					for range count {
						table[[2]int{length + 1, code}], symbols = symbols[0], symbols[1:]
						code++
					}
					code *= 2
				}
				data = symbols
			}
		}
		out = append(out, next...)
	}
	at += 2 + int(binary.BigEndian.Uint16(file[at+2:]))
	from := bitReader{data: bytes.ReplaceAll(file[at:len(file)-2], []byte{0xff, 0}, []byte{0xff})}
	across := [3]int{width / 8, width / 16, width / 16}
	var first bitWriter
	rest := [3][]bitWriter{make([]bitWriter, width/8*height/8), make([]bitWriter, width/16*height/16), make([]bitWriter, width/16*height/16)}
	for y := range height / 16 {
		for x := range width / 16 {
			for _, block := range [][3]int{{0, 2 * x, 2 * y}, {0, 2*x + 1, 2 * y}, {0, 2 * x, 2*y + 1}, {0, 2*x + 1, 2*y + 1}, {1, x, y}, {2, x, y}} {
				component, chroma := block[0], byte(min(block[0], 1))
				from.copyValue(&first, int(from.copySymbol(&first, tables[chroma])))
				into := &rest[component][block[2]*across[component]+block[1]]
				for k := 1; k < 64; k++ {
					symbol := from.copySymbol(into, tables[0x10|chroma])
					if symbol == 0 {
						break
					}
					from.copyValue(into, int(symbol&15))
					k += int(symbol >> 4)
				}
			}
		}
	}
	out = append(append(out, segment(0xda, []byte{3, 1, 0, 2, 0x10, 3, 0x10, 0, 0, 0})...), first.packed()...)
	for component, blocks := range rest {
		var scan bitWriter
		for _, block := range blocks {
			scan.bits = append(scan.bits, block.bits...)
		}
		table := byte(min(component, 1))
		out = append(append(out, segment(0xda, []byte{1, byte(component + 1), table, 1, 63, 0})...), scan.packed()...)
	}
	return append(out, 0xff, 0xd9)
}

func writeFile(t *testing.T, folder, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type bitReader struct {
	data []byte
	at   int
}

type bitWriter struct{ bits []byte }

func (r *bitReader) copyBit(into *bitWriter) int {
	bit := r.data[r.at/8] >> (7 - r.at%8) & 1
	r.at++
	into.bits = append(into.bits, bit)
	return int(bit)
}

func (r *bitReader) copyValue(into *bitWriter, length int) {
	for range length {
		r.copyBit(into)
	}
}

func (r *bitReader) copySymbol(into *bitWriter, table map[[2]int]byte) byte {
	code := 0
	for length := 1; ; length++ {
		code = 2*code + r.copyBit(into)
		if symbol, isWhole := table[[2]int{length, code}]; isWhole {
			return symbol
		}
	}
}

// packed returns the bits as a scan has them.
func (w *bitWriter) packed() (data []byte) {
	for len(w.bits)%8 > 0 {
		w.bits = append(w.bits, 1)
	}
	for i := 0; i < len(w.bits); i += 8 {
		value := byte(0)
		for _, bit := range w.bits[i : i+8] {
			value = 2*value + bit
		}
		if data = append(data, value); value == 0xff {
			data = append(data, 0)
		}
	}
	return data
}
