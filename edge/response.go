package edge

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/edge/reply"
)

const (
	// sendAt is the size at which a reply is sent in pieces. A smaller reply carries
	// Content-Length, and can still become a failure.
	sendAt = 64 << 10
	// patience is how long the start of a list waits for the rest. A short list is then sent
	// whole, and a long one starts without delay.
	patience = 10 * time.Millisecond
	// zipAt is the size from which compression saves more than it costs.
	zipAt = 1 << 10
)

var (
	// errAnswered ends a request early: a HEAD request and a preflight need only the header, and a
	// file is no document.
	errAnswered = errors.New("the reply has been sent")
	// errClientGone says that the client has left or reads too slowly.
	errClientGone = errors.New("the client is gone or too slow")
)

// response sends a document to the client: whole when it is short, otherwise in pieces while it
// is written. It implements reply.Sink.
type response struct {
	reply.Document
	writer       http.ResponseWriter
	control      *http.ResponseController
	writeTimeout time.Duration
	zippers      *zippers
	turn         *turn
	head         bool
	zip          bool

	// started says that the header has been sent, so the reply can no longer become a failure.
	started bool
	// err is the error that stopped sending for good.
	err    error
	zipper *gzip.Writer
	// status is the HTTP status; bodyBytes counts the bytes of the body that were sent.
	status    int
	bodyBytes int64
	// waiting sends the gathered bytes when a wait takes long, and then closes sent.
	waiting *time.Timer
	sent    chan struct{}
}

// body writes the body of a response and counts its bytes.
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

// sendBodyless sends a reply that has no body by its status.
func (r *response) sendBodyless(status int) error {
	r.writer.Header().Del("Content-Type")
	r.started, r.err = true, errAnswered
	r.writeStatus(status)
	return r.err
}

// ItemDone may send the gathered bytes. It is called between two items of a list. It fails when
// the reply must be sent in pieces and a limit of long replies is reached.
func (r *response) ItemDone() error {
	if r.err == nil && len(r.Bytes) >= sendAt {
		if err := r.turn.goLong(listBytes); err != nil {
			return err
		}
		r.send()
	}
	return r.err
}

// BatchDone sends the gathered bytes if the reply is already sent in pieces.
func (r *response) BatchDone() error {
	if r.err == nil && r.started {
		r.send()
	}
	return r.err
}

// Wait begins a wait for more of the reply. If it takes longer than patience, the gathered bytes
// are sent.
func (r *response) Wait() {
	if r.started || r.err != nil || len(r.Bytes) == 0 {
		return
	}
	r.sent = make(chan struct{})
	r.waiting = time.AfterFunc(patience, func() {
		defer close(r.sent)
		if r.turn.goLong(listBytes) == nil {
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

// finish sends the rest of the reply. If nothing was sent yet, it sends the whole reply with its
// length and status.
func (r *response) finish(status int) error {
	switch {
	case r.err != nil:
	case r.started:
		r.send()
		if r.err == nil && r.zipper != nil {
			r.note(r.zipper.Close())
		}
	default:
		if len(r.Bytes) >= sendAt {
			if err := r.turn.goLong(len(r.Bytes)); err != nil {
				return err
			}
		}
		r.sendWhole(status)
	}
	return r.err
}

// abandon drops the unsent bytes, so that a failure can replace them.
func (r *response) abandon() { r.Bytes = r.Bytes[:0] }

// send sends the gathered bytes as one piece. The server frames it for the client's protocol.
func (r *response) send() {
	if !r.started {
		r.started = true
		r.zip = r.zip && (r.head || r.turn.zip())
		if r.zip {
			r.writer.Header().Set("Content-Encoding", "gzip")
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
		r.err = errAnswered
	}
}

// reset resets the connection: in HTTP/1.0, its regular end could be that of the reply.
func (r *response) reset() {
	connection, _, err := r.control.Hijack()
	if err != nil {
		return // net/http breaks it
	}
	if tcp, ok := connection.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

func (r *response) sendWhole(status int) {
	content := r.Bytes
	header := r.writer.Header()
	if r.zip && len(content) >= zipAt && r.turn.zip() {
		var zipped bytes.Buffer
		zipper := r.zippers.get(&zipped)
		zipper.Write(content) // a buffer in memory never fails
		zipper.Close()
		r.zippers.put(zipper)
		r.turn.unzip()
		header.Set("Content-Encoding", "gzip")
		content = zipped.Bytes()
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	r.control.SetWriteDeadline(time.Now().Add(r.writeTimeout))
	r.started = true
	r.writeStatus(status)
	if r.head {
		return
	}
	for piece := range slices.Chunk(content, sendAt) {
		if r.bodyBytes > 0 {
			r.control.SetWriteDeadline(time.Now().Add(r.writeTimeout))
		}
		_, err := body{r}.Write(piece)
		r.note(err)
	}
}

// note keeps the first write error.
func (r *response) note(err error) {
	if err != nil && r.err == nil {
		r.err = errors.Join(errClientGone, err)
	}
}

// zippers is a pool of gzip writers. Each writer takes most of a megabyte.
type zippers struct{ pool sync.Pool }

func (z *zippers) get(to io.Writer) *gzip.Writer {
	if zipper, ok := z.pool.Get().(*gzip.Writer); ok {
		zipper.Reset(to)
		return zipper
	}
	zipper, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package itself
	}
	return zipper
}

func (z *zippers) put(zipper *gzip.Writer) {
	zipper.Reset(io.Discard) // lets go of the response
	z.pool.Put(zipper)
}

// AcceptsGzip reports whether Accept-Encoding asks for gzip (RFC 9110, 12.5.3), by name or by
// `*`, with a weight above zero. A name has precedence over `*`.
func AcceptsGzip(lines []string) bool {
	named, accepted := false, false
	for _, line := range lines {
		for line != "" {
			var coding string
			coding, line, _ = strings.Cut(line, ",")
			coding, weight, _ := strings.Cut(coding, ";")
			coding = strings.TrimSpace(coding)
			switch {
			case strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip"):
				named, accepted = true, !zeroWeight(weight)
			case coding == "*" && !named:
				accepted = !zeroWeight(weight)
			}
		}
	}
	return accepted
}

// zeroWeight reports whether a parameter is q=0 in any spelling. A malformed one counts as zero,
// because every client can read a plain reply.
func zeroWeight(parameter string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(parameter), "=")
	if !found {
		return strings.TrimSpace(parameter) != ""
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(weight > 0)
}
