package serve

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// changesAtOnce is how many records of a call are changed at a time. Each change waits for a commit or for the
// network.
const changesAtOnce = 16

// reconcile compares stored content with its records, and changes it if options say so.
func (m *Mover[P, C]) reconcile(ctx context.Context, options *typev1.MoveOptions, parts []part[P], stored []*unit[P]) error {
	for _, p := range parts {
		if err := p.compare(ctx, stored); err != nil {
			return err
		}
	}
	var unchanged []int64
	changes, changing := errgroup.WithContext(ctx)
	changes.SetLimit(changesAtOnce)
	for _, u := range stored {
		u.result.Id = u.id
		u.keepsVote = m.Content.Fits != nil && !m.Content.Fits(u.stored, u.document)
		isSame := m.Content.IsSame(u.stored, u.document)
		partsDiffer := slices.ContainsFunc(parts, func(p part[P]) bool { return p.differs(u) })
		isCompleted := !partsDiffer && m.Content.Completes != nil && m.Content.Completes(u.stored, u.document)
		switch {
		case isSame && !partsDiffer:
			u.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED
			unchanged = append(unchanged, u.id)
			continue
		case !options.GetUpdate() && !isCompleted:
			u.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
			continue
		}
		u.result.Outcome, u.result.Removed = typev1.MoveOutcome_MOVE_OUTCOME_UPDATED, &typev1.MoveRemoved{}
		for _, p := range parts {
			p.report(u, u.result.Removed)
		}
		if u.keepsVote {
			u.leaveOut("vote", "VOTE_CHANGED", "the vote has fewer choices than the one that is stored, which stays")
		}
		if options.GetValidateOnly() {
			continue
		}
		changes.Go(func() error { return m.change(changing, u, parts, isSame) })
	}
	if err := changes.Wait(); err != nil {
		return err
	}
	// What belongs to it was stored before.
	return m.Kind.Confirm(ctx, unchanged)
}

// change makes stored content equal to its record: what belongs to it first, except ballots, whose
// choices must be there, and whose counting writes the content again.
func (m *Mover[P, C]) change(ctx context.Context, u *unit[P], parts []part[P], isSame bool) error {
	for _, p := range parts {
		if !p.isAfterContent() {
			if err := p.apply(ctx, u); err != nil {
				return err
			}
		}
	}
	if !isSame {
		if _, err := m.Kind.Update(ctx, u.id, func(stored *P) error {
			m.Content.Take(stored, u.document)
			return nil
		}); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if p.isAfterContent() {
			if err := p.apply(ctx, u); err != nil {
				return err
			}
		}
	}
	return nil
}
