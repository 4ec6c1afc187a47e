package mongo

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// Some servers of MongoDB's protocol say that nothing matched if another client changes the document
// meanwhile. A caller must not take it for gone.
func TestAChangeThatMissesADocumentWhichExistsIsMadeAgain(t *testing.T) {
	one := docstore.ValueOf(int64(1))
	for name, do := range map[string]func(*testing.T, *table) error{
		"a deletion": func(t *testing.T, users *table) error { return users.Delete(t.Context(), docstore.Deletion{ID: one}) },
		"a change": func(t *testing.T, users *table) error {
			change := changed("a", "b")
			change.Revision = 0
			_, err := users.Update(t.Context(), change)
			return err
		},
	} {
		for what, c := range map[string]struct {
			misses int
			exists bool
			want   error
		}{
			"it is changed once":         {1, true, nil},
			"it is changed all the time": {1000, true, docstore.ErrUnavailable},
			"it is gone":                 {1000, false, docstore.ErrNotFound},
		} {
			misses := 0
			engine, _ := openOn(t, func(command string, _ bson.Raw) bson.D {
				n := 0
				switch {
				case command == "find" && c.exists:
					return firstBatch(userDocument(1, "a", "b"))
				case command == "find":
					return firstBatch()
				case misses == c.misses:
					n = 1
				default:
					misses++
				}
				return append(bson.D{{Key: "n", Value: n}, {Key: "nModified", Value: n}}, done...)
			})
			if err := do(t, newTable(engine, usersTable().spec)); !errors.Is(err, c.want) {
				t.Errorf("%s, and %s: got %v", name, what, err)
			}
		}
	}
}

func TestAChangeWithAConditionThatMissesADocumentIsAConflict(t *testing.T) {
	engine, peer := openOn(t, func(command string, _ bson.Raw) bson.D {
		if command == "find" {
			return firstBatch(userDocument(1, "a", "b"))
		}
		return append(bson.D{{Key: "n", Value: 0}}, done...)
	})
	if _, err := newTable(engine, usersTable().spec).Update(t.Context(), changed("a", "b")); !errors.Is(err, docstore.ErrConflict) {
		t.Errorf("got %v", err)
	}
	if n := len(peer.commands("update")); n != 1 {
		t.Errorf("%d tries", n)
	}
}
