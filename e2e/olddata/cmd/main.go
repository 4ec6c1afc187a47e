// Olddata writes the data of an old service, as large as flags say, to files that waybookctl move
// reads.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/waybook/waybook/e2e/olddata"
)

func main() {
	options := olddata.Defaults()
	flag.Uint64Var(&options.Seed, "seed", options.Seed, "seed of all that is random")
	flag.IntVar(&options.Users, "users", options.Users, "number of users")
	flag.IntVar(&options.Albums, "albums", options.Albums, "number of albums")
	flag.IntVar(&options.Photos, "photos", options.Photos, "number of photos")
	flag.IntVar(&options.Comments, "comments", options.Comments, "number of comments")
	flag.IntVar(&options.Entries, "entries", options.Entries, "number of entries, half of them with a vote")
	flag.IntVar(&options.Landmarks, "landmarks", options.Landmarks, "number of landmarks")
	flag.IntVar(&options.Sessions, "sessions", options.Sessions, "number of sessions")
	flag.IntVar(&options.Flaws, "flaws", options.Flaws, "how many of 10,000 records have a flaw")
	flag.IntVar(&options.Edition, "edition", options.Edition, "1, or 2 for the same service some days later")
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
	for _, path := range paths {
		fmt.Println(path)
	}
}
