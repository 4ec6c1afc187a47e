// Mysql stands in for MySQL's client in the test of the guide: it runs the statements of standard input on
// the SQLite database in the file that OLD_DATABASE names, and prints the rows as --batch --raw
// --skip-column-names does. Its arguments are ignored.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Getenv("OLD_DATABASE"), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR:", err)
		os.Exit(1)
	}
}
