package picture

import (
	"image"
	"math"
)

// colourChannels is how many bytes a pixel of a plane has that holds whole colours: red, green, blue, and one unused,
// as image.RGBA has them.
const colourChannels = 4

// plane is a rectangle of pixels, each of some bytes. Its rows are read in order, and one is valid until the next.
type plane struct {
	size     image.Point
	channels int
	row      func(y int) []byte
	// pixels are those of a plane in memory that has no gaps between rows.
	pixels []byte
}

// planeOf returns a plane of pixels in memory.
func planeOf(pixels []byte, stride int, size image.Point, channels int) plane {
	return plane{size, channels, func(y int) []byte { return pixels[y*stride:][:size.X*channels] }, pixels}
}

// planes are one plane of grey values or whole colours, or three: brightness and two of colour, maybe of half its size.
type planes []plane

func (m planes) isGray() bool { return len(m) == 1 && m[0].channels == 1 }

// fit returns a size whose longest side has at most that many pixels.
func fit(size image.Point, longest int) image.Point {
	if side := max(size.X, size.Y); side > longest {
		scale := float64(longest) / float64(side)
		return image.Pt(max(1, int(math.Round(float64(size.X)*scale))), max(1, int(math.Round(float64(size.Y)*scale))))
	}
	return size
}

// shrunk returns the picture in pixels of its own, with at most that many on its longest side.
func (m planes) shrunk(longest int) planes {
	size := fit(m[0].size, longest)
	shrunk := make(planes, len(m))
	for i, each := range m {
		if i > 0 { // a plane of colour
			size = image.Pt(ceil(fit(m[0].size, longest).X, 2), ceil(fit(m[0].size, longest).Y, 2))
		}
		shrunk[i] = each.scaled(size)
	}
	return shrunk
}

// scaled returns the plane in another size. Each pixel is the mean of the area that it covers, which neither leaves out
// fine lines nor adds seams to edges. The sums are exact: in units in which an old pixel is as wide as the new plane,
// a new pixel is as wide as the old plane.
func (p plane) scaled(size image.Point) plane {
	width := size.X * p.channels
	pixels := make([]byte, width*size.Y)
	line, sums := make([]uint64, width), make([]uint64, width)
	area := uint64(p.size.X) * uint64(p.size.Y)
	next, room := pixels, p.size.Y
	for y := range p.size.Y {
		p.scaleRow(line, p.row(y), size.X)
		for rest := size.Y; rest > 0; {
			part := min(rest, room)
			for i, value := range line {
				sums[i] += value * uint64(part)
			}
			rest -= part
			if room -= part; room > 0 {
				continue
			}
			for i, sum := range sums {
				next[i] = byte((sum + area/2) / area)
			}
			clear(sums)
			next, room = next[width:], p.size.Y
		}
	}
	return planeOf(pixels, width, size, p.channels)
}

// scaleRow sets line to the sums of the areas that width new pixels cover in a row.
func (p plane) scaleRow(line []uint64, row []byte, width int) {
	if p.channels == colourChannels {
		p.scaleColours(line, row, width)
		return
	}
	at, room, sum := 0, p.size.X, uint64(0)
	for _, value := range row {
		rest := width
		for rest >= room {
			line[at] = sum + uint64(value)*uint64(room)
			rest -= room
			at, room, sum = at+1, p.size.X, 0
		}
		sum += uint64(value) * uint64(rest)
		room -= rest
	}
}

func (p plane) scaleColours(line []uint64, row []byte, width int) {
	at, room := 0, p.size.X
	var red, green, blue uint64
	for ; len(row) >= colourChannels; row = row[colourChannels:] {
		r, g, b := uint64(row[0]), uint64(row[1]), uint64(row[2])
		rest := width
		for rest >= room {
			part := uint64(room)
			line[at], line[at+1], line[at+2] = red+r*part, green+g*part, blue+b*part
			rest -= room
			at, room, red, green, blue = at+colourChannels, p.size.X, 0, 0, 0
		}
		part := uint64(rest)
		red, green, blue = red+r*part, green+g*part, blue+b*part
		room -= rest
	}
}

// upright returns the picture, which is in memory, as it was seen.
func (m planes) upright(o orientation) planes {
	if o < 2 {
		return m
	}
	turned := make(planes, len(m))
	for i, each := range m {
		turned[i] = each.upright(o)
	}
	return turned
}

func (p plane) upright(o orientation) plane {
	size := p.size
	if o.swapsAxes() {
		size.X, size.Y = size.Y, size.X
	}
	pixels := make([]byte, 0, size.X*size.Y*p.channels)
	for y := range size.Y {
		for x := range size.X {
			fromX, fromY := o.stored(x, y, p.size)
			pixels = append(pixels, p.row(fromY)[fromX*p.channels:][:p.channels]...)
		}
	}
	return planeOf(pixels, size.X*p.channels, size, p.channels)
}

// image returns the picture, which is in memory, for an encoder. The fourth byte of a colour does not count there.
func (m planes) image() image.Image {
	bounds, first := image.Rectangle{Max: m[0].size}, m[0].pixels
	switch {
	case m.isGray():
		return &image.Gray{Pix: first, Stride: bounds.Dx(), Rect: bounds}
	case len(m) == 1:
		return &image.RGBA{Pix: first, Stride: bounds.Dx() * colourChannels, Rect: bounds}
	}
	return &image.YCbCr{
		Y: first, Cb: m[1].pixels, Cr: m[2].pixels, YStride: bounds.Dx(), CStride: m[1].size.X,
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: bounds,
	}
}
