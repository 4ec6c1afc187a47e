// Moveread reads the database of an old service, and writes a file that waybookctl move import reads. Docs/moving-in.md
// explains it. It is a module of its own, because the drivers of databases are many modules that nothing else needs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx)
	stop()
	os.Exit(status)
}
