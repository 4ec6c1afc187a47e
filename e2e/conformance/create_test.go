package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
)

func createCases() []testCase {
	return []testCase{
		{"Create draws another id when one is taken", createDrawsAgain},
		{"Create gives up when every id is taken", createGivesUp},
		{"a repeated request gets its first document in the current state", createRepeated},
		{"a request id with another digest is refused, also after an update", createReused},
		{"a repeat with or of no digest gets the first document", createWithoutDigest},
		{"a request whose document was deleted creates a new one", createAfterDeletion},
		{"Create names the index in which another document has the key", createTakenKey},
		{"a repeated request gets its document even if another one has taken its key", createRepeatedWithoutItsKey},
		{"of many concurrent creates of one key exactly one succeeds", createOneWins},
		{"many concurrent repeats of one request get the same document", createRepeatedAtOnce},
		{"a request repeated while its document is being deleted succeeds", createWhileDeleted},
		{"a request whose document is there at each try and gone after it succeeds in the end", createAfterRivals},
	}
}

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

func create(
	t *testing.T, c *members, draw docstore.Draw, requestID, email string,
) (member, docstore.Outcome, error) {
	return createDigested(t, c, draw, requestID, 0, email)
}

func createDigested(
	t *testing.T, c *members, draw docstore.Draw, requestID string, digest int64, email string,
) (member, docstore.Outcome, error) {
	request := docstore.Request{By: byRequest().All(), ID: requestID, Digest: digest}
	return docstore.Create(t.Context(), c, draw, request, func(id int64, requestKey string) member {
		return member{ID: id, RequestKey: requestKey, Email: email}
	})
}

func wantMember(t *testing.T, got member, outcome docstore.Outcome, err error, wantID int64, wantOutcome docstore.Outcome) {
	t.Helper()
	must(t, err)
	wantEqual(t, "id", got.ID, wantID)
	wantEqual(t, "outcome", outcome, wantOutcome)
}

func createDrawsAgain(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	first, outcome, err := create(t, c, drawing(1), "", "a")
	wantMember(t, first, outcome, err, 1, docstore.Created)
	second, outcome, err := create(t, c, drawing(1, 1, 2), "", "b")
	wantMember(t, second, outcome, err, 2, docstore.Created)
}

func createGivesUp(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	first, outcome, err := create(t, c, drawing(1), "", "a")
	wantMember(t, first, outcome, err, 1, docstore.Created)
	_, _, err = create(t, c, drawing(1), "", "b")
	wantPlain(t, err)
}

func createRepeated(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	updated(t, c, 1, func(m *member) { m.Email = "b" })
	// The repeats draw a free id and a taken one, with the current email and a new one.
	for i, ids := range [][]int64{{2}, {1, 3}} {
		again, outcome, err := create(t, c, drawing(ids...), "r", []string{"b", "c"}[i])
		wantMember(t, again, outcome, err, 1, docstore.Repeated)
		wantEqual(t, "email", again.Email, "b")
	}
}

func createReused(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := createDigested(t, c, drawing(1), "r", 7, "a")
	must(t, err)
	updated(t, c, 1, func(m *member) { m.Email = "b" })
	// The repeats draw a free id and a taken one, with a free email and the taken one.
	for _, email := range []string{"b", "c"} {
		for _, ids := range [][]int64{{2}, {1, 3}} {
			_, _, err := createDigested(t, c, drawing(ids...), "r", 8, email)
			wantError(t, err, docstore.ErrRequestReused)
			again, outcome, err := createDigested(t, c, drawing(ids...), "r", 7, email)
			wantMember(t, again, outcome, err, 1, docstore.Repeated)
			wantEqual(t, "email", again.Email, "b")
		}
	}
	_, _, err = docstore.Answered(t.Context(), c, docstore.Request{By: byRequest().All(), ID: "r", Digest: 8})
	wantError(t, err, docstore.ErrRequestReused)
	_, found, err := docstore.Answered(t.Context(), c, docstore.Request{By: byRequest().All(), ID: "r", Digest: 7})
	must(t, err)
	wantEqual(t, "found", found, true)
}

func createWithoutDigest(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := create(t, c, drawing(1), "without", "a")
	must(t, err)
	_, _, err = createDigested(t, c, drawing(2), "with", 7, "b")
	must(t, err)
	again, outcome, err := createDigested(t, c, drawing(3), "without", 7, "c")
	wantMember(t, again, outcome, err, 1, docstore.Repeated)
	again, outcome, err = create(t, c, drawing(3), "with", "c")
	wantMember(t, again, outcome, err, 2, docstore.Repeated)
}

func createAfterDeletion(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	must(t, c.Delete(t.Context(), int64(1)))
	again, outcome, err := create(t, c, drawing(2), "r", "a")
	wantMember(t, again, outcome, err, 2, docstore.Created)
}

func createTakenKey(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	for _, requestID := range []string{"", "another"} {
		_, _, err = create(t, c, drawing(2), requestID, "a")
		wantDuplicate(t, err, "email")
	}
	wantEqual(t, "documents", countOf(t, c, docstore.All(docstore.IDIndex)), int64(1))
}

func createRepeatedWithoutItsKey(t *testing.T, engine docstore.Engine) {
	c := openMembers(t, engine)
	_, _, err := create(t, c, drawing(1), "r", "a")
	must(t, err)
	updated(t, c, 1, func(m *member) { m.Email = "b" })
	_, _, err = create(t, c, drawing(2), "s", "a")
	must(t, err)
	again, outcome, err := create(t, c, drawing(3), "r", "a")
	wantMember(t, again, outcome, err, 1, docstore.Repeated)
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
	wantMember(t, made, outcome, err, 1, docstore.Created)
	wantEqual(t, "tries", tries, 41)
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

// createAfterAStep creates, sets the clock back and restarts twice.
func createAfterAStep(t *testing.T, engine docstore.Engine) {
	c, latest := openLeaves(t, engine), int64(0)
	for _, minute := range []int{30, 20, 25} {
		source := id.NewSoleSource(func() time.Time { return time.Date(2026, 5, 1, 12, minute, 0, 0, time.UTC) })
		for n := range 3 {
			made := createLeaf(t, c, source, 7, fmt.Sprintf("%d of minute %d", n, minute))
			if made.ID <= latest {
				t.Errorf("%d comes after %d", made.ID, latest)
			}
			latest = made.ID
		}
	}
}
