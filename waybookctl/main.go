// Command waybookctl lets operators manage Waybook: it calls the services over gRPC and maintains
// the store.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybook/waybook/waybookctl/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.LookupEnv))
}
