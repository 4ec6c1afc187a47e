// Package choices counts users' choices, at most one per user: the ballots of a vote, the
// recommendations of an album. The numbers are exact despite retries, concurrency and
// crashes, although each write changes a single document.
//
// Each choice is a separate document. It holds the value that the user wants and, some time
// later, the value that is counted. The parent holds the numbers and a mark that names the
// choice it counted last. If the mark names a choice, the counted value is the one in the
// mark; otherwise it is the one in the choice. Before a parent counts another choice, the
// value in its mark is copied to the choice that the mark names.
package choices

import (
	"context"
	"errors"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
)

// None is the value of a user without a choice.
const None int32 = 0

// Mark is a parent's record of the choice that it counted last.
type Mark struct {
	ChoiceID int64 `bson:"choice_id"`
	// Value is the counted value of that choice.
	Value int32 `bson:"value"`
	// Count grows by one with each change of the numbers.
	Count int64 `bson:"count"`
}

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
}

// byUser finds a user's choice under a parent. A user has one. The choices of a parent are
// deleted together.
func byUser() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "user", A: "parent_id", B: "user_id", Unique: true}
}

// Spec declares a collection of choices.
func Spec(collection string) docstore.Spec {
	return docstore.Spec{
		Name: collection, ID: docstore.Int64, Indexes: []docstore.Index{byUser().Declare()},
	}
}

// Counter counts the choices under parents of type P. Its fields do not change after
// creation. It may be used concurrently.
type Counter[P any] struct {
	Parents *owned.Collection[P]
	Choices *docstore.Collection[int64, Choice]
	// NewID returns a new id for a choice.
	NewID func() int64
	// Mark returns a parent's mark.
	Mark func(*P) *Mark
	// Add adds by to a parent's number for a value other than None.
	Add func(parent *P, value int32, by int64)
	// Numbers returns a parent's numbers, starting with value 1. It returns nil when there
	// is nothing to choose.
	Numbers func(*P) []int64
}

// errCounted ends an update when there is nothing to count.
var errCounted = errors.New("the choice is counted")

// Put changes a user's choice to the result of decide and returns the parent with its
// numbers. decide receives the present value, which is None for a user without a choice.
// Put returns an error of decide unchanged, and then changes nothing.
func (c *Counter[P]) Put(ctx context.Context, parentID, userID int64, decide func(present int32) (int32, error)) (P, error) {
	parent, err := c.Parents.Get(ctx, parentID)
	if err != nil {
		return parent, err
	}
	choice, err := c.want(ctx, parentID, userID, decide)
	if err != nil || choice.ID == 0 {
		return parent, err
	}
	return c.count(ctx, choice)
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

// Constraint returns the constraint for operators to check: no choice outlives its parent,
// and the numbers match the choices. A wrong number is not repaired, because the choices
// may be wrong instead.
func (c *Counter[P]) Constraint() integrity.Constraint {
	return integrity.Rule[P, Choice]{
		Parents: c.Parents, Children: c.Choices, Under: byUser().First,
		ParentOf: func(choice *Choice) int64 { return choice.ParentID },
		Value: func(parent *P, choice *Choice) int32 {
			if c.Numbers(parent) != nil && c.Mark(parent).ChoiceID == choice.ID {
				return c.Mark(parent).Value
			}
			return choice.Counted
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

// want stores the value that the user wants. It returns the zero Choice if that is None and
// there was no choice.
func (c *Counter[P]) want(ctx context.Context, parentID, userID int64, decide func(int32) (int32, error)) (Choice, error) {
	for {
		choice, err := c.Choices.Find(ctx, byUser().Is(parentID, userID))
		if err == nil {
			return c.rewant(ctx, choice, decide)
		}
		if !errors.Is(err, docstore.ErrNotFound) {
			return Choice{}, err
		}
		wanted, err := decide(None)
		if err != nil || wanted == None {
			return Choice{}, err
		}
		choice = Choice{ID: c.NewID(), ParentID: parentID, UserID: userID, Wanted: wanted}
		err = c.Choices.Insert(ctx, choice)
		var duplicate *docstore.DuplicateError
		if errors.As(err, &duplicate) {
			continue // the id is taken, or a concurrent call stored the user's choice
		}
		return choice, err
	}
}

// rewant changes the value that the user wants, if it differs.
func (c *Counter[P]) rewant(ctx context.Context, choice Choice, decide func(int32) (int32, error)) (Choice, error) {
	changed, err := c.Choices.Update(ctx, choice.ID, func(stored *Choice) error {
		wanted, err := decide(stored.Wanted)
		if err != nil {
			return err
		}
		if wanted == stored.Wanted {
			return errCounted
		}
		stored.Wanted = wanted
		return nil
	})
	if errors.Is(err, errCounted) {
		return choice, nil
	}
	return changed, err
}

// count updates the parent's numbers to the value that a choice wants.
func (c *Counter[P]) count(ctx context.Context, choice Choice) (P, error) {
	counted, err := c.Parents.Update(ctx, choice.ParentID, func(parent *P) error {
		// The choice is read after the parent. If another call counts it in between, the
		// parent changes and this write fails.
		current, err := c.Choices.Get(ctx, choice.ID)
		if err != nil {
			return err
		}
		mark := c.Mark(parent)
		before := current.Counted
		if mark.ChoiceID == choice.ID {
			before = mark.Value
		}
		if before == current.Wanted {
			return errCounted
		}
		if err := c.settle(ctx, *mark); err != nil {
			return err
		}
		if before != None {
			c.Add(parent, before, -1)
		}
		if current.Wanted != None {
			c.Add(parent, current.Wanted, 1)
		}
		*mark = Mark{ChoiceID: choice.ID, Value: current.Wanted, Count: mark.Count + 1}
		return nil
	})
	if errors.Is(err, errCounted) {
		return c.Parents.Get(ctx, choice.ParentID)
	}
	return counted, err
}

// settle copies the counted value from a mark to the choice that it names. It skips a
// choice that a later mark has already updated.
func (c *Counter[P]) settle(ctx context.Context, mark Mark) error {
	if mark.ChoiceID == 0 {
		return nil
	}
	_, err := c.Choices.Update(ctx, mark.ChoiceID, func(stored *Choice) error {
		if stored.CountedAt >= mark.Count {
			return errCounted
		}
		stored.Counted, stored.CountedAt = mark.Value, mark.Count
		return nil
	})
	if errors.Is(err, errCounted) || errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	return err
}
