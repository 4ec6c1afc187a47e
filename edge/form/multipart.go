package form

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/waybook/waybook/edge/failure"
)

// ParseMultipart adds the parameters of a whole multipart/form-data body (RFC 7578). charset counts
// for the parts that name none. ParseMultipart refuses files, more than MaxParameters, and a body
// that it cannot parse to its end.
func (f *Form) ParseMultipart(body, boundary string, charset Charset) error {
	const longestBoundary = 70 // RFC 2046, 5.1.1
	// multipart.Reader also returns io.EOF for a body that ends in the header of a part.
	last := "--" + boundary + "--"
	isWhole := strings.HasPrefix(body, last) || strings.Contains(body, "\n"+last)
	if boundary == "" || len(boundary) > longestBoundary || !isWhole {
		return failure.New("INVALID_MULTIPART")
	}
	parts := multipart.NewReader(strings.NewReader(body), boundary)
	for {
		// A raw part keeps its Content-Transfer-Encoding, which nameOf checks.
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return failure.New("INVALID_MULTIPART")
		}
		if len(f.parameters) == MaxParameters {
			return failure.New("TOO_MANY_PARAMETERS")
		}
		name, err := nameOf(part.Header)
		if err != nil {
			return err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return failure.New("INVALID_MULTIPART")
		}
		f.parameters = append(f.parameters, parameter{Pair: Pair{name, string(value)}, charset: charsetOf(part.Header, charset)})
	}
}

// nameOf returns the name of a part. It refuses a file, also an empty one, and a part that is encoded.
func nameOf(header textproto.MIMEHeader) (string, error) {
	disposition, parameters, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	name, hasName := parameters["name"]
	if err != nil || disposition != "form-data" || !hasName {
		return "", failure.New("INVALID_MULTIPART")
	}
	if _, isFile := parameters["filename"]; isFile {
		return "", &failure.Failure{Reason: "FILE_NOT_ACCEPTED", Info: "FILE NOT ACCEPTED: " + showName(name)}
	}
	for _, encoding := range slices.Concat(header["Content-Transfer-Encoding"], header["Content-Encoding"]) {
		switch strings.ToLower(encoding) {
		case "", "7bit", "8bit", "binary", "identity":
		default:
			return "", failure.New("INVALID_MULTIPART")
		}
	}
	return name, nil
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
