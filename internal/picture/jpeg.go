package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
)

// Markers of JPEG segments.
const (
	markSOF0, markSOF2  = 0xc0, 0xc2 // the frames that image/jpeg decodes: baseline, extended, progressive
	markRST0, markRST7  = 0xd0, 0xd7
	markEOI, markSOS    = 0xd9, 0xda
	markAPP0, markAPP1  = 0xe0, 0xe1
	markAPP2, markAPP14 = 0xe2, 0xee
	maxSegmentBytes     = 1<<16 - 1
	blockPixels         = 64     // a block has 8 × 8 samples
	coefficientBytes    = 64 * 4 // of a block, which a progressive decode keeps
	exifHeader          = "Exif\x00\x00"
	iccHeader           = "ICC_PROFILE\x00"
	adobeHeader         = "Adobe"
	adobeTransformAt    = 11
	componentsAt        = 6 // in a frame header; each component has 3 bytes
	maxSamplingPerAxis  = 4
	componentBytes      = 3
	jpegWorkingBytes    = 256 << 10
	jpegConvertedBytes  = 4 // of a pixel, when a decode ends with a conversion
)

// errNoEnd is the error of a truncated file.
var errNoEnd = errors.New("the file ends before its picture")

// maxScans bounds the passes of a progressive JPEG. Each may cost a walk over all blocks for a few
// bytes, so a file of 20 MB could keep a decoder busy for an hour. Encoders write about ten.
const maxScans = 100

// jpegFile is what the segments of a JPEG say.
type jpegFile struct {
	isProgressive bool
	width, height int
	components    []jpegComponent
	scans         int
	// isJFIF, hasAdobe and adobeTransform are as image/jpeg has them at the end of the file.
	isJFIF, hasAdobe bool
	adobeTransform   byte
	orientation      orientation
	profileParts     profileParts
}

// jpegComponent is a colour of a JPEG, and how many blocks it has per unit of the picture.
type jpegComponent struct {
	id                   byte
	horizontal, vertical int
}

func inspectJPEG(file *io.SectionReader) (structure, error) {
	// This finds what image/jpeg does not decode.
	if _, err := jpeg.DecodeConfig(buffered(file)); err != nil {
		return structure{}, err
	}
	j := &jpegFile{}
	if err := j.walk(buffered(file)); err != nil {
		return structure{}, err
	}
	switch {
	case j.scans > maxScans:
		return structure{}, unsupportedError("the JPEG has too many scans")
	case len(j.components) == 4 && !j.hasAdobe:
		return structure{}, unsupportedError("the JPEG has four colours and does not say which")
	}
	return structure{
		canvas: image.Rect(0, 0, j.width, j.height), open: wholeFile, decode: jpeg.Decode, decoding: j.decodingBytes(),
		orientation: j.orientation, profile: j.profileParts.join(), isGray: len(j.components) == 1,
	}, nil
}

// walk reads all segments. It finds segments as image/jpeg does, which skips bytes between them.
// So it also skips the coded pixels, in which no marker but a restart occurs.
func (j *jpegFile) walk(r *bufio.Reader) error {
	if _, err := r.Discard(2); err != nil { // the start of the image
		return err
	}
	segment := make([]byte, maxSegmentBytes)
	for {
		marker, err := nextMarker(r)
		if err != nil {
			return errNoEnd
		}
		switch {
		case marker == markEOI && len(j.components) == 0:
			return errors.New("no frame header")
		case marker == markEOI:
			return nil
		case marker >= markRST0 && marker <= markRST7:
			continue
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return errNoEnd
		}
		n := int(binary.BigEndian.Uint16(length[:])) - len(length)
		if n < 0 {
			return errors.New("a segment is shorter than its header")
		}
		if _, err := io.ReadFull(r, segment[:n]); err != nil {
			return errNoEnd
		}
		if err := j.take(marker, segment[:n]); err != nil {
			return err
		}
	}
}

// nextMarker skips bytes up to a marker and returns it.
func nextMarker(r *bufio.Reader) (byte, error) {
	for {
		if _, err := r.ReadSlice(0xff); errors.Is(err, bufio.ErrBufferFull) {
			continue
		} else if err != nil {
			return 0, err
		}
		marker := byte(0xff)
		for marker == 0xff {
			var err error
			if marker, err = r.ReadByte(); err != nil {
				return 0, err
			}
		}
		if marker != 0 {
			return marker, nil
		}
	}
}

func (j *jpegFile) take(marker byte, segment []byte) error {
	switch {
	case marker >= markSOF0 && marker <= markSOF2:
		return j.takeFrame(marker, segment)
	case marker == markSOS:
		j.scans++
	case marker == markAPP0 && len(segment) >= 5:
		j.isJFIF = bytes.HasPrefix(segment, []byte("JFIF\x00"))
	case marker == markAPP14 && len(segment) > adobeTransformAt && bytes.HasPrefix(segment, []byte(adobeHeader)):
		j.hasAdobe, j.adobeTransform = true, segment[adobeTransformAt]
	case marker == markAPP1 && bytes.HasPrefix(segment, []byte(exifHeader)) && j.orientation == 0:
		j.orientation = orientationIn(segment[len(exifHeader):])
	case marker == markAPP2 && bytes.HasPrefix(segment, []byte(iccHeader)):
		j.profileParts.add(segment[len(iccHeader):])
	}
	return nil
}

func (j *jpegFile) takeFrame(marker byte, header []byte) error {
	if len(j.components) > 0 {
		return errors.New("two frame headers")
	}
	if len(header) < componentsAt {
		return errors.New("a short frame header")
	}
	j.isProgressive = marker == markSOF2
	j.height, j.width = int(binary.BigEndian.Uint16(header[1:])), int(binary.BigEndian.Uint16(header[3:]))
	for rest := header[componentsAt:]; len(rest) >= componentBytes; rest = rest[componentBytes:] {
		c := jpegComponent{rest[0], int(rest[1] >> 4), int(rest[1] & 0xf)}
		if c.horizontal == 0 || c.vertical == 0 || c.horizontal > maxSamplingPerAxis ||
			c.vertical > maxSamplingPerAxis {
			return errors.New("the sampling of a colour is out of range")
		}
		j.components = append(j.components, c)
	}
	if n := len(j.components); n != int(header[componentsAt-1]) {
		return errors.New("a frame header of the wrong length")
	} else if n == 1 {
		j.components[0] = jpegComponent{j.components[0].id, 1, 1} // its sampling means nothing
	}
	return nil
}

// decodingBytes returns what image/jpeg allocates: the samples in whole blocks, for a progressive
// file all coefficients, and the result of a conversion from CMYK or RGB.
func (j *jpegFile) decodingBytes() int64 {
	first := j.components[0]
	units := int64(ceil(j.width, 8*first.horizontal)) * int64(ceil(j.height, 8*first.vertical))
	blocks := int64(0)
	for _, c := range j.components {
		blocks += units * int64(c.horizontal*c.vertical)
	}
	bytes := blocks * blockPixels
	if j.isProgressive {
		bytes += blocks * coefficientBytes
	}
	if len(j.components) == 4 || len(j.components) == 3 && j.isRGB() {
		bytes += jpegConvertedBytes * int64(j.width) * int64(j.height)
	}
	return bytes + jpegWorkingBytes
}

// isRGB reports whether image/jpeg takes three components for RGB.
func (j *jpegFile) isRGB() bool {
	if j.isJFIF {
		return false
	}
	c := j.components
	return j.hasAdobe && j.adobeTransform == 0 || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
}

func ceil(n, divisor int) int { return (n + divisor - 1) / divisor }
