package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// member is a document that a request creates. It has a unique key, the email.
type member struct {
	ID         int64  `bson:"_id"`
	RequestKey string `bson:"request_key"`
	Email      string `bson:"email"`
}

type members = docstore.Collection[int64, member]

func openMembers(t *testing.T, engine docstore.Engine) *members {
	t.Helper()
	return openAs[member](t, engine, docstore.Spec{Name: "members", ID: docstore.Int64, Indexes: []docstore.Index{
		docstore.Index1[string]{Name: "email", A: "email", Unique: true}.Declare(), byRequest().Declare(),
	}})
}

func byRequest() docstore.Index1[string] {
	return docstore.Index1[string]{Name: docstore.RequestIndex, A: "request_key", Unique: true}
}

// drawing returns the given ids in turn, then the last one again and again.
func drawing(ids ...int64) docstore.Draw {
	return func(int64, int) (int64, error) {
		id := ids[0]
		if len(ids) > 1 {
			ids = ids[1:]
		}
		return id, nil
	}
}

func create(t *testing.T, c *members, draw docstore.Draw, requestID, email string) (member, docstore.Outcome, error) {
	return createDigested(t, c, draw, request(requestID, 0), email)
}

func request(id string, digest int64) docstore.Request {
	return docstore.Request{By: byRequest().All(), ID: id, Digest: digest}
}

func createDigested(t *testing.T, c *members, draw docstore.Draw, request docstore.Request, email string) (member, docstore.Outcome, error) {
	return docstore.Create(t.Context(), c, draw, request, func(id int64, requestKey string) member {
		return member{ID: id, RequestKey: requestKey, Email: email}
	})
}

func createsOnce(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	type step struct {
		ids     []int64
		request docstore.Request
		email   string
		// want is the id, that of the first document of the request if it is repeated, or 0 for an error: a duplicate in an
		// index, ErrRequestReused, or a plain one.
		want  int64
		taken string
		err   error
	}
	run := func(steps ...step) {
		t.Helper()
		for _, s := range steps {
			made, outcome, err := createDigested(t, c, drawing(s.ids...), s.request, s.email)
			switch {
			case s.want > 0:
				must(t, err)
				wantEqual(t, "id", made.ID, s.want)
				wantEqual(t, "outcome", outcome == docstore.Created, s.want == s.ids[len(s.ids)-1])
				wantEqual(t, "document", made, documentOf(t, c, s.want))
			case s.taken != "":
				wantDuplicate(t, err, s.taken)
			case s.err != nil:
				wantError(t, err, s.err)
			default:
				wantPlain(t, err)
			}
		}
	}
	answered := func(id string, digest, want int64) {
		t.Helper()
		found, isAnswered, err := docstore.Answered(t.Context(), c, request(id, digest))
		must(t, err)
		wantEqual(t, "answer to "+id, []any{found.ID, isAnswered}, []any{want, want > 0})
	}
	none := docstore.Request{By: byRequest().All()}
	run(step{ids: []int64{1}, request: none, email: "a", want: 1},
		step{ids: []int64{1, 1, 2}, request: none, email: "b", want: 2}, // draws another id
		step{ids: []int64{1}, request: none, email: "c"},                // all are taken
		step{ids: []int64{3}, request: request("r", 7), email: "d", want: 3},
		step{ids: []int64{4}, request: request("s", 0), email: "e", want: 4})
	updated(t, c, 3, func(m *member) { m.Email = "f" })
	answered("r", 7, 3)
	answered("r", 0, 3)
	for _, unknown := range []string{"", "another", "#3"} {
		answered(unknown, 7, 0)
	}
	_, _, err := docstore.Answered(t.Context(), c, request("r", 8))
	wantError(t, err, docstore.ErrRequestReused)
	// The repeats draw a free id and a taken one, with a free email and a taken one.
	for _, ids := range [][]int64{{5}, {1, 6}} {
		for _, email := range []string{"f", "g"} {
			run(step{ids: ids, request: request("r", 7), email: email, want: 3}, step{ids: ids, request: request("r", 0), email: email, want: 3},
				step{ids: ids, request: request("s", 9), email: email, want: 4},
				step{ids: ids, request: request("r", 8), email: email, err: docstore.ErrRequestReused})
		}
	}
	run(step{ids: []int64{7}, request: request("t", 0), email: "d", want: 7}, // another one has the key of r
		step{ids: []int64{8}, request: request("r", 7), email: "d", want: 3},
		step{ids: []int64{8}, request: none, email: "a", taken: "email"}, step{ids: []int64{8}, request: request("u", 0), email: "a", taken: "email"})
	must(t, c.Delete(t.Context(), 3))
	answered("r", 7, 0)
	run(step{ids: []int64{9}, request: request("r", 7), email: "d2", want: 9})
	wantEqual(t, "documents", countOf(t, c, docstore.All(docstore.IDIndex)), int64(5))
}

func createOneWins(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	var won atomic.Int64
	at(16, func(i int) {
		var duplicate *docstore.DuplicateError
		_, _, err := create(t, c, drawing(int64(i)+1), fmt.Sprint("request ", i), "a")
		if err == nil {
			won.Add(1)
		} else if !errors.As(err, &duplicate) || duplicate.Index != "email" {
			t.Error(err)
		}
	})
	wantEqual(t, "winners", won.Load(), int64(1))
}

func createRepeatedAtOnce(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	var made [16]member
	at(len(made), func(i int) {
		var err error
		if made[i], _, err = create(t, c, drawing(int64(i)+1), "r", "a"); err != nil {
			t.Error(err)
		}
	})
	for _, m := range made {
		wantEqual(t, "made", m, made[0])
	}
}

// createAfterRivals repeats a request forty times beside a caller who is always faster, and who
// deletes what it created before the repeat has seen it.
func createAfterRivals(t *testing.T, engine docstore.Engine) {
	rivals := openMembers(t, engine)
	tries := 0
	c := openMembers(t, &storetest.Hooked{Engine: engine, Write: func(ctx context.Context, call storetest.Call, do func() error) error {
		tries++
		if call.Verb != "insert" || tries > 40 {
			return do()
		}
		id := int64(1000 + tries)
		must(t, rivals.Insert(ctx, member{ID: id, RequestKey: "r", Email: "rival"}))
		defer func() { must(t, rivals.Delete(ctx, id)) }()
		return do()
	}})
	made, outcome, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	wantEqual(t, "made", []any{made.ID, outcome, tries}, []any{int64(1), docstore.Created, 41})
}

func createWhileDeleted(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	var ids atomic.Int64
	at(8, func(i int) {
		for n := range 5 {
			made, _, err := create(t, c, func(int64, int) (int64, error) { return ids.Add(1), nil }, "r", fmt.Sprint(i, " ", n))
			if err != nil {
				t.Error(err)
			}
			if err := c.Delete(t.Context(), made.ID); err != nil && !errors.Is(err, docstore.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}

func countInserts(count *int) storetest.Hook {
	return func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Verb == "insert" {
			*count++
		}
		return do()
	}
}
