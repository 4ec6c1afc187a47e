package form

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/waybook/waybook/edge/failure"
)

// Multipart is a multipart/form-data body (RFC 7578), read as it arrives.
type Multipart struct {
	parts   *multipart.Reader
	body    *endFinder
	charset Charset
}

// File is a part with a file name. It can be read until the next part is.
type File struct {
	// Name is the name of the part.
	Name string
	io.Reader
}

// NewMultipart returns a body. charset counts for the parts that name none.
func NewMultipart(body io.Reader, boundary string, charset Charset) (*Multipart, error) {
	const longestBoundary = 70 // RFC 2046, 5.1.1
	if boundary == "" || len(boundary) > longestBoundary {
		return nil, failure.New("INVALID_MULTIPART")
	}
	found := &endFinder{from: body, end: "\n--" + boundary + "--", tail: []byte{'\n'}}
	return &Multipart{multipart.NewReader(found, boundary), found, charset}, nil
}

// ReadFields adds the parameters up to the next file, and returns the file; nil at the end of the
// body. It refuses more than MaxParameters, and a body that it cannot parse to its end.
func (m *Multipart) ReadFields(into *Form) (*File, error) {
	for {
		// A raw part keeps its Content-Transfer-Encoding, which check reads.
		part, err := m.parts.NextRawPart()
		switch {
		case errors.Is(err, io.EOF) && m.body.isFound:
			return nil, nil
		case err != nil:
			return nil, failure.New("INVALID_MULTIPART")
		case len(into.parameters) == MaxParameters:
			return nil, failure.New("TOO_MANY_PARAMETERS")
		}
		name, isFile, err := nameOf(part.Header)
		if err != nil {
			return nil, err
		}
		if isFile {
			return &File{name, part}, nil
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, failure.New("INVALID_MULTIPART")
		}
		into.parameters = append(into.parameters,
			parameter{Pair: Pair{name, string(value)}, charset: charsetOf(part.Header, m.charset)})
	}
}

// ReadEnd reads what follows a file, and refuses a further part.
func (m *Multipart) ReadEnd() error {
	part, err := m.parts.NextRawPart()
	switch {
	case errors.Is(err, io.EOF) && m.body.isFound:
		return nil
	case err != nil:
		return failure.New("INVALID_MULTIPART")
	}
	name, isFile, err := nameOf(part.Header)
	if isFile {
		return (&File{Name: name}).NotAccepted()
	}
	return cmp.Or(err, error(FieldsFirst()))
}

// FieldsFirst returns the failure of a request with a field after a file. The file is not kept
// until its fields come.
func FieldsFirst() *failure.Failure {
	return &failure.Failure{Reason: "INVALID_MULTIPART", Info: "INVALID MULTIPART: send the fields before the file"}
}

// NotAccepted returns the failure of a request with this file.
func (f *File) NotAccepted() *failure.Failure {
	return &failure.Failure{Reason: "FILE_NOT_ACCEPTED", Info: "FILE NOT ACCEPTED: " + showName(f.Name)}
}

// endFinder finds the end of a body. multipart.Reader returns io.EOF also for a body that stops in
// the header of a part.
type endFinder struct {
	from io.Reader
	// end is the line that ends the body, with the line break before it.
	end string
	// tail is what was read last, of the length of end at most. It begins as a line break: end may
	// be the first line.
	tail    []byte
	isFound bool
}

func (f *endFinder) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	if !f.isFound {
		f.tail = append(f.tail, p[:n]...)
		f.isFound = bytes.Contains(f.tail, []byte(f.end))
		f.tail = append(f.tail[:0], f.tail[max(0, len(f.tail)-len(f.end)):]...)
	}
	return n, err
}

// nameOf returns the name of a part, and whether it is a file, which it is without bytes too. It
// refuses a part that is encoded.
func nameOf(header textproto.MIMEHeader) (name string, isFile bool, err error) {
	disposition, parameters, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	name, hasName := parameters["name"]
	if err != nil || disposition != "form-data" || !hasName {
		return "", false, failure.New("INVALID_MULTIPART")
	}
	for _, encoding := range slices.Concat(header["Content-Transfer-Encoding"], header["Content-Encoding"]) {
		switch strings.ToLower(encoding) {
		case "", "7bit", "8bit", "binary", "identity":
		default:
			return "", false, failure.New("INVALID_MULTIPART")
		}
	}
	_, isFile = parameters["filename"]
	return name, isFile, nil
}

// charsetOf returns the charset of a part. A part is a text whatever its type.
func charsetOf(header textproto.MIMEHeader, otherwise Charset) Charset {
	contentType := header.Get("Content-Type")
	if contentType == "" {
		return otherwise
	}
	parsed, ok := ParseContentType(contentType, otherwise)
	if !ok {
		return unknownCharset
	}
	return parsed.Charset
}

// showName makes any name safe to show in a reply: at most 40 bytes, with `?` for each byte that
// is not printable ASCII.
func showName(name string) string {
	const longest = 40
	shown := []byte(name[:min(len(name), longest)])
	for i, c := range shown {
		if c <= ' ' || c > '~' {
			shown[i] = '?'
		}
	}
	return string(shown)
}
