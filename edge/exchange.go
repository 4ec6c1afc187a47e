package edge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/admission"
)

// exchange is one request and its reply. Exchanges are reused: open begins a use and close ends
// it.
type exchange struct {
	config  *Config
	request *http.Request
	form    form.Form
	body    []byte
	// parts is the body if it is multipart.
	parts *parts
	table []operation.Function
	// op is the operation's view of the request and the reply.
	op       operation.Exchange
	response response
	turn     turn
	// function is the request's func, once the edge has found it in the table.
	function string
	// isLeftOut says that the request failed and the limits of the log left its line out.
	isLeftOut bool
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

// In a browser, a reply that is shown as a page loads nothing, runs nothing and appears in no
// frame. The browser itself shows XML as a tree, with styles and images that it puts into the
// page.
var (
	jsonPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
	xmlPolicy  = []string{"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"}
)

func newExchange(config *Config, table []operation.Function, zippers *zippers) *exchange {
	x := &exchange{config: config, table: table}
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
		table:  x.table,
		form:   x.form,
		body:   smallBuffer(x.body, smallFormBytes),
		op:     operation.Exchange{In: operation.Input{Reader: x.op.In.Reader}},
		response: response{
			Document: reply.Document{Bytes: smallBuffer(x.response.Bytes, keep), Zone: x.response.Zone,
				OldID: x.response.OldID},
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

const (
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

// readForm reads the parameters of the query and then of the body, for every method. The old
// interface shows GET with parameters after the headers (rule 1.10).
func (x *exchange) readForm() error {
	contentType, isKnown := x.contentType()
	isMultipart := isKnown && contentType.Media == multipartType
	limit := x.config.MaxFormBytes - int64(len(x.request.URL.RawQuery))
	if limit < 0 || x.request.ContentLength > limit && !(isMultipart && x.config.takesFiles()) {
		return errTooLarge
	}
	if err := x.turn.growForm(x.request.Context(), len(x.request.URL.RawQuery)); err != nil {
		return err
	}
	if !x.form.ParseQuery(x.request.URL.RawQuery, x.config.LegacyCharset) {
		return failure.New("TOO_MANY_PARAMETERS")
	}
	if x.request.Body == nil || x.request.Body == http.NoBody {
		return nil
	}
	if x.request.ContentLength != 0 && isEncoded(x.request.Header["Content-Encoding"]) {
		return refuse("CONTENT_ENCODING_NOT_ACCEPTED", http.StatusUnsupportedMediaType)
	}
	// The server has no read deadline.
	x.response.control.SetReadDeadline(time.Now().Add(x.config.WriteTimeout))
	if isMultipart {
		return x.readParts(contentType, limit)
	}
	body, err := x.readBody(limit)
	switch {
	case err != nil:
		return err
	case body == "":
	case !isKnown || contentType.Media != formType:
		return failure.New("INVALID_CONTENT_TYPE")
	case !x.form.ParseBody(body, contentType.Charset):
		return failure.New("TOO_MANY_PARAMETERS")
	}
	return nil
}

// contentType returns the type of the body (rules 1.6 and 1.24). Old clients leave the header out,
// which counts as a form.
func (x *exchange) contentType() (parsed form.ContentType, ok bool) {
	lines := x.request.Header["Content-Type"]
	if len(lines) == 0 || len(lines) == 1 && lines[0] == "" {
		return form.ContentType{Media: formType, Charset: x.config.LegacyCharset}, true
	}
	return form.ParseContentType(strings.Join(lines, ","), x.config.LegacyCharset)
}

// readBody returns the body as a new string: parameters are substrings of it and may outlive the
// buffer.
func (x *exchange) readBody(limit int64) (string, error) {
	reader := http.MaxBytesReader(x.response.writer, x.request.Body, limit)
	var err error
	x.body, err = x.turn.read(x.request.Context(), reader, x.body, len(x.request.URL.RawQuery))
	if err != io.EOF {
		return "", bodyFailure(err)
	}
	// net/http also clears the deadline here for HTTP/1, but does not promise to.
	x.response.control.SetReadDeadline(time.Time{})
	body := string(x.body)
	x.body = smallBuffer(x.body, smallFormBytes)
	return body, nil
}

// errTooLarge is the failure of a form that exceeds its limit.
var errTooLarge = refuse("REQUEST_TOO_LARGE", http.StatusRequestEntityTooLarge)

// bodyFailure returns the failure of a body that could not be read; io.EOF stays as it is.
func bodyFailure(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse("REQUEST_TIMEOUT", http.StatusRequestTimeout)
	case err == io.EOF, err == errTooLarge, errors.Is(err, admission.ErrFull), errors.Is(err, context.Canceled):
		return err
	}
	return refuse("UNREADABLE_REQUEST", http.StatusBadRequest)
}

// isEncoded reports whether the lines of Content-Encoding name an encoding other than identity.
func isEncoded(lines []string) bool {
	for coding := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		if coding = strings.Trim(coding, " \t"); coding != "" && !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}

// An exchange implements operation.Caller: the client of its request.

// Address returns the key that tells this client apart from others.
func (x *exchange) Address() string {
	return admission.ClientKey(x.config.TrustedProxies.client(x.request))
}

// Session returns the session that the request's cookie names.
func (x *exchange) Session() (session operation.Session, ok bool) {
	return sessionCookie(x.request.Header["Cookie"])
}

// KeepSession sets both parts of a session's cookie, until the session expires.
func (x *exchange) KeepSession(session operation.Session, expires time.Time) {
	x.setCookie("id", strconv.FormatInt(int64(session.User), 10), expires)
	x.setCookie("idrand", session.Token, expires)
}

// DropSession makes the client delete the session's cookie.
func (x *exchange) DropSession() {
	x.setCookie("id", "", time.Time{})
	x.setCookie("idrand", "", time.Time{})
}

func (x *exchange) setCookie(name, value string, expires time.Time) {
	isSecure := x.config.CookieSecure == SecureAlways || x.config.TrustedProxies.isSecure(x.request)
	setCookie(x.response.writer, name, value, expires, isSecure)
}
