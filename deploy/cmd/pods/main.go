// Command pods prints how Kubernetes would start the programs of an overlay; rendered.Main has its arguments. With
// it, e2e starts programs as pods, and its tests need not link kustomize.
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
