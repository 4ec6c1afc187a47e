// Command album runs the album service by itself.
package main

import (
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/services/album"
)

func main() {
	content.Program{
		Name:        "album",
		GRPC:        "127.0.0.1:9092",
		TakesPhotos: true,
		New:         album.New,
	}.Main()
}
