package picture

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
)

const (
	// ViewPixels and ThumbnailPixels are the longest sides of what Make writes. It enlarges nothing.
	ViewPixels      = 1600
	ThumbnailPixels = 320

	quality            = 85 // of JPEGs; more than 85 is not seen in photos, and less is
	makingWorkingBytes = 128 << 10
)

// Make decodes the file and writes its view and its thumbnail, as JPEGs. Errors: *Refusal.
func (p *Picture) Make(ctx context.Context, view, thumbnail io.Writer) error {
	large, err := p.view(ctx)
	if err != nil {
		return err
	}
	if err := p.encode(view, large); err != nil {
		return err
	}
	return p.encode(thumbnail, large.shrunk(ThumbnailPixels))
}

// view decodes the file and returns the upright view.
func (p *Picture) view(ctx context.Context) (view planes, err error) {
	read := newReading(ctx, p.file)
	read.format = p.Format
	defer func() { err = read.explain(recover(), err) }()
	decoded, err := p.structure.decode(p.structure.open(io.NewSectionReader(read, 0, p.file.Size())))
	if err != nil {
		return nil, err
	}
	if !decoded.Bounds().Add(p.structure.offset).In(p.structure.canvas) {
		return nil, errors.New("the picture lies outside its canvas")
	}
	return p.pixels(decoded).shrunk(ViewPixels).upright(p.structure.orientation), nil
}

// pixels returns the decoded picture on its canvas.
func (p *Picture) pixels(decoded image.Image) planes {
	if decoded.Bounds().Add(p.structure.offset) == p.structure.canvas {
		switch m := decoded.(type) {
		case *image.Gray:
			return planes{planeOf(m.Pix, m.Stride, m.Rect.Size(), 1)}
		case *image.YCbCr:
			chroma, at := chromaSize(m), m.COffset(m.Rect.Min.X, m.Rect.Min.Y)
			return planes{
				planeOf(m.Y[m.YOffset(m.Rect.Min.X, m.Rect.Min.Y):], m.YStride, m.Rect.Size(), 1),
				planeOf(m.Cb[at:], m.CStride, chroma, 1), planeOf(m.Cr[at:], m.CStride, chroma, 1),
			}
		}
	}
	channels := colourChannels
	if p.structure.isGray {
		channels = 1
	}
	return planes{flatten(decoded, p.structure.canvas.Sub(p.structure.offset), channels)}
}

// chromaSize returns the size of the two planes of colour.
func chromaSize(m *image.YCbCr) image.Point {
	across, down := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	return image.Pt(ceil(m.Rect.Dx(), across), ceil(m.Rect.Dy(), down))
}

// flatten returns a picture on white paper. Paper that the picture does not cover stays white.
func flatten(decoded image.Image, paper image.Rectangle, channels int) plane {
	row := make([]byte, paper.Dx()*channels)
	bounds := decoded.Bounds()
	return plane{size: paper.Size(), channels: channels, row: func(y int) []byte {
		for i := range row {
			row[i] = 0xff
		}
		if y += paper.Min.Y; y < bounds.Min.Y || y >= bounds.Max.Y {
			return row
		}
		covered := row[(bounds.Min.X-paper.Min.X)*channels:]
		for i := range bounds.Dx() {
			flattenPixel(covered[i*channels:][:channels], colorAt(decoded, bounds.Min.X+i, y))
		}
		return row
	}}
}

func colorAt(m image.Image, x, y int) color.RGBA64 {
	if m, isFast := m.(image.RGBA64Image); isFast {
		return m.RGBA64At(x, y)
	}
	r, g, b, a := m.At(x, y).RGBA()
	return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
}

// flattenPixel sets a pixel to a colour on white.
func flattenPixel(pixel []byte, c color.RGBA64) {
	white := 0xffff - c.A
	pixel[0] = byte((c.R + white) >> 8)
	if len(pixel) == colourChannels {
		pixel[1], pixel[2] = byte((c.G+white)>>8), byte((c.B+white)>>8)
	}
}

// encode writes a picture as a JPEG with the profile, if that is one of its kind of pixels. One for inks is not:
// the decoder has made light of them.
func (p *Picture) encode(w io.Writer, m planes) error {
	start := []byte{0xff, 0xd8}
	if _, err := w.Write(start); err != nil {
		return err
	}
	if space := p.structure.profile.space(); space == spaceGray && m.isGray() || space == spaceRGB && !m.isGray() {
		if _, err := w.Write(p.structure.profile.segments()); err != nil {
			return err
		}
	}
	return jpeg.Encode(&tail{w, len(start)}, m.image(), &jpeg.Options{Quality: quality})
}

// tail writes all but the first bytes.
type tail struct {
	w    io.Writer
	skip int
}

func (t *tail) Write(p []byte) (int, error) {
	skipped := min(t.skip, len(p))
	t.skip -= skipped
	n, err := t.w.Write(p[skipped:])
	return skipped + n, err
}

// makingBytes returns what Make allocates beside the decoder: a row of the canvas, the sums of a row, the view as
// stored and upright, and the thumbnail; and the profile twice.
func makingBytes(its structure) int64 {
	const sumBytes = 8
	view, thumbnail := fit(its.canvas.Size(), ViewPixels), fit(its.canvas.Size(), ThumbnailPixels)
	pixels, views := int64(its.canvas.Dx())+2*sumBytes*int64(view.X+thumbnail.X)+int64(thumbnail.X*thumbnail.Y), int64(1)
	if its.orientation > 1 {
		views = 2
	}
	return makingWorkingBytes + colourChannels*(pixels+views*int64(view.X*view.Y)) + 3*int64(len(its.profile))
}
