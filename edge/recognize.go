package edge

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
)

// Recognizer says which operation a request asks for, to programs that send it to other servers.
// It is safe for concurrent use.
type Recognizer struct {
	// legacy are the functions without the additions.
	all, legacy *operation.Functions
	charset     form.Charset
}

// NewRecognizer returns a Recognizer of the whole table. charset is that of queries, and of bodies
// that name none.
func NewRecognizer(charset form.Charset) *Recognizer {
	withheld := clientless()
	withheld.Additions = operation.AdditionsWithheld
	return &Recognizer{
		operation.NewFunctions(operation.Table(clientless().operations())),
		operation.NewFunctions(operation.Table(withheld.operations())),
		charset,
	}
}

// Asked is an operation that a request asks for.
type Asked struct {
	// Function is the func.
	Function string
	Effect   operation.Effect
	// IsAddition says that the legacy contract does not have the operation.
	IsAddition bool
	// Query and Body are the parameters, encoded again, in the places in which they came. Every
	// server reads the same parameters in them, so the operation is the same everywhere.
	Query, Body string
	// ContentType is that of the body; empty without one.
	ContentType string
}

// The reasons why a request is not recognized. Their texts are few and stable.
var (
	ErrNoOperation = errors.New("no operation of the interface")
	// ErrAmbiguous says that servers may read the parameters in different ways, so that a read of
	// one could be a write of another.
	ErrAmbiguous = errors.New("ambiguous parameters")
	ErrNoXML     = errors.New("reply is not XML")
)

// Recognize returns the operation that a query and a body ask for. contentType is the header of the
// body; it may be empty.
func (r *Recognizer) Recognize(query, contentType, body string) (Asked, error) {
	var sent form.Form
	if !sent.ParseQuery(query, r.charset) || parseBody(&sent, contentType, body, r.charset) != nil {
		return Asked{}, ErrNoOperation
	}
	function, err := r.all.Find(&sent)
	if err != nil {
		return Asked{}, ErrNoOperation
	}
	asked := Asked{Function: function.Name(), Effect: function.Effect()}
	parameters := sent.Effective()
	slices.Reverse(parameters)
	var inQuery, inBody []string
	for i, each := range parameters {
		isTwice := func(other form.Pair) bool { return strings.EqualFold(each.Name, other.Name) }
		if !isPlainName(each.Name) || sent.Count(each.Name) > 1 || slices.ContainsFunc(parameters[:i], isTwice) {
			return Asked{}, ErrAmbiguous
		}
		pair := each.Name + "=" + url.QueryEscape(each.Value)
		if sent.InQuery(each.Name) {
			inQuery = append(inQuery, pair)
		} else {
			inBody = append(inBody, pair)
		}
	}
	if format, _ := sent.Get(paramResponseFormat.Name); strings.EqualFold(format, "JSON") {
		return Asked{}, ErrNoXML
	}
	asked.Query, asked.Body = strings.Join(inQuery, "&"), strings.Join(inBody, "&")
	if asked.Body != "" {
		asked.ContentType = formType
		if parsed, _ := form.ParseContentType(contentType, r.charset); parsed.Media == formType {
			asked.ContentType = contentType // with its charset
		}
	}
	asked.IsAddition = r.isAddition(&sent, function)
	return asked, nil
}

// isAddition reports whether the legacy contract lacks the function, or the variant that the
// parameters select.
func (r *Recognizer) isAddition(sent *form.Form, function *operation.Function) bool {
	legacy, err := r.legacy.Find(sent)
	if err != nil {
		return true
	}
	variant := func(f *operation.Function) operation.Variant {
		return f.Choose(&operation.Input{Reader: form.Reader{Form: sent}}).Variant
	}
	return variant(function) != variant(legacy)
}

// isPlainName reports whether a name of a parameter is the same for every server. Some servers
// change other characters.
func isPlainName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != ""
}

// ReceiveBody reads the body of a request for a server behind the edge, within the limits of forms,
// and gives the request a copy. If the body is longer than a limit, the rest follows the copy. The
// caller calls free when the body is sent.
func (l *Load) ReceiveBody(proxies TrustedProxies, r *http.Request, limit int64) (free func(), err error) {
	t := &turn{load: l, address: func() string { return admission.ClientKey(proxies.client(r)) }}
	received, err := t.read(r.Context(), io.LimitReader(r.Body, limit), nil, 0)
	if err != io.EOF {
		t.end()
		return nil, err
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(received), r.Body), r.Body}
	return t.end, nil
}
