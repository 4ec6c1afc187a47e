// Package process is the common bootstrap of Waybook's programs: flags and their environment
// variables, logs, metrics, traces, health, and a graceful stop with a deadline.
package process

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/settings"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// Program is one of Waybook's programs.
type Program struct {
	// Name is the program's name. Summary describes it in one line.
	Name, Summary string
	// Called is the name of the program's file, for messages to people. It is Name when empty.
	Called string
	// Flags declares the program's flags. Each can also be set in the environment:
	// -mongodb-uri as WAYBOOK_MONGODB_URI.
	Flags func(*flag.FlagSet)
	// ShutdownDelay is the default of the flag -shutdown-delay.
	ShutdownDelay time.Duration
	// Check reports the invalid settings that a start would find later than the parsing of
	// flags. It may be nil.
	Check func(*Checks)
	// Start starts the program's parts and pushes each on the stack. If it returns an
	// error, the parts pushed before are stopped. A part that fails later ends the program
	// through Env.Fail.
	Start func(ctx context.Context, env Env) error
}

// Env is the environment that a program starts in.
type Env struct {
	Stack *Stack
	Out   io.Writer // messages for the user
	Log   *slog.Logger
	// Fail ends the program with an error. It may be called concurrently.
	Fail func(error)
	// Transport secures the connections between processes.
	Transport Transport
	// Tracing creates the program's spans.
	Tracing tracing.Tracing
	// HasProfiles makes the admin port serve profiles.
	HasProfiles bool
	// AdminHosts are host names under which programs may use the admin port.
	AdminHosts AdminHosts

	start *startLine
}

// common are the flags of all programs.
type common struct {
	settings      settings.Flags
	transport     TransportFlags
	logs          logFlags
	tracing       tracing.Flags
	hasProfiles   bool
	adminHosts    AdminHosts
	shutdownDelay time.Duration
}

func (s *common) register(flags *flag.FlagSet, program Program) {
	s.settings.Register(flags)
	flags.DurationVar(&s.shutdownDelay, "shutdown-delay", program.ShutdownDelay,
		"`time` after SIGTERM during which the program serves on, not ready, so that callers find other "+
			"replicas; at most 10m")
	s.transport.Register(flags)
	s.logs.register(flags)
	s.tracing.Register(flags)
	flags.BoolVar(&s.hasProfiles, "pprof", false,
		"serve profiles under /debug/pprof/ on the admin port, for go tool pprof")
	flags.Var(&s.adminHosts, adminHostsFlag,
		"comma-separated host `names` under which programs may use the admin port, besides localhost and IP addresses")
}

// check returns a setting that is out of its range.
func (s *common) check() error {
	if s.shutdownDelay < 0 || s.shutdownDelay > maxShutdownDelay {
		return fmt.Errorf("invalid value %q for -shutdown-delay: want a time from 0s to %v", s.shutdownDelay,
			maxShutdownDelay)
	}
	if s.logs.format != textFormat && s.logs.format != jsonFormat {
		return fmt.Errorf("invalid value %q for -log-format: want %s or %s", s.logs.format, textFormat, jsonFormat)
	}
	return nil
}

const adminHostsFlag = "admin-hosts"

// gcPercent is by how many percent the heap grows between two garbage collections. With Go's
// default of 100, a request costs a tenth more CPU, which saves only about 5 MiB.
const gcPercent = 200

// invalidSettings is the exit status for settings that a restart does not mend, EX_CONFIG of
// sysexits. It is not the usual 2, because Go ends a program with 2 after a panic and after a
// fault of its runtime.
const invalidSettings = 78

// Main runs a program until SIGINT or SIGTERM and exits the process. The status is 0 after
// a clean stop, 78 for invalid settings, and 1 after any other failure that the program notices.
func Main(program Program) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(Run(ctx, program, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// Run runs a program until ctx is done and returns its exit status.
func Run(
	ctx context.Context, program Program, args []string, lookupEnv func(string) (string, bool),
	stdout, stderr io.Writer,
) int {
	called := cmp.Or(program.Called, program.Name)
	flags := flag.NewFlagSet(called, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are reported below, once
	program.Flags(flags)
	var set common
	set.register(flags, program)
	err := set.settings.Read(flags, args, lookupEnv)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "%s: %s\n\nEach flag but -check and -version can also be given in the environment, "+
			"-some-flag as %s,\n"+
			"and in the file that -config names, as some-flag.\n\n", called, program.Summary,
			settings.EnvName("some-flag"))
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	}
	if err == nil && set.settings.OnlyVersion {
		fmt.Fprintln(stdout, buildinfo.Read().Line(called))
		return 0
	}
	err = errors.Join(err, set.check())
	if set.settings.OnlyCheck {
		err = errors.Join(err, check(program, set, lookupEnv))
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; see -help\n", called, err)
		return invalidSettings
	}
	if set.settings.OnlyCheck {
		fmt.Fprintf(stdout, "%s: the settings are valid\n", called)
		return 0
	}
	log := set.logs.open(stderr).With("program", program.Name)
	switch err := runUntilDone(ctx, program, set, lookupEnv, log, stdout); {
	case err == nil:
		return 0
	case set.logs.format == jsonFormat:
		log.ErrorContext(ctx, "ended by a failure", "error", err)
	default:
		fmt.Fprintf(stderr, "%s: %v\n", called, err)
	}
	return 1
}

func runUntilDone(
	ctx context.Context, program Program, set common, lookupEnv tracing.LookupEnv, log *slog.Logger, out io.Writer,
) error {
	transport, err := set.transport.Load(log)
	if err != nil {
		return err
	}
	spans, flush, err := set.tracing.Start(ctx, program.Name, lookupEnv, log)
	if err != nil {
		return err
	}
	runCtx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	stack := &Stack{}
	if _, isSet := lookupEnv("GOGC"); !isSet {
		debug.SetGCPercent(gcPercent)
	}
	stack.Push("traces", flush) // pushed first, so stopped last: requests that are still in flight have spans too
	start := &startLine{}
	err = program.Start(runCtx, Env{
		Stack: stack, Out: out, Log: log, Fail: fail, Transport: transport, Tracing: spans,
		HasProfiles: set.hasProfiles,
		AdminHosts:  set.adminHosts, start: start,
	})
	stop := func() error {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTimeout)
		defer cancel()
		return stack.Stop(stopCtx)
	}
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, stop()) // it never started
	}
	manager := serviceManager(lookupEnv, log)
	isStarted := err == nil
	if isStarted {
		start.log(ctx, log)
		manager.report("READY=1")
	}
	<-runCtx.Done() // at once when a signal ended the start
	manager.report("STOPPING=1")
	began, cause := time.Now(), context.Cause(runCtx)
	var failed error
	reason := cause.Error()
	if !errors.Is(cause, context.Canceled) {
		failed, reason = cause, "failure"
	}
	stack.Notify()
	if isStarted && failed == nil {
		serveOut(ctx, set.shutdownDelay, log)
	}
	err = errors.Join(failed, stop())
	log.LogAttrs(ctx, slog.LevelInfo, "stopped", slog.String("cause", reason),
		slog.Float64("duration_ms", float64(time.Since(began).Microseconds())/1000))
	return err
}

// The formats of log lines: text for people, JSON for log collectors.
const (
	textFormat = "text"
	jsonFormat = "json"
)

// logFlags are the flags for the log.
type logFlags struct {
	format string
	level  slog.Level
}

func (f *logFlags) register(flags *flag.FlagSet) {
	flags.StringVar(&f.format, "log-format", textFormat, "`format` of the log on standard error, text or json")
	flags.TextVar(&f.level, "log-level", slog.LevelInfo, "lowest `level` to log: debug, info, warn or error")
}

// open returns a log that writes to out. Both formats quote all values, so no value can
// forge a line or a field.
func (f *logFlags) open(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.level}
	if f.format == jsonFormat {
		return slog.New(correlated{slog.NewJSONHandler(out, options)})
	}
	return slog.New(correlated{slog.NewTextHandler(out, options)})
}

// correlated adds the request id and the trace id of the context to each line.
type correlated struct{ slog.Handler }

func (c correlated) Handle(ctx context.Context, record slog.Record) error {
	if id := requestid.From(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return c.Handler.Handle(ctx, record)
}

func (c correlated) WithAttrs(attributes []slog.Attr) slog.Handler {
	return correlated{c.Handler.WithAttrs(attributes)}
}

func (c correlated) WithGroup(name string) slog.Handler {
	return correlated{c.Handler.WithGroup(name)}
}
