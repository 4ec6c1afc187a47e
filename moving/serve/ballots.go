package serve

import (
	"context"

	"github.com/waybook/waybook/internal/content/choices"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ballots are the choices of users under the units of a call.
type ballots[P any] struct {
	counter *choices.Counter[P]
	// removed returns the number of a report that counts them.
	removed func(*typev1.MoveRemoved) *int32
	// areVotes says that they choose in the vote of an entry.
	areVotes bool

	values  map[*unit[P]]map[int64]int32
	kept    map[*unit[P]]map[int64]bool
	changes map[*unit[P]][]choices.Moved
}

func newBallots[P any](counter *choices.Counter[P], removed func(*typev1.MoveRemoved) *int32) *ballots[P] {
	return &ballots[P]{
		counter: counter, removed: removed, values: map[*unit[P]]map[int64]int32{}, kept: map[*unit[P]]map[int64]bool{},
		changes: map[*unit[P]][]choices.Moved{},
	}
}

// take adds a ballot. The first one of a user counts.
func (b *ballots[P]) take(u *unit[P], ballot Ballot) {
	values := b.values[u]
	if values == nil {
		values = map[int64]int32{}
		b.values[u] = values
	}
	if _, has := values[ballot.UserID]; !has {
		values[ballot.UserID] = ballot.Value
	}
}

// keep keeps the ballots that users have in earlier records.
func (b *ballots[P]) keep(u *unit[P], userIDs []int64) {
	b.kept[u] = make(map[int64]bool, len(userIDs))
	for _, userID := range userIDs {
		b.kept[u][userID] = true
	}
}

// has reports whether the records have a ballot of a user.
func (b *ballots[P]) has(u *unit[P], userID int64) bool {
	_, has := b.values[u][userID]
	return has || b.kept[u][userID]
}

// locate does nothing: the counter finds identifiers.
func (b *ballots[P]) locate(context.Context, []*unit[P]) error { return nil }

func (b *ballots[P]) store(ctx context.Context, units []*unit[P]) error {
	var all []choices.Moved
	for _, u := range units {
		for userID, value := range b.values[u] {
			all = append(all, choices.Moved{ParentID: u.id, UserID: userID, Value: value})
		}
	}
	return b.counter.StoreCounted(ctx, all)
}

func (b *ballots[P]) clear(ctx context.Context, u *unit[P]) error {
	stored, err := b.counter.Under(ctx, u.id)
	if err != nil {
		return err
	}
	for _, choice := range stored {
		if !b.has(u, choice.UserID()) {
			if err := b.counter.Drop(ctx, choice.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *ballots[P]) count(ctx context.Context, u *unit[P]) error {
	if !u.isKnown {
		for _, value := range b.values[u] {
			b.counter.Add(u.document, value, 1)
		}
		return nil
	}
	stored, err := b.counter.Under(ctx, u.id)
	if err != nil {
		return err
	}
	for _, choice := range stored {
		if choice.Counted != choices.None {
			b.counter.Add(u.document, choice.Counted, 1)
		}
	}
	return nil
}

func (b *ballots[P]) compare(ctx context.Context, units []*unit[P]) error {
	for _, u := range units {
		isEmpty := len(b.values[u]) == 0
		for _, number := range b.counter.Numbers(u.stored) {
			isEmpty = isEmpty && number == 0
		}
		if isEmpty {
			continue
		}
		stored, err := b.counter.Under(ctx, u.id)
		if err != nil {
			return err
		}
		present := make(map[int64]int32, len(stored))
		for _, choice := range stored {
			userID := choice.UserID()
			present[userID] = choice.Wanted
			if u.isComplete && !b.has(u, userID) && choice.Wanted != choices.None && choice.IsMoved {
				b.change(u, userID, choices.None)
			}
		}
		for userID, value := range b.values[u] {
			if present[userID] != value {
				b.change(u, userID, value)
			}
		}
	}
	return nil
}

func (b *ballots[P]) change(u *unit[P], userID int64, value int32) {
	b.changes[u] = append(b.changes[u], choices.Moved{ParentID: u.id, UserID: userID, Value: value})
}

// due returns the changes to make.
func (b *ballots[P]) due(u *unit[P]) []choices.Moved {
	if b.areVotes && u.keepsVote {
		return nil
	}
	return b.changes[u]
}

func (b *ballots[P]) isAfterContent() bool { return b.areVotes }

func (b *ballots[P]) differs(u *unit[P]) bool { return len(b.due(u)) > 0 }

func (b *ballots[P]) report(u *unit[P], to *typev1.MoveRemoved) {
	for _, change := range b.due(u) {
		if change.Value == choices.None {
			*b.removed(to)++
		}
	}
}

func (b *ballots[P]) apply(ctx context.Context, u *unit[P]) error {
	for _, change := range b.due(u) {
		if err := b.counter.PutMoved(ctx, change); err != nil {
			return err
		}
	}
	return nil
}
