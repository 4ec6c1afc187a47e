// Command s3gateway is a real S3 server for tests: Versity's gateway, which keeps buckets as directories of this
// machine. It stands outside go.work, because it takes a minute to compile.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "", "`directory` whose directories are the buckets")
	address := flag.String("http", "", "`address` to listen on")
	key := flag.String("key", "", "`id` of the access key of the root user")
	secret := flag.String("secret", "", "secret access `key`")
	flag.Parse()
	if err := serve(*root, *address, *key, *secret); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
