package mongo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

func usersTable() *table {
	email := []docstore.Field{{Name: "email", Kind: docstore.String}}
	return &table{spec: docstore.Spec{Name: "users", ID: docstore.Int64, Indexes: []docstore.Index{
		{Name: "email", Fields: email, Unique: true},
		{Name: "work_email", Fields: []docstore.Field{{Name: "work", Kind: docstore.String}}, Unique: true},
		{Name: "by_name", Fields: []docstore.Field{{Name: "name", Kind: docstore.String}}},
	}}}
}

func TestTheIndexOfADuplicateIsReadFromTheServersMessage(t *testing.T) {
	for message, want := range map[string]string{
		`E11000 duplicate key error collection: db.users index: email dup key: { email: "a" }`:                                          "email",
		`E11000 duplicate key error collection: db.users index: _id_ dup key: { _id: 5 }`:                                               docstore.IDIndex,
		`E11000 duplicate key error collection: db.users index: work_email dup key: { work: "x index: email dup key: {" }`:              "work_email",
		`Plan executor error during update :: caused by :: E11000 duplicate key error collection: db.users index: email dup key: { : }`: "email",
		`Duplicate key violation on the requested collection: Index 'work_email'`:                                                       "work_email",
		`Duplicate key violation on the requested collection: Index '_id_'`:                                                             docstore.IDIndex,
		`Duplicate key violation on the requested collection: Index 'by_name'`:                                                          "",
		`E11000 duplicate key error collection: db.users index: theirs dup key: { email: " Index 'email'" }`:                            "",
		`E11000 duplicate key error collection: db.users`:                                                                               "",
		`E11000 duplicate key error collection: db.users index: by_name dup key: { }`:                                                   "",
		`E11000 duplicate key error collection: db.users index: unheard_of dup key: { }`:                                                "",
	} {
		if got := usersTable().duplicateIn(nil, message); got != want {
			t.Errorf("%s\ngot %q; want %q", message, got, want)
		}
	}
}

func TestOnlyARefusalByTheServerMeansThatNothingHasHappened(t *testing.T) {
	unmet := &mongo.WriteConcernError{Code: 79, Message: "unknown write concern"}
	for name, c := range map[string]struct {
		err         error
		unavailable bool
	}{
		"unauthorized":                 {mongo.CommandError{Code: 13}, false},
		"document failed validation":   {mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 121}}}, false},
		"no longer primary":            {mongo.CommandError{Code: 10107}, true},
		"stepped down":                 {mongo.CommandError{Code: 189}, true},
		"retryable":                    {mongo.CommandError{Code: 13, Labels: []string{"RetryableWriteError"}}, true},
		"network":                      {mongo.CommandError{Labels: []string{"NetworkError"}}, true},
		"interrupted":                  {mongo.CommandError{Code: 11601}, true},
		"acknowledged by too few":      {mongo.WriteException{WriteConcernError: unmet}, true},
		"many acknowledged by too few": {mongo.BulkWriteException{WriteConcernError: unmet}, true},
		"client closed":                {mongo.ErrClientDisconnected, true},
		"an unknown error":             {errors.New("?"), true},
		"a timeout set in the URI":     {context.DeadlineExceeded, true},
	} {
		got := portError(t.Context(), c.err)
		if errors.Is(got, docstore.ErrUnavailable) != c.unavailable {
			t.Errorf("%s: got %v", name, got)
		}
		var server mongo.ServerError
		if errors.As(got, &server) || errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("%s: the error wraps the driver's error", name)
		}
	}
}

func TestTheErrorOfAnEndedContextTakesPrecedence(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{errors.New("?"), mongo.CommandError{Code: 13}, context.DeadlineExceeded} {
		if got := portError(ctx, err); !errors.Is(got, context.Canceled) {
			t.Errorf("got %v", got)
		}
	}
	duplicate := &docstore.DuplicateError{Index: "email"}
	if got := portError(ctx, duplicate); !errors.Is(got, duplicate) {
		t.Errorf("got %v, want the duplicate that the server reported", got)
	}
}

func TestAnUnreachableServerIsUnavailableLongBeforeTheCallersDeadline(t *testing.T) {
	late, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	// Nothing listens on port 1 of the local host.
	_, err := Open(late, "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=1", "db")
	if !errors.Is(err, errNoServer) || !errors.Is(err, docstore.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "mongodb://127.0.0.1:1/", "db"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheErrorForAMalformedURIDoesNotContainIt(t *testing.T) {
	for _, uri := range []string{"", "http://secret@host", "mongodb://user:sec%ret@host", "mongodb://secret:secret@host/?w=secret&ssl=secret"} {
		_, err := Open(t.Context(), uri, "db")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", uri, err)
		}
	}
}

// FuzzNoTextOfAUserNamesTheIndexOfADuplicate checks that the index is the one that the
// server named, whatever text a user's document contains.
func FuzzNoTextOfAUserNamesTheIndexOfADuplicate(f *testing.F) {
	f.Add(uint8(0), `x index: work_email dup key: {`, ``)
	f.Add(uint8(2), `" } E11000 duplicate key error collection: db.users index: email`, ` dup key: { }`)
	f.Fuzz(func(t *testing.T, which uint8, text, more string) {
		named := [...]struct{ server, ours string }{{"email", "email"}, {"work_email", "work_email"}, {"_id_", docstore.IDIndex}}[which%3]
		message := "E11000 duplicate key error collection: db.users index: " + named.server + ` dup key: { email: "` + text + `" } ` + more
		if got := usersTable().duplicateIn(nil, message); got != named.ours {
			t.Errorf("%s: got %q", message, got)
		}
	})
}
