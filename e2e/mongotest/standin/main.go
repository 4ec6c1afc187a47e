// Command standin runs a stand-in for a MongoDB server, as the tests do, to try on it what is meant for a real one. It prints
// its URI, and a command that kills it and starts it again after a while. It ends when it is interrupted.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	address := flag.String("listen", "127.0.0.1:27017", "`address` to listen on")
	shards := flag.Int("shards", 0, "`number` of shards of a cluster, whose router it is; by default it is the primary of a replica set")
	flag.Parse()
	if err := run(*address, *shards); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}
