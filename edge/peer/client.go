// Package peer sends requests to another server of the interface, such as the one that Waybook
// takes the place of.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// connectTimeout bounds the time of a connection, TLS included.
const connectTimeout = 5 * time.Second

// Limits bound the requests of a Client.
type Limits struct {
	// Connections is the most connections to the server; more requests wait for one.
	Connections int
	// Timeout is the most time that a request takes, its reply included.
	Timeout time.Duration
	// ReplyBytes is the length of the longest reply.
	ReplyBytes int64
}

// Client sends requests to one server and to no other: it follows no redirect and uses no proxy of
// the environment. It verifies the server's certificate. It is safe for concurrent use.
type Client struct {
	address   Address
	limits    Limits
	userAgent string
	http      http.Client
}

// NewClient returns a client that has not connected yet. Close it when no request is in flight.
func NewClient(address Address, userAgent string, limits Limits) *Client {
	return &Client{address, limits, userAgent, http.Client{
		Transport:     NewTransport(limits.Connections),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// NewTransport returns a transport with at most so many connections; 0 is no limit.
func NewTransport(connections int) *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		MaxConnsPerHost:     connections,
		MaxIdleConnsPerHost: max(connections, 64),
		IdleConnTimeout:     time.Minute,
		ForceAttemptHTTP2:   true,
	}
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is a request to the interface.
type Request struct {
	// Method is GET or POST.
	Method string
	// Query and Body are encoded parameters. ContentType is that of the body.
	Query, Body, ContentType string
	// Cookie is the cookie of a session; it may be empty.
	Cookie string
}

// Reply is the reply to a request, of any HTTP status that a contract's reply may have.
type Reply struct {
	Status  int
	Body    []byte
	Elapsed time.Duration
}

// The kinds of failures of Ask.
var (
	ErrTooLong    = errors.New("the reply is too long")
	ErrNoContract = errors.New("the server does not answer as the contract says")
)

// Ask sends a request and reads the whole reply. It fails if there is no reply within the limits, and
// if the server refuses for now (HTTP 429 and 5xx) or redirects.
func (c *Client) Ask(ctx context.Context, asked Request) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, asked.Method, c.address.At(path, asked.Query).String(), strings.NewReader(asked.Body))
	if err != nil {
		return Reply{}, err
	}
	request.Header.Set("User-Agent", c.userAgent)
	if asked.ContentType != "" {
		request.Header.Set("Content-Type", asked.ContentType)
	}
	if asked.Cookie != "" {
		request.Header.Set("Cookie", asked.Cookie)
	}
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return Reply{}, c.explain(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, c.limits.ReplyBytes+1))
	switch {
	case err != nil:
		return Reply{}, c.explain(err)
	case int64(len(body)) > c.limits.ReplyBytes:
		return Reply{}, fmt.Errorf("%w: more than %d bytes", ErrTooLong, c.limits.ReplyBytes)
	case IsRefusal(response.StatusCode):
		return Reply{}, fmt.Errorf("%w: HTTP %d", ErrNoContract, response.StatusCode)
	}
	return Reply{response.StatusCode, body, time.Since(began)}, nil
}

// IsRefusal reports whether an HTTP status is no answer to what was asked: a redirect, or a refusal
// for now.
func IsRefusal(status int) bool {
	return status/100 == 3 || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// explain removes the URL from an error of net/http, because its parameters belong in no log, and
// names the time limit if it has passed.
func (c *Client) explain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no reply within %v: %w", c.limits.Timeout, context.DeadlineExceeded)
	}
	if failed, hasFailed := errors.AsType[*url.Error](err); hasFailed {
		return failed.Err
	}
	return err
}

// maxCookieBytes bounds the cookie of a session.
const maxCookieBytes = 4096

// SessionCookie returns the parts of a cookie's header lines that name a session (rule 3.2), as a
// header line; "" if there are none, or they are too long. Other parts concern only the server that
// set them.
func SessionCookie(lines []string) string {
	var parts []string
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(part, "=")
			if name = strings.Trim(name, " \t"); name == "id" || name == "idrand" {
				parts = append(parts, strings.Trim(part, " \t"))
			}
		}
	}
	cookie := strings.Join(parts, "; ")
	if len(cookie) > maxCookieBytes {
		return ""
	}
	return cookie
}

// path is the path of the interface below a server's address (rule 1.1).
const path = "/API.php"

// Address is the address of a server: everything before /API.php, such as https://old.example or
// http://10.0.0.5/legacy. It is a flag. The zero Address is empty.
type Address struct{ base url.URL }

// ParseAddress parses an address, with or without /API.php at its end.
func ParseAddress(text string) (Address, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.Opaque != "":
		return Address{}, errors.New("want the address of a server, such as https://old.example")
	case parsed.User != nil:
		return Address{}, errors.New("the address must not have a name or a password")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return Address{}, errors.New("the address must not have a query or a fragment")
	}
	base := strings.TrimRight(strings.TrimSuffix(parsed.Path, path), "/")
	return Address{url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: base}}, nil
}

// Set parses the flag's value; an empty one is the zero Address.
func (a *Address) Set(value string) (err error) {
	if *a = (Address{}); value == "" {
		return nil
	}
	*a, err = ParseAddress(value)
	return err
}

// String returns the address without /API.php.
func (a Address) String() string { return a.base.String() }

// IsZero reports whether there is no address.
func (a Address) IsZero() bool { return a.base.Host == "" }

// IsReadable reports whether others can read what is sent to the address: it leaves this machine
// without TLS.
func (a Address) IsReadable() bool {
	if a.base.Scheme == "https" || a.base.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(a.base.Hostname())
	return ip == nil || !ip.IsLoopback()
}

// At returns the URL of another path of the server.
func (a Address) At(path, query string) *url.URL {
	at := a.base
	at.Path, at.RawQuery = at.Path+path, query
	return &at
}
