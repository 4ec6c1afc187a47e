package shadow

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/requestid"
)

const (
	// headerTimeout bounds the time until the old server's reply begins.
	headerTimeout = 60 * time.Second
	// pieceTimeout bounds the time in which a client sends pieceBytes of a body, or reads a piece of
	// a reply.
	pieceTimeout = edge.DefaultWriteTimeout
	pieceBytes   = 64 << 10
	// maxReceived is how much of a body arrives before the old server is asked.
	maxReceived = edge.DefaultMaxFormBytes
)

// newPrimary returns the handler that lets the old server answer. It passes on every request,
// writes and other paths included. Of the requests to the interface it enqueues those that are
// sampled.
func (s *Shadow) newPrimary() http.Handler {
	transport := peer.NewTransport(0) // Busy limits the requests
	transport.ResponseHeaderTimeout = headerTimeout
	transport.DisableCompression = true // the client's Accept-Encoding counts
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del(requestid.Header) // the client has ours
			return nil
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path, r.Out.URL.RawPath = s.config.Prefix.Trim(r.In.URL.Path), s.config.Prefix.Trim(r.In.URL.RawPath)
			r.SetURL(s.config.Flags.Primary.At("", ""))
			s.config.Proxies.Forward(r.In, r.Out.Header)
			r.Out.Header.Set(requestid.Header, requestid.From(r.In.Context()))
			r.Out.Header.Del("Upgrade") // the interface has no other protocol
			r.Out.Header.Del("Expect")  // the body has arrived
		},
		ErrorHandler: s.unreachable,
		ErrorLog:     slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(proxy, w, r) })
}

// answer passes a request on to the old server.
func (s *Shadow) answer(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	control := http.NewResponseController(w)
	tap := &tap{ResponseWriter: edge.NewPatientWriter(w), copied: copied{memory: &s.memory}}
	defer tap.drop()
	// A body that is on the way takes no place.
	var receiveErr error
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &patientBody{ReadCloser: r.Body, control: control}
		var free func()
		if free, receiveErr = s.config.Load.ReceiveBody(s.config.Proxies, r, maxReceived); receiveErr == nil {
			defer free()
		}
	}
	body := copyBody(r, &s.memory)
	defer body.end()
	defer func() { s.observe(r, body, tap, time.Since(began)) }()
	switch {
	case receiveErr == nil:
	case errors.Is(receiveErr, admission.ErrFull):
		tap.refuse(failure.New("SERVICE_BUSY"), http.StatusServiceUnavailable)
		return
	case errors.Is(receiveErr, os.ErrDeadlineExceeded):
		tap.refuse(failure.New("REQUEST_TIMEOUT"), http.StatusRequestTimeout)
		return
	default:
		tap.refuse(failure.New("UNREADABLE_REQUEST"), http.StatusBadRequest)
		return
	}
	if s.config.Flags.ReadOnly != "" && !s.isKnownRead(r, body) {
		tap.refuse(&failure.Failure{Reason: "READ_ONLY", Info: s.config.Flags.ReadOnly}, http.StatusOK)
		return
	}
	if err := s.config.Load.Requests.Enter(r.Context(), 1); err != nil {
		tap.refuse(failure.New("SERVICE_BUSY"), http.StatusServiceUnavailable)
		return
	}
	defer s.config.Load.Requests.Leave(1)
	isSampled := s.isSampled(r)
	if isSampled {
		tap.limit = maxReply
	}
	// Without it, net/http discards what is left of the body when the old server replies before its end. HTTP/2 has it always.
	_ = control.EnableFullDuplex()
	proxy.ServeHTTP(tap, r)
	if isSampled {
		s.enqueue(r, body, tap)
	}
}

// fileTypes are the names' ends of files that pages show.
var fileTypes = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".ico", ".svg", ".css", ".js"}

// isKnownRead reports whether a request is a read of the legacy contract, or for a file of a page. Whatever else
// passes might change something.
func (s *Shadow) isKnownRead(r *http.Request, body *bodyCopy) bool {
	switch isGet := r.Method == http.MethodGet || r.Method == http.MethodHead; {
	case !s.config.Prefix.Serves(r.URL.Path):
		return isGet && slices.Contains(fileTypes, strings.ToLower(path.Ext(r.URL.Path)))
	case !isGet && r.Method != http.MethodPost:
		return false
	}
	if r.Body != nil && r.Body != http.NoBody {
		start, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return false
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(start), r.Body), r.Body}
	}
	sent, isTooLong := body.text()
	asked, err := s.recognizer.Recognize(r.URL.RawQuery, r.Header.Get("Content-Type"), sent)
	return err == nil && !isTooLong && asked.Effect == operation.Reads && !asked.IsAddition
}

// observe reports a request to the interface.
func (s *Shadow) observe(r *http.Request, body *bodyCopy, reply *tap, elapsed time.Duration) {
	if s.config.Observe == nil || !s.config.Prefix.Serves(r.URL.Path) {
		return
	}
	answered := edge.Answer{Status: reply.status, Bytes: reply.length, Elapsed: elapsed, Reason: reply.reason}
	sent, _ := body.text()
	if asked, err := s.recognizer.Recognize(r.URL.RawQuery, r.Header.Get("Content-Type"), sent); err == nil {
		answered.Function = asked.Function
	}
	s.config.Observe(r, answered)
}

// unreachable answers when the old server does not.
func (s *Shadow) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	s.config.Log.WarnContext(r.Context(), "the primary server does not answer", "error", err)
	w.(*tap).refuse(failure.New("SERVICE_UNAVAILABLE"), http.StatusServiceUnavailable)
}

// refuse answers as the edge does (rule 10.5).
func (t *tap) refuse(f *failure.Failure, status int) {
	t.reason = f.Reason
	var document reply.Document
	reply.WriteFailure(reply.XML{Document: &document}, f.Info)
	t.Header().Set("Content-Type", reply.XML{}.ContentType())
	t.Header().Set("X-Waybook-Reason", f.Reason)
	if status == http.StatusServiceUnavailable {
		t.Header().Set("Retry-After", "1")
	}
	t.WriteHeader(status)
	_, _ = t.Write(document.Bytes) // a client that is gone gets nothing
}

// patientBody is the body of a request whose client may take pieceTimeout for each pieceBytes.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	// left is what is left of the piece.
	left int
}

func (b *patientBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		_ = b.control.SetReadDeadline(time.Now().Add(pieceTimeout)) // only tests have no deadlines
		b.left = pieceBytes
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
