package contract

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/waybook/waybook/e2e/contract/casefile"
)

const formType = "application/x-www-form-urlencoded"

// answered is a reply as the edge sent it.
type answered struct {
	status int
	header http.Header
	body   string
}

// request sends a request and compares the reply. With -update it keeps the reply for
// rewriting the case, if the step may be rewritten.
func (p *player) request(r *casefile.Request, mayRewrite bool) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), stepTimeout)
	defer cancel()
	outgoing, err := p.newRequest(ctx, r)
	if err != nil {
		return err
	}
	got, err := p.on.send(outgoing, r.IsHTTP10)
	if err != nil {
		return err
	}
	if err := p.compare(r.Reply, got); err != nil {
		if mayRewrite && !r.IsRepeated && p.on.mayRewrite && *update {
			p.rewritten = append(p.rewritten, rewriting{r.Reply, got.body})
		}
		return fmt.Errorf("%w\ngot %d %s\n%s", err, got.status, got.header.Get(reasonHeader), shorten(got.body))
	}
	return nil
}

const reasonHeader = "X-Waybook-Reason"

func (p *player) newRequest(ctx context.Context, r *casefile.Request) (*http.Request, error) {
	query, err := p.encode(r.Query, r.RawQuery)
	if err != nil {
		return nil, err
	}
	body, err := p.encode(r.Body, r.RawBody)
	if err != nil {
		return nil, err
	}
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	path, err := r.Path.Expand(p.variables)
	if err != nil {
		return nil, err
	}
	client := *p.on.client
	client.Context, client.URL = ctx, p.on.edge+path
	request := client.Request(r.Method, query, content)
	if body != "" {
		request.Header.Set("Content-Type", formType)
	}
	if r.As != "" {
		user, secret := p.variables[r.As], p.variables[secretOf(r.As)]
		if user == "" || secret == "" {
			return nil, fmt.Errorf("there is no user %q", r.As)
		}
		request.Header.Set("Cookie", "id="+user+"; idrand="+secret)
	}
	headers, err := p.expand(r.Headers)
	for _, h := range headers {
		switch {
		case h.value == "-":
			request.Header.Del(h.name)
		case http.CanonicalHeaderKey(h.name) == "Cookie":
			request.Header.Add(h.name, h.value) // some clients send several
		default:
			request.Header.Set(h.name, h.value)
		}
	}
	request.Host = request.Header.Get("Host") // net/http takes it from there
	return request, err
}

// encode percent-encodes parameters, or returns raw ones unchanged.
func (p *player) encode(fields []casefile.Field, raw *casefile.Template) (string, error) {
	if raw != nil {
		return raw.Expand(p.variables)
	}
	pairs, err := p.expand(fields)
	encoded := make([]string, len(pairs))
	for i, pair := range pairs {
		encoded[i] = url.QueryEscape(pair.name) + "=" + url.QueryEscape(pair.value)
	}
	return strings.Join(encoded, "&"), err
}

type pair struct{ name, value string }

func (p *player) expand(fields []casefile.Field) (pairs []pair, err error) {
	for _, f := range fields {
		var each pair
		if each.name, err = f.Name.Expand(p.variables); err != nil {
			return nil, err
		}
		if each.value, err = f.Value.Expand(p.variables); err != nil {
			return nil, err
		}
		pairs = append(pairs, each)
	}
	return pairs, nil
}

// compare returns an error that shows how a reply differs from the case.
func (p *player) compare(want *casefile.Reply, got answered) error {
	if got.status != want.Status {
		return fmt.Errorf("want status %d", want.Status)
	}
	if err := want.Reason.Match(strings.Join(got.header.Values(reasonHeader), ", "), p.variables, p.span()); err != nil {
		return fmt.Errorf("%s: %w", reasonHeader, err)
	}
	if err := want.Body.Match(got.body, p.variables, p.span()); err != nil {
		return err
	}
	for _, h := range want.Headers {
		values := got.header.Values(h.Name.Source)
		known, err := h.Value.Expand(p.variables)
		if err == nil && known == "-" {
			if len(values) > 0 {
				return fmt.Errorf("want no %s, got %q", h.Name.Source, values)
			}
			continue
		}
		if err := h.Value.Match(strings.Join(values, ", "), p.variables, p.span()); err != nil {
			return fmt.Errorf("%s: %w", h.Name.Source, err)
		}
	}
	return wellFormed(got)
}

// wellFormed checks every reply with a document, regardless of the case.
func wellFormed(got answered) error {
	contentType := got.header.Get("Content-Type")
	switch {
	case got.body == "", strings.HasPrefix(contentType, "image/"):
		return nil
	case got.body[0] == '{':
		if !json.Valid([]byte(got.body)) || contentType != "application/json; charset=utf-8" {
			return fmt.Errorf("the body or its Content-Type is not JSON: Content-Type %q", contentType)
		}
		return nil
	case contentType != "text/xml; charset=utf-8":
		return fmt.Errorf("XML with Content-Type %q", contentType)
	}
	decoder := xml.NewDecoder(strings.NewReader(got.body))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func shorten(body string) string {
	const most = 2000
	if len(body) > most {
		return fmt.Sprintf("%s… (%d bytes)", body[:most], len(body))
	}
	return body
}

// sendHTTP10 sends one HTTP/1.0 request on a new connection.
func sendHTTP10(request *http.Request) (*http.Response, error) {
	var wire bytes.Buffer
	if err := request.Write(&wire); err != nil {
		return nil, err
	}
	old := bytes.Replace(wire.Bytes(), []byte(" HTTP/1.1\r\n"), []byte(" HTTP/1.0\r\n"), 1)
	connection, err := new(net.Dialer).DialContext(request.Context(), "tcp", request.URL.Host)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if deadline, ok := request.Context().Deadline(); ok {
		if err := connection.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if _, err := connection.Write(old); err != nil {
		return nil, err
	}
	// Reading to the end also checks that the server closes the connection.
	all, err := io.ReadAll(connection)
	if err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(all)), request)
}
