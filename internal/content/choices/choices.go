// Package choices counts what users choose, each user once: the ballots of a vote, the
// recommendations of an album. Numbers are exact whatever is repeated, runs at the
// same time or crashes in between, with writes of single documents only.
//
// A user's choice is a document of its own that says what the user wants and, some
// time later, what is counted. The parent holds the numbers and a mark that names the
// choice it counted last. What is counted of a choice is what the mark says if it
// names that choice, and what the choice itself says otherwise. Before a parent goes
// on to another choice, the one that its mark names is made to say so itself.
package choices

import (
	"context"
	"errors"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
)

// None is the value of a user who chooses nothing.
const None int32 = 0

// Mark is what a parent keeps of the choice that it counted last.
type Mark struct {
	ChoiceID int64 `bson:"choice_id"`
	// Value is what of it is counted since.
	Value int32 `bson:"value"`
	// Count grows by one with each change of the numbers.
	Count int64 `bson:"count"`
}

// Choice is what one user chooses under one parent.
type Choice struct {
	ID       int64 `bson:"_id"`
	ParentID int64 `bson:"parent_id"`
	UserID   int64 `bson:"user_id"`
	// Wanted is the value that the user wants counted.
	Wanted int32 `bson:"wanted"`
	// Counted is the value that was counted as of the parent's change CountedAt.
	Counted   int32 `bson:"counted"`
	CountedAt int64 `bson:"counted_at"`
}

const userIndex = "user"

// Spec declares a collection of choices.
func Spec(collection string) docstore.Spec {
	return docstore.Spec{
		Name: collection,
		ID:   docstore.Int64,
		// A user has one choice under a parent; the choices of a parent go with it.
		Indexes: []docstore.Index{{Name: userIndex, Unique: true, Fields: []docstore.Field{
			{Name: "parent_id", Kind: docstore.Int64},
			{Name: "user_id", Kind: docstore.Int64},
		}}},
	}
}

// Counter counts the choices under parents of type P. Its fields do not change after
// it is made. It may be used concurrently.
type Counter[P any] struct {
	Parents *owned.Collection[P]
	Choices *docstore.Collection[Choice]
	// NewID draws the ids of choices.
	NewID func() int64
	// Mark is where a parent keeps its mark.
	Mark func(*P) *Mark
	// Add adds to a parent's number for a value that is not None.
	Add func(parent *P, value int32, by int64)
	// Numbers are a parent's numbers, of value 1 first; nil when nothing can be chosen.
	Numbers func(*P) []int64
}

// errCounted ends an update that finds nothing to count.
var errCounted = errors.New("the choice is counted")

// Put sets a user's choice to what decide makes of the present one, which is None for
// a user who has none, and returns the parent with its numbers. An error of decide is
// returned as it is, and nothing is changed.
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

// Always decides for a value whatever the present one is.
func Always(value int32) func(present int32) (int32, error) {
	return func(int32) (int32, error) { return value, nil }
}

// RemoveAll removes the choices under a parent that is gone.
func (c *Counter[P]) RemoveAll(ctx context.Context, parentID int64) error {
	_, err := c.Choices.DeleteAll(ctx, userIndex, parentID)
	return err
}

// Constraint is what an operator can have checked: that no choice outlives its parent, and
// that the numbers are those of the choices. A wrong number is not repaired, since it
// may be the choices that are wrong.
func (c *Counter[P]) Constraint() integrity.Constraint {
	return integrity.Rule[P, Choice]{
		Parents: c.Parents, Children: c.Choices, Index: userIndex,
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

// want stores what the user wants. It returns the zero Choice when that is None and
// there was no choice.
func (c *Counter[P]) want(ctx context.Context, parentID, userID int64, decide func(int32) (int32, error)) (Choice, error) {
	for {
		choice, err := c.Choices.Find(ctx, userIndex, parentID, userID)
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
			continue // the id is taken, or the user has chosen meanwhile
		}
		return choice, err
	}
}

// rewant changes what the user wants, if that is another value.
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

// count brings the parent's numbers up to what a choice wants.
func (c *Counter[P]) count(ctx context.Context, choice Choice) (P, error) {
	counted, err := c.Parents.Update(ctx, choice.ParentID, func(parent *P) error {
		// The choice is read after the parent: had somebody counted it since, the
		// parent would have changed and this write would fail.
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

// settle lets the choice that a mark names say itself what is counted of it. One that
// knows of a later mark already is left alone.
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
