// Command album runs the album service by itself.
package main

import (
	"context"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/album"
)

func main() {
	service.Program{
		Name:         "album",
		GRPC:         "127.0.0.1:9092",
		NeedsAccount: true,
		New: func(ctx context.Context, deps service.Deps) (service.Service, error) {
			return album.New(ctx, deps)
		},
	}.Main()
}
