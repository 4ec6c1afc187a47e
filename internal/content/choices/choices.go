// Package choices counts users' choices, at most one per user: the ballots of a vote, the
// recommendations of an album. The numbers are exact despite retries, concurrency and
// crashes, although each write changes a single document.
//
// Each choice is a separate document. It holds the value that the user wants and, some time
// later, the value that is counted. It is pending from the moment its user wants another
// value until it holds the value that was counted. An index finds the pending choices.
//
// The parent holds the numbers and a mark. One change of the parent counts a group of
// pending choices and names them, with their counted values, in the mark. The counted value
// of a choice is the one in the mark, if the mark names it; otherwise it is the one in the
// choice. Before a parent counts another group, the values in its mark are copied to the
// choices that the mark names: they are settled.
//
// So every write may be the last one before a crash. Whoever counts next, a caller or a
// sweep, finds what is pending and finishes it.
package choices

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// None is the value of a user without a choice.
const None int32 = 0

// Choice is the choice of one user under one parent.
type Choice struct {
	ID       int64 `bson:"_id"`
	ParentID int64 `bson:"parent_id"`
	UserID   int64 `bson:"user_id"`
	// Wanted is the value that the user wants counted.
	Wanted int32 `bson:"wanted"`
	// Counted is the value that was counted when the parent's Mark.Count was CountedAt.
	Counted   int32 `bson:"counted"`
	CountedAt int64 `bson:"counted_at"`
	// Pending is Pending until the choice is settled with the value that the user wants.
	Pending int64 `bson:"pending"`
}

// The values of Choice.Pending.
const (
	Settled int64 = iota
	Pending
)

// byUser finds a user's choice under a parent. A user has one. The choices of a parent are
// deleted together. A check reads all choices in its order.
func byUser() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "user", A: "parent_id", B: "user_id", Unique: true, Walked: true}
}

// byPending finds the pending choices, of one parent or of all.
func byPending() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "pending", A: "pending", B: "parent_id"}
}

// Spec declares a collection of choices.
func Spec(collection string) docstore.Spec {
	return docstore.Spec{
		Name: collection, ID: docstore.Int64, Sharding: docstore.ByPlace, PlaceFields: []string{"parent_id"},
		Indexes: []docstore.Index{byUser().Declare(), byPending().Declare()},
	}
}

// Counter counts the choices under parents of type P. Its exported fields do not change
// after creation. It may be used concurrently.
type Counter[P any] struct {
	Parents *owned.Collection[P]
	Choices *docstore.Collection[int64, Choice]
	// IDs generates the choices' ids.
	IDs *id.Source
	// Mark returns the mark of a parent that has numbers.
	Mark func(*P) *Mark
	// Add adds by to a parent's number for a value other than None.
	Add func(parent *P, value int32, by int64)
	// Numbers returns a parent's numbers, starting with value 1. It returns nil when there
	// is nothing to choose.
	Numbers func(*P) []int64
	// Background runs the counting that outlives its callers.
	Background *Background
	// Patience, unless nil, replaces the time that a check waits before it reports a choice as
	// uncounted.
	Patience func(context.Context) error

	flights flights[P]
	// swept is the parent at which the next sweep begins.
	swept atomic.Int64
}

// errSame ends an update of a choice that has the wanted value already.
var errSame = errors.New("the user wants the same value")

// Put changes a user's choice to the result of decide and returns the parent with its
// numbers, which other callers may share: it must not be changed. decide receives the
// present value, which is None for a user without a choice. Put returns an error of decide
// unchanged, and then changes nothing.
//
// Before Put returns nil or an error of decide, the user's present choice is counted. If
// Put fails otherwise, the choice may be stored, and then it will be counted.
func (c *Counter[P]) Put(ctx context.Context, parentID, userID int64, decide func(present int32) (int32, error)) (P, error) {
	return c.put(ctx, parentID, userID, decide, func(int) int64 { return c.IDs.Unordered(id.PlaceOf(parentID)) })
}

// put is Put. draw returns an identifier for a new choice; taken is how many were taken.
func (c *Counter[P]) put(
	ctx context.Context, parentID, userID int64, decide func(present int32) (int32, error), draw func(taken int) int64,
) (P, error) {
	var none P
	if err := c.Parents.Require(ctx, parentID); err != nil {
		return none, err
	}
	var refusal error
	choice, err := c.want(ctx, parentID, userID, func(present int32) (wanted int32, err error) {
		wanted, refusal = decide(present)
		return wanted, refusal
	}, draw)
	switch {
	case refusal != nil && choice.Pending == Settled:
		return none, refusal
	case refusal == nil && err != nil:
		return none, err
	case choice.ID == 0:
		return c.Parents.Get(ctx, parentID)
	case choice.Pending == Settled:
		return c.Parents.GetLinearizable(ctx, parentID)
	}
	parent, err := c.count(ctx, parentID)
	if err != nil {
		return none, err
	}
	return parent, refusal
}

// Always returns a decision for a value that ignores the present one.
func Always(value int32) func(present int32) (int32, error) {
	return func(int32) (int32, error) { return value, nil }
}

// RemoveAll removes the choices under a deleted parent.
func (c *Counter[P]) RemoveAll(ctx context.Context, parentID int64) error {
	_, err := c.Choices.DeleteAll(ctx, byUser().First(parentID))
	return err
}

// want stores the value that the user wants, and returns the choice as it is stored. It
// returns the zero Choice if there is none and the user wants none. If decide fails, the
// choice is returned with its error.
func (c *Counter[P]) want(
	ctx context.Context, parentID, userID int64, decide func(int32) (int32, error), draw func(taken int) int64,
) (Choice, error) {
	for taken := 0; ; taken++ {
		choice, err := c.Choices.Find(ctx, byUser().Is(parentID, userID))
		if err == nil {
			return c.rewant(ctx, choice.ID, decide)
		}
		if !errors.Is(err, docstore.ErrNotFound) {
			return Choice{}, err
		}
		wanted, err := decide(None)
		if err != nil || wanted == None {
			return Choice{}, err
		}
		choice = Choice{ID: draw(taken), ParentID: parentID, UserID: userID, Wanted: wanted, Pending: Pending}
		err = c.Choices.Insert(ctx, choice)
		var duplicate *docstore.DuplicateError
		if errors.As(err, &duplicate) {
			continue // the id is taken, or a concurrent call stored the user's choice
		}
		return choice, err
	}
}

// rewant changes the value that the user wants, if it differs.
func (c *Counter[P]) rewant(ctx context.Context, id int64, decide func(int32) (int32, error)) (Choice, error) {
	var present Choice
	changed, err := c.Choices.Update(ctx, id, func(stored *Choice) error {
		present = *stored
		wanted, err := decide(stored.Wanted)
		if err != nil {
			return err
		}
		if wanted == stored.Wanted {
			return errSame
		}
		stored.Wanted, stored.Pending = wanted, Pending
		return nil
	})
	switch {
	case errors.Is(err, errSame):
		return present, nil
	case err != nil:
		return present, err
	}
	return changed, nil
}

// List returns a page of the choices under a parent, in the order of the users' identifiers, and
// the next page's token. A choice is listed as soon as it is stored, which may be before it is
// counted. A page has fewer than limit choices where users have withdrawn theirs. The caller
// has seen that the parent exists.
func (c *Counter[P]) List(ctx context.Context, parentID int64, limit int, token string) ([]Choice, string, error) {
	page, err := c.Choices.Page(ctx, docstore.Query{Where: byUser().First(parentID), Token: token, Limit: limit})
	if err != nil {
		return nil, "", err
	}
	listed := page.Documents[:0]
	for _, choice := range page.Documents {
		if choice.Wanted != None {
			listed = append(listed, choice)
		}
	}
	return listed, page.Next, nil
}

// Users returns the users of choices.
func Users(choices []Choice) []int64 {
	users := make([]int64, len(choices))
	for i := range choices {
		users[i] = choices[i].UserID
	}
	return users
}
