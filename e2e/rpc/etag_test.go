package rpc_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAChangeWithAnEtagIsMadeOnlyInTheStateThatWasRead(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner, other := w.newUser("a"), w.newUser("b")
		for _, k := range w.kinds() {
			t.Run(k.name, func(t *testing.T) {
				id := k.create(owner, "title")
				etag := func() string { return read[string](k.shown(id), "etag") }
				update := func(actor int64, etag string, changes fields) error {
					return failed(k.send(t.Context(), "Update", changes.and(fields{"actor_id": actor, "id": id, "etag": etag})))
				}
				first := etag()
				must(k.send(t.Context(), "AddComment", fields{"author_id": other, "id": id, "text": "x"}))(t)
				must(k.send(t.Context(), "Recommend", fields{"user_id": other, "id": id}))(t)
				if etag() != first {
					t.Error("others have changed the etag")
				}
				expectFault(t, update(other, first, fields{"title": "b"}), codes.PermissionDenied, "NOT_OWNER")
				reply, err := k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "title": "b", "etag": first})
				if shown := read[string](got(t, reply, err), k.lower()+".etag"); shown != etag() || shown == first {
					t.Errorf("the reply has the etag %q after %q, and a read %q", shown, first, etag())
				}
				for _, stale := range []string{first, "nonsense", "0-", "-1-1", "zzzzzzzzzzzzzzzzzzz-1"} {
					for _, changes := range []fields{{"title": "b"}, {"title": "c"}, {}} {
						expectFault(t, update(owner, stale, changes), codes.Aborted, "ETAG_MISMATCH")
						expectFault(t, update(other, stale, changes), codes.PermissionDenied, "NOT_OWNER")
					}
					expectFault(t, failed(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id, "etag": stale})), codes.Aborted, "ETAG_MISMATCH")
					expectFault(t, failed(k.send(t.Context(), "Delete", fields{"actor_id": other, "id": id, "etag": stale})), codes.PermissionDenied, "NOT_OWNER")
				}
				if k.name == "Album" {
					expectFault(t, update(owner, first, fields{"lat": 1.0}), codes.Aborted, "ETAG_MISMATCH")
					reply, err := k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "lat": 1.0, "etag": etag()})
					if shown := read[string](got(t, reply, err), "album.etag"); shown != etag() {
						t.Errorf("the reply has the etag %q, a read %q", shown, etag())
					}
				}
				if k.hasPhotos() {
					k.expectEtagsOfPhotos(t, owner, other, id)
				}
				must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id, "etag": etag()}))(t)
				expectFault(t, update(owner, first, fields{"title": "c"}), codes.NotFound, k.missing)
			})
		}
	})
}

func (k kind) expectEtagsOfPhotos(t *testing.T, owner, other, id int64) {
	t.Helper()
	reply, err := k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": id, "url": "https://a.example/" + long(600)})
	photo, etag := read[int64](got(t, reply, err), "photo.photo_id"), read[string](reply, "photo.etag")
	update := func(actor int64, etag, description string) error {
		reply, err = k.send(t.Context(), "UpdatePhoto", fields{"actor_id": actor, "id": id, "photo_id": photo, "description": description, "etag": etag})
		return err
	}
	remove := func(actor int64, etag string) error {
		return failed(k.send(t.Context(), "RemovePhoto", fields{"actor_id": actor, "id": id, "photo_id": photo, "etag": etag}))
	}
	got(t, 0, update(owner, etag, "first"))
	changed := read[string](reply, "photo.etag")
	expectFault(t, update(owner, etag, "second"), codes.Aborted, "ETAG_MISMATCH")
	expectFault(t, update(other, changed, "second"), codes.PermissionDenied, "NOT_OWNER")
	expectFault(t, remove(owner, etag), codes.Aborted, "ETAG_MISMATCH")
	expectFault(t, remove(other, changed), codes.PermissionDenied, "NOT_OWNER")
	got(t, 0, remove(owner, changed))
	expectFault(t, remove(owner, changed), codes.NotFound, "PHOTO_NOT_FOUND")
}

func TestOfConcurrentChangesWithOneEtagOneIsMade(t *testing.T) {
	t.Parallel()
	onBothEngines(t, func(t *testing.T, w *waybook) {
		owner := w.newUser("a")
		for _, k := range w.kinds() {
			id := k.create(owner, "title")
			etag := read[string](k.shown(id), "etag")
			var made atomic.Int32
			var all sync.WaitGroup
			for _, title := range []string{"b", "c", "d", "e"} {
				all.Go(func() {
					switch err := failed(k.send(t.Context(), "Update", fields{"actor_id": owner, "id": id, "title": title, "etag": etag})); status.Code(err) {
					case codes.OK:
						made.Add(1)
					case codes.Aborted:
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 {
				t.Errorf("%s: %d changes were made", k.name, made.Load())
			}
		}
	})
}
