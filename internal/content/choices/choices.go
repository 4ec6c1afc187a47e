// Package choices counts users' choices, at most one per user: the ballots of a vote, the
// recommendations of an album. The numbers are exact despite retries, concurrency, crashes and
// failovers, although each write changes a single document.
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
// sweep, finds what is pending and finishes it. Servers may disagree about what is stored until a failover
// ends, and show what was. So no number depends on what a read shows: a parent is read first,
// durably; then each choice that is to be counted is written, if it still is what was read; then the parent is
// written, if it still is. If another call counts a choice in between, the parent has changed.
package choices

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// None is the value of a user without a choice.
const None int32 = 0

// Choice is the choice of one user under one parent.
type Choice struct {
	ID       string `bson:"_id"`
	ParentID int64  `bson:"parent_id"`
	// Wanted is the value that the user wants counted.
	Wanted int32 `bson:"wanted"`
	// Counted is the value that was counted when the parent's Mark.Count was CountedAt.
	Counted   int32 `bson:"counted"`
	CountedAt int64 `bson:"counted_at"`
	// Pending is Pending until the choice is settled with the value that the user wants. It is missing
	// in a settled choice, so that the index has only the others.
	Pending int64 `bson:"pending,omitempty"`
	// Moved is the value that was moved in from an old service, which the user may have changed since; None if it was
	// made here.
	Moved int32 `bson:"moved,omitempty"`
}

// The values of Choice.Pending.
const (
	Settled int64 = iota
	Pending
)

// IDOf returns the id of a user's choice. Choices are in the order of parents, and of users
// under a parent.
func IDOf(parentID, userID int64) string { return fmt.Sprintf("%016d/%016d", parentID, userID) }

// UserID returns the user of a choice.
func (c *Choice) UserID() int64 {
	_, user, _ := strings.Cut(c.ID, "/")
	userID, _ := strconv.ParseInt(user, 10, 64) // choiceID has made it
	return userID
}

// under narrows a selection in the order of identifiers to the choices under a parent.
func under(all docstore.Where, parentID int64) docstore.Where {
	users := docstore.Span{From: docstore.ValueOf(IDOf(parentID, 0)), To: docstore.ValueOf(IDOf(parentID, id.Max))}
	return all.Within(users).At(parentID)
}

// allUnder selects the choices under a parent, in the order of their users.
func allUnder(parentID int64) docstore.Where { return under(docstore.All(docstore.IDIndex), parentID) }

// byPending finds the pending choices, in the order of their parents.
func byPending() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "pending", A: "pending", Sparse: true}
}

// Spec declares a collection of choices.
func Spec(collection string) docstore.Spec {
	return docstore.Spec{
		Name: collection, ID: docstore.String, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Indexes: []docstore.Index{byPending().Declare()},
	}
}

// Counter counts the choices under parents of type P. Its exported fields do not change
// after creation. It may be used concurrently.
type Counter[P any] struct {
	Parents *owned.Collection[P]
	Choices *docstore.Collection[string, Choice]
	// Mark returns the mark of a parent that has numbers.
	Mark func(*P) *Mark
	// Add adds by to a parent's number for a value other than None.
	Add func(parent *P, value int32, by int64)
	// Numbers returns a parent's numbers, starting with value 1. It returns nil when there
	// is nothing to choose.
	Numbers func(*P) []int64
	// Unnamed returns the number of choices of a value that an old service showed under a parent, without those of users
	// that have moved in.
	Unnamed func(parent *P, value int32) *int64
	// Background runs the counting that outlives its callers.
	Background *Background

	flights flights[P]
	// swept is the parent at which the next sweep begins.
	swept atomic.Int64
}

// Decision returns the value that a user wants, given the parent and the user's present value, which is
// None for a user without a choice. It must not change the parent. It may be called several times.
type Decision[P any] func(parent *P, present int32) (int32, error)

// Always is the decision for a value whatever the present one is.
func Always[P any](value int32) Decision[P] {
	return func(*P, int32) (int32, error) { return value, nil }
}

// Put changes a user's choice to the result of decide and returns the parent with its
// numbers, which other callers may share: it must not be changed. Put returns an error of decide
// unchanged, and then changes nothing.
//
// Before Put returns nil or an error of decide, the user's present choice is counted. If
// Put fails otherwise, the choice may be stored, and then it will be counted.
func (c *Counter[P]) Put(ctx context.Context, parentID, userID int64, decide Decision[P]) (P, error) {
	return c.put(ctx, parentID, &call[P]{choiceID: IDOf(parentID, userID), decide: decide})
}

// RemoveAll removes the choices under a deleted parent.
func (c *Counter[P]) RemoveAll(ctx context.Context, parentID int64) error {
	_, err := c.Choices.DeleteAll(ctx, allUnder(parentID))
	return err
}

// List returns a page of the choices under a parent, in the order of the users' identifiers, and
// the next page's token. A choice is listed as soon as it is stored, which may be before it is
// counted. A page has fewer than limit choices where users have withdrawn theirs. The caller
// has seen that the parent exists.
func (c *Counter[P]) List(ctx context.Context, parentID int64, limit int, token string) ([]Choice, string, error) {
	page, err := c.Choices.Page(ctx, docstore.Query{Where: allUnder(parentID), Token: token, Limit: limit, As: docstore.Listed})
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
		users[i] = choices[i].UserID()
	}
	return users
}

// Constraint returns the constraint for operators to check: no choice outlives its parent, and
// the numbers match the counted values. A wrong number is not repaired, because the choices
// may be wrong instead.
func (c *Counter[P]) Constraint() integrity.Constraint {
	return integrity.Rule[P, string, Choice]{
		Parents: c.Parents, Children: c.Choices, Under: allUnder,
		ParentOf: func(choice *Choice) int64 { return choice.ParentID },
		Value: func(parent *P, choice *Choice) int32 {
			if c.Numbers(parent) == nil {
				return choice.Counted
			}
			value, _ := c.Mark(parent).valueOf(choice)
			return value
		},
		Kind: integrity.WrongTally,
		Fits: func(parent *P, there integrity.Numbers) bool {
			numbers := c.Numbers(parent)
			for i, number := range numbers {
				if there[int32(i)+1] != number {
					return false
				}
			}
			for value := range there {
				if value < None || int(value) > len(numbers) {
					return false
				}
			}
			return true
		},
	}.Constraint()
}
