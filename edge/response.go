package edge

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/platform/admission"
)

const (
	// sendAt is how much of a reply is gathered before it is sent in pieces. A
	// reply below it carries Content-Length, and may still become a failure.
	sendAt = 64 << 10
	// patience is how long the beginning of a list waits for the rest of it, so
	// that a short list is sent whole and a long one starts at once.
	patience = 10 * time.Millisecond
	// zipAt is where compressing starts to be worth its header and its time.
	zipAt = 1 << 10
)

var (
	// errHeadAnswered ends an operation early: HEAD has its header.
	errHeadAnswered = errors.New("the header of a HEAD request has been sent")
	// errClientGone says that the client does not read (any more).
	errClientGone = errors.New("the client is gone or too slow")
)

// response sends a document to the client, whole when it is short, else in
// pieces while it is being written. It is the Sink of a reply.
type response struct {
	reply.Document
	writer       http.ResponseWriter
	control      *http.ResponseController
	writeTimeout time.Duration
	zippers      *zippers
	turn         *turn
	head         bool
	zip          bool

	// started says that the header has been sent and the reply cannot become
	// a failure any more.
	started bool
	// err is what stopped sending, for good.
	err    error
	zipper *gzip.Writer
	// status is the HTTP status, and bodyBytes how much of the body has been sent.
	status    int
	bodyBytes int64
	// waiting sends the reply when a wait takes long, and then closes sent.
	waiting *time.Timer
	sent    chan struct{}
}

// body is where a response's body goes, counted.
type body struct{ *response }

// Write sends a part of the body.
func (b body) Write(part []byte) (int, error) {
	n, err := b.writer.Write(part)
	b.bodyBytes += int64(n)
	return n, err
}

func (r *response) writeStatus(status int) {
	r.status = status
	r.writer.WriteHeader(status)
}

// ItemDone may send what has gathered. Call it between two items of a list. A reply
// that has to be sent in pieces while as many are as may be fails.
func (r *response) ItemDone() error {
	if r.err == nil && len(r.Bytes) >= sendAt {
		if !r.turn.goLong() {
			return admission.ErrFull
		}
		r.send()
	}
	return r.err
}

// BatchDone sends what has gathered if the reply goes out in pieces already.
func (r *response) BatchDone() error {
	if r.err == nil && r.started {
		r.send()
	}
	return r.err
}

// Wait begins a wait for more of the reply. What has gathered is sent when the wait
// takes longer than patience.
func (r *response) Wait() {
	if r.started || r.err != nil || len(r.Bytes) == 0 {
		return
	}
	r.sent = make(chan struct{})
	r.waiting = time.AfterFunc(patience, func() {
		defer close(r.sent)
		if r.turn.goLong() {
			r.send()
		}
	})
}

// Resume ends a wait, if there is one.
func (r *response) Resume() {
	if r.waiting == nil {
		return
	}
	if !r.waiting.Stop() {
		<-r.sent
	}
	r.waiting = nil
}

// finish sends the rest of the reply. A reply of which nothing was sent yet
// gets its length and status.
func (r *response) finish(status int) error {
	switch {
	case r.err != nil:
	case r.started:
		r.send()
		if r.err == nil && r.zipper != nil {
			r.note(r.zipper.Close())
		}
	default:
		r.sendWhole(status)
	}
	return r.err
}

// abandon forgets what was written and not sent, so that something else can be.
func (r *response) abandon() { r.Bytes = r.Bytes[:0] }

// send sends what has gathered as one piece. The server frames the pieces as
// the client's protocol asks.
func (r *response) send() {
	if !r.started {
		r.started = true
		header := r.writer.Header()
		if r.zip {
			header.Set("Content-Encoding", "gzip")
		}
		r.writeStatus(http.StatusOK)
		if r.zip && !r.head {
			r.zipper = r.zippers.get(body{r})
		}
	}
	r.control.SetWriteDeadline(time.Now().Add(r.writeTimeout))
	switch {
	case r.head:
	case r.zipper != nil:
		_, err := r.zipper.Write(r.Bytes)
		r.note(errors.Join(err, r.zipper.Flush()))
	default:
		_, err := body{r}.Write(r.Bytes)
		r.note(err)
	}
	r.Bytes = r.Bytes[:0]
	if err := r.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		r.note(err)
	}
	if r.head && r.err == nil {
		r.err = errHeadAnswered
	}
}

func (r *response) sendWhole(status int) {
	content := r.Bytes
	header := r.writer.Header()
	if r.zip && len(content) >= zipAt {
		var zipped bytes.Buffer
		zipper := r.zippers.get(&zipped)
		zipper.Write(content) // into memory, which does not fail
		zipper.Close()
		r.zippers.put(zipper)
		header.Set("Content-Encoding", "gzip")
		content = zipped.Bytes()
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	r.control.SetWriteDeadline(time.Now().Add(r.writeTimeout))
	r.started = true
	r.writeStatus(status)
	if !r.head {
		_, err := body{r}.Write(content)
		r.note(err)
	}
}

// note keeps the first error of writing.
func (r *response) note(err error) {
	if err != nil && r.err == nil {
		r.err = errors.Join(errClientGone, err)
	}
}
