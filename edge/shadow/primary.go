package shadow

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/edge/reply"
)

const (
	// headerTimeout bounds the time until the old server's reply begins.
	headerTimeout = 60 * time.Second
	// pieceTimeout bounds the time in which a client sends or reads a piece of a body.
	pieceTimeout = edge.DefaultWriteTimeout
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
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path, r.Out.URL.RawPath = s.config.Prefix.Trim(r.In.URL.Path), s.config.Prefix.Trim(r.In.URL.RawPath)
			r.SetURL(s.config.Flags.Primary.At("", ""))
			s.config.Proxies.Forward(r.In, r.Out.Header)
			r.Out.Header.Del("Upgrade") // the interface has no other protocol
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
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = patientBody{r.Body, control}
	}
	tap := &tap{ResponseWriter: patientWriter{w, control}}
	body := copyBody(r)
	defer func() { s.observe(r, body, tap, time.Since(began)) }()
	if err := s.config.Busy.Enter(r.Context()); err != nil {
		tap.refuse("SERVICE_BUSY")
		return
	}
	defer s.config.Busy.Leave()
	isSampled := s.isSampled(r)
	if isSampled {
		tap.limit = maxReply
	}
	proxy.ServeHTTP(tap, r)
	if isSampled {
		s.enqueue(r, body, tap)
	}
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
	w.(*tap).refuse("SERVICE_UNAVAILABLE")
}

// refuse answers as the edge does when a service is away (rule 10.5).
func (t *tap) refuse(reason string) {
	t.reason = reason
	var document reply.Document
	reply.WriteFailure(reply.XML{Document: &document}, failure.New(reason).Info)
	t.Header().Set("Content-Type", reply.XML{}.ContentType())
	t.Header().Set("X-Waybook-Reason", reason)
	t.Header().Set("Retry-After", "1")
	t.WriteHeader(http.StatusServiceUnavailable)
	_, _ = t.Write(document.Bytes) // a client that is gone gets nothing
}

// patientBody is the body of a request whose client may take pieceTimeout for each piece.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b patientBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(pieceTimeout)) // only tests have no deadlines
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// patientWriter sends a reply to a client that may take pieceTimeout for each piece.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w patientWriter) WriteHeader(status int) {
	_ = w.control.SetWriteDeadline(time.Now().Add(pieceTimeout)) // a reply may have no body
	w.ResponseWriter.WriteHeader(status)
}

func (w patientWriter) Write(p []byte) (int, error) {
	_ = w.control.SetWriteDeadline(time.Now().Add(pieceTimeout))
	return w.ResponseWriter.Write(p)
}
