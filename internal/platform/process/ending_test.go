package process_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
)

// record returns a part that records its end.
func record(ended *[]string, name string) func(context.Context) error {
	return func(context.Context) error {
		*ended = append(*ended, name)
		return nil
	}
}

func TestAProgramServesOnForItsShutdownDelayAfterTheNotice(t *testing.T) {
	for delay, want := range map[string]time.Duration{"0s": 0, "35s": 35 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var noticed, drained time.Time
			end := run(ended(), []string{"-shutdown-delay", delay}, nil, func(_ context.Context, _ setting, env process.Env) error {
				env.Stack.OnNotice(func() { noticed = time.Now() })
				env.Stack.PushPort("port", func(context.Context) error {
					drained = time.Now()
					return nil
				})
				return nil
			})
			if got := drained.Sub(noticed); end.status != 0 || got != want {
				t.Errorf("status %d, the port ended %v after the notice, want %v", end.status, got, want)
			}
			if isLogged := strings.Contains(end.errors, "shutdown_delay=35s"); isLogged != (want > 0) {
				t.Errorf("%s: logged %s", delay, end.errors)
			}
		})
	}
}

func TestAProgramThatFailsOrNeverStartedEndsWithoutADelay(t *testing.T) {
	for name, start := range map[string]func(context.Context, setting, process.Env) error{
		"a failure": func(_ context.Context, _ setting, env process.Env) error {
			env.Fail(errors.New("the port broke"))
			return nil
		},
		"a signal during the start": func(ctx context.Context, _ setting, _ process.Env) error { return ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, began := t.Context(), time.Now()
			if name != "a failure" {
				ctx = ended()
			}
			run(ctx, []string{"-shutdown-delay=35s"}, nil, start)
			if waited := time.Since(began); waited != 0 { // on the fake clock
				t.Errorf("%s: waited %v", name, waited)
			}
		})
	}
}

func TestAShutdownDelayIsBounded(t *testing.T) {
	for _, delay := range []string{"-1s", "11m", "soon"} {
		end := run(ended(), []string{"-shutdown-delay=" + delay}, nil, func(context.Context, setting, process.Env) error {
			t.Error("the program started")
			return nil
		})
		if end.status != 78 || !strings.Contains(end.errors, "-shutdown-delay") {
			t.Errorf("%s: status %d, %s", delay, end.status, end.errors)
		}
	}
}

func TestAllPortsDrainTogetherAndBeforeOtherParts(t *testing.T) {
	var stack process.Stack
	var stopped []string
	both := make(chan struct{})
	drain := func(context.Context) error { // returns once the other port drains too
		select {
		case both <- struct{}{}:
		case <-both:
		}
		return errors.New("broken")
	}
	stack.PushPort("gRPC", drain)
	stack.Push("store", record(&stopped, "store"))
	stack.PushPort("HTTP", drain)
	stack.Push("sweeper", record(&stopped, "sweeper"))
	stack.OnNotice(func() { stopped = append(stopped, "notice") })
	stack.Notify()
	err := stack.Stop(t.Context())
	if err == nil || !strings.Contains(err.Error(), "stop gRPC: broken") || !strings.Contains(err.Error(), "stop HTTP: broken") {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(stopped, []string{"notice", "sweeper", "store"}) {
		t.Errorf("stopped %v", stopped)
	}
}

func TestAPortHasTheDrainTimeAndOtherPartsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var cut, rest time.Duration
		run(ended(), nil, nil, func(_ context.Context, _ setting, env process.Env) error {
			env.Stack.Push("store", func(ctx context.Context) error {
				deadline, _ := ctx.Deadline()
				rest = time.Until(deadline)
				return nil
			})
			env.Stack.PushPort("port", func(ctx context.Context) error {
				<-ctx.Done()
				cut = time.Since(began)
				return nil
			})
			return nil
		})
		if cut != process.DrainTime || rest != process.StopTimeout-process.DrainTime || rest <= 0 {
			t.Errorf("requests had %v, the store %v", cut, rest)
		}
	})
}

// exchange sends a request on a kept connection and returns its reply.
func exchange(t *testing.T, connection net.Conn, reader *bufio.Reader) *http.Response {
	t.Helper()
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	reply, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, reply.Body); err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestAfterTheNoticeEachReplyAnnouncesThatItsConnectionCloses(t *testing.T) {
	env := newEnv(t)
	listener, err := process.Listen(t.Context(), "http", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	env.HTTP("edge", listener, http.NotFoundHandler(), connlimit.New(connlimit.Limits{}))
	connect := func() (net.Conn, *bufio.Reader) {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		_ = connection.SetDeadline(time.Now().Add(time.Minute)) // instead of a test that hangs
		return connection, bufio.NewReader(connection)
	}
	kept, reader := connect()
	if exchange(t, kept, reader).Close {
		t.Error("a connection closes before the notice")
	}
	env.Stack.Notify()
	// The idle connection is open, and closes after the next reply.
	if !exchange(t, kept, reader).Close {
		t.Error("the reply on a kept connection does not announce that it closes")
	}
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("the connection stays open: %q, %v", rest, err)
	}
	if young, reader := connect(); !exchange(t, young, reader).Close {
		t.Error("the reply on a new connection does not announce that it closes")
	}
	if err := env.Stack.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
