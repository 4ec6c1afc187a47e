package mongo

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// refusing answers writes with a duplicate key error that has the given details.
func refusing(details bson.D) func(string, bson.Raw) bson.D {
	return func(string, bson.Raw) bson.D {
		refusal := append(bson.D{{Key: "index", Value: 0}, {Key: "code", Value: duplicateKey}}, details...)
		return append(bson.D{{Key: "n", Value: 0}, {Key: "writeErrors", Value: bson.A{refusal}}}, done...)
	}
}

func userDocument(id int64, email, work string) bson.D {
	return bson.D{
		{Key: "_id", Value: id}, {Key: docstore.RevisionField, Value: int64(1)},
		{Key: "email", Value: email}, {Key: "work", Value: work}, {Key: "name", Value: "n"},
	}
}

func user(id int64, email, work string) bson.Raw {
	document, err := bson.Marshal(userDocument(id, email, work))
	if err != nil {
		panic(err)
	}
	return document
}

// changed changes the addresses of user 1.
func changed(email, work string) docstore.Change {
	after := user(1, email, work)
	return docstore.Change{ID: docstore.ValueOf(int64(1)), Revision: 1, Set: []docstore.Assignment{
		{Path: "email", Value: after.Lookup("email")}, {Path: "work", Value: after.Lookup("work")},
	}}
}

func usersOn(t *testing.T, answer func(string, bson.Raw) bson.D) *table {
	t.Helper()
	engine, _ := openOn(t, answer)
	return newTable(engine, usersTable().spec)
}

func wantDuplicate(t *testing.T, what string, err error, index string) {
	t.Helper()
	var duplicate *docstore.DuplicateError
	if !errors.As(err, &duplicate) || duplicate.Index != index {
		t.Errorf("%s: got %v, want a duplicate in %s", what, err, index)
	}
}

func TestTheKeyPatternOfADuplicateNamesItsIndex(t *testing.T) {
	pattern := func(keys bson.D, message string) bson.D {
		return bson.D{{Key: "errmsg", Value: message}, {Key: "keyPattern", Value: keys}, {Key: "keyValue", Value: bson.D{}}}
	}
	for _, c := range []struct {
		name    string
		details bson.D
		want    string
	}{
		{"no words", pattern(bson.D{{Key: "email", Value: 1}}, ""), "email"},
		{"other words", pattern(bson.D{{Key: "email", Value: 1}}, "key is there already"), "email"},
		{"an index of another name", pattern(bson.D{{Key: "email", Value: 1.0}}, "E11000 index: theirs dup key: { }"), "email"},
		{"words that name another index", pattern(bson.D{{Key: "work", Value: int64(1)}}, "E11000 index: email dup key: { }"), "work_email"},
		{"the id", pattern(bson.D{{Key: "_id", Value: 1}}, ""), docstore.IDIndex},
		{"words only", bson.D{{Key: "errmsg", Value: "E11000 index: work_email dup key: { }"}}, "work_email"},
		{"an earlier declaration", pattern(bson.D{{Key: "x", Value: 1}, {Key: "work", Value: 1}}, "E11000 index: work_email dup key: { }"), "work_email"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := usersOn(t, refusing(c.details))
			errs, err := table.Insert(t.Context(), []bson.Raw{user(1, "a", "b")})
			must(t, err)
			wantDuplicate(t, "insert", errs[0], c.want)
			_, err = table.Update(t.Context(), changed("a", "b"))
			wantDuplicate(t, "update", err, c.want)
		})
	}
}

func TestARefusalByAnUndeclaredUniqueIndexIsNoDuplicate(t *testing.T) {
	for name, details := range map[string]bson.D{
		"another index": {{Key: "errmsg", Value: "E11000 index: theirs dup key: { }"}, {Key: "keyPattern", Value: bson.D{{Key: "age", Value: 1}}}},
		"no index":      {{Key: "errmsg", Value: "key is there already"}},
	} {
		table := usersOn(t, refusing(details))
		errs, err := table.Insert(t.Context(), []bson.Raw{user(1, "a", "b")})
		must(t, err)
		_, refused := table.Update(t.Context(), changed("a", "b"))
		for _, err := range []error{errs[0], refused} {
			var duplicate *docstore.DuplicateError
			if err == nil || errors.As(err, &duplicate) || errors.Is(err, docstore.ErrUnavailable) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}
