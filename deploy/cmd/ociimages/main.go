// Command ociimages builds an OCI archive of the container image of each Waybook program. It needs
// no container engine.
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
