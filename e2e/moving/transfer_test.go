package moving_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/standalone/app"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// waybook is a running Waybook with a user who owns landmarks, and no other content.
type waybook struct {
	t       *testing.T
	account accountv1.AccountServiceClient
	poi     poiv1.PoiServiceClient
	owner   int64
	// line is the connection between the client and the service.
	line *line
}

func start(t *testing.T) *waybook {
	t.Helper()
	stack := &process.Stack{}
	t.Cleanup(func() {
		if err := stack.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	config := app.Config{
		HTTP: "127.0.0.1:0", GRPC: "127.0.0.1:0", Admin: "127.0.0.1:0",
		TimeZone: "UTC", Account: account.Config{Sessions: account.SessionLife{Total: time.Hour}}, Reward: 10,
	}
	config.Store.Data = t.TempDir()
	app, err := app.Start(t.Context(), config, process.Env{
		Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &waybook{t: t, line: &line{}}
	connection, err := grpc.NewClient(app.GRPC.String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStreamInterceptor(w.line.intercept))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	w.poi = poiv1.NewPoiServiceClient(connection)
	w.account = accountv1.NewAccountServiceClient(connection)
	w.owner = w.newUser()
	return w
}

func (w *waybook) newUser() int64 {
	w.t.Helper()
	reply, err := w.account.CreateUser(w.t.Context(), &accountv1.CreateUserRequest{Name: "x"})
	if err != nil {
		w.t.Fatal(err)
	}
	return reply.GetUser().GetUserId()
}

// options returns options for a file of a format, without pauses between retries.
func (w *waybook) options(format landmarkfile.Format) transfer.ImportOptions {
	return transfer.ImportOptions{
		OwnerID: w.owner, File: landmarkfile.Options{Format: format, Category: 3},
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// importText imports a text as a file.
func (w *waybook) importText(text string, options transfer.ImportOptions) (*transfer.ImportSummary, error) {
	w.t.Helper()
	return w.importFrom(w.t.Context(), strings.NewReader(text), options, unreported{})
}

func (w *waybook) importFrom(
	ctx context.Context, file io.Reader, options transfer.ImportOptions, report progress.Reporter,
) (*transfer.ImportSummary, error) {
	w.t.Helper()
	source, err := transfer.Spool(ctx, file, transfer.DefaultMaxSpoolBytes)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := source.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	return transfer.Import(ctx, w.poi, source, options, report)
}

// expect checks the counts of an import.
func expect(t *testing.T, summary *transfer.ImportSummary, err error, created, unchanged, failed int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if summary.Created != created || summary.Unchanged != unchanged || summary.Failed != failed {
		t.Errorf("%v, want %d created, %d unchanged, %d refused", summary, created, unchanged, failed)
	}
}

// export returns the owner's landmarks as a file.
func (w *waybook) export(format landmarkfile.Format) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "export")
	_, err := transfer.ExportFile(w.t.Context(), w.poi, transfer.ExportOptions{OwnerID: w.owner, Format: format}, path, unreported{})
	if err != nil {
		w.t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// line is the connection between a client and the service. It breaks when a test says so, and
// counts its messages.
type line struct {
	mu sync.Mutex
	// loseReplies is how many messages of the service are lost, after the first after messages.
	loseReplies, after int
	// calls counts the places of each ImportPois call. largest is the maximum number of places in a
	// message.
	calls   []int
	largest int
	// sent counts the messages sent. onSend, if not nil, is called before each message.
	sent   int
	onSend func(sent int)
}

var errLost = status.Error(codes.Unavailable, "the line is broken")

func (l *line) intercept(
	ctx context.Context, desc *grpc.StreamDesc, connection *grpc.ClientConn, method string, next grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := next(ctx, desc, connection, method, options...)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if desc.ClientStreams {
		l.calls = append(l.calls, 0)
	}
	return &watched{ClientStream: stream, line: l}, nil
}

type watched struct {
	grpc.ClientStream
	line *line
}

func (s *watched) SendMsg(message any) error {
	if batch, ok := message.(*poiv1.ImportPoisRequest); ok {
		s.line.mu.Lock()
		count := len(batch.GetPois())
		s.line.calls[len(s.line.calls)-1] += count
		s.line.largest = max(s.line.largest, count)
		s.line.sent++
		if s.line.onSend != nil {
			s.line.onSend(s.line.sent)
		}
		s.line.mu.Unlock()
	}
	return s.ClientStream.SendMsg(message)
}

// RecvMsg receives a message of the service and may lose it. The service has done its work by then.
func (s *watched) RecvMsg(message any) error {
	if err := s.ClientStream.RecvMsg(message); err != nil {
		return err
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	if s.line.after > 0 {
		s.line.after--
		return nil
	}
	if s.line.loseReplies > 0 {
		s.line.loseReplies--
		return errLost
	}
	return nil
}

// unreported is the progress of work that nobody watches.
type unreported struct{}

func (unreported) Start(string, progress.Unit, int64) {}
func (unreported) Reach(int64)                        {}
func (unreported) Note(string)                        {}
func (unreported) Finish()                            {}
