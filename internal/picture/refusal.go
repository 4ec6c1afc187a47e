package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
)

// Reason is why a file is refused.
type Reason int

const (
	// NotSupported means that the file is no picture, or one that this package cannot decode.
	NotSupported Reason = iota + 1
	// TooLarge means that a decode needs more memory than the caller has in all.
	TooLarge
	// Damaged means that the file breaks the rules of its format: it is truncated, or its sizes
	// are wrong.
	Damaged
)

// Refusal is the error of a file that its sender has to replace. Any other error of this package
// is one of the file's reader, of a writer, or of the context.
type Refusal struct {
	Reason Reason
	// Message is for the sender of the file, in whole sentences.
	Message string
	// cause is for the log.
	cause error
}

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (r *Refusal) Error() string {
	if r.cause == nil {
		return r.Message
	}
	return fmt.Sprintf("%s (%v)", r.Message, r.cause)
}

// unsupportedError is the error of a valid file that no decoder here reads.
type unsupportedError string

func (e unsupportedError) Error() string { return string(e) }

// explain returns the error of a call that has failed with err, or has panicked. A decoder that
// panics has met a file that its authors did not think of, so the file is refused and the process
// goes on.
func (r *reading) explain(panicked any, err error) error {
	var refusal *Refusal
	var ofJPEG jpeg.UnsupportedError
	var ofPNG png.UnsupportedError
	var ours unsupportedError
	switch {
	case panicked == nil && err == nil:
		return nil
	case r.failed != nil:
		return r.failed
	case panicked != nil:
		refusal, err = r.damaged(), fmt.Errorf("panic: %v", panicked)
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &ofJPEG), errors.As(err, &ofPNG), errors.As(err, &ours):
		refusal = refuse(NotSupported, "This server cannot decode this kind of %s file. "+
			"Save the picture as a common JPEG.", r.format)
	default:
		refusal = r.damaged()
	}
	refusal.cause = err
	return refusal
}

func (r *reading) damaged() *Refusal {
	return refuse(Damaged, "The %s file is damaged or incomplete. Send it again, or another one.", r.format)
}

// begins reports whether a file begins with a pattern, where ? stands for any byte.
func begins(head []byte, pattern string) bool {
	if len(head) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != head[i] {
			return false
		}
	}
	return true
}

// others are formats that people try to upload. Inspect refuses them by name.
var others = []struct{ begin, name string }{
	{"????ftypavi", "an AVIF picture"},
	{"????ftyphe", "an HEIC picture"},
	{"????ftypm?f1", "an HEIF picture"},
	{"????ftypcrx", "a raw picture of a camera"},
	{"????ftyp", "a video"},
	{"\xff\x0a", "a JPEG XL picture"},
	{"\x00\x00\x00\x0cJXL ", "a JPEG XL picture"},
	{"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"},
	{"II*\x00", "a TIFF picture or a raw picture of a camera"},
	{"MM\x00*", "a TIFF picture or a raw picture of a camera"},
	{"BM", "a BMP picture"},
	{"8BPS", "a Photoshop file"},
	{"\x00\x00\x01\x00", "an icon"},
	{"%PDF-", "a PDF file"},
	{"PK\x03\x04", "an archive"},
}

// markups are the beginnings of text formats, in lower case.
var markups = []struct{ begin, name string }{
	{"<svg", "an SVG picture"},
	{"<!doctype svg", "an SVG picture"},
	{"<!doctype html", "a web page"},
	{"<html", "a web page"},
	{"<head", "a web page"},
	{"<body", "a web page"},
	{"<script", "a web page"},
}

// describe names a file in none of the accepted formats.
func describe(head []byte) string {
	if len(head) == 0 {
		return "an empty file"
	}
	for _, other := range others {
		if begins(head, other.begin) {
			return other.name
		}
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	isXML := bytes.HasPrefix(text, []byte("<?xml")) || bytes.HasPrefix(text, []byte("<!--"))
	for _, markup := range markups {
		if bytes.HasPrefix(text, []byte(markup.begin)) || isXML && bytes.Contains(text, []byte(markup.begin)) {
			return markup.name
		}
	}
	return "not a picture that this server knows"
}
