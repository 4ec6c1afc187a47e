// Command pods prints how Kubernetes would start the programs of an overlay, as rendered.Main says. So e2e
// starts programs as pods without linking kustomize into its tests.
package main

import (
	"fmt"
	"os"

	"github.com/waybook/waybook/deploy/rendered"
)

func main() {
	if err := rendered.Main(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pods:", err)
		os.Exit(1)
	}
}
