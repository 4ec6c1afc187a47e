// Command realserver runs the tests that run on a real MongoDB server, and no others, on the one that WAYBOOK_TEST_MONGODB_URI
// names. It prints the kind and the version of the server, the failures, and last a table. .ci/mongodb calls it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/waybook/waybook/e2e/mongotest"
)

func main() {
	kill := flag.String("kill", os.Getenv(mongotest.RealServerKill),
		"`command` that kills a member of a replica set and starts it again; gets the address of the member as its last argument")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: realserver [-kill COMMAND] [PACKAGE...]\n\nPackages: %s\n", strings.Join(mongotest.RealServerPackages(), " "))
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), *kill)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "realserver:", err)
		os.Exit(1)
	}
}
