package edge

import (
	"net/http"
	"strings"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/id"
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
	{"Referrer-Policy", []string{"no-referrer"}},
}

// In a browser, a reply that is shown as a page loads nothing, runs nothing and appears in no frame.
// The browser itself shows XML as a tree, with styles and images that it puts into the page.
var (
	jsonPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
	xmlPolicy  = []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"}
)

func newExchange(config *Config, zippers *zippers) *exchange {
	x := &exchange{config: config}
	x.turn = turn{load: &config.Load, address: x.Address}
	x.response.Zone = config.Zone
	if config.Identifiers == OldIdentifiers {
		x.response.OldID = id.Old
	}
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
	header := x.response.writer.Header()
	header.Set("Content-Type", format.ContentType())
	header["Content-Security-Policy"] = xmlPolicy
	if _, isJSON := format.(reply.JSON); isJSON {
		header["Content-Security-Policy"] = jsonPolicy
	}
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
			Document:     reply.Document{Bytes: smallBuffer(x.response.Bytes, keep), Zone: x.response.Zone, OldID: x.response.OldID},
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

// findInterface refuses a request to another path than that of the interface.
func (x *exchange) findInterface() error {
	location, err := x.config.PathPrefix.find(x.request.URL.Path)
	if location != "" {
		if query := x.request.URL.RawQuery; query != "" {
			location += "?" + query
		}
		x.response.writer.Header().Set("Location", location)
	}
	return err
}

var paramResponseFormat = form.Parameter{Name: "responseFormat", Hint: "XML or JSON"}

// chooseFormat sets the format of the reply, failures included. The format stays XML when the
// parameter is absent, empty or wrong.
func (x *exchange) chooseFormat() error {
	value, found := x.form.Get(paramResponseFormat.Name)
	switch {
	case found == form.Unreadable:
		return paramResponseFormat.Unreadable()
	case value == "" || strings.EqualFold(value, "XML"):
		return nil
	case len(value) == len("JSON") && strings.EqualFold(value, "JSON"):
		x.answerIn(reply.JSON{Document: &x.response.Document})
		return nil
	}
	return paramResponseFormat.Invalid()
}
