// Command album runs the album service by itself.
package main

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/album"
)

func main() {
	content.Program{
		Name: "album",
		GRPC: "127.0.0.1:9092",
		New: func(ctx context.Context, deps content.Deps) (service.Service, error) {
			return album.New(ctx, deps)
		},
	}.Main()
}
