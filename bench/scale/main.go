// Command scale simulates Waybook on a sharded cluster. docs/scale.md explains its output.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/waybook/waybook/bench/internal/scale"
)

func main() {
	seed := flag.Uint64("seed", scale.Seed, "seed of everything that is random")
	images := flag.String("images", "", "existing `directory` for the plots; empty writes none")
	flag.Parse()
	if err := scale.Write(os.Stdout, *images, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}
