package edge

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
)

// readForm reads the parameters of the query and then of the body, for every method. The old
// interface shows GET with parameters after the headers (rule 1.10).
func (x *exchange) readForm() error {
	limit := x.config.MaxFormBytes - int64(len(x.request.URL.RawQuery))
	if limit < 0 || x.request.ContentLength > limit {
		return refuse("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge)
	}
	if err := x.turn.growForm(x.request.Context(), len(x.request.URL.RawQuery)); err != nil {
		return err
	}
	if !x.form.ParseQuery(x.request.URL.RawQuery, x.config.LegacyCharset) {
		return failure.New("TOO_MANY_PARAMETERS")
	}
	body, err := x.readBody(limit)
	if err != nil {
		return err
	}
	if body == "" {
		return nil
	}
	return parseBody(&x.form, x.request.Header.Get("Content-Type"), body, x.config.LegacyCharset)
}

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

// parseBody parses a body by its Content-Type (rules 1.6 and 1.24). Old clients leave the header
// out, which counts as a form. charset is that of a body that names none.
func parseBody(into *form.Form, contentType, body string, charset form.Charset) error {
	mediaType, parameters := formType, map[string]string(nil)
	if contentType != "" && contentType != formType {
		var err error
		if mediaType, parameters, err = mime.ParseMediaType(contentType); err != nil {
			return failure.New("INVALID_CONTENT_TYPE")
		}
	}
	if name, given := parameters["charset"]; given {
		var known bool
		if charset, known = form.CharsetNamed(name); !known {
			return failure.New("INVALID_CONTENT_TYPE")
		}
	}
	switch mediaType {
	case formType:
		if !into.ParseBody(body, charset) {
			return failure.New("TOO_MANY_PARAMETERS")
		}
		return nil
	case multipartType:
		return into.ParseMultipart(body, parameters["boundary"], charset)
	}
	return failure.New("INVALID_CONTENT_TYPE")
}

// readBody returns the body as a new string: parameters are substrings of it and may outlive the
// buffer. It sets the read deadline itself, because the server has none.
func (x *exchange) readBody(limit int64) (string, error) {
	if x.request.Body == nil || x.request.Body == http.NoBody {
		return "", nil
	}
	x.response.control.SetReadDeadline(time.Now().Add(x.config.WriteTimeout))
	reader := http.MaxBytesReader(x.response.writer, x.request.Body, limit)
	for {
		if len(x.body) == cap(x.body) {
			x.body = append(x.body, 0)[:len(x.body)]
			if err := x.turn.growForm(x.request.Context(), len(x.request.URL.RawQuery)+cap(x.body)); err != nil {
				return "", err
			}
		}
		n, err := reader.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		var tooLarge *http.MaxBytesError
		switch {
		case err == io.EOF:
			// net/http also clears the deadline here for HTTP/1, but does not promise to.
			x.response.control.SetReadDeadline(time.Time{})
			body := string(x.body)
			x.body = smallBuffer(x.body, smallFormBytes)
			return body, nil
		case errors.As(err, &tooLarge):
			return "", refuse("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return "", refuse("REQUEST_TIMEOUT", http.StatusRequestTimeout)
		case err != nil:
			return "", refuse("UNREADABLE_REQUEST", http.StatusBadRequest)
		}
	}
}
