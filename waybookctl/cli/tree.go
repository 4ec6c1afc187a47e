package cli

import (
	"github.com/waybook/waybook/waybookctl/output"
)

const description = `Operate Waybook: users, sessions, applications, albums, entries and landmarks over gRPC, and the store itself.

Results go to standard output, everything else to standard error. The exit status is 0 when all is done,
2 for a wrong command line, 3 when something is not found, 4 when a service refuses, 5 when it can't answer
now and trying again may help, 130 when interrupted, and 1 after any other failure.`

// commands is the tree of commands. A new one is a field here, or in the struct of its
// noun, of a type with a Run method, which may take a context.Context, *services,
// *output.Printer, secrets, a progress.Reporter and, for standard input, an io.Reader. Nothing is connected
// to for a command that takes no *services.
type commands struct {
	Connection `embed:"" group:"Flags of all commands:"`

	Output output.Format `twin:"" short:"o" default:"table" enum:"table,json,yaml" placeholder:"FORMAT" help:"How results are printed." group:"Flags of all commands:"`
	Help   helpFlag      `short:"h" help:"Explain a command."`

	Version versionFlag `help:"Print the version, the commit and the Go version."`

	User        userCommands        `cmd:"" help:"People who can log in and own things."`
	Session     sessionCommands     `cmd:"" help:"Sessions, which the cookie of legacy clients names."`
	Application applicationCommands `cmd:"" help:"Applications, which sign requests of legacy clients."`
	Album       albumCommands       `cmd:"" help:"Albums with their photos and comments."`
	Entry       entryCommands       `cmd:"" help:"Diary entries, also called blogs, with their comments."`
	Landmark    landmarkCommands    `cmd:"" help:"Landmarks, also called POIs, with their photos and comments."`
	Store       storeCommands       `cmd:"" help:"The store itself, which no service needs to run for."`
	Certs       certsCommand        `cmd:"" help:"Make certificates for development, by which the processes know each other."`
	Completion  completionCommands  `cmd:"" help:"Scripts that complete command lines in a shell."`
	Complete    completeWords       `cmd:"" hidden:"" passthrough:"all" help:"Print what may come next on a command line."`
}
