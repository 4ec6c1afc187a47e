package shadow

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

// memory counts the bytes of copies, up to queueBytes. A nil memory has no limit.
type memory struct{ taken atomic.Int64 }

// take reports whether there is memory for n bytes more. The caller gives them back.
func (m *memory) take(n int64) bool {
	if m == nil || m.taken.Add(n) <= queueBytes {
		return true
	}
	m.taken.Add(-n)
	return false
}

func (m *memory) give(n int64) {
	if m != nil {
		m.taken.Add(-n)
	}
}

// copied is a copy of what passes, or nothing of what is longer than limit or finds no memory.
type copied struct {
	limit                int
	memory               *memory
	bytes                []byte
	isTooLong, isWithout bool
}

func (c *copied) add(part []byte) {
	switch {
	case c.isTooLong || c.isWithout:
	case len(c.bytes)+len(part) > c.limit:
		c.drop()
		c.isTooLong = true
	default:
		grown := slices.Grow(c.bytes, len(part))
		if c.isWithout = !c.memory.take(int64(cap(grown) - cap(c.bytes))); c.isWithout {
			c.drop()
			return
		}
		c.bytes = append(grown, part...)
	}
}

// drop gives the memory of the copy back.
func (c *copied) drop() {
	c.memory.give(int64(cap(c.bytes)))
	c.bytes = nil
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
	return string(c.bytes), c.isTooLong || c.isWithout
}

// end drops the copy; nothing is copied after that.
func (c *bodyCopy) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	c.isTooLong = true
}

// copyBody makes the reader of a request's body fill a copy.
func copyBody(r *http.Request, memory *memory) *bodyCopy {
	body := &bodyCopy{copied: copied{limit: maxBody, memory: memory}}
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
