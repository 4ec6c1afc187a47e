package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
	"io"
)

const (
	pngSignatureBytes = 8
	pngChunkBytes     = 8 // the length and the name before a chunk
	pngSumBytes       = 4 // after it
	pngHeaderBytes    = 13
	pngWorkingBytes   = 256 << 10
	// Colour types.
	pngGray, pngPaletted, pngGrayAlpha = 0, 3, 4
)

// pngFile is what the chunks of a PNG say.
type pngFile struct {
	width, height                      int64
	depth, colorType                   byte
	isInterlaced, hasTransparentColour bool
	hasProfile                         bool
	orientation                        orientation
	profile                            profile
}

func inspectPNG(file *io.SectionReader) (structure, error) {
	// This finds what image/png does not decode.
	if _, err := png.DecodeConfig(buffered(file)); err != nil {
		return structure{}, err
	}
	p := &pngFile{}
	if err := p.walk(buffered(file)); err != nil {
		return structure{}, err
	}
	return structure{
		canvas: image.Rect(0, 0, int(p.width), int(p.height)), open: wholeFile,
		decode: png.Decode, decoding: p.decodingBytes(),
		orientation: p.orientation, profile: p.profile, isGray: p.colorType == pngGray || p.colorType == pngGrayAlpha,
	}, nil
}

// walk reads all chunks.
func (p *pngFile) walk(r interface {
	io.Reader
	Discard(int) (int, error)
}) error {
	if _, err := r.Discard(pngSignatureBytes); err != nil {
		return err
	}
	for {
		var head [pngChunkBytes]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return errNoEnd
		}
		length, name := int(binary.BigEndian.Uint32(head[:])), string(head[4:])
		if name == "IEND" {
			return nil
		}
		kept := 0
		switch name {
		case "IHDR", "iCCP", "eXIf":
			kept = min(length, maxProfileBytes)
		case "tRNS":
			p.hasTransparentColour = true
		}
		var data []byte
		if kept > 0 {
			data = make([]byte, kept)
			if _, err := io.ReadFull(r, data); err != nil {
				return errNoEnd
			}
		}
		if err := p.take(name, data); err != nil {
			return err
		}
		if _, err := r.Discard(length - kept + pngSumBytes); err != nil {
			return errNoEnd
		}
	}
}

// take reads a chunk. Each kind of chunk counts once.
func (p *pngFile) take(name string, data []byte) error {
	switch {
	case name == "IHDR" && p.width > 0:
		return errors.New("two headers")
	case name == "IHDR" && len(data) == pngHeaderBytes:
		p.width, p.height = int64(binary.BigEndian.Uint32(data)), int64(binary.BigEndian.Uint32(data[4:]))
		p.depth, p.colorType, p.isInterlaced = data[8], data[9], data[12] != 0
	case name == "eXIf" && p.orientation == 0:
		p.orientation = orientationIn(data)
	case name == "iCCP" && !p.hasProfile: // only the first is expanded
		p.hasProfile, p.profile = true, profileInPNG(data)
	}
	return nil
}

// profileInPNG returns the profile in a chunk: its name, a zero, the method of compression, and
// the compressed profile.
func profileInPNG(chunk []byte) profile {
	_, compressed, found := bytes.Cut(chunk, []byte{0})
	if !found || len(compressed) < 2 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(compressed[1:]))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxProfileBytes+1))
	if err != nil {
		return nil
	}
	return newProfile(data)
}

// decodingBytes returns what image/png allocates: the pixels, those of the passes of an interlaced
// file, and two rows of each pass.
func (p *pngFile) decodingBytes() int64 {
	bytesPerPixel := int64(4)
	switch isWide := p.depth == 16; {
	case p.colorType == pngPaletted, p.colorType == pngGray && !p.hasTransparentColour && !isWide:
		bytesPerPixel = 1
	case p.colorType == pngGray && !p.hasTransparentColour:
		bytesPerPixel = 2
	case isWide:
		bytesPerPixel = 8
	}
	const maxBytesPerPixel, countable = 8, 1 << 50 // what exceeds it is too large for any machine
	pixels, rows := bytesPerPixel*min(p.width*p.height, countable), 2*(maxBytesPerPixel*p.width+1)
	if p.isInterlaced {
		return 2*pixels + 3*rows + pngWorkingBytes // the widths of the passes sum to less than three
	}
	return pixels + rows + pngWorkingBytes
}
