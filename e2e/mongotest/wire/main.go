// Command wire runs the face of package mongowire in front of a FerretDB, for measurements, and
// prints its address. On its admin port, GET /commands returns the number of commands since the
// start, without hello, and POST /latency?of=1ms sets how much longer each command takes.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	backend := flag.String("backend", "", "`address` of FerretDB")
	flag.Parse()
	if err := run(*backend); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
