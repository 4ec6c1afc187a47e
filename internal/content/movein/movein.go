// Package movein stores the records of an old service: content, its photos and comments, and the choices of users,
// under identifiers that follow from the old ones. It inserts what is not there, and reports what is stored otherwise.
//
// An alias is written before its content, and content before what belongs to it. So a repeated call finds what is
// missing, wherever an earlier one ended.
package movein

import (
	"context"
	"errors"
	"fmt"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/rules"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// Form tells how records are stored as documents.
type Form[T any] struct {
	// Document returns the document of a record, without an identifier. Record returns the fields of a document that a
	// record has; it is the inverse, but for identifiers.
	Document func(*moveinv1.Record) T
	Record   func(*T) proto.Message
	// Identify gives a document its identifier, its parent, if it has one, and its request key.
	Identify func(document *T, id, parentID int64, requestKey string)
	// ID returns what Identify has set.
	ID func(*T) int64
}

// Mover takes the records of a kind of content, whose documents have type P. Its fields do not change
// after creation. It may be used concurrently.
type Mover[P any] struct {
	moveinv1.UnimplementedMoveInServiceServer

	// Name is the kind, as records name it: album, entry or landmark.
	Name      string
	Kind      *content.Kind[P]
	Profiles  *profiles.Directory
	Validator protovalidate.Validator
	Content   Form[P]
	// PlaceOf returns the place of content.
	PlaceOf func(ownerID int64, requestKey string) id.Place
	// SetQuoted gives a document the identifier of what it quotes, which it has by an old one; nil if content quotes nothing.
	SetQuoted func(document *P, quotedID int64, oldID string)
	// Ballots is nil if the kind has none.
	Ballots *choices.Counter[P]
	// Resolver resolves old identifiers of the kind. Open sets it.
	Resolver *Resolver
}

// Open returns a mover that is ready to serve.
func Open[P any](m *Mover[P]) *Mover[P] {
	m.Resolver = newResolver(m)
	return m
}

// ResolveOldIds implements MoveInService for old identifiers of the kind, and of what belongs to it.
func (m *Mover[P]) ResolveOldIds(ctx context.Context, request *moveinv1.ResolveOldIdsRequest) (*moveinv1.ResolveOldIdsResponse, error) {
	ids, err := m.Resolver.find(ctx, request.GetOldIds())
	return &moveinv1.ResolveOldIdsResponse{Ids: ids}, err
}

// item is a record that has not been refused. D is the type of its document.
type item[D any] struct {
	record *moveinv1.Record
	result *moveinv1.Result
	// oldID is its old identifier, and parentOldID that of the content that it belongs to.
	oldID, parentOldID string
	parentID           int64
	place              id.Place
	id                 int64
	document           D
	// stored is the document that is stored; nil if none is.
	stored *D
}

func (i *item[D]) refuse(reason, format string, args ...any) {
	refuse(i.result, reason, format, args...)
}

func refuse(result *moveinv1.Result, reason, format string, args ...any) {
	result.Outcome, result.Id = moveinv1.Outcome_OUTCOME_REFUSED, 0
	result.Reason, result.Message = reason, fmt.Sprintf(format, args...)
}

func (i *item[D]) setDeleted() { i.result.Outcome = moveinv1.Outcome_OUTCOME_DELETED }

// isOpen reports whether an item has no outcome yet.
func (i *item[D]) isOpen() bool { return i.result.GetOutcome() == moveinv1.Outcome_OUTCOME_UNSPECIFIED }

// open returns the items that have no outcome yet.
func open[D any](items []*item[D]) []*item[D] {
	var left []*item[D]
	for _, each := range items {
		if each.isOpen() {
			left = append(left, each)
		}
	}
	return left
}

// MoveIn implements MoveInService for the records of the kind.
func (m *Mover[P]) MoveIn(ctx context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	reply := &moveinv1.MoveInResponse{}
	var contents []*item[P]
	written := newChildren(m, m.Kind.Comments.Set, commentForm)
	photos := newChildren(m, nil, photoForm) // no record is a photo of a kind without photos
	if m.Kind.Photos != nil {
		photos.set = m.Kind.Photos.Set
	}
	ballots, recommended := &chosen[P]{counter: m.Ballots}, &chosen[P]{counter: m.Kind.Recommendations.Counter()}
	for _, record := range request.GetRecords() {
		result := &moveinv1.Result{}
		reply.Results = append(reply.Results, result)
		violations, err := rules.Violations(m.Validator, record)
		if err != nil {
			return nil, err
		}
		if len(violations) > 0 {
			refuse(result, "INVALID_PARAMETER", "%s: %s", violations[0].Field, violations[0].Message)
			continue
		}
		_, parentOldID := parent.OfRecord(record)
		switch of := record.GetRecord().(type) {
		case *moveinv1.Record_Photo:
			photos.take(record, result, of.Photo.GetId(), parentOldID)
		case *moveinv1.Record_Comment:
			if hasName := of.Comment.GetAuthorName() != ""; hasName == (of.Comment.GetAuthorId() != 0) {
				refuse(result, "INVALID_PARAMETER", "comment.author_name: an author has either an account or a name")
				continue
			}
			written.take(record, result, of.Comment.GetId(), parentOldID)
		case *moveinv1.Record_Ballot:
			ballots.take(record, result, of.Ballot.GetUserId(), of.Ballot.GetChoice(), parentOldID)
		case *moveinv1.Record_Recommendation:
			recommended.take(record, result, of.Recommendation.GetUserId(), content.Recommended, parentOldID)
		default:
			contents = append(contents, m.newContent(record, result))
		}
	}
	isDry := request.GetValidateOnly()
	for _, store := range []func(context.Context, bool) error{
		func(ctx context.Context, isDry bool) error { return m.store(ctx, contents, isDry) },
		photos.store, written.store,
		func(ctx context.Context, isDry bool) error { return ballots.store(ctx, m, isDry) },
		func(ctx context.Context, isDry bool) error { return recommended.store(ctx, m, isDry) },
	} {
		if err := store(ctx, isDry); err != nil {
			return nil, conflict(err)
		}
	}
	return reply, nil
}

// conflict reports that another call stores the same records, or removes what they belong to.
func conflict(err error) error {
	if errors.Is(err, docstore.ErrConflict) || errors.Is(err, docstore.ErrNotFound) {
		return apierror.New(codes.Aborted, "CONFLICT", "other calls change the same content; retry")
	}
	return err
}

// settle gives an item that is stored its outcome.
func settle[D any](each *item[D], form Form[D]) {
	each.result.Id = each.id
	each.result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
	if each.result.Fields = differing(form.Record(&each.document), form.Record(each.stored)); len(each.result.Fields) > 0 {
		each.result.Outcome = moveinv1.Outcome_OUTCOME_DIFFERENT
	}
}

// differing returns the names of the fields that two messages of one type have different.
func differing(a, b proto.Message) (names []string) {
	left, right := a.ProtoReflect(), b.ProtoReflect()
	fields := left.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); left.Has(field) != right.Has(field) || !left.Get(field).Equal(right.Get(field)) {
			names = append(names, string(field.Name()))
		}
	}
	return names
}

// Time returns a time as it is stored: in whole milliseconds.
func Time(t *timestamppb.Timestamp) time.Time { return t.AsTime().Truncate(time.Millisecond) }

// TimeOr returns a time, or another if it is not set.
func TimeOr(t, otherwise *timestamppb.Timestamp) time.Time {
	if t == nil {
		t = otherwise
	}
	return Time(t)
}

// idOf returns the identifier of what has an old identifier, in a place.
func idOf(oldID string, place id.Place, probe int) int64 {
	if number, isNumber := id.ParseOld(oldID); isNumber && number <= id.MaxOld {
		return id.OfOld(number, place)
	}
	return id.OfOldText(oldID, place, probe)
}
