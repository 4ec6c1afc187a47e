package cli

import (
	"github.com/waybook/waybook/waybookctl/output"
)

const description = `Operate Waybook: users, sessions, applications, albums, entries and landmarks over gRPC, and the store itself.

Results go to standard output, everything else to standard error. The exit status is 0 on success,
2 for an invalid command line, 3 when something is not found, 4 when a service refuses the request, 5 when a
retry may succeed, 130 when interrupted, and 1 after any other failure. compare and move verify have the statuses of diff.`

// commands is the tree of commands. To add a command, add a field here or in the struct of its
// noun. The type of the field needs a Run method. Run may take a context.Context, *services,
// *output.Printer, secrets, a progress.Reporter and, for standard input, an io.Reader. A command
// connects to the services only if Run takes *services.
type commands struct {
	Connection `embed:"" group:"Flags of all commands:"`

	Output output.Format `twin:"" short:"o" default:"table" enum:"table,json,yaml" placeholder:"FORMAT" help:"Format of results." group:"Flags of all commands:"`
	Help   helpFlag      `short:"h" help:"Show the help of a command."`

	Version versionFlag `help:"Print the version, the commit and the Go version."`

	User        userCommands        `cmd:"" set:"service=account" help:"Users, who can log in and own things."`
	Session     sessionCommands     `cmd:"" set:"service=account" help:"Sessions, which legacy clients name in a cookie."`
	Application applicationCommands `cmd:"" set:"service=account" help:"Applications, which sign the requests of legacy clients."`
	Album       albumCommands       `cmd:"" set:"service=album" set:"noun=album" help:"Albums with their photos and comments."`
	Entry       entryCommands       `cmd:"" set:"service=blog" set:"noun=entry" help:"Diary entries, also called blogs, with their comments."`
	Landmark    landmarkCommands    `cmd:"" set:"service=poi" set:"noun=landmark" help:"Landmarks, also called POIs, with their photos and comments."`
	Store       storeCommands       `cmd:"" help:"The store itself; only a backup needs a running service."`
	Move        moveCommands        `cmd:"" help:"Move the data of an old service in: check, import, verify."`
	Compare     compareCommand      `cmd:"" help:"Play a log of requests against two servers and compare their replies."`
	Trace       traceCommand        `cmd:"" help:"Show what a slow request did in each program, by its request id."`
	Certs       certsCommand        `cmd:"" help:"Create development certificates for mutual TLS between the processes."`
	Completion  completionCommands  `cmd:"" help:"Scripts that complete command lines in a shell."`
	Complete    completeWords       `cmd:"" hidden:"" passthrough:"all" help:"Print completion candidates for a command line."`
}
