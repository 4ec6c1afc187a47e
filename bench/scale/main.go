// Command scale computes what a multiple of today's load needs on a sharded cluster, and which part of the
// system reaches its limit first. docs/scale.md has its tables.
package main

import (
	"fmt"
	"os"
)

func main() {
	if _, err := fmt.Print(needs(), "\n", bounds()); err != nil {
		os.Exit(1)
	}
}
