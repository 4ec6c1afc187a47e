package choices_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
)

const (
	voteID      = 7
	choiceCount = 3
)

// vote is a parent with a number for each value from 1.
type vote struct {
	ID      int64   `bson:"_id"`
	Round   int64   `bson:"round"`
	Numbers numbers `bson:"numbers"`
	// Named are the numbers of choices that moved in.
	Named numbers `bson:"named"`
}

type counter = choices.Counter[vote]

// numbers are the numbers of a vote.
type numbers = [choiceCount]int64

func newStore(t testing.TB) docstore.Engine {
	t.Helper()
	engine, err := embedded.Open(t.Context(), filepath.Join(storetest.FastDirectory(t), "store.db"))
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

// newCounter returns a counter with one vote.
func newCounter(t testing.TB, engine docstore.Engine) *counter {
	t.Helper()
	votes := openCounter(t, engine)
	must(t, votes.Parents.Documents.Insert(t.Context(), vote{ID: voteID}))
	return votes
}

// openCounter returns a counter over a store, as another process has it.
func openCounter(t testing.TB, engine docstore.Engine) *counter {
	t.Helper()
	votes, err := docstore.Open[int64, vote](t.Context(), engine, docstore.Spec{Name: "votes", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}})
	must(t, err)
	cast, err := docstore.Open[string, choices.Choice](t.Context(), engine, choices.Spec("choices"))
	must(t, err)
	return &counter{
		Parents: &owned.Collection[vote]{
			Documents: votes,
			ID:        func(v *vote) int64 { return v.ID },
			NotFound:  func(id int64) *apierror.Error { return apierror.NotFound("NO_VOTE", "no vote %d", id) },
		},
		Choices:    cast,
		Round:      func(v *vote) *int64 { return &v.Round },
		RoundField: "round",
		Numbers: func(v *vote) (all []choices.Number) {
			for i := range v.Numbers {
				all = append(all, choices.Number{Count: &v.Numbers[i], Moved: &v.Named[i]})
			}
			return all
		},
		Fields: func(value int32) (count, moved string) {
			return fmt.Sprintf("numbers.%d", value-1), fmt.Sprintf("named.%d", value-1)
		},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, c *counter, userID int64, value int32) vote {
	t.Helper()
	parent, err := c.Put(t.Context(), voteID, userID, choices.Always[vote](value))
	must(t, err)
	return parent
}

var errVoted = errors.New("the user has voted for another choice")

// ballot decides as a vote does in which nobody may change his mind.
func ballot(value int32) choices.Decision[vote] {
	return func(_ *vote, present int32) (int32, error) {
		if present != choices.None && present != value {
			return 0, errVoted
		}
		return value, nil
	}
}

func stored(t testing.TB, c *counter) vote {
	t.Helper()
	parent, err := c.Parents.Get(t.Context(), voteID)
	must(t, err)
	return parent
}

// all returns the stored choices.
func all(t testing.TB, c *counter) (found []choices.Choice) {
	t.Helper()
	query := docstore.Query{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1000}
	for batch, err := range c.Choices.Batches(t.Context(), query) {
		must(t, err)
		found = append(found, batch...)
	}
	return found
}

// wanted returns the numbers of the stored choices.
func wanted(t testing.TB, c *counter) (want numbers) {
	t.Helper()
	for _, choice := range all(t, c) {
		if choice.Wanted != choices.None {
			want[choice.Wanted-1]++
		}
	}
	return want
}

// expectExact checks that all choices are counted.
func expectExact(t testing.TB, c *counter) {
	t.Helper()
	if got, want := stored(t, c).Numbers, wanted(t, c); got != want {
		t.Errorf("numbers %v, want %v", got, want)
	}
	findings, err := c.Constraint().Check(t.Context(), integrity.Look, func(int) {})
	must(t, err)
	if len(findings) > 0 {
		t.Errorf("a check found %+v", findings)
	}
}

// expectTidy checks that all choices are counted, that none has a mark, and that no round is left open.
func expectTidy(t testing.TB, c *counter) {
	t.Helper()
	indexed, err := c.Choices.Count(t.Context(), docstore.All("mark").Everywhere())
	must(t, err)
	if indexed != 0 {
		t.Errorf("the index of marks has %d", indexed)
	}
	if parent := stored(t, c); parent.Round%2 == 1 {
		t.Errorf("the parent is in round %d", parent.Round)
	}
	expectExact(t, c)
	for _, choice := range all(t, c) {
		if choice.Mark != 0 || choice.Counted != choice.Wanted {
			t.Errorf("not settled: %+v", choice)
		}
	}
}
