// Package transfer_test imports files of landmarks into a running Waybook over TCP, and exports
// them.
package transfer_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/internal/platform/process"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/standalone/app"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	return w.importFrom(w.t.Context(), strings.NewReader(text), options, progress.None{})
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
	_, err := transfer.ExportFile(w.t.Context(), w.poi, transfer.ExportOptions{OwnerID: w.owner, Format: format}, path, progress.None{})
	if err != nil {
		w.t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}
