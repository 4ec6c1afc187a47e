package process_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
)

func TestTheVersionIsPrintedDespiteOtherErrors(t *testing.T) {
	nonsense := map[string]string{"WAYBOOK_SIZE": "x"}
	for _, args := range [][]string{{"-version"}, {"--version"}, {"-size=4", "-version"}, {"-version=true"}} {
		end := run(ended(), args, nonsense, func(context.Context, setting, process.Env) error {
			t.Error("the program started")
			return nil
		})
		if want := buildinfo.Read().Line("example") + "\n"; end.status != 0 || end.out != want || end.errors != "" {
			t.Errorf("%v: status %d, %q%q, want %q", args, end.status, end.out, end.errors, want)
		}
	}
}

func TestTheEnvironmentCannotRequestTheVersion(t *testing.T) {
	for _, value := range []string{"true", "v1.2.0"} {
		isStarted := false
		end := run(ended(), nil, map[string]string{"WAYBOOK_VERSION": value}, func(context.Context, setting, process.Env) error {
			isStarted = true
			return nil
		})
		if end.status != 0 || !isStarted || end.out != "" {
			t.Errorf("%s: status %d, %q%q", value, end.status, end.out, end.errors)
		}
	}
}

// startParts starts an HTTP port and an admin port, and announces a store.
func startParts(ctx context.Context, env process.Env) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	env.HTTP("edge", listener, http.NotFoundHandler(), connlimit.New(connlimit.Limits{}))
	if _, err := env.Admin(ctx, "127.0.0.1:0", process.NewReadiness(), process.NewMetrics()); err != nil {
		return err
	}
	env.Announce(slog.String("store", "embedded here/waybook.db"))
	return nil
}

func TestTheLogRecordsStartAndStop(t *testing.T) {
	const address = `127\.0\.0\.1:[1-9]\d*`
	for name, test := range map[string]struct {
		cause  error
		status int
		want   string
	}{
		"by a signal":  {context.Canceled, 0, `"context canceled"`},
		"by a failure": {errors.New("the port broke"), 1, "failure"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			end := run(ctx, nil, nil, func(ctx context.Context, _ setting, env process.Env) error {
				cancel(test.cause)
				return startParts(context.WithoutCancel(ctx), env)
			})
			want := regexp.MustCompile(`^time=\S+ level=INFO msg=started program=example version=\S+ commit=\S+` +
				` http=` + address + ` admin=` + address + ` store="embedded here/waybook\.db"\n` +
				`time=\S+ level=INFO msg=stopped program=example cause=` + test.want + ` duration_ms=[\d.e+-]+\n`)
			rest := want.ReplaceAllString(end.errors, "")
			if end.status != test.status || !want.MatchString(end.errors) || (rest != "") != (test.status != 0) {
				t.Errorf("status %d, logged\n%s", end.status, end.errors)
			}
			if strings.Count(end.errors, "the port broke") != test.status {
				t.Errorf("the failure is not logged once:\n%s", end.errors)
			}
		})
	}
}

func TestAProgramThatFailsToStartLogsNoStop(t *testing.T) {
	end := run(t.Context(), nil, nil, func(_ context.Context, _ setting, env process.Env) error {
		env.Announce(slog.String("store", "embedded here/waybook.db"))
		return errors.New("no luck")
	})
	if end.errors != "example: no luck\n" {
		t.Errorf("logged %q", end.errors)
	}
}
