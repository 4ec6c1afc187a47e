// Olddata writes the data of an old service, as large as -part says, to a file that waybookctl move reads.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/waybook/waybook/e2e/olddata"
)

func main() {
	part := flag.Float64("part", 1, "part of four million records, such as 0.1 or 5")
	flag.Parse()
	if flag.NArg() != 1 || *part <= 0 {
		fmt.Fprintln(os.Stderr, "usage: olddata [-part NUMBER] FOLDER")
		os.Exit(2)
	}
	path, err := olddata.Years(*part).Write(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "olddata:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
