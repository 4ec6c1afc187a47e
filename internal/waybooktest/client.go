package waybooktest

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Client is an old client: it sends forms to /API.php, keeps cookies and reads XML. Its methods may be called
// concurrently while the replies set no cookies.
type Client struct {
	// Cookies are sent with each request, and replaced by those of replies.
	Cookies map[string]string
	// Header has further fields of requests.
	Header http.Header
	// Address is the client's address, where the edge is called without a connection.
	Address string
	// URL is where requests go: that of /API.php, unless a test asks for another path.
	URL string
	// Context is that of its requests.
	Context context.Context

	t    testing.TB
	edge http.RoundTripper
}

// Client returns a client without a session. It calls an edge in this process without a connection, if the Waybook has one.
func (w *Waybook) Client() *Client {
	if w.Edge != nil {
		return ClientOf(w.t, w.Edge)
	}
	return ClientAt(w.t, w.HTTP)
}

// ClientOf returns a client of an edge in this process.
func ClientOf(t testing.TB, edge http.Handler) *Client {
	return ClientOver(t, "http://waybook.test", within{edge})
}

// ClientAt returns a client of the edge at an address.
func ClientAt(t testing.TB, address string) *Client {
	// A body that may be too long waits for the edge's consent if its request says so.
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 512, ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return ClientOver(t, "http://"+address, transport)
}

// OnceAt returns a client of the edge at an address. It keeps no connection open.
func OnceAt(t testing.TB, address string) *Client {
	c := ClientAt(t, address)
	c.Header.Set("Connection", "close")
	return c
}

// ClientOver returns a client of the edge of a site, such as http://127.0.0.1:8080, over a transport.
func ClientOver(t testing.TB, site string, transport http.RoundTripper) *Client {
	return &Client{
		t: t, URL: site + "/API.php", edge: transport,
		Cookies: map[string]string{}, Header: http.Header{}, Address: "192.0.2.1", Context: t.Context(),
	}
}

// within calls a handler.
type within struct{ handler http.Handler }

// RoundTrip calls the handler.
func (t within) RoundTrip(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	request.RequestURI = request.URL.RequestURI()
	if request.Body == nil {
		request.Body = http.NoBody
	}
	t.handler.ServeHTTP(recorder, request)
	return recorder.Result(), nil
}

// As returns a client with an open session of a user.
func (w *Waybook) As(user int64) *Client {
	w.t.Helper()
	opened, err := w.Account.OpenSession(w.t.Context(), &accountv1.OpenSessionRequest{UserId: user})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Client().With(user, opened.GetToken())
}

// With returns the client with the cookie of a session.
func (c *Client) With(user int64, token string) *Client {
	other := *c
	other.Cookies = maps.Clone(c.Cookies)
	other.Cookies["id"], other.Cookies["idrand"] = fmt.Sprint(user), token
	return &other
}

// WithCookie returns the client with a field Cookie, if that is not empty, instead of its cookies.
func (c *Client) WithCookie(field string) *Client {
	other := *c
	other.Cookies, other.Header = map[string]string{}, c.Header.Clone()
	if other.Header.Del("Cookie"); field != "" {
		other.Header.Set("Cookie", field)
	}
	return &other
}

// Cookie is the value of its field Cookie.
func (c *Client) Cookie() string { return c.Request(http.MethodGet, "", nil).Header.Get("Cookie") }

// Post sends parameters, in which only what has to be is encoded, as a form.
func (c *Client) Post(parameters string) Reply {
	c.t.Helper()
	return c.Send(c.Form(http.MethodPost, parameters))
}

// Get sends parameters in the query.
func (c *Client) Get(parameters string) Reply {
	c.t.Helper()
	return c.Send(c.Form(http.MethodGet, parameters))
}

// Form returns a request with parameters.
func (c *Client) Form(method, parameters string) *http.Request {
	c.t.Helper()
	values, err := url.ParseQuery(parameters)
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodGet {
		return c.Request(method, values.Encode(), nil)
	}
	request := c.Request(method, "", strings.NewReader(values.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request
}

// Request returns a request with a query, if it is not empty, and a body.
func (c *Client) Request(method, query string, body io.Reader) *http.Request {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.Context, method, c.URL, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if request.RemoteAddr = c.Address + ":1234"; query != "" {
		request.URL.RawQuery = query
	}
	maps.Copy(request.Header, c.Header)
	for name, value := range c.Cookies {
		request.AddCookie(&http.Cookie{Name: name, Value: value}) // #nosec G124 -- a request has no attributes
	}
	return request
}

// Send sends a request and reads the whole reply. If there is none, the test fails and the reply is empty.
func (c *Client) Send(request *http.Request) Reply {
	c.t.Helper()
	reply, err := c.Try(request)
	if err != nil {
		c.t.Errorf("no reply: %v", err)
	}
	return reply
}

// Begin sends a request and returns the reply, whose body the caller reads and closes. It keeps no cookies.
func (c *Client) Begin(request *http.Request) (*http.Response, error) {
	return c.edge.RoundTrip(request)
}

// Try is Send for a request that may get no reply.
func (c *Client) Try(request *http.Request) (Reply, error) {
	response, err := c.Begin(request)
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end
	body, err := io.ReadAll(response.Body)
	for _, cookie := range response.Cookies() {
		c.Cookies[cookie.Name] = cookie.Value
	}
	return Reply{Code: response.StatusCode, Header: response.Header, Body: string(body)}, err
}

// Reply is a reply to an old client.
type Reply struct {
	Code   int
	Header http.Header
	Body   string
}

// Succeeded reports whether the operation says SUCCESS.
func (r Reply) Succeeded() bool { return r.Text("status") == "SUCCESS" }

// MustSucceed returns the reply, or ends the test unless it says SUCCESS.
func (r Reply) MustSucceed(t testing.TB) Reply {
	t.Helper()
	if !r.Succeeded() {
		t.Fatalf("the reply is %d %s", r.Code, r.Body)
	}
	return r
}

// Reason is the stable reason of a failure, or "".
func (r Reply) Reason() string { return r.Header.Get("X-Waybook-Reason") }

// XML returns the reply's root element, which is empty if the reply is not XML.
func (r Reply) XML() Element {
	var root Element
	if err := xml.Unmarshal([]byte(r.Body), &root); err != nil {
		return Element{}
	}
	return root
}

// Text returns the text of the first element at a path below the root; "*" is any name.
func (r Reply) Text(path ...string) string { return r.XML().At(path...) }

// Element is an element of XML.
type Element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []Element `xml:",any"`
}

// Find returns the elements at a path; "*" is any name.
func (e Element) Find(path ...string) []Element {
	if len(path) == 0 {
		return []Element{e}
	}
	var found []Element
	for _, child := range e.Children {
		if child.XMLName.Local == path[0] || path[0] == "*" {
			found = append(found, child.Find(path[1:]...)...)
		}
	}
	return found
}

// At returns the text of the first element at a path.
func (e Element) At(path ...string) string {
	for _, found := range e.Find(path...) {
		return found.Text
	}
	return ""
}
