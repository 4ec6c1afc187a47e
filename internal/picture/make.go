package picture

import (
	"context"
	"errors"
	"image"
	"image/jpeg"
	"io"
)

const (
	// ViewPixels and ThumbnailPixels are the longest sides of what Make writes. It enlarges
	// nothing.
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
	return p.encode(thumbnail, scaled(large, large.Rect, fit(large.Rect.Size(), ThumbnailPixels)))
}

// view decodes the file and returns the upright view.
func (p *Picture) view(ctx context.Context) (view *image.RGBA, err error) {
	read := newReading(ctx, p.file)
	read.format = p.Format
	defer func() { err = read.explain(recover(), err) }()
	its := p.structure
	decoded, err := its.decode(its.open(io.NewSectionReader(read, 0, p.file.Size())))
	if err != nil {
		return nil, err
	}
	if !decoded.Bounds().Add(its.offset).In(its.canvas) {
		return nil, errors.New("the picture lies outside its canvas")
	}
	view = scaled(decoded, its.canvas.Sub(its.offset), fit(its.canvas.Size(), ViewPixels))
	return its.orientation.upright(view), nil
}

// encode writes a picture as a JPEG with the profile, if that is one of its kind of pixels. One
// for inks is not: the decoder has made light of them.
func (p *Picture) encode(w io.Writer, m *image.RGBA) error {
	start, space, pixels := []byte{0xff, 0xd8}, spaceRGB, image.Image(m)
	if p.structure.isGray {
		space, pixels = spaceGray, firstChannel(m)
	}
	if _, err := w.Write(start); err != nil {
		return err
	}
	if p.structure.profile.space() == space {
		if _, err := w.Write(p.structure.profile.segments()); err != nil {
			return err
		}
	}
	return jpeg.Encode(&tail{w, len(start)}, pixels, &jpeg.Options{Quality: quality})
}

func firstChannel(m *image.RGBA) *image.Gray {
	grey := image.NewGray(m.Rect)
	for i := range grey.Pix {
		grey.Pix[i] = m.Pix[pixelBytes*i]
	}
	return grey
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

// makingBytes returns what Make allocates beside the decoder: a row of the canvas, the sums of a
// row, the view as stored and upright, the thumbnail, and both in grey; and the profile twice.
func makingBytes(its structure) int64 {
	const sumBytes = 8
	view, thumbnail := fit(its.canvas.Size(), ViewPixels), fit(its.canvas.Size(), ThumbnailPixels)
	views, small := int64(view.X*view.Y), int64(thumbnail.X*thumbnail.Y)
	pixels := int64(its.canvas.Dx()) + 2*sumBytes*int64(view.X+thumbnail.X) + views + small
	if its.orientation > 1 {
		pixels += views
	}
	if its.isGray {
		pixels += (views + small) / pixelBytes
	}
	return makingWorkingBytes + pixelBytes*pixels + 3*int64(len(its.profile))
}
