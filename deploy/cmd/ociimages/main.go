// Command ociimages builds the container images of Waybook's programs, without a
// container engine: one OCI archive for each.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/waybook/waybook/deploy/image"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := image.Main(ctx, os.Args[1:], os.LookupEnv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ociimages:", err)
		os.Exit(1)
	}
}
