// Package cli is the command line of waybookctl: its tree of commands, what they
// call, and how they fail.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

// name is the program's name.
const name = "waybookctl"

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs one command line and returns the exit status. Cancelling ctx ends it early.
func Run(ctx context.Context, args []string, streams Streams, lookupEnv func(string) (string, bool)) int {
	err := run(ctx, args, streams, lookupEnv)
	if err == nil || errors.Is(err, errAnswered) {
		return statusOK
	}
	f := describe(ctx, err)
	f.print(streams.Err)
	return f.status
}

func run(ctx context.Context, args []string, streams Streams, lookupEnv func(string) (string, bool)) error {
	var tree commands
	twins := &environment{lookup: lookupEnv}
	parser, err := newParser(&tree, streams, twins)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return twins.blame(err)
	}
	stack := &process.Stack{}
	defer func() { _ = stack.Stop(context.WithoutCancel(ctx)) }() // a failed close does not concern the user
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.BindTo(streams.In, (*io.Reader)(nil))
	parsed.BindTo(reporterTo(streams.Err), (*progress.Reporter)(nil))
	parsed.Bind(
		secrets{in: streams.In, prompt: streams.Err},
		&tree.Connection,
		&output.Printer{Format: tree.Output, Out: streams.Out, Notes: streams.Err},
	)
	if err := parsed.BindSingletonProvider(func() (*services, error) {
		return connect(tree.Connection, process.Env{Stack: stack, Log: slog.New(slog.NewTextHandler(streams.Err, nil))})
	}); err != nil {
		return err
	}
	return parsed.Run()
}

// reporterTo returns a progress reporter: a bar at a terminal, lines elsewhere.
func reporterTo(errors io.Writer) progress.Reporter {
	if file, ok := errors.(*os.File); ok {
		return progress.New(file)
	}
	return progress.NewLines(errors, time.Now)
}

// newParser makes the parser of a tree of commands.
func newParser(tree *commands, streams Streams, twins *environment) (*kong.Kong, error) {
	return kong.New(tree,
		kong.Name(name),
		kong.Description(description),
		kong.Writers(streams.Out, streams.Err),
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ValueFormatter(helpOf),
		kong.WithHyphenPrefixedParameters(true),
		kong.Resolvers(twins),
		kong.Vars{"rules": ruleNames(), "allowances": allowanceNames(), "max_spool": strconv.FormatInt(transfer.DefaultMaxSpoolBytes, 10)},
	)
}
