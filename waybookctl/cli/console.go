package cli

import (
	"context"
	"net"
	"net/http"

	"github.com/waybook/waybook/console/operators"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/waybookctl/adminport"
	"github.com/waybook/waybook/waybookctl/desk"
	"github.com/waybook/waybook/waybookctl/output"
)

type consoleCommand struct {
	Listen  string   `twin:"" default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Loopback address to listen on; port 0 takes any free port. ${default} by default."`
	Admin   []string `twin:"" default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Admin ports of the edge and of the services, HOST:PORT; of a name, all addresses are asked. ${default} by default, which is standalone's."`
	Journal string   `default:"waybook-move" placeholder:"DIRECTORY" help:"Directory of the journal of move import on this machine, whose progress the pages show; ${default} by default."`
}

// Help returns the detailed help.
func (*consoleCommand) Help() string {
	return `The command prints an address, and serves pages until it is interrupted: users with their sessions, failed and slow
requests, what was deleted, the progress of an import, and the state of the programs. The address works once, in one browser; others get nothing.

The pages call the services with the connection of this command, and may do what its certificate may. On another machine,
run the command there and forward its port: ssh -L 8090:127.0.0.1:8090 HOST waybookctl console --listen 127.0.0.1:8090`
}

// Run serves the pages.
func (c *consoleCommand) Run(ctx context.Context, call *services, out *output.Printer) error {
	files, err := operators.Files()
	if err != nil {
		return err
	}
	address, err := net.ResolveTCPAddr("tcp", c.Listen)
	if err != nil || !address.IP.IsLoopback() {
		return usageError("--listen " + c.Listen + " is not a loopback address; want 127.0.0.1:PORT")
	}
	listener, err := process.Listen(ctx, "listen", address.String())
	if err != nil {
		return statusError{statusFailed, twoDashes(err)}
	}
	served, err := desk.New(ctx, desk.Config{
		Services: call.Services, Admin: adminport.Ports(c.Admin), Journal: c.Journal, Files: files,
		Describe: func(ctx context.Context, err error) desk.Failure {
			described := describe(ctx, err)
			return desk.Failure{Status: httpStatuses[described.status], Message: described.message, Details: described.details}
		},
	}, listener.Addr())
	if err != nil {
		return err
	}
	if err := out.Value(output.Object{{Name: "address", Value: served.Address()}}, func(page *output.Page) {
		page.Line(served.Address())
	}); err != nil {
		return err
	}
	return served.Serve(listener)
}

// httpStatuses are the statuses of failures in a browser.
var httpStatuses = map[int]int{
	statusFailed: http.StatusInternalServerError, statusUsage: http.StatusInternalServerError, statusNotFound: http.StatusNotFound,
	statusRefused: http.StatusConflict, statusUnavailable: http.StatusServiceUnavailable, statusInterrupted: http.StatusServiceUnavailable,
}
