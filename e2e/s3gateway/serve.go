package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

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
