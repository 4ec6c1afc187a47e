package process_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setting holds the flags that a program ran with.
type setting struct {
	address string
	size    int
	isLoud  bool
	wait    time.Duration
}

// outcome is the result of a run.
type outcome struct {
	status      int
	out, errors string
}

// run runs a program that has four flags and the given Start.
func run(ctx context.Context, args []string, env map[string]string, start func(context.Context, setting, process.Env) error) outcome {
	var s setting
	var out, failed bytes.Buffer
	status := process.Run(ctx, process.Program{
		Name:    "example",
		Summary: "an example.",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&s.address, "some-address", "127.0.0.1:1", "`address` of it")
			flags.IntVar(&s.size, "size", 3, "its size")
			flags.BoolVar(&s.isLoud, "loud", true, "make noise")
			flags.DurationVar(&s.wait, "wait", time.Second, "how long")
		},
		Start: func(ctx context.Context, env process.Env) error { return start(ctx, s, env) },
	}, args, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}, &out, &failed)
	return outcome{status, out.String(), failed.String()}
}

// ended is a context that is already done: the program stops as soon as it has started.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestAFlagComesFromTheCommandLineThenTheEnvironmentThenItsDefault(t *testing.T) {
	byDefault := setting{"127.0.0.1:1", 3, true, time.Second}
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		want setting
	}{
		"defaults": {nil, nil, byDefault},
		"the line": {
			[]string{"-some-address", ":2", "--size=4", "-loud=false", "-wait", "2m"}, nil,
			setting{":2", 4, false, 2 * time.Minute},
		},
		"the environment": {
			nil,
			map[string]string{"WAYBOOK_SOME_ADDRESS": ":2", "WAYBOOK_SIZE": "4", "WAYBOOK_LOUD": "false", "WAYBOOK_WAIT": "2m"},
			setting{":2", 4, false, 2 * time.Minute},
		},
		"the line before the environment": {
			[]string{"-size", "5"}, map[string]string{"WAYBOOK_SIZE": "4"},
			setting{"127.0.0.1:1", 5, true, time.Second},
		},
		"the line before nonsense in the environment": {
			[]string{"-size", "5"}, map[string]string{"WAYBOOK_SIZE": "x"},
			setting{"127.0.0.1:1", 5, true, time.Second},
		},
		"names of other variables": {
			nil, map[string]string{"SIZE": "4", "WAYBOOK_SIZES": "4", "waybook_size": "4"}, byDefault,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got setting
			end := run(ended(), test.args, test.env, func(_ context.Context, s setting, _ process.Env) error {
				got = s
				return nil
			})
			if end.status != 0 || got != test.want {
				t.Errorf("status %d (%s), got %+v, want %+v", end.status, end.errors, got, test.want)
			}
		})
	}
}

func TestAnInvalidSettingIsReportedOnceWithStatus78(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		tell []string
	}{
		"an unknown flag":           {[]string{"-siez", "4"}, nil, []string{"-siez"}},
		"a stray argument":          {[]string{"-size", "4", "serve"}, nil, []string{`"serve"`}},
		"a bad value":               {[]string{"-size", "many"}, nil, []string{"many", "-size"}},
		"a missing value":           {[]string{"-size"}, nil, []string{"-size"}},
		"bad values in environment": {nil, map[string]string{"WAYBOOK_SIZE": "x", "WAYBOOK_WAIT": "y"}, []string{`"x"`, "WAYBOOK_SIZE", `"y"`, "WAYBOOK_WAIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			end := run(ended(), test.args, test.env, func(context.Context, setting, process.Env) error {
				t.Error("the program started")
				return nil
			})
			if end.status != 78 || end.out != "" {
				t.Errorf("status %d, printed %q", end.status, end.out)
			}
			for _, part := range append(test.tell, "-help") {
				if strings.Count(end.errors, part) != 1 {
					t.Errorf("%q is not reported once in %q", part, end.errors)
				}
			}
		})
	}
}

func TestHelpListsEveryFlagWithItsDefault(t *testing.T) {
	end := run(ended(), []string{"-help"}, nil, func(context.Context, setting, process.Env) error {
		t.Error("the program started")
		return nil
	})
	if end.status != 0 || end.errors != "" {
		t.Errorf("status %d, errors %q", end.status, end.errors)
	}
	for _, part := range []string{
		"example: an example.", "WAYBOOK_SOME_FLAG",
		"-some-address address", `"127.0.0.1:1"`, "-size int", "default 3", "-loud", "default true", "-wait duration", "default 1s",
	} {
		if !strings.Contains(end.out, part) {
			t.Errorf("%q is not in %q", part, end.out)
		}
	}
}

func TestAFailedStartStopsThePartsAlreadyStarted(t *testing.T) {
	var stopped []string
	end := run(t.Context(), nil, nil, func(_ context.Context, _ setting, env process.Env) error {
		for _, name := range []string{"store", "port"} {
			env.Stack.Push(name, func(context.Context) error {
				stopped = append(stopped, name)
				return nil
			})
		}
		return errors.New("no luck")
	})
	if end.status != 1 || end.errors != "example: no luck\n" {
		t.Errorf("status %d, errors %q", end.status, end.errors)
	}
	if !slices.Equal(stopped, []string{"port", "store"}) {
		t.Errorf("stopped %v", stopped)
	}
}

func TestAPartThatFailsLaterEndsTheProgram(t *testing.T) {
	end := run(t.Context(), nil, nil, func(ctx context.Context, _ setting, env process.Env) error {
		env.Stack.Go(ctx, "port", func(ctx context.Context) {
			env.Fail(errors.New("the port broke"))
			<-ctx.Done()
		})
		return nil
	})
	if end.status != 1 || !strings.Contains(end.errors, "the port broke") {
		t.Errorf("status %d, errors %q", end.status, end.errors)
	}
}

func TestASignalDuringTheStartIsNotAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	end := run(ctx, nil, nil, func(ctx context.Context, _ setting, _ process.Env) error {
		cancel()
		<-ctx.Done()
		return fmt.Errorf("fill the store: %w", ctx.Err())
	})
	if end.status != 0 || withoutLifecycle(end.errors) != "" {
		t.Errorf("status %d, errors %q", end.status, end.errors)
	}
}

func TestAFailedStopIsReported(t *testing.T) {
	end := run(ended(), nil, nil, func(_ context.Context, _ setting, env process.Env) error {
		env.Stack.Push("store", func(context.Context) error { return io.ErrShortWrite })
		return nil
	})
	if end.status != 1 || !strings.Contains(end.errors, "stop store: short write") {
		t.Errorf("status %d, errors %q", end.status, end.errors)
	}
}
