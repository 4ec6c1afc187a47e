// Command poi runs the poi service by itself.
package main

import (
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/services/poi"
)

func main() {
	content.Program{
		Name:        "poi",
		GRPC:        "127.0.0.1:9094",
		TakesPhotos: true,
		IsPublic:    true,
		New:         poi.New,
	}.Main()
}
