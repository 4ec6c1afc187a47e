package edge

import (
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestARequestWithAFaultIsNotSentToTheService(t *testing.T) {
	f := &fakes{answer: always(&albumv1.UpdateAlbumResponse{}, nil)}
	h := newEdge(t, f)
	for _, form := range []string{
		"func=addAlbum", "func=updateAlbum&albumID=1&delete=yes", "func=updateAlbum&albumID=1&delete=2", "func=getAlbum&albumID=x",
	} {
		post(h, form)
	}
	if got := f.called(); len(got) > 0 {
		t.Errorf("the service got %v", got)
	}
}
