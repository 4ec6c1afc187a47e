package rpc_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestASeparateServerRefusesTheContentOfOthers(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	ids := map[string]int64{"album": p.newAlbum(user, "x"), "blog": p.newBlog(user), "poi": p.newPoi(user, "x")}
	p.moveAll(1, user)
	for _, one := range p.Services {
		w, of := &waybook{p.Apart(one), t}, one.Parts().Kind
		for name, to := range everyTarget() {
			if to.parent == "" {
				continue
			}
			t.Run(of.String()+" gets "+name, func(t *testing.T) {
				err := w.call(t.Context(), to.MethodDescriptor, to.validRequest(user, ids["album"], ids["blog"], ids["poi"]))
				method, hasNoPhotos := string(to.Name()), of == aUser || of == anEntry
				switch {
				case of == aUser && !strings.HasPrefix(name, "movein.") || hasNoPhotos && strings.HasPrefix(name, "photo."):
					if status.Code(err) != codes.Unimplemented {
						t.Errorf("got %v", err)
					}
				case to.kind() == of:
					if code := status.Code(err); code != codes.OK && code != codes.NotFound { // there is no photo 1
						t.Errorf("got %v", err)
					}
				default:
					field := to.parent + "_id"
					switch method {
					case "ListCommentsByAuthor", "ListChanges":
						field = "kind"
					case "ResolveOldIds":
						field = "old_ids[0]"
					case "MoveIn":
						field = "records[0]"
					}
					expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", field)
				}
			})
		}
	}
}
