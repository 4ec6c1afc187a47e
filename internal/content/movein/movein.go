// Package movein stores the records of an old service: content, its photos and comments, and the
// choices of users, under identifiers that follow from the old ones. It inserts what is not there,
// and reports what is stored otherwise.
//
// An alias is written before its content, and content before what belongs to it. So a repeated
// call finds what is missing, wherever an earlier one ended.
package movein

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/photos"
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
	// Document returns the document of a record, without an identifier. Record returns the fields
	// of a document that a record has; it is the inverse, but for identifiers.
	Document func(*moveinv1.Record) T
	Record   func(*T) proto.Message
	// Identify gives a document its identifier, its parent, if it has one, and its request key.
	Identify func(document *T, id, parentID int64, requestKey string)
	// ID returns what Identify has set.
	ID func(*T) int64
}

// Mover takes the records of a kind of content, whose documents have type P. Its fields do not
// change after creation. It may be used concurrently.
type Mover[P any] struct {
	moveinv1.UnimplementedMoveInServiceServer

	// Name is the kind, as records name it: album, entry or landmark.
	Name     string
	Kind     *content.Kind[P]
	Profiles *profiles.Directory
	Content  Form[P]
	// PlaceOf returns the place of content.
	PlaceOf func(ownerID int64, requestKey string) id.Place
	// SetQuoted gives a document the identifier of what it quotes, which it has by an old one; nil
	// if content quotes nothing.
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

// ResolveOldIds implements MoveInService for old identifiers of the kind, and of what belongs to
// it.
func (m *Mover[P]) ResolveOldIds(ctx context.Context,
	request *moveinv1.ResolveOldIdsRequest) (*moveinv1.ResolveOldIdsResponse, error) {
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
	Refuse(i.result, reason, format, args...)
}

// Refuse gives a record that cannot be stored its outcome, with a message for people.
func Refuse(result *moveinv1.Result, reason, format string, args ...any) {
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
	written := &children[P, comments.Comment]{mover: m, set: m.Kind.Comments.Set, form: commentForm}
	pictures := &children[P, photos.Photo]{mover: m, form: photoForm}
	if m.Kind.Photos != nil { // otherwise no record is a photo
		pictures.set = m.Kind.Photos.Set
	}
	ballots := &chosen[P]{mover: m, counter: m.Ballots}
	recommended := &chosen[P]{mover: m, counter: m.Kind.Recommendations.Counter()}
	for _, record := range request.GetRecords() {
		result := &moveinv1.Result{}
		reply.Results = append(reply.Results, result)
		if !Check(record, result) {
			continue
		}
		_, parentOldID := parent.OfRecord(record)
		switch of := record.GetRecord().(type) {
		case *moveinv1.Record_Photo:
			pictures.take(record, result, of.Photo.GetId(), parentOldID)
		case *moveinv1.Record_Comment:
			if hasName := of.Comment.GetAuthorName() != ""; hasName == (of.Comment.GetAuthorId() != 0) {
				Refuse(result, "INVALID_PARAMETER", "comment.author_name: an author has either an account or a name")
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
		pictures.store, written.store, ballots.store, recommended.store,
	} {
		if err := store(ctx, isDry); err != nil {
			return nil, conflict(err)
		}
	}
	m.offerFiles(pictures, isDry)
	return reply, nil
}

// conflict reports that another call stores the same records, or removes what they belong to.
func conflict(err error) error {
	if errors.Is(err, docstore.ErrConflict) || errors.Is(err, docstore.ErrNotFound) {
		return apierror.New(codes.Aborted, "CONFLICT", "other calls change the same content; retry")
	}
	return err
}

// Check refuses a record that breaks a rule of its fields. It looks at the content alone, which
// takes less time.
func Check(record *moveinv1.Record, result *moveinv1.Result) (isValid bool) {
	message := record.ProtoReflect()
	content := message.WhichOneof(message.Descriptor().Oneofs().Get(0))
	violations := rules.Violations(message.Get(content).Message().Interface())
	if len(violations) > 0 {
		Refuse(result, "INVALID_PARAMETER", "%s.%s: %s", content.Name(), violations[0].Field, violations[0].Message)
	}
	return len(violations) == 0
}

// Settle gives a record that is stored its outcome, by what two messages of one type say of it.
// All fields are compared, so one that the code forgets is always different.
func Settle(result *moveinv1.Result, given, stored proto.Message) {
	result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
	left, right := given.ProtoReflect(), stored.ProtoReflect()
	fields := left.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); left.Has(field) != right.Has(field) || !left.Get(field).Equal(right.Get(field)) {
			result.Outcome = moveinv1.Outcome_OUTCOME_DIFFERENT
			result.Fields = append(result.Fields, string(field.Name()))
		}
	}
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
