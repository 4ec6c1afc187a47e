package service

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/waybook/waybook/internal/platform/apierror"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

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
			violations = append(violations, apierror.Violation{Field: string(field.Name()), Message: "value is required"})
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
		return nil, []apierror.Violation{{Field: updateMask, Message: fmt.Sprintf("must have at most %d paths", maxPaths)}}
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
				Field: updateMask, Message: fmt.Sprintf("%.100q is no field to change; use *, %s", path, strings.Join(names, ", ")),
			})
		}
	}
	return named, violations
}

// updatable returns the fields that an update changes.
func updatable(fields protoreflect.FieldDescriptors) (found []protoreflect.FieldDescriptor) {
	for i := range fields.Len() {
		if field := fields.Get(i); field.HasPresence() && field.Name() != updateMask {
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
