// Olddata writes the data of an old service, as large as flags say, to files that waybookctl move
// reads.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/waybook/waybook/e2e/olddata"
)

func main() {
	options := olddata.Defaults()
	options.Flags(flag.CommandLine)
	divide := flag.Int("divide", 1, "divides all numbers")
	compression := flag.String("compression", "", "compression of the files: gz or zst")
	flag.Parse()
	if flag.NArg() != 1 || *divide < 1 {
		fmt.Fprintln(os.Stderr, "usage: olddata [flags] FOLDER")
		os.Exit(2)
	}
	paths, err := olddata.Write(flag.Arg(0), *compression, options.Divided(*divide))
	if err != nil {
		fmt.Fprintln(os.Stderr, "olddata:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(paths, " "))
}
