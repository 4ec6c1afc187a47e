// Command poi runs the poi service by itself.
package main

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/poi"
)

func main() {
	content.Program{
		Name: "poi",
		GRPC: "127.0.0.1:9094",
		New: func(ctx context.Context, deps content.Deps) (service.Service, error) {
			return poi.New(ctx, deps)
		},
	}.Main()
}
