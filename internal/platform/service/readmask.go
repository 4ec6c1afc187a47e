package service

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/waybook/waybook/internal/platform/apierror"
)

// ReadMask are the fields of a reply that a caller asks for (AIP-157). The zero value asks for all.
type ReadMask struct{ paths []string }

// ReadMaskOf returns a read_mask whose paths are fields of reply, such as "photos" or "album.title".
// Errors: INVALID_PARAMETER, with each path that names no field.
func ReadMaskOf(mask *fieldmaskpb.FieldMask, reply proto.Message) (ReadMask, error) {
	paths := mask.GetPaths()
	if len(paths) > maxPaths {
		return ReadMask{}, apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "read_mask", Message: fmt.Sprintf("must have at most %d paths", maxPaths)})
	}
	if slices.Contains(paths, "*") {
		return ReadMask{}, nil
	}
	var violations []apierror.Violation
	for _, path := range paths {
		if _, err := fieldmaskpb.New(reply, path); err != nil {
			violations = append(violations, apierror.Violation{Field: "read_mask", Message: fmt.Sprintf("%.100q is no field of the reply", path)})
		}
	}
	if len(violations) > 0 {
		return ReadMask{}, apierror.Invalid("INVALID_PARAMETER", violations...)
	}
	return ReadMask{paths}, nil
}

// Wants reports whether the caller asks for any of these fields, or for a part of one.
func (m ReadMask) Wants(fields ...string) bool {
	return len(m.paths) == 0 || slices.ContainsFunc(fields, func(field string) bool {
		return slices.ContainsFunc(m.paths, func(path string) bool { return isWithin(field, path) || isWithin(path, field) })
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
		case field.Message() != nil && !field.IsList() && !slices.ContainsFunc(m.paths, func(each string) bool { return isWithin(path, each) }):
			m.keep(value.Message(), path+".")
		}
		return true
	})
}
