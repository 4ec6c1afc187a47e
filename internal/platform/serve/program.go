// Package serve is the one bootstrap of Waybook's programs: flags and their
// environment twins, logs, metrics, traces, health, and a graceful stop that is capped.
package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/waybook/waybook/internal/platform/buildinfo"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// heapGrowth is how much the heap may grow, in percent, before the garbage collector runs.
// Programs here have small heaps and make much garbage: with Go's own 100 a request costs
// a sixth more CPU, to save some 5 MiB. GOGC sets it otherwise.
const heapGrowth = 200

// StopTimeout caps a graceful stop.
const StopTimeout = 10 * time.Second

// Program is one of Waybook's programs.
type Program struct {
	// Name is the program's name and Summary what it does, in one line.
	Name, Summary string
	// Flags declares the program's flags. Each can also be given in the
	// environment: -mongodb-uri as WAYBOOK_MONGODB_URI.
	Flags func(*flag.FlagSet)
	// Start starts the program's parts and pushes each on the stack; those pushed
	// before an error are stopped. A part that fails later ends the program
	// through fail. out is for what the user should see.
	Start func(ctx context.Context, env Env) error
}

// Env is what a program is started with.
type Env struct {
	Stack *Stack
	Out   io.Writer
	Log   *slog.Logger
	// Fail ends the program with an error. It may be called concurrently.
	Fail func(error)
	// Transport secures the connections between processes.
	Transport Transport
	// Tracing makes the spans of the program.
	Tracing tracing.Tracing
	// HasProfiles says that the admin port serves profiles.
	HasProfiles bool

	start *startLine
}

// settings are those that every program has.
type settings struct {
	transport   TransportFlags
	logs        logFlags
	tracing     tracing.Flags
	hasProfiles bool
}

func (s *settings) register(flags *flag.FlagSet) {
	s.transport.Register(flags)
	s.logs.register(flags)
	s.tracing.Register(flags)
	flags.BoolVar(&s.hasProfiles, "pprof", false, "serve profiles under /debug/pprof/ on the admin port, for go tool pprof")
	flags.Bool(versionFlag, false, "print the version, the commit and the Go version, and exit; not read from the environment")
}

// versionFlag is the only flag without a twin in the environment: an image may well
// have a WAYBOOK_VERSION of its own.
const versionFlag = "version"

// errVersion ends a command line that asked for the version.
var errVersion = errors.New("the version was asked for")

// Main runs a program until SIGINT or SIGTERM and ends the process: with status 0
// after a clean stop, 2 when the flags are wrong, 1 after any other failure.
func Main(program Program) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(Run(ctx, program, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// Run runs a program until ctx is done and returns its exit status.
func Run(
	ctx context.Context, program Program, args []string, lookupEnv func(string) (string, bool), stdout, stderr io.Writer,
) int {
	flags := flag.NewFlagSet(program.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is told below, once
	program.Flags(flags)
	var set settings
	set.register(flags)
	if _, isSet := lookupEnv("GOGC"); !isSet {
		debug.SetGCPercent(heapGrowth)
	}
	err := parse(flags, args, lookupEnv)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "%s: %s\n\nEach flag can also be given in the environment: -some-flag as %s.\n\n",
			program.Name, program.Summary, envName("some-flag"))
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	}
	if errors.Is(err, errVersion) {
		fmt.Fprintln(stdout, buildinfo.Read().Line(program.Name))
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; see -help\n", program.Name, err)
		return 2
	}
	log := set.logs.open(stderr).With("program", program.Name)
	switch err := runUntilDone(ctx, program, set, lookupEnv, log, stdout); {
	case err == nil:
		return 0
	case set.logs.format == jsonFormat:
		log.ErrorContext(ctx, "ended by a failure", "error", err)
	default:
		fmt.Fprintf(stderr, "%s: %v\n", program.Name, err)
	}
	return 1
}

func runUntilDone(
	ctx context.Context, program Program, set settings, lookupEnv tracing.LookupEnv, log *slog.Logger, out io.Writer,
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
	stack.Push("traces", flush) // first, so last: what is still served has spans too
	start := &startLine{}
	err = program.Start(runCtx, Env{
		Stack: stack, Out: out, Log: log, Fail: fail, Transport: transport, Tracing: spans, HasProfiles: set.hasProfiles,
		start: start,
	})
	stop := func() error {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTimeout)
		defer cancel()
		return stack.Stop(stopCtx)
	}
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, stop()) // it never started, and the error says why
	}
	if err == nil {
		start.log(ctx, log)
		<-runCtx.Done()
	}
	began, cause := time.Now(), context.Cause(runCtx)
	var failed error
	reason := cause.Error()
	if !errors.Is(cause, context.Canceled) {
		failed, reason = cause, "failure"
	}
	err = errors.Join(failed, stop())
	logStop(ctx, log, reason, began)
	return err
}

// parse reads the flags from args and, those not given there, from the environment.
func parse(flags *flag.FlagSet, args []string, lookupEnv func(string) (string, bool)) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if flags.Lookup(versionFlag).Value.String() == "true" {
		return errVersion
	}
	given := map[string]bool{versionFlag: true}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var failed error
	flags.VisitAll(func(f *flag.Flag) {
		value, ok := lookupEnv(envName(f.Name))
		if !ok || given[f.Name] {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = errors.Join(failed, fmt.Errorf("invalid value %q for %s: %w", value, envName(f.Name), err))
		}
	})
	return failed
}

func envName(flagName string) string {
	return "WAYBOOK_" + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}
