// Package cli is the command line of waybookctl: its tree of commands, what they
// call, and how they fail.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/waybookctl/output"
)

const description = `Operate Waybook. docs/waybookctl.md is the guide; everything else is done by
gRPC, as docs/grpc.md shows. Exit status: ${statuses}.`

// commands is the tree of commands. The type of each has a Run method, which may take a
// context.Context, *services, *output.Printer, secrets, a progress.Reporter and, for standard
// input, an io.Reader. A command connects to the services only if Run takes *services.
type commands struct {
	User        userCommands     `cmd:"" help:"Users: create, list, find, update, delete and more."`
	Session     sessionCommands  `cmd:"" help:"Sessions of users: list, close."`
	Album       albumCommands    `cmd:"" help:"Albums: list, show, delete."`
	Entry       entryCommands    `cmd:"" help:"Diary entries, also called blogs: list, show, delete."`
	Landmark    landmarkCommands `cmd:"" help:"Landmarks, also called POIs: list, show, update, import and more."`
	Comment     commentCommands  `cmd:"" help:"Comments: remove. user comments lists those of a user."`
	Photo       photoCommands    `cmd:"" help:"Photos: add files, get a file."`
	Store       storeCommands    `cmd:"" help:"The store: backup, restore, check, dump, load and more."`
	Move        moveCommands     `cmd:"" help:"Move the data of an old service in: check, import."`
	Compare     compareCommand   `cmd:"" diff:"" help:"Send the requests of a file to two servers, and compare the replies."`
	Certs       certsCommand     `cmd:"" help:"Create development certificates for mutual TLS."`
	HelpWord    helpCommand      `cmd:"" name:"help" help:"Show the help of a command."`
	VersionWord versionCommand   `cmd:"" name:"version" help:"Print the version, the commit and the Go version."`

	Help    helpFlag      `short:"h" help:"Show the help of a command."`
	Version versionFlag   `help:"Print the version."`
	Output  output.Format `twin:"" short:"o" enum:"table,json" default:"table" placeholder:"FORMAT" help:"Format of results." group:"common"`

	Connection `embed:"" group:"common"`
}

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
	isBare := len(args) == 0
	if isBare { // a mistake that gets the help
		args, streams.Out = []string{"--help"}, streams.Err
	}
	twins := &environment{lookup: lookupEnv}
	parser, err := newParser(&tree, streams, twins)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	switch {
	case isBare && errors.Is(err, errAnswered):
		return usageError("name a command")
	case err != nil:
		return twins.blame(err)
	}
	stack := &process.Stack{}
	defer func() { _ = stack.Stop(context.WithoutCancel(ctx)) }() // a failed close does not concern the user
	parsed.BindTo(ctx, (*context.Context)(nil))
	in := &stdin{ctx: ctx, from: streams.In}
	parsed.BindTo(in, (*io.Reader)(nil))
	parsed.BindTo(progress.New(streams.Err), (*progress.Reporter)(nil))
	parsed.Bind(
		secrets{in: streams.In, prompt: streams.Err},
		&tree.Connection,
		&output.Printer{Format: tree.Output, Out: streams.Out, Notes: streams.Err},
	)
	var notConnected error // as it is; kong adds the name of a Go type
	if err := parsed.BindSingletonProvider(func() (made *services, _ error) {
		made, notConnected = connect(tree.Connection,
			process.Env{Stack: stack, Log: slog.New(slog.NewTextHandler(streams.Err, nil))})
		return made, notConnected
	}); err != nil {
		return err
	}
	err = parsed.Run()
	if notConnected != nil {
		err = twins.blame(notConnected)
	}
	own, _ := errors.AsType[statusError](err)
	if err != nil && parsed.Selected().Tag.Has("diff") && own.status != statusDifferent {
		return trouble{err}
	}
	return err
}

// newParser makes the parser of a tree of commands.
func newParser(tree *commands, streams Streams, twins *environment) (*kong.Kong, error) {
	return kong.New(tree,
		kong.Name(name),
		kong.Description(description),
		kong.Writers(streams.Out, streams.Err),
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true,
			WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{{Key: commonGroup,
			Title: "Flags of all commands, also set as WAYBOOK_ADDRESS for --address, and so on:"}}),
		kong.ValueFormatter(helpOf),
		kong.WithHyphenPrefixedParameters(true),
		kong.Resolvers(twins),
		kong.Vars{"statuses": statusLine(), "address": defaultAddress()},
	)
}
