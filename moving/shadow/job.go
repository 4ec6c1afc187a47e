package shadow

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/moving/comparison"
)

// job is a request, and the reply that the client got.
type job struct {
	request
	status   int
	body     []byte
	encoding string
}

// request is a request as the client sent it.
type request struct {
	method, query, contentType, cookie, body string
	// id is the request id (rule 8.19).
	id string
}

// size returns about how many bytes the job keeps.
func (j job) size() int64 {
	return int64(1024 + len(j.query) + len(j.cookie) + len(j.request.body) + cap(j.body))
}

// compare gets the second reply to a read and compares the two. It does nothing for other requests.
func (s *Shadow) compare(ctx context.Context, j job) {
	asked, err := s.recognizer.Recognize(j.query, j.contentType, j.request.body)
	switch {
	case errors.Is(err, edge.ErrAmbiguous):
		s.metrics.skip(skippedAmbiguous)
		return
	case err == nil && asked.Effect != operation.Reads:
		return
	case err != nil || asked.IsAddition:
		s.metrics.skip(skippedUnknown)
		return
	case peer.IsRefusal(j.status):
		s.metrics.skip(skippedRefused)
		return
	}
	verdict, err := s.verdict(requestid.With(ctx, j.id), j, asked)
	if ctx.Err() != nil {
		return // the program ends
	}
	s.metrics.count(asked.Function, verdict, err)
	s.report.report(ctx, j.id, asked, verdict, err)
}

// verdict compares the reply that the client got with the second one.
func (s *Shadow) verdict(ctx context.Context, j job, asked edge.Asked) (comparison.Verdict, error) {
	shown, err := unzip(j.body, j.encoding)
	if err != nil {
		return comparison.Verdict{}, fmt.Errorf("reply of the first server: %w", err)
	}
	first, err := s.comparer.Parse(shown)
	if err != nil {
		return comparison.Verdict{}, fmt.Errorf("reply of the first server: %w", err)
	}
	reply, err := s.second.Ask(ctx, peer.Request{
		Method: j.method, Query: asked.Query, Body: asked.Body, ContentType: asked.ContentType, Cookie: j.cookie,
	})
	if err != nil {
		return comparison.Verdict{}, fmt.Errorf("reply of the second server: %w", err)
	}
	s.metrics.durations.Observe(reply.Elapsed.Seconds())
	second, err := s.comparer.Parse(reply.Body)
	if err != nil {
		return comparison.Verdict{}, fmt.Errorf("reply of the second server: %w", err)
	}
	if s.config.Flags.IsPrimary() {
		return s.comparer.Compare(first, second), nil
	}
	return s.comparer.Compare(second, first), nil
}

// unzip returns a reply as it was before its Content-Encoding.
func unzip(body []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
	default:
		return nil, fmt.Errorf("the encoding %q is unknown", encoding)
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(reader, maxReply+1))
	if err == nil && len(plain) > maxReply {
		err = peer.ErrTooLong
	}
	return plain, err
}

// recordingEdge asks the edge in this process.
type recordingEdge struct {
	edge   http.Handler
	prefix edge.PathPrefix
}

// Ask lets the edge answer a request. The request has no client: no limit per address counts it. A
// read needs no cookie (rule 3.11), so it gets none.
func (e recordingEdge) Ask(ctx context.Context, asked peer.Request) (reply peer.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, asked.Method, edge.Path+"?"+asked.Query, bytes.NewReader([]byte(asked.Body)))
	if err != nil {
		return peer.Reply{}, err
	}
	if asked.ContentType != "" {
		request.Header.Set("Content-Type", asked.ContentType)
	}
	recorded := &tap{ResponseWriter: nowhere{http.Header{}}, copied: copied{limit: maxReply}}
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			err = errors.New("the edge broke the reply off")
		} else if p != nil {
			panic(p)
		}
	}()
	began := time.Now()
	e.edge.ServeHTTP(recorded, request)
	switch {
	case recorded.isTooLong:
		return peer.Reply{}, peer.ErrTooLong
	case peer.IsRefusal(recorded.status):
		return peer.Reply{}, fmt.Errorf("%w: HTTP %d", peer.ErrNoContract, recorded.status)
	}
	return peer.Reply{Status: recorded.status, Body: recorded.bytes, Elapsed: time.Since(began)}, nil
}

// nowhere is the connection of a request without a client.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header            { return n.header }
func (n nowhere) Write(part []byte) (int, error) { return len(part), nil }
func (n nowhere) WriteHeader(int)                {}

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
