package picture

import (
	"image"
	"image/draw"
	"math"
)

// pixelBytes is how many bytes a pixel of an image.RGBA has.
const pixelBytes = 4

// fit returns a size whose longest side has at most that many pixels.
func fit(size image.Point, longest int) image.Point {
	if side := max(size.X, size.Y); side > longest {
		scale := float64(longest) / float64(side)
		return image.Pt(max(1, int(math.Round(float64(size.X)*scale))), max(1, int(math.Round(float64(size.Y)*scale))))
	}
	return size
}

// scaled returns a picture on white paper in another size. Each pixel is the mean of the area that
// it covers, which neither leaves out fine lines nor adds seams to edges. The sums are exact: in
// units in which an old pixel is as wide as the new picture, a new pixel is as wide as the old
// one.
func scaled(m image.Image, paper image.Rectangle, size image.Point) *image.RGBA {
	made := image.NewRGBA(image.Rectangle{Max: size})
	row := image.NewRGBA(image.Rect(0, 0, paper.Dx(), 1))
	line, sums := make([]uint64, made.Stride), make([]uint64, made.Stride)
	area := uint64(paper.Dx()) * uint64(paper.Dy())
	next, room := made.Pix, paper.Dy()
	for y := range paper.Dy() {
		draw.Draw(row, row.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(row, row.Rect, m, paper.Min.Add(image.Pt(0, y)), draw.Over)
		scaleRow(line, row.Pix, paper.Dx(), size.X)
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
			next, room = next[made.Stride:], paper.Dy()
		}
	}
	return made
}

// scaleRow sets line to the sums of the areas that width new pixels cover in a row of oldWidth
// pixels.
func scaleRow(line []uint64, row []byte, oldWidth, width int) {
	at, room := 0, oldWidth
	var red, green, blue uint64
	for ; len(row) >= pixelBytes; row = row[pixelBytes:] {
		r, g, b := uint64(row[0]), uint64(row[1]), uint64(row[2])
		rest := width
		for rest >= room {
			part := uint64(room)
			line[at], line[at+1], line[at+2], line[at+3] = red+r*part, green+g*part, blue+b*part, 0xff*uint64(oldWidth)
			rest -= room
			at, room, red, green, blue = at+pixelBytes, oldWidth, 0, 0, 0
		}
		part := uint64(rest)
		red, green, blue = red+r*part, green+g*part, blue+b*part
		room -= rest
	}
}
