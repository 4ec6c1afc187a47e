package rpc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// onBothEngines runs a test on the embedded store, and in the long form on MongoDB's wire protocol.
func onBothEngines(t *testing.T, test func(t *testing.T, w *waybook)) {
	t.Run("embedded", func(t *testing.T) { test(t, start(t, settleFast)) })
	t.Run("mongo", func(t *testing.T) {
		longform.Only(t)
		server := mongotest.StartServer(t, mongowire.Config{})
		test(t, start(t, settleFast, waybooktest.OnMongoDB(server.URI(mongotest.Database()))))
	})
}

func TestAnUpdateThatChangesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner, other := w.newUser("a"), w.newUser("b")
		feeds := w.feeds(t.Context(), owner)
		for _, k := range w.kinds() {
			id := k.create(owner, "title")
			same := k.valid(owner, "title", nil)
			delete(same, "owner")
			delete(same, "vote")
			updates := []fields{same, {"title": "title"}, {}}
			photo := fields{"actor_id": owner, "id": id, "url": "https://a.example/1.jpg", "description": ""}
			switch k.name {
			case "Blog":
				updates = append(updates, fields{"reply_blog_id": int64(0)})
			case "Album":
				updates = append(updates, fields{"lat": taipei.GetLat()})
			}
			if k.hasPhotos() {
				reply, err := k.send(t.Context(), "AddPhoto", photo)
				photo["photo_id"] = read[int64](got(t, reply, err), "photo.photo_id")
			}
			comment := fields{"actor_id": owner, "id": id, "text": "thanks"}
			reply, err := k.send(t.Context(), "AddComment", fields{"author_id": owner, "id": id, "text": "fine"})
			comment["comment_id"] = read[int64](got(t, reply, err), "comment.comment_id")
			must(k.send(t.Context(), "ReplyToComment", comment))(t)
			shown := k.get(id)
			_, token := feeds[k.name].catchUp(t, "", 100)
			for _, update := range updates {
				must(k.send(t.Context(), "Update", update.and(fields{"actor_id": owner, "id": id})))(t)
			}
			expectFault(t, failed(k.send(t.Context(), "Update", same.and(fields{"actor_id": other, "id": id}))), codes.PermissionDenied, "NOT_OWNER")
			expectFault(t, failed(k.send(t.Context(), "Update", same.and(fields{"actor_id": owner, "id": id + 1}))), codes.NotFound, k.missing)
			if k.hasPhotos() {
				must(k.send(t.Context(), "UpdatePhoto", photo))(t)
			}
			must(k.send(t.Context(), "ReplyToComment", comment))(t)
			if diff := cmp.Diff(shown, k.get(id), protocmp.Transform()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", k.name, diff)
			}
			if changes, _ := feeds[k.name].catchUp(t, token, 100); len(changes) > 0 {
				t.Errorf("%s: %v are listed", k.name, changes)
			}
		}
		_, token := feeds["User"].catchUp(t, "", 100)
		must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: owner, Name: new("a"), Disabled: new(false)}))(t)
		if changes, _ := feeds["User"].catchUp(t, token, 100); len(changes) > 0 {
			t.Errorf("users %v are listed", changes)
		}
	})
}
