// Moveread reads the database of an old service, and writes a file that waybookctl move import reads. Docs/moving-in.md
// explains it. It is a module of its own, because the drivers of databases are many modules that nothing else needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybook/waybook/waybookctl/movefile"
)

const usage = `usage: moveread [flags] mysql|postgres|sqlite QUERIES FILE

Runs the statements of the file QUERIES on the database that the environment variable OLD_DATABASE names, and writes
their rows to FILE, which only you can read. FILE appears only when complete.

flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx)
	stop()
	os.Exit(status)
}

// run reads the command line and the database, and returns the exit status.
func run(ctx context.Context) int {
	var options movefile.RowOptions
	flag.BoolVar(&options.HasEntities, "entities", false, "replace entities of HTML, such as &amp;, by their characters")
	flag.BoolVar(&options.HasBig5, "big5", false, "look for Big5 also in columns of Latin-1")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 3 {
		flag.Usage()
		return 2
	}
	if err := read(ctx, flag.Arg(0), os.Getenv("OLD_DATABASE"), flag.Arg(1), flag.Arg(2), options, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "moveread:", err)
		return 1
	}
	return 0
}
