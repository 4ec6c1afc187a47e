// Command poi runs the poi service by itself.
package main

import (
	"context"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/poi"
)

func main() {
	service.Program{
		Name:         "poi",
		GRPC:         "127.0.0.1:9094",
		NeedsAccount: true,
		New: func(ctx context.Context, deps service.Deps) (service.Service, error) {
			return poi.New(ctx, deps)
		},
	}.Main()
}
