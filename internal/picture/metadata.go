package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is how a camera was held: the value of the tag Orientation of EXIF. Values other
// than 2 to 8 mean that the picture is stored upright.
type orientation uint16

const (
	tiffHeaderBytes = 8
	tiffEntryBytes  = 12
	orientationTag  = 0x0112
	typeShort       = 3
	maxOrientation  = 8
)

// orientationIn returns the orientation in EXIF data, which are a TIFF file: the byte order, the
// offset of the first directory, and there a count and entries, each with a tag, a type, a count
// and a value. It is 0 if there is none.
//
// No library reads it, since the rest of EXIF is not wanted, and is where the parsers of libraries
// have their faults.
func orientationIn(exif []byte) orientation {
	if len(exif) < tiffHeaderBytes {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(exif, []byte("II")) {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 0
	}
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < tiffEntryBytes {
			return 0
		}
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == typeShort {
			if value := orientation(order.Uint16(entries[8:])); value <= maxOrientation {
				return value
			}
			return 0
		}
		entries = entries[tiffEntryBytes:]
	}
	return 0
}

// swapsAxes reports whether the upright picture is as wide as the stored one is high.
func (o orientation) swapsAxes() bool { return o >= 5 }

// stored returns which pixel of a stored picture of a size is at (x, y) of the upright one.
func (o orientation) stored(x, y int, size image.Point) (int, int) {
	right, bottom := size.X-1, size.Y-1
	switch o {
	case 2:
		return right - x, y
	case 3:
		return right - x, bottom - y
	case 4:
		return x, bottom - y
	case 5:
		return y, x
	case 6:
		return y, bottom - x
	case 7:
		return right - y, bottom - x
	case 8:
		return right - y, x
	}
	return x, y
}

// upright returns a stored picture as it was seen.
func (o orientation) upright(m *image.RGBA) *image.RGBA {
	if o < 2 {
		return m
	}
	size := m.Rect.Size()
	bounds := image.Rectangle{Max: size}
	if o.swapsAxes() {
		bounds.Max = image.Pt(size.Y, size.X)
	}
	turned := image.NewRGBA(bounds)
	for y := range turned.Rect.Dy() {
		for x := range turned.Rect.Dx() {
			turned.SetRGBA(x, y, m.RGBAAt(o.stored(x, y, size)))
		}
	}
	return turned
}

// profile is an ICC profile, which says what colours the values of pixels mean.
type profile []byte

const (
	// maxProfileBytes bounds a profile that is kept. Those of cameras and screens have up to 5 kB.
	maxProfileBytes   = 512 << 10
	minProfileBytes   = 132
	profileSpaceAt    = 16
	profileMagicAt    = 36
	profileMagic      = "acsp"
	spaceRGB          = "RGB "
	spaceGray         = "GRAY"
	maxProfilePart    = maxSegmentBytes - 2 - len(iccHeader) - profilePartHeader
	profilePartHeader = 2 // the number of the part, from 1 on, and how many there are
)

// newProfile returns the profile in data; nil if that is none.
func newProfile(data []byte) profile {
	if len(data) < minProfileBytes || len(data) > maxProfileBytes {
		return nil
	}
	hasSize := int64(binary.BigEndian.Uint32(data)) == int64(len(data))
	if !hasSize || !bytes.HasPrefix(data[profileMagicAt:], []byte(profileMagic)) {
		return nil
	}
	return data
}

// space returns the colour space of the pixels: spaceRGB, spaceGray, or another one.
func (p profile) space() string {
	if p == nil {
		return ""
	}
	return string(p[profileSpaceAt:][:4])
}

// segments returns the segments of a JPEG with the profile.
func (p profile) segments() []byte {
	parts := ceil(len(p), maxProfilePart)
	segments := make([]byte, 0, len(p)+parts*(maxSegmentBytes+2-maxProfilePart))
	for i := range parts {
		part := p[i*maxProfilePart : min((i+1)*maxProfilePart, len(p))]
		segments = append(segments, 0xff, markAPP2)
		length := 2 + len(iccHeader) + profilePartHeader + len(part)
		segments = binary.BigEndian.AppendUint16(segments, uint16(length))
		segments = append(append(segments, iccHeader...), byte(i+1), byte(parts))
		segments = append(segments, part...)
	}
	return segments
}

// profileParts gathers a profile from the segments of a JPEG.
type profileParts struct {
	parts map[byte][]byte
	count byte
	bytes int
}

// add keeps a part. A profile that is too long stays incomplete.
func (p *profileParts) add(segment []byte) {
	if len(segment) < profilePartHeader || p.bytes+len(segment) > maxProfileBytes {
		return
	}
	if p.parts == nil {
		p.parts = make(map[byte][]byte)
	}
	p.count = segment[1]
	p.parts[segment[0]] = bytes.Clone(segment[profilePartHeader:])
	p.bytes += len(segment)
}

// join returns the profile if it is complete.
func (p *profileParts) join() profile {
	var whole []byte
	for i := range p.count {
		part, found := p.parts[i+1]
		if !found {
			return nil
		}
		whole = append(whole, part...)
	}
	return newProfile(whole)
}
