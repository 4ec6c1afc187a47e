package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// pingTimeout bounds the readiness check of the store.
const pingTimeout = 2 * time.Second

// Readiness reports whether a program can take requests, and what a starting program
// does. It may be used concurrently.
type Readiness struct{ state atomic.Pointer[state] }

// state is what a program does. A ready program does nothing else, so it has no reason.
type state struct {
	unready error
	check   func(context.Context) error
}

// NewReadiness returns the readiness of a program that starts.
func NewReadiness() *Readiness {
	r := &Readiness{}
	r.state.Store(&state{unready: errors.New("starting")})
	return r
}

// Starting records a step of the start, such as "opening the collections".
func (r *Readiness) Starting(step string) {
	r.state.Store(&state{unready: errors.New("starting: " + step)})
}

// Err returns nil when the program can take requests.
func (r *Readiness) Err(ctx context.Context) error {
	now := r.state.Load()
	if now.unready != nil || now.check == nil {
		return now.unready
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := now.check(ctx); err != nil {
		return errors.New("the store can't be reached")
	}
	return nil
}

// Ready marks the program as ready until its notice to stop. It is ready while check, which
// checks its dependencies, returns nil. check may be nil.
func (e Env) Ready(readiness *Readiness, check func(context.Context) error) {
	readiness.state.Store(&state{check: check})
	e.Stack.OnNotice(func() { readiness.state.Store(&state{unready: errors.New("stopping")}) })
}

// startLine collects the attributes of the log line of a started program.
type startLine struct{ attributes []slog.Attr }

// Announce adds an attribute to the log line of a started program, such as an address that
// a part listens on. Only Start and the functions it calls may use it.
func (e Env) Announce(attribute slog.Attr) {
	if e.start != nil { // nil without a program, as in a test of one part
		e.start.attributes = append(e.start.attributes, attribute)
	}
}

func (s *startLine) log(ctx context.Context, log *slog.Logger) {
	build := buildinfo.Read()
	attributes := []slog.Attr{slog.String("version", build.Version), slog.String("commit", build.Commit)}
	log.LogAttrs(ctx, slog.LevelInfo, "started", append(attributes, s.attributes...)...)
}

// DrainTime is how long a program that ends lets the requests in flight finish. It is longer than
// the longest call of a program, so only a list that streams may be cut off.
const DrainTime = 15 * time.Second

// StopTimeout bounds the end of a program after its shutdown delay: DrainTime, and then the time
// to close the store and to send the last spans.
const StopTimeout = DrainTime + 5*time.Second

// maxShutdownDelay bounds the flag -shutdown-delay.
const maxShutdownDelay = 10 * time.Minute

// serveOut goes on serving for the shutdown delay. Meanwhile the program is not ready, and its
// callers find the other replicas.
func serveOut(ctx context.Context, delay time.Duration, log *slog.Logger) {
	if delay == 0 {
		return
	}
	log.LogAttrs(ctx, slog.LevelInfo, "stopping: serving on until callers have found other replicas",
		slog.String("shutdown_delay", delay.String()))
	_ = pause.For(context.WithoutCancel(ctx), delay) // a context without an end
}

// manager is the service manager that started the program, such as systemd. It is nil if none
// wants reports.
type manager struct {
	socket *net.UnixAddr
	log    *slog.Logger
}

// serviceManager returns the manager at the socket that NOTIFY_SOCKET names, as sd_notify(3)
// describes.
func serviceManager(lookupEnv tracing.LookupEnv, log *slog.Logger) *manager {
	path, _ := lookupEnv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	return &manager{&net.UnixAddr{Name: path, Net: "unixgram"}, log}
}

// report sends a state, such as READY=1. A failure is logged: the manager then ends a program
// that it believes not to be ready.
func (m *manager) report(state string) {
	if m == nil {
		return
	}
	connection, err := net.DialUnix("unixgram", nil, m.socket)
	if err == nil {
		_, err = connection.Write([]byte(state))
		_ = connection.Close() // the datagram is sent
	}
	if err != nil {
		m.log.Warn("failed to report to the service manager", "state", state, "error", err)
	}
}

// Stack holds the started parts of a program. It stops its ports first, all at the same time,
// and then the other parts in reverse order, so a part can use its dependencies until it has
// stopped. Only one goroutine may use it.
type Stack struct {
	notices []func()
	ports   []stop
	stops   []stop
}

type stop struct {
	name string
	run  func(context.Context) error
}

// Push adds a started part and the function that stops it.
func (s *Stack) Push(name string, run func(context.Context) error) {
	s.stops = append(s.stops, stop{name, run})
}

// PushPort adds a port. drain ends it once the requests in flight have ended, and cuts them off
// when its context ends, after DrainTime.
func (s *Stack) PushPort(name string, drain func(context.Context) error) {
	s.ports = append(s.ports, stop{name, drain})
}

// OnNotice adds a function that the stop calls first, while all parts still serve.
func (s *Stack) OnNotice(run func()) { s.notices = append(s.notices, run) }

// Go runs a function in a goroutine. The stop cancels its context and waits for it.
func (s *Stack) Go(ctx context.Context, name string, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	s.Push(name, func(stopCtx context.Context) error {
		cancel()
		select {
		case <-done:
			return nil
		case <-stopCtx.Done():
			return stopCtx.Err()
		}
	})
}

// Notify tells the parts that the stop is near. Stop does so too. Each part is told once.
func (s *Stack) Notify() {
	for _, run := range s.notices {
		run()
	}
	s.notices = nil
}

// Stop drains the ports, stops all other parts, last first, and returns all errors. It stops each
// part even when ctx is done; the part then stops at once.
func (s *Stack) Stop(ctx context.Context) error {
	s.Notify()
	failed := s.drain(ctx)
	for len(s.stops) > 0 {
		last := s.stops[len(s.stops)-1]
		s.stops = s.stops[:len(s.stops)-1]
		failed = append(failed, last.end(ctx))
	}
	return errors.Join(failed...)
}

// drain ends all ports. Together they have DrainTime.
func (s *Stack) drain(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(ctx, DrainTime)
	defer cancel()
	failed := make([]error, len(s.ports))
	var draining sync.WaitGroup
	for n, port := range s.ports {
		draining.Go(func() { failed[n] = port.end(ctx) })
	}
	draining.Wait()
	s.ports = nil
	return failed
}

func (s stop) end(ctx context.Context) error {
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", s.name, err)
	}
	return nil
}
