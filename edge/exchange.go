package edge

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
)

// exchange is one request and its reply. Exchanges are reused: open begins a use and close ends
// it.
type exchange struct {
	config  *Config
	request *http.Request
	form    form.Form
	body    []byte
	// op is the operation's view of the request and the reply.
	op       operation.Exchange
	response response
	turn     turn
	// function is the request's func, once the edge has found it in the table.
	function string
	// signature is the outcome of checking the signature, in the form of Answer.Signature.
	signature string
}

// fixedHeaders are the headers of every reply. All replies share the values, so code must not
// change them in place.
var fixedHeaders = [...]struct {
	name   string
	values []string
}{
	{"Cache-Control", []string{"no-store"}},
	{"Vary", []string{"Accept-Encoding"}},
	{"X-Content-Type-Options", []string{"nosniff"}},
	// In a browser, a reply that is shown as a page loads nothing, runs nothing and appears in
	// no frame. The styles and the arrows are those with which browsers show XML as a tree: a reply
	// has none, because it is XML or JSON whose texts are escaped.
	{"Content-Security-Policy", []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"}},
	{"Referrer-Policy", []string{"no-referrer"}},
}

func newExchange(config *Config, zippers *zippers) *exchange {
	x := &exchange{config: config}
	x.turn = turn{load: &config.Load, address: x.Address}
	x.response.Zone = config.Zone
	x.response.writeTimeout = config.WriteTimeout
	x.response.zippers = zippers
	x.response.turn = &x.turn
	return x
}

func (x *exchange) open(w http.ResponseWriter, r *http.Request) {
	x.request = r
	x.op.In.Form, x.op.In.Caller = &x.form, x
	x.op.Out.Sink = &x.response
	x.response.writer = w
	x.response.control = http.NewResponseController(w)
	x.response.head = r.Method == http.MethodHead
	x.response.zip = AcceptsGzip(r.Header["Accept-Encoding"])

	header := w.Header()
	for _, fixed := range fixedHeaders {
		header[fixed.name] = fixed.values
	}
	if len(r.TransferEncoding) > 0 {
		// A chunked body may have come with a Content-Length too, which net/http drops. A proxy
		// that used that length may take bytes of this body for a second request. So nothing
		// after this request is read as another one (RFC 9112, 6.3).
		header.Set("Connection", "close")
	}
	x.answerIn(reply.XML{Document: &x.response.Document})
}

func (x *exchange) answerIn(format reply.Writer) {
	x.op.Out.Writer = format
	x.response.writer.Header().Set("Content-Type", format.ContentType())
}

// close returns borrowed resources and drops every reference to the request. It does not keep a
// large buffer, which would use memory for all later small requests.
func (x *exchange) close() {
	const keep = 2 * sendAt
	x.turn.end()
	if x.response.zipper != nil {
		x.response.zippers.put(x.response.zipper)
	}
	x.form.Reset()
	x.op.In.Reset()
	*x = exchange{
		config: x.config,
		form:   x.form,
		body:   smallBuffer(x.body, smallFormBytes),
		op:     operation.Exchange{In: operation.Input{Reader: x.op.In.Reader}},
		response: response{
			Document:     reply.Document{Bytes: smallBuffer(x.response.Bytes, keep), Zone: x.response.Zone},
			writeTimeout: x.response.writeTimeout,
			zippers:      x.response.zippers,
			turn:         &x.turn,
		},
		turn: x.turn,
	}
}

func smallBuffer(b []byte, keep int) []byte {
	if cap(b) > keep {
		return nil
	}
	return b[:0]
}

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
	if !x.form.ParseQuery(x.request.URL.RawQuery) {
		return failure.New("TOO_MANY_PARAMETERS")
	}
	body, err := x.readBody(limit)
	if err != nil {
		return err
	}
	if body != "" && !isForm(x.request.Header.Get("Content-Type")) {
		return failure.New("INVALID_CONTENT_TYPE")
	}
	if !x.form.ParseBody(body) {
		return failure.New("TOO_MANY_PARAMETERS")
	}
	if broken := x.form.Broken(); len(broken) > 0 {
		return brokenEncoding(broken)
	}
	return nil
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

// isForm reports whether a Content-Type is that of a UTF-8 form. Old clients leave the header
// out, which counts as a form.
func isForm(contentType string) bool {
	const formType = "application/x-www-form-urlencoded"
	if contentType == "" || contentType == formType {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != formType {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}

var paramResponseFormat = form.Parameter{Name: "responseFormat", Hint: "XML or JSON"}

// chooseFormat sets the format of the reply, failures included. The format stays XML when the
// parameter is absent or wrong.
func (x *exchange) chooseFormat() error {
	value, present := x.form.Get(paramResponseFormat.Name)
	switch {
	case !present || value == "" || strings.EqualFold(value, "XML"):
		return nil
	case len(value) == len("JSON") && strings.EqualFold(value, "JSON"):
		x.answerIn(reply.JSON{Document: &x.response.Document})
		return nil
	}
	return paramResponseFormat.Invalid()
}
