package movein

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Resolver replaces old identifiers of one kind of content in requests by those that they stand
// for. Content costs one read of an alias. A photo or a comment costs none, if its old identifier
// is at most id.MaxOld: its content names the place. Numbers from id.Lowest on cost nothing,
// unless nothing was found. It may be used concurrently.
type Resolver struct {
	content typev1.Kind
	aliases *aliases.Aliases
	// keys return the request key of a stored photo or comment, or docstore.ErrNotFound.
	keys map[typev1.Kind]func(ctx context.Context, id int64) (string, error)
	// fields keeps the result of fieldsOf by message.
	fields sync.Map
}

// newResolver returns the resolver of the kind that the mover moves in.
func newResolver[P any](m *Mover[P]) *Resolver {
	r := &Resolver{content: m.Kind.Kind, aliases: m.Kind.Aliases,
		keys: map[typev1.Kind]func(context.Context, int64) (string, error){
			typev1.Kind_KIND_COMMENT: keysOf(m.Kind.Comments.Set),
		}}
	if m.Kind.Photos != nil {
		r.keys[typev1.Kind_KIND_PHOTO] = keysOf(m.Kind.Photos.Set)
	}
	return r
}

func keysOf[P, C any](set *child.Set[P, C]) func(context.Context, int64) (string, error) {
	return func(ctx context.Context, childID int64) (string, error) {
		found, err := set.Children.Get(ctx, childID)
		if err != nil {
			return "", err
		}
		return set.RequestKey(&found), nil
	}
}

// field is a field that may hold an old identifier.
type field struct {
	protoreflect.FieldDescriptor
	kind typev1.Kind
}

// fieldsOf returns the fields of a message that may hold old identifiers, those of content first.
func (r *Resolver) fieldsOf(message protoreflect.MessageDescriptor) []field {
	if known, ok := r.fields.Load(message); ok {
		return known.([]field)
	}
	var found []field
	for i := range message.Fields().Len() {
		each := message.Fields().Get(i)
		kind, _ := proto.GetExtension(each.Options(), typev1.E_Id).(typev1.Kind)
		switch kind {
		case r.content, typev1.Kind_KIND_PHOTO, typev1.Kind_KIND_COMMENT, typev1.Kind_KIND_POSITION:
			found = append(found, field{each, kind})
		}
	}
	slices.SortStableFunc(found, func(a, b field) int { return int(a.kind - b.kind) })
	r.fields.Store(message, found)
	return found
}

// ResolveIDs replaces the old identifiers in a request that are below id.Lowest. If the request
// has found nothing, it replaces the larger ones, which might have been Waybook's. A number that
// stands for nothing stays. It reports whether the request has changed.
func (r *Resolver) ResolveIDs(ctx context.Context, request proto.Message,
	foundNothing bool) (isChanged bool, err error) {
	message := request.ProtoReflect()
	contentID := int64(0)
	for _, f := range r.fieldsOf(message.Descriptor()) {
		if f.IsList() {
			if err := r.resolveList(ctx, message, f.FieldDescriptor); err != nil {
				return false, err
			}
			continue
		}
		value := message.Get(f.FieldDescriptor).Int()
		if value > 0 && foundNothing == (value >= id.Lowest) {
			resolved, err := r.resolve(ctx, f.kind, value, contentID)
			if err != nil {
				return false, err
			}
			if resolved != value {
				message.Clear(f.FieldDescriptor) // the value of an optional field may be shared
				message.Set(f.FieldDescriptor, protoreflect.ValueOfInt64(resolved))
				value, isChanged = resolved, true
			}
		}
		if contentID == 0 && f.kind == r.content {
			contentID = value
		}
	}
	return isChanged, nil
}

// resolveList replaces the old numbers in a list that names content, with one read.
func (r *Resolver) resolveList(ctx context.Context, message protoreflect.Message,
	field protoreflect.FieldDescriptor) error {
	list := message.Get(field).List()
	var oldIDs []string
	for i := range list.Len() {
		if value := list.Get(i).Int(); value > 0 && value < id.Lowest {
			oldIDs = append(oldIDs, strconv.FormatInt(value, 10))
		}
	}
	found, err := r.aliases.OfMany(ctx, oldIDs)
	if err != nil || len(found) == 0 {
		return err
	}
	replaced := message.NewField(field).List() // the list of the request may be shared
	for i := range list.Len() {
		value := list.Get(i)
		if resolved, ok := found[strconv.FormatInt(value.Int(), 10)]; ok {
			value = protoreflect.ValueOfInt64(resolved)
		}
		replaced.Append(value)
	}
	message.Set(field, protoreflect.ValueOfList(replaced))
	return nil
}

// resolve returns what an old number stands for, or the number.
func (r *Resolver) resolve(ctx context.Context, kind typev1.Kind, old, contentID int64) (int64, error) {
	if kind == typev1.Kind_KIND_POSITION && old <= id.MaxOld {
		return id.AfterOld(old), nil
	}
	found, ok, err := r.findOne(ctx, kind, strconv.FormatInt(old, 10), contentID)
	if err != nil || !ok {
		return old, err
	}
	return found, nil
}

// findOne returns the identifier that an old one stands for. contentID is that of the content of a
// photo or a comment.
func (r *Resolver) findOne(ctx context.Context, kind typev1.Kind, oldID string, contentID int64) (int64, bool, error) {
	key, isChild := r.keys[kind]
	if !isChild {
		return r.aliases.Of(ctx, oldID)
	}
	if !id.IsMoved(contentID) {
		return 0, false, nil
	}
	place := id.PlaceOf(contentID)
	if number, isNumber := id.ParseOld(oldID); isNumber && number <= id.MaxOld {
		return id.OfOld(number, place), true, nil
	}
	for probe := range id.Probes {
		candidate := id.OfOldText(oldID, place, probe)
		stored, err := key(ctx, candidate)
		switch {
		case errors.Is(err, docstore.ErrNotFound):
			return 0, false, nil
		case err != nil:
			return 0, false, err
		case stored == aliases.RequestPrefix+oldID:
			return candidate, true, nil
		}
	}
	return 0, false, nil
}

// find returns the identifiers that old identifiers stand for, 0 for nothing.
func (r *Resolver) find(ctx context.Context, oldIDs []*moveinv1.OldIdentifier) ([]int64, error) {
	ids := make([]int64, len(oldIDs))
	for i, each := range oldIDs {
		contentID := each.GetParentId()
		if contentID > 0 && contentID < id.Lowest {
			var err error
			if contentID, err = r.resolve(ctx, r.content, contentID, 0); err != nil {
				return nil, err
			}
		}
		found, ok, err := r.findOne(ctx, each.GetKind(), each.GetOldId(), contentID)
		if err != nil {
			return nil, err
		}
		if ok {
			ids[i] = found
		}
	}
	return ids, nil
}
