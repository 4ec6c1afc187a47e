// Command ferretdb runs FerretDB on SQLite or PostgreSQL, for tests, and prints its address. It is a program of
// its own, because a test that contains it takes long to link and, with the race detector, long
// to run.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	address := flag.String("grpc", "127.0.0.1:0", "`address` to listen on")
	directory := flag.String("data", "", "`directory` of the data; by default a temporary one, until the standard input ends")
	postgreSQL := flag.String("postgresql", "", "`URL` of a database of PostgreSQL that has the data; SQLite has it by default")
	isLazy := flag.Bool("lazy", false, "collect little garbage: FerretDB ends at the first collection after it has refused some commands")
	flag.String("admin", "", "ignored")
	flag.Parse()
	if err := run(*address, *directory, *postgreSQL, *isLazy); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
