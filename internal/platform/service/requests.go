package service

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/waybook/waybook/internal/platform/apierror"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ReadMask are the fields of a reply that a caller asks for (AIP-157). The zero value asks for
// all.
type ReadMask struct{ paths []string }

// ReadMaskOf returns a read_mask whose paths are fields of reply, such as "photos" or
// "album.title". Errors: INVALID_PARAMETER, with each path that names no field.
func ReadMaskOf(mask *fieldmaskpb.FieldMask, reply proto.Message) (ReadMask, error) {
	paths := mask.GetPaths()
	if len(paths) > maxPaths {
		return ReadMask{}, apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "read_mask", Message: fmt.Sprintf("must have at most %d paths", maxPaths)})
	}
	if slices.Equal(paths, []string{"*"}) {
		return ReadMask{}, nil
	}
	var violations []apierror.Violation
	for _, path := range paths {
		if path == "*" {
			violations = append(violations, starAlone("read_mask"))
		} else if _, err := fieldmaskpb.New(reply, path); err != nil {
			violations = append(violations,
				apierror.Violation{Field: "read_mask", Message: fmt.Sprintf("%.100q is no field of the reply", path)})
		}
	}
	if len(violations) > 0 {
		return ReadMask{}, apierror.Invalid("INVALID_PARAMETER", violations...)
	}
	return ReadMask{paths}, nil
}

// starAlone is the violation of a mask that has "*" and other paths.
func starAlone(mask string) apierror.Violation {
	return apierror.Violation{Field: mask, Message: `"*" must be the only path`}
}

// Wants reports whether the caller asks for any of these fields, or for a part of one.
func (m ReadMask) Wants(fields ...string) bool {
	return len(m.paths) == 0 || slices.ContainsFunc(fields, func(field string) bool {
		return slices.ContainsFunc(m.paths,
			func(path string) bool { return isWithin(field, path) || isWithin(path, field) })
	})
}

// Read returns a read, or nothing to do if the caller asks for none of the fields that it is for.
func (m ReadMask) Read(read func() error, fields ...string) func() error {
	if m.Wants(fields...) {
		return read
	}
	return func() error { return nil }
}

// isWithin reports whether a path is another path or leads into it.
func isWithin(path, outer string) bool {
	rest, begins := strings.CutPrefix(path, outer)
	return begins && (rest == "" || rest[0] == '.')
}

// Keep clears the fields of a reply that the caller does not ask for.
func (m ReadMask) Keep(reply proto.Message) {
	if len(m.paths) > 0 {
		m.keep(reply.ProtoReflect(), "")
	}
}

func (m ReadMask) keep(message protoreflect.Message, prefix string) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		path := prefix + string(field.Name())
		switch {
		case !m.Wants(path):
			message.Clear(field)
		case field.Message() != nil && !field.IsList() &&
			!slices.ContainsFunc(m.paths, func(each string) bool { return isWithin(path, each) }):
			m.keep(value.Message(), path+".")
		}
		return true
	})
}

const (
	// updateMask is the name of the field with a mask.
	updateMask = "update_mask"
	// maxPaths is how many paths a mask may have.
	maxPaths = 100
)

// withMask is an update that may name the fields to change (AIP-134).
type withMask interface {
	proto.Message
	GetUpdateMask() *fieldmaskpb.FieldMask
}

// normalized returns a request in its normal form, and the violations of its update_mask; see
// unmask. The digits of its request_id are in lower case, because a UUID is the same in both.
func normalized(request any) (any, []apierror.Violation) {
	request, violations := unmask(request)
	if create, ok := request.(interface{ GetRequestId() string }); ok {
		if lower := strings.ToLower(create.GetRequestId()); lower != create.GetRequestId() {
			changed := proto.CloneOf(request.(proto.Message)).ProtoReflect()
			changed.Set(changed.Descriptor().Fields().ByName("request_id"), protoreflect.ValueOfString(lower))
			request = changed.Interface()
		}
	}
	return request, violations
}

// unmask returns an update without a mask that changes what its mask names: it sets exactly the
// named fields, so that validation and handlers need to know no masks. See
// waybook.type.v1.update. It returns any other request as it is. The violations are those of the
// mask, and of named fields without a value that cannot be cleared.
func unmask(request any) (any, []apierror.Violation) {
	update, ok := request.(withMask)
	if !ok || len(update.GetUpdateMask().GetPaths()) == 0 {
		return request, nil
	}
	changed := proto.CloneOf[proto.Message](update).ProtoReflect()
	fields := changed.Descriptor().Fields()
	changed.Clear(fields.ByName(updateMask))
	named, violations := namedBy(update.GetUpdateMask().GetPaths(), fields)
	for _, field := range updatable(fields) {
		switch {
		case !named[field.Name()]:
			changed.Clear(field)
		case changed.Has(field):
		case field.Message() != nil:
			violations = append(violations,
				apierror.Violation{Field: string(field.Name()), Message: "value is required"})
		default:
			changed.Set(field, cleared(field))
		}
	}
	return changed.Interface(), violations
}

// namedBy returns the updatable fields that paths name, and a violation for each path that names
// none.
func namedBy(paths []string, fields protoreflect.FieldDescriptors) (map[protoreflect.Name]bool, []apierror.Violation) {
	if len(paths) > maxPaths {
		return nil, []apierror.Violation{{Field: updateMask,
			Message: fmt.Sprintf("must have at most %d paths", maxPaths)}}
	}
	known := map[string]protoreflect.FieldDescriptor{}
	var names []string
	for _, field := range updatable(fields) {
		known[string(field.Name())] = field
		names = append(names, string(field.Name()))
	}
	named := map[protoreflect.Name]bool{}
	var violations []apierror.Violation
	for _, path := range paths {
		field, isKnown := known[path]
		switch {
		case path == "*" && len(paths) > 1:
			violations = append(violations, starAlone(updateMask))
		case path == "*":
			for _, each := range known {
				if !ruleOf(each).GetByNameOnly() {
					named[each.Name()] = true
				}
			}
		case isKnown:
			named[field.Name()] = true
		default:
			violations = append(violations, apierror.Violation{
				Field: updateMask, Message: fmt.Sprintf("%.100q is no field to change; use *, %s", path,
					strings.Join(names, ", ")),
			})
		}
	}
	return named, violations
}

// updatable returns the fields that an update changes. Those of a oneof name what it changes.
func updatable(fields protoreflect.FieldDescriptors) (found []protoreflect.FieldDescriptor) {
	for i := range fields.Len() {
		field := fields.Get(i)
		isOneofs := field.ContainingOneof() != nil && !field.HasOptionalKeyword()
		if field.HasPresence() && !isOneofs && field.Name() != updateMask {
			found = append(found, field)
		}
	}
	return found
}

// cleared returns the value of a field that a mask names and the request does not set.
func cleared(field protoreflect.FieldDescriptor) protoreflect.Value {
	value := ruleOf(field).GetCleared()
	switch field.Kind() {
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(value))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(value)
	}
	return field.Default()
}

func ruleOf(field protoreflect.FieldDescriptor) *typev1.UpdateRule {
	rule, _ := proto.GetExtension(field.Options(), typev1.E_Update).(*typev1.UpdateRule)
	return rule
}

// MaxPage is how many items a page has at most, unless the contract of its method says less.
const MaxPage = 1000

// PageSize returns the requested page size, or the method's default if there is none. A larger one
// than atMost counts as atMost (AIP-158).
func PageSize(asked int32, byDefault, atMost int) int {
	return min(cmp.Or(int(asked), byDefault), atMost)
}

// Digest returns a digest of a request, for docstore.Request. Requests that ask for the same have
// the same digest: the caller sets defaults before, and clears the fields that do not count. It is
// stored, so the encoding must stay as it is; a test compares digests with earlier ones.
func Digest(request proto.Message) int64 {
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return 0 // none; the encoding of a valid request does not fail
	}
	sum := sha256.Sum256(encoded)
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
