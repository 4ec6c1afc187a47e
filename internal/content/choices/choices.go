// Package choices counts users' choices, one per user: the ballots of a vote, the recommendations
// of an album.
//
// Each choice is a document with the value that its user wants, the value that is counted, and the
// parent's round. A call makes three writes: it stores the wanted value with a mark, adds to the
// parent's number if the parent is in that round, and sets the counted value without the mark.
// Only the call that has set the mark takes the next steps. So a choice without a mark is counted,
// and one with the mark of an earlier round is not.
//
// If a call ends in between, it is unknown whether a choice with a mark of the present round is
// counted. A sweep then counts the parent anew. It begins an odd round, in which nothing is added,
// reads all choices, gives each mark the new round, so that no call can remove it any more, writes
// the sums of the counted values, and begins an even round. Then it counts the marked choices as
// calls do.
package choices

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/pause"
)

// None is the value of a user without a choice.
const None int32 = 0

// Choice is the choice of one user under one parent.
type Choice struct {
	ID       string `bson:"_id"`
	ParentID int64  `bson:"parent_id"`
	// Wanted is the value that the user wants counted, and Counted the one that is, if there is no
	// mark.
	Wanted  int32 `bson:"wanted"`
	Counted int32 `bson:"counted"`
	// Mark is Marked while the wanted value is being counted, in a Round of the parent. It is
	// missing otherwise, so that its index has only choices with a mark.
	Mark  int64 `bson:"mark,omitempty"`
	Round int64 `bson:"round"`
	// Moved is the value that was moved in from an old service, which the user may have changed
	// since; None if it was made here.
	Moved int32 `bson:"moved,omitempty"`
}

// Marked is the value of Choice.Mark.
const Marked = 1

// mayBeCounted reports whether a marked choice may be counted already, or its call may be about to
// do so, when its parent is in a round. One that moves in changes another number, too, so only its
// own call and Recount count it for the first time.
func (c *Choice) mayBeCounted(round int64) bool {
	return c.Mark == Marked && (c.Round >= round || c.Moved != None && c.Round != round-1)
}

// settle removes the mark of a choice that is counted, if it is as it was. It reports whether it
// did.
func (c *Choice) settle(was Choice) bool {
	if *c != was {
		return false
	}
	c.Counted, c.Mark = c.Wanted, 0
	return true
}

// IDOf returns the id of a user's choice. Choices are in the order of parents, and of users
// under a parent.
func IDOf(parentID, userID int64) string { return fmt.Sprintf("%016d/%016d", parentID, userID) }

// UserID returns the user of a choice.
func (c *Choice) UserID() int64 {
	_, user, _ := strings.Cut(c.ID, "/")
	userID, _ := strconv.ParseInt(user, 10, 64) // IDOf has made it
	return userID
}

// under narrows a selection in the order of identifiers to the choices under a parent.
func under(all docstore.Where, parentID int64) docstore.Where {
	users := docstore.Span{From: docstore.ValueOf(IDOf(parentID, 0)), To: docstore.ValueOf(IDOf(parentID, id.Max))}
	return all.Within(users).At(parentID)
}

// allUnder selects the choices under a parent, in the order of their users.
func allUnder(parentID int64) docstore.Where { return under(docstore.All(docstore.IDIndex), parentID) }

// byMark finds the marked choices, in the order of their parents.
func byMark() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "mark", A: "mark", Sparse: true}
}

// Spec declares a collection of choices.
func Spec(collection string) docstore.Spec {
	return docstore.Spec{
		Name: collection, ID: docstore.String, Sharding: docstore.ByPlace, Scheme: id.Scheme{},
		Indexes: []docstore.Index{byMark().Declare()},
	}
}

// Number is how many users have chosen a value.
type Number struct {
	// Count counts all choices of the value. Moved counts those that moved in with it, whatever
	// became of them.
	Count, Moved *int64
}

// Counter counts the choices under parents of type P. Its fields do not change after creation. It
// may be used concurrently.
type Counter[P any] struct {
	Parents *owned.Collection[P]
	Choices *docstore.Collection[string, Choice]
	// Round returns a parent's round, which is 0 at first. RoundField is its field.
	Round      func(*P) *int64
	RoundField string
	// Numbers returns a parent's numbers, starting with value 1; nil if there is nothing to
	// choose. Fields returns the fields of one.
	Numbers func(*P) []Number
	Fields  func(value int32) (count, moved string)
	// Patience is how long a sweep waits before it takes a marked choice for one whose call has
	// ended. A call waits a quarter of that for another.
	Patience time.Duration
}

// Decision returns the value that a user wants, given the parent and the user's present value,
// which is None for a user without a choice. It must not change the parent. It may be called
// several times.
type Decision[P any] func(parent *P, present int32) (int32, error)

// Always is the decision for a value whatever the present one is.
func Always[P any](value int32) Decision[P] {
	return func(*P, int32) (int32, error) { return value, nil }
}

const (
	// maxWaits bounds how often a call waits for another one, each time twice as long. maxTries
	// bounds how often it begins again.
	maxWaits, maxTries = 10, 100
	// countTimeout bounds what a call does after it has stored a marked choice, whether its caller
	// waits or not.
	countTimeout = 5 * time.Second
)

// Put changes a user's choice to the result of decide and returns the parent with its numbers. It
// returns an error of decide unchanged, and then changes nothing. No failure undoes what Put
// returns. The choice is counted then, unless an earlier call for it was interrupted: a sweep
// counts it. If Put fails otherwise, the choice may be stored and counted.
func (c *Counter[P]) Put(ctx context.Context, parentID, userID int64, decide Decision[P]) (P, error) {
	return c.put(ctx, parentID, userID, func(parent *P, present int32) (int32, error) {
		if err := c.Parents.Visible(ctx, parent, parentID); err != nil {
			return None, err
		}
		return decide(parent, present)
	})
}

// put is Put, also under what readers do not see.
func (c *Counter[P]) put(ctx context.Context, parentID, userID int64, decide Decision[P]) (P, error) {
	var none P
	for try, as := 0, docstore.Durable; ; try++ {
		parent, stored, err := c.read(ctx, parentID, IDOf(parentID, userID), as)
		if errors.Is(err, docstore.ErrNotFound) && as == docstore.Linearizable {
			return none, c.Parents.NotFound(parentID)
		}
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return none, err
		}
		choice := Choice{ID: IDOf(parentID, userID), ParentID: parentID}
		if len(stored) > 0 {
			choice = stored[0].Document
		}
		var wanted int32
		if err == nil {
			wanted, err = decide(&parent, choice.Wanted)
		}
		round := *c.Round(&parent)
		mayBeCounted := choice.mayBeCounted(round)
		switch mustWait := mayBeCounted || round%2 == 1; {
		case err != nil, wanted == choice.Wanted && choice.Mark != Marked:
			if as == docstore.Linearizable {
				return parent, err
			}
		case mustWait && try < maxWaits:
			if err := pause.For(ctx, c.Patience>>(maxWaits-try+2)); err != nil {
				return none, err
			}
		default:
			choice.Wanted, choice.Mark = wanted, Marked
			if !mayBeCounted {
				choice.Round = round
			}
			err := c.store(ctx, stored, choice)
			if err == nil && !mustWait {
				parent, err = c.count(context.WithoutCancel(ctx), parent, choice)
			}
			if isOvertaken := errors.Is(err, docstore.ErrConflict) ||
				errors.Is(err, docstore.ErrNotFound); !isOvertaken || try == maxTries {
				return parent, err
			}
		}
		as = docstore.Linearizable
	}
}

// read returns a parent and a choice under it, if there is one. Errors: docstore.ErrNotFound if
// there is no parent.
func (c *Counter[P]) read(ctx context.Context, parentID int64, choiceID string,
	as docstore.Consistency) (parent P, stored []docstore.Stored[Choice], err error) {
	err = c.Parents.Together(
		func() (err error) {
			parent, err = c.Parents.Documents.Get(ctx, parentID, as)
			return err
		},
		func() (err error) {
			stored, err = c.Choices.GetStored(ctx, []string{choiceID}, as)
			return err
		})
	return parent, stored, err
}

// store stores a choice in the place of what was read. Errors: docstore.ErrConflict if that has
// changed.
func (c *Counter[P]) store(ctx context.Context, read []docstore.Stored[Choice], choice Choice) error {
	if len(read) > 0 {
		return c.Choices.UpdateFrom(ctx, read, func(stored *Choice) bool {
			isChanged := *stored != choice
			*stored = choice
			return isChanged
		})
	}
	taken, err := docstore.Taken(c.Choices.Insert(ctx, choice))
	if err == nil && len(taken) > 0 {
		err = docstore.ErrConflict
	}
	return err
}

// count counts a choice that the caller has marked, and returns the parent. Errors:
// docstore.ErrConflict if the parent is in another round.
func (c *Counter[P]) count(ctx context.Context, parent P, choice Choice) (P, error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	if most := int32(len(c.Numbers(&parent))); max(choice.Counted, choice.Wanted) > most ||
		min(choice.Counted, choice.Wanted) < None {
		return parent, fmt.Errorf("%s has %d values: %+v", c.Choices.Name(), most, choice)
	}
	if choice.Counted != choice.Wanted {
		edit := docstore.Edit{If: []docstore.Condition{docstore.Is(c.RoundField, choice.Round)}, Set: map[string]any{}}
		c.add(edit.Set, choice.Counted, -1)
		c.add(edit.Set, choice.Wanted, 1)
		before, err := c.Parents.Documents.Modify(ctx, choice.ParentID, edit)
		if err != nil {
			return parent, err
		}
		parent = before
		for value, by := range map[int32]int64{choice.Counted: -1, choice.Wanted: 1} {
			if value != None {
				*c.Numbers(&parent)[value-1].Count += by
			}
		}
	}
	// or a sweep does
	_ = c.Choices.UpdateMany(ctx, []string{choice.ID}, func(stored *Choice) bool { return stored.settle(choice) })
	return parent, nil
}

// add adds to the number of a value in an edit of a parent.
func (c *Counter[P]) add(to map[string]any, value int32, by docstore.Plus) {
	if value != None {
		count, _ := c.Fields(value)
		to[count] = by
	}
}

// RemoveAll removes the choices under a deleted parent.
func (c *Counter[P]) RemoveAll(ctx context.Context, parentID int64) error {
	_, err := c.Choices.DeleteAll(ctx, allUnder(parentID))
	return err
}

// List returns a page of the choices under a parent, in the order of the users' identifiers, and
// the next page's token. A choice is listed as soon as it is stored, which may be before it is
// counted. A page has fewer than limit choices where users have withdrawn theirs, or are hidden.
// The caller has seen that the parent exists.
func (c *Counter[P]) List(ctx context.Context, parentID int64, limit int, token string) ([]Choice, string, error) {
	page, err := c.Choices.Page(ctx, docstore.Query{Where: allUnder(parentID), Token: token, Limit: limit,
		As: docstore.Listed})
	if err != nil {
		return nil, "", err
	}
	hidden, listed := c.Parents.Hidden.Users(ctx), page.Documents[:0]
	for _, choice := range page.Documents {
		if choice.Wanted != None && !hidden[choice.UserID()] {
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

// marked is the value of a marked choice in a check: it is unknown which one counts.
const marked int32 = -1

// Constraint returns the constraint for operators to check: no choice outlives its parent, and the
// numbers match the counted values. A number is not checked while a sweep may have to change it. A
// wrong one is not repaired, because the choices may be wrong instead.
func (c *Counter[P]) Constraint() integrity.Constraint {
	return integrity.Rule[P, string, Choice]{
		Parents: c.Parents, Children: c.Choices, Under: allUnder,
		ParentOf: func(choice *Choice) int64 { return choice.ParentID },
		Value: func(_ *P, choice *Choice) int32 {
			if choice.Mark == Marked {
				return marked
			}
			return choice.Counted
		},
		Kind: integrity.WrongTally,
		Fits: func(parent *P, there integrity.Numbers) bool {
			if there[marked] > 0 || *c.Round(parent)%2 == 1 {
				return true
			}
			numbers := c.Numbers(parent)
			for i, number := range numbers {
				if there[int32(i)+1] != *number.Count {
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
