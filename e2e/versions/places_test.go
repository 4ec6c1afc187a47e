package versions

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestAMongoDBOfAVersionWithoutPlacesIsRefused(t *testing.T) {
	uri := store(t)
	launch.CreateAlbums(t, launch.Dial(t, start(t, programs.ofFile, uri).GRPC), "x", 1)
	deps := service.NewDeps(openStore(t, uri), nil, slog.New(slog.DiscardHandler))
	if _, err := album.New(t.Context(), content.Deps{Deps: deps}); err == nil || !strings.Contains(err.Error(), "store prepare") {
		t.Errorf("a start: %v", err)
	}
	_, err := storekeeping.Prepare(t.Context(), storekeeping.Options{Store: service.StoreFlags{MongoDBURI: uri}}, storekeeping.Preparation{})
	if err == nil || !strings.Contains(err.Error(), `collection "albums" has documents of a version whose ids name no place`) {
		t.Errorf("the preparation: %v", err)
	}
}
