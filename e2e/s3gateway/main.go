// Command s3gateway is a real S3 server for tests: Versity's gateway, which keeps buckets as directories of this
// machine. It stands outside go.work, because it takes a minute to compile.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
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

// serve serves buckets until the process is ended.
func serve(root, address, key, secret string) error {
	sidecar := filepath.Join(filepath.Dir(root), "metadata") // not below the root
	if err := os.Mkdir(sidecar, 0o700); err != nil {
		return err
	}
	data, err := meta.NewSideCar(sidecar)
	if err != nil {
		return err
	}
	backend, err := posix.New(root, data, posix.PosixOpts{SideCarDir: sidecar})
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), backend, &embedgw.Config{
		RootUserAccess: key, RootUserSecret: secret, Region: "us-east-1", Ports: []string{address},
		MaxConnections: 100, MaxRequests: 100, MultipartMaxParts: 10000, Quiet: true, HealthPath: "/health",
	})
}
