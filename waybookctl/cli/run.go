// Package cli is the command line of waybookctl: its tree of commands, what they
// call, and how they fail.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/transfer"
)

const description = `Operate Waybook: users, sessions, albums, entries and landmarks over gRPC, and the store itself.

Results go to standard output, everything else to standard error. Exit statuses:

${statuses}
compare and move verify have those of diff.`

// commands is the tree of commands. Commands of one RPC are made from its descriptor (table.go). The type of another has a
// Run method, which may take a context.Context, *services, *rpc, *output.Printer, secrets, a progress.Reporter and, for standard
// input, an io.Reader. A command connects to the services only if Run takes *services or *rpc.
type commands struct {
	Connection `embed:"" group:"Flags of all commands:"`

	Context   string        `twin:"" placeholder:"NAME" help:"Context whose connection to use, instead of the one that context use selected." group:"Flags of all commands:"`
	Output    output.Format `twin:"" short:"o" default:"table" placeholder:"FORMAT" help:"Format of results." group:"Flags of all commands:"`
	NoHeaders bool          `help:"Leave out the headings of tables." group:"Flags of all commands:"`
	Help      helpFlag      `short:"h" help:"Show the help of a command."`

	Version versionFlag `help:"Print the version, the commit and the Go version."`

	User        userCommands       `cmd:"" service:"account" help:"Users, who can log in and own things."`
	Session     sessionCommands    `cmd:"" service:"account" help:"Sessions, which legacy clients name in a cookie."`
	Album       albumCommands      `cmd:"" service:"album" help:"Albums with their photos and comments."`
	Entry       entryCommands      `cmd:"" service:"blog" help:"Diary entries, also called blogs, with their comments."`
	Landmark    landmarkCommands   `cmd:"" service:"poi" help:"Landmarks, also called POIs, with their photos and comments."`
	Store       storeCommands      `cmd:"" help:"The store itself; only a backup needs a running service."`
	Move        moveCommands       `cmd:"" help:"Move the data of an old service in: check, import, verify."`
	Compare     compareCommand     `cmd:"" diff:"" help:"Play a log of requests against two servers and compare their replies."`
	Console     consoleCommand     `cmd:"" help:"Serve pages for operators to a browser on this machine."`
	Trace       traceCommand       `cmd:"" help:"Show what a slow request did in each program, by its request id."`
	Certs       certsCommand       `cmd:"" help:"Create development certificates for mutual TLS between the processes."`
	Contexts    contextCommands    `cmd:"" name:"context" help:"Contexts: connections with a name, in a file of yours."`
	HelpWord    helpCommand        `cmd:"" name:"help" help:"Show the help of a command."`
	VersionWord versionCommand     `cmd:"" name:"version" help:"Print the version, the commit and the Go version."`
	Completion  completionCommands `cmd:"" help:"Scripts that complete command lines in a shell."`
	Complete    completeWords      `cmd:"" hidden:"" passthrough:"all" help:"Print completion candidates for a command line."`
}

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
	kept := openContexts(lookupEnv)
	twins := &environment{lookup: lookupEnv, contexts: kept}
	parser, err := newParser(&tree, streams, twins, args)
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
	in := &stdin{ctx: ctx, from: streams.In}
	parsed.BindTo(in, (*io.Reader)(nil))
	parsed.BindTo(progress.New(streams.Err), (*progress.Reporter)(nil))
	parsed.Bind(
		secrets{in: streams.In, prompt: streams.Err},
		&tree.Connection,
		&output.Printer{Format: tree.Output, NoHeaders: tree.NoHeaders, Out: streams.Out, Notes: streams.Err},
	)
	if err := parsed.BindSingletonProvider(func() (*contexts, error) { return kept, kept.err }); err != nil {
		return err
	}
	if err := parsed.BindSingletonProvider(func() (*services, error) {
		if err := kept.check(tree.Context); err != nil {
			return nil, err
		}
		return connect(tree.Connection, process.Env{Stack: stack, Log: slog.New(slog.NewTextHandler(streams.Err, nil))})
	}); err != nil {
		return err
	}
	if err := parsed.BindSingletonProvider(func(call *services) (*rpc, error) { return call.rpc(ctx, parsed.Selected(), in) }); err != nil {
		return err
	}
	if selected := parsed.Selected(); selected.Tag.Has("rpc") && !selected.Target.Addr().MethodByName("Run").IsValid() {
		results, err := parsed.Call(runRPC)
		if err == nil {
			err, _ = results[0].(error)
		}
		return err
	}
	err = parsed.Run()
	if own, _ := errors.AsType[statusError](err); err != nil && parsed.Selected().Tag.Has("diff") && own.status != statusDifferent {
		return trouble{err}
	}
	return err
}

// generatedCommands returns empty structs for the generated commands that a command line can name, by noun: those
// of its first word, if that is a noun. Making and reading all of them takes most of the time of a command.
func generatedCommands(args []string) (map[string]kong.Plugins, error) {
	isAny := len(args) == 0 || strings.HasPrefix(args[0], "-") || args[0] == "help" || args[0] == "complete"
	types, err := fromContracts.types(func(noun string) bool { return isAny || noun == args[0] })
	made := map[string]kong.Plugins{}
	for noun, of := range types {
		made[noun] = kong.Plugins{reflect.New(of).Interface()}
	}
	return made, err
}

// newParser makes the parser of a tree of commands for a command line, or for any if it is nil.
func newParser(tree *commands, streams Streams, twins *environment, args []string) (*kong.Kong, error) {
	made, err := generatedCommands(args)
	if err != nil {
		return nil, err
	}
	tree.User.Generated, tree.Session.Generated = made["user"], made["session"]
	tree.Album.Generated, tree.Entry.Generated, tree.Landmark.Generated = made["album"], made["entry"], made["landmark"]
	return kong.New(tree,
		kong.Name(name),
		kong.Description(description),
		kong.Writers(streams.Out, streams.Err),
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ValueFormatter(helpOf),
		kong.WithHyphenPrefixedParameters(true),
		kong.Resolvers(twins),
		kong.Vars{"statuses": statusLines(), "rules": ruleNames(), "allowances": allowanceNames(), "max_spool": strconv.FormatInt(transfer.DefaultMaxSpoolBytes, 10)},
	)
}
