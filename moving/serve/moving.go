// Package serve stores what an old service held: content with its children and choices, under
// identifiers that follow from the old ones. See waybook.type.v1.MoveOptions.
//
// An alias is written first, then what belongs to the content, and the content itself last, with
// its numbers. So nobody sees a part of it, and after a crash a repeated call finishes it. Until
// then, a check of the store reports its parts as orphans, and a repair leaves them.
package serve

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Record is content to move in, with what belongs to it. P is the stored form of the content, C
// that of its photos.
type Record[P, C any] struct {
	OldID   string
	OwnerID int64
	// Document has the content of the record, and neither an identifier nor numbers.
	Document     P
	Photos       []Child[C]
	Comments     []Child[comments.Comment]
	Recommenders []int64
	Ballots      []Ballot
	// Part counts the records of the same content before, and Before, unless nil, is what they have. Continues says
	// that more follow.
	Part      int32
	Continues bool
	Before    *typev1.MovedBefore
}

// Child is a photo or a comment, without an identifier.
type Child[C any] struct {
	OldID    string
	Document C
}

// Ballot is the choice of a user.
type Ballot struct {
	UserID int64
	Value  int32
}

// Content tells how content is stored. Its fields do not change after creation.
type Content[P any] struct {
	// Identify gives content its identifier and its request key.
	Identify func(document *P, id int64, requestKey string)
	// IsSame reports whether two documents have the same content, apart from their numbers. Take
	// gives a stored one the content of another. Fits, unless nil, reports whether it gives the vote, too.
	IsSame func(stored, from *P) bool
	Take   func(stored, from *P)
	Fits   func(stored, from *P) bool
	// Completes, unless nil, reports whether a stored document lacks only what a repeated record
	// completes, also without an update.
	Completes func(stored, from *P) bool
	// PlaceOf returns the place of new content.
	PlaceOf func(ownerID int64, requestKey string) id.Place
	// Link, unless nil, completes documents with the identifiers of others. stored is nil for new
	// content.
	Link func(ctx context.Context, links []Link[P]) error
}

// Link is a document to complete.
type Link[P any] struct {
	Document, Stored *P
	Result           *typev1.MoveResult
}

// Mover moves content of a kind in. Its fields do not change after creation. It may be used
// concurrently.
type Mover[P, C any] struct {
	Kind     *content.Kind[P]
	Content  Content[P]
	Profiles *profiles.Directory
	Now      func() time.Time
	// Photos and Ballots are nil if the kind has none.
	Photos  *child.Set[P, C]
	Photo   child.Moved[C]
	Ballots *choices.Counter[P]
}

// maxProblems is how many problems a result lists, beside what users have removed.
const maxProblems = 20

// unit is a record that is being moved in.
type unit[P any] struct {
	// n is the position of the record in the call.
	n      int
	oldID  string
	id     int64
	result *typev1.MoveResult
	// document is the content as it is to be stored, and stored as it is; nil if it is not.
	document, stored *P
	// isKnown says that an alias was there before, and perhaps parts of the content. isComplete says that the record
	// names all that belongs to the content.
	isKnown, isComplete, continues bool
	// keepsVote says that the stored vote stays, with its ballots.
	keepsVote bool
	// leftOut counts what was left out because it cannot be stored.
	leftOut int
}

func (u *unit[P]) refuse(reason, message string) {
	u.result.Outcome, u.result.Id = typev1.MoveOutcome_MOVE_OUTCOME_REFUSED, 0
	u.result.Problems = []*typev1.MoveProblem{{Reason: reason, Message: message}}
}

func (u *unit[P]) refuseDeleted() { u.refuse("DELETED", "the content was deleted here") }

func (u *unit[P]) leaveOut(field, reason, message string) {
	if u.leftOut++; u.leftOut <= maxProblems {
		u.result.Problems = append(u.result.Problems, &typev1.MoveProblem{Field: field, Reason: reason, Message: message})
	}
}

// part is one collection of what belongs to content, for the records of a call.
type part[P any] interface {
	// locate gives what belongs to units its identifiers.
	locate(ctx context.Context, units []*unit[P]) error
	// store stores it under content that is not stored.
	store(ctx context.Context, units []*unit[P]) error
	// clear removes what an interrupted move of the content has left, and the record lacks.
	clear(ctx context.Context, u *unit[P]) error
	// count gives the content its numbers.
	count(ctx context.Context, u *unit[P]) error
	// compare finds what differs under stored content. differs reports whether something does.
	compare(ctx context.Context, units []*unit[P]) error
	differs(u *unit[P]) bool
	// report writes how many things apply removes.
	report(u *unit[P], to *typev1.MoveRemoved)
	// isAfterContent reports whether apply needs the content of the record.
	isAfterContent() bool
	// apply makes what is stored equal to the record.
	apply(ctx context.Context, u *unit[P]) error
}

// MoveIn stores records and returns what became of each. A record that is nil was refused before;
// its result is the caller's.
func (m *Mover[P, C]) MoveIn(
	ctx context.Context, options *typev1.MoveOptions, records []*Record[P, C], results []*typev1.MoveResult,
) error {
	var run []*unit[P]
	inRun := map[string]*unit[P]{}
	for n, r := range records {
		if r == nil {
			continue
		}
		u := &unit[P]{
			n: n, oldID: r.OldID, result: results[n], document: &r.Document,
			isComplete: !r.Continues && (r.Part == 0 || r.Before != nil), continues: r.Continues, isKnown: r.Part > 0,
		}
		if earlier, isRepeated := inRun[r.OldID]; isRepeated {
			if !earlier.continues {
				u.refuse("REPEATED", "an earlier record of the request has this old identifier")
				continue
			}
			if err := m.moveRun(ctx, options, records, run); err != nil {
				return err
			}
			run, inRun = nil, map[string]*unit[P]{}
		}
		run, inRun[r.OldID] = append(run, u), u
	}
	return m.moveRun(ctx, options, records, run)
}

// moveRun moves in records with different old identifiers.
func (m *Mover[P, C]) moveRun(ctx context.Context, options *typev1.MoveOptions, records []*Record[P, C], units []*unit[P]) error {
	located, revived, err := m.locate(ctx, options, records, units)
	if err != nil {
		return err
	}
	units = open(units)
	parts := m.parts(records, units, options.GetRevive())
	for _, p := range parts {
		if err := p.locate(ctx, units); err != nil {
			return err
		}
	}
	if err := m.link(ctx, units); err != nil {
		return err
	}
	if !options.GetValidateOnly() {
		if err := m.Kind.Aliases.Add(ctx, located); err != nil {
			return conflict(err)
		}
		if err := m.Kind.Aliases.Revive(ctx, revived); err != nil {
			return err
		}
	}
	fresh, stored := split(units)
	if options.GetValidateOnly() {
		for _, u := range fresh {
			u.result.Outcome, u.result.Id = typev1.MoveOutcome_MOVE_OUTCOME_CREATED, u.id
		}
	} else if stored, err = m.create(ctx, parts, fresh, stored); err != nil {
		return err
	}
	return m.reconcile(ctx, options, parts, stored)
}

func open[P any](units []*unit[P]) []*unit[P] {
	return slices.DeleteFunc(units, func(u *unit[P]) bool { return u.result.GetOutcome() != typev1.MoveOutcome_MOVE_OUTCOME_UNSPECIFIED })
}

func split[P any](units []*unit[P]) (fresh, stored []*unit[P]) {
	for _, u := range units {
		if u.stored == nil {
			fresh = append(fresh, u)
		} else {
			stored = append(stored, u)
		}
	}
	return fresh, stored
}

func (m *Mover[P, C]) parts(records []*Record[P, C], units []*unit[P], isRevival bool) []part[P] {
	written := newChildren(m.Kind.Comments.Set, commentsMoved, m.Now, isRevival, func(r *typev1.MoveRemoved) *int32 { return &r.Comments })
	recommended := newBallots(m.Kind.Recommendations.Counter(), func(r *typev1.MoveRemoved) *int32 { return &r.Recommendations })
	parts := []part[P]{written, recommended}
	var photos *children[P, C]
	if m.Photos != nil {
		photos = newChildren(m.Photos, m.Photo, m.Now, isRevival, func(r *typev1.MoveRemoved) *int32 { return &r.Photos })
		parts = append(parts, photos)
	}
	var cast *ballots[P]
	if m.Ballots != nil {
		cast = newBallots(m.Ballots, func(r *typev1.MoveRemoved) *int32 { return &r.Ballots })
		cast.areVotes = true
		parts = append(parts, cast)
	}
	for _, u := range units {
		record := records[u.n]
		written.take(u, record.Comments, record.Before.GetCommentOldIds())
		for _, userID := range record.Recommenders {
			recommended.take(u, Ballot{userID, content.Recommended})
		}
		recommended.keep(u, record.Before.GetRecommenderIds())
		if photos != nil {
			photos.take(u, record.Photos, record.Before.GetPhotoOldIds())
		}
		for _, ballot := range record.Ballots {
			cast.take(u, ballot)
		}
		if cast != nil {
			cast.keep(u, record.Before.GetVoterIds())
		}
	}
	return parts
}

func (m *Mover[P, C]) link(ctx context.Context, units []*unit[P]) error {
	if m.Content.Link == nil {
		return nil
	}
	links := make([]Link[P], len(units))
	for i, u := range units {
		links[i] = Link[P]{Document: u.document, Stored: u.stored, Result: u.result}
	}
	return m.Content.Link(ctx, links)
}

// create stores new content. It adds content that another call has stored meanwhile to stored.
func (m *Mover[P, C]) create(ctx context.Context, parts []part[P], fresh, stored []*unit[P]) ([]*unit[P], error) {
	var documents []P
	var created []*unit[P]
	for _, p := range parts {
		if err := p.store(ctx, fresh); err != nil {
			return nil, err
		}
		for _, u := range fresh {
			if u.continues {
				continue
			}
			if u.isKnown && u.isComplete {
				if err := p.clear(ctx, u); err != nil {
					return nil, err
				}
			}
			if err := p.count(ctx, u); err != nil {
				return nil, err
			}
		}
	}
	for _, u := range fresh {
		if u.continues {
			u.result.Outcome, u.result.Id = typev1.MoveOutcome_MOVE_OUTCOME_CREATED, u.id
			continue
		}
		documents, created = append(documents, *u.document), append(created, u)
	}
	taken, err := m.Kind.Documents.InsertNew(ctx, documents)
	if err != nil {
		return nil, err
	}
	for i, u := range created {
		if _, isTaken := slices.BinarySearch(taken, i); !isTaken {
			u.result.Outcome, u.result.Id = typev1.MoveOutcome_MOVE_OUTCOME_CREATED, u.id
			continue
		}
		present, err := m.Kind.Documents.Get(ctx, u.id)
		if err != nil {
			return nil, conflict(err)
		}
		u.stored = &present
		stored = append(stored, u)
	}
	return stored, nil
}

// conflict reports that another call moves the same content in or removes it.
func conflict(err error) error {
	if errors.Is(err, docstore.ErrConflict) || errors.Is(err, docstore.ErrNotFound) {
		return apierror.New(codes.Aborted, "CONFLICT", "other calls change the same content; retry")
	}
	return err
}
