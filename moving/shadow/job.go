package shadow

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
