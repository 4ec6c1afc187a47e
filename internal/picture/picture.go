// Package picture turns an uploaded file into the two pictures that are stored beside it: a view
// and a thumbnail.
//
// Inspect reads the structure of a file, not its pixels, and reports how much memory Make takes.
// The caller reserves that, for example in an admission.Gate, and calls Make, which decodes the
// file once.
//
// The view and the thumbnail are JPEGs, encoded from pixels: upright, transparent parts white, an
// animation by its first picture. Of the file's metadata they have the ICC profile only. Make
// drops EXIF data, comments, and whatever follows the picture.
//
// A file may be a valid picture and a script or an archive too. This package does not change the
// file, so a server of the original must send its content type with nosniff, as an attachment.
package picture

import (
	"bufio"
	"context"
	"errors"
	"image"
	"image/gif"
	"io"
)

type Format string

// The formats that Inspect accepts.
const (
	JPEG Format = "JPEG"
	PNG  Format = "PNG"
	WebP Format = "WebP"
	GIF  Format = "GIF"
)

// Picture is a file that Inspect has accepted.
type Picture struct {
	Format Format
	// Width and Height are the size of the upright picture in pixels.
	Width, Height int
	// Memory is how many bytes Make allocates at most.
	Memory int64

	file      *io.SectionReader
	structure structure
}

// structure is what Inspect learns of a file.
type structure struct {
	// canvas is the size of the picture as stored. The decoded picture lies on it at an offset, or
	// fills it.
	canvas image.Rectangle
	offset image.Point
	// open returns what decode reads. decode allocates decoding bytes at most.
	open        func(*io.SectionReader) io.Reader
	decode      func(io.Reader) (image.Image, error)
	decoding    int64
	orientation orientation
	profile     profile
	// isGray says that all values of colours are equal.
	isGray bool
}

// formats has the beginnings of files, where ? stands for any byte.
var formats = []struct {
	begin   string
	format  Format
	inspect func(*io.SectionReader) (structure, error)
}{
	{"\xff\xd8\xff", JPEG, inspectJPEG},
	{"\x89PNG\r\n\x1a\n", PNG, inspectPNG},
	{"RIFF????WEBP", WebP, inspectWebP},
	{"GIF87a", GIF, inspectGIF},
	{"GIF89a", GIF, inspectGIF},
}

const (
	// headBytes is how much of a file names its format.
	headBytes = 512
	// readBytes is how much of a file is read at once.
	readBytes = 64 << 10
	// InspectMemory is how many bytes Inspect allocates at most.
	InspectMemory = 4 << 20
)

// Inspect reads the structure of a file. It refuses a file whose Memory would exceed maxMemory,
// since the caller could never reserve it. Errors: *Refusal.
func Inspect(ctx context.Context, file *io.SectionReader, maxMemory int64) (p *Picture, err error) {
	read := newReading(ctx, file)
	defer func() { err = read.explain(recover(), err) }()
	head := make([]byte, min(headBytes, file.Size()))
	if _, err := io.ReadFull(io.NewSectionReader(read, 0, file.Size()), head); err != nil {
		return nil, err
	}
	for _, each := range formats {
		if !begins(head, each.begin) {
			continue
		}
		read.format = each.format
		its, err := each.inspect(io.NewSectionReader(read, 0, file.Size()))
		if err != nil {
			return nil, err
		}
		if its.canvas.Empty() {
			return nil, errors.New("the picture has no pixels")
		}
		p := &Picture{
			Format: each.format, Width: its.canvas.Dx(), Height: its.canvas.Dy(), file: file, structure: its,
			Memory: memoryOf(its),
		}
		if its.orientation.swapsAxes() {
			p.Width, p.Height = p.Height, p.Width
		}
		if p.Memory > maxMemory {
			return nil, refuse(TooLarge,
				"The picture has %d × %d pixels. This server cannot decode that many in a %s file. "+
					"Send a smaller picture.", p.Width, p.Height, p.Format)
		}
		return p, nil
	}
	return nil, refuse(NotSupported, "This is %s. Send a JPEG, PNG, WebP or GIF file.", describe(head))
}

// memoryOf returns what Make allocates. It is at least a byte for each pixel, so that its limit
// bounds the time too.
func memoryOf(its structure) int64 {
	return max(its.decoding, int64(its.canvas.Dx())*int64(its.canvas.Dy())) + makingBytes(its)
}

const gifWorkingBytes = 256 << 10

func inspectGIF(file *io.SectionReader) (structure, error) {
	screen, err := gif.DecodeConfig(buffered(file))
	if err != nil {
		return structure{}, err
	}
	return structure{
		canvas: image.Rect(0, 0, screen.Width, screen.Height), open: wholeFile,
		decode: gif.Decode, // the first picture only, which lies within the screen
		// An interlaced picture is copied.
		decoding: 2*int64(screen.Width)*int64(screen.Height) + gifWorkingBytes,
	}, nil
}

// buffered returns a reader of a file from its beginning.
func buffered(file *io.SectionReader) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(file, 0, file.Size()), readBytes)
}

// wholeFile is the open of formats whose decoder reads the file as it is.
func wholeFile(file *io.SectionReader) io.Reader { return buffered(file) }

// reading reads a file for one call. It ends with the context, and remembers why a read failed,
// since decoders hide it.
type reading struct {
	ctx    context.Context
	file   *io.SectionReader
	format Format
	failed error
}

func newReading(ctx context.Context, file *io.SectionReader) *reading {
	return &reading{ctx: ctx, file: file}
}

// ReadAt reads from the file until the context ends.
func (r *reading) ReadAt(p []byte, offset int64) (n int, err error) {
	if err = r.ctx.Err(); err == nil {
		n, err = r.file.ReadAt(p, offset)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}
