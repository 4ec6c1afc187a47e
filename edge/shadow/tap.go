package shadow

import (
	"io"
	"net/http"
	"sync"
)

// copied is a copy of what passes, or nothing of what is longer than limit.
type copied struct {
	limit     int
	bytes     []byte
	isTooLong bool
}

func (c *copied) add(part []byte) {
	switch {
	case c.isTooLong:
	case len(c.bytes)+len(part) > c.limit:
		c.bytes, c.isTooLong = nil, true
	default:
		c.bytes = append(c.bytes, part...)
	}
}

// tap copies the reply that passes it.
type tap struct {
	http.ResponseWriter
	copied

	status int
	length int64
	// reason is that of a failure of this program, not of the server behind it.
	reason string
}

// Unwrap gives http.ResponseController the writer behind.
func (t *tap) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader sends the status.
func (t *tap) WriteHeader(status int) {
	if status >= http.StatusOK && t.status == 0 {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (t *tap) Write(part []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	n, err := t.ResponseWriter.Write(part)
	t.length += int64(n)
	t.add(part[:n])
	return n, err
}

// bodyCopy is a copy of the body of a request, as far as it was read. It is safe for concurrent use: a
// proxy may still read the body when it has answered.
type bodyCopy struct {
	mu sync.Mutex
	copied
}

// text returns the copy so far, and reports whether it is too long to be kept.
func (c *bodyCopy) text() (body string, isTooLong bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.bytes), c.isTooLong
}

// copyBody makes the reader of a request's body fill a copy.
func copyBody(r *http.Request) *bodyCopy {
	body := &bodyCopy{copied: copied{limit: maxBody}}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, body), r.Body}
	}
	return body
}

// Write adds a part; it never fails.
func (c *bodyCopy) Write(part []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(part)
	return len(part), nil
}
