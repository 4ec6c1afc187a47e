package docstore

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// MaxDocumentBytes bounds the size of a document, as MongoDB does. Insert and Update
// refuse a larger document with a plain error.
const MaxDocumentBytes = 16 << 20

// Validate returns an error if the declaration is invalid.
func (s Spec) Validate() error {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	if !name.MatchString(s.Name) {
		return fmt.Errorf("docstore: collection name %q is not in lower_snake_case", s.Name)
	}
	if s.ID != Int64 && s.ID != String {
		return fmt.Errorf("docstore: collection %q does not declare the kind of _id", s.Name)
	}
	seen, first := make(map[string]bool), make(map[string]bool)
	for _, index := range s.Indexes {
		if !name.MatchString(index.Name) || seen[index.Name] {
			return fmt.Errorf("docstore: collection %q: index name %q is not in lower_snake_case or is declared twice", s.Name, index.Name)
		}
		seen[index.Name] = true
		if len(index.Fields) == 0 || index.Sparse && (len(index.Fields) > 1 || index.Unique) {
			return fmt.Errorf("docstore: collection %q: index %q has no fields, or is sparse and has several or is unique", s.Name, index.Name)
		}
		fields := make(map[string]bool)
		for _, field := range index.Fields {
			if field.Name == "" || field.Name == IDIndex || isMaintained(field.Name) || fields[field.Name] {
				return fmt.Errorf("docstore: collection %q: index %q cannot include field %q", s.Name, index.Name, field.Name)
			}
			if field.Kind != Int64 && field.Kind != String {
				return fmt.Errorf("docstore: collection %q: field %q of index %q has no kind", s.Name, field.Name, index.Name)
			}
			if value, has := s.Defaults[field.Name]; has && (value.kind != field.Kind || index.Unique || index.Sparse) {
				return fmt.Errorf("docstore: collection %q: field %q of index %q cannot have the default %v", s.Name, field.Name, index.Name, value)
			}
			fields[field.Name] = true
		}
		first[index.Fields[0].Name] = true
	}
	for field := range s.Defaults {
		if !first[field] {
			return fmt.Errorf("docstore: collection %q: field %q has a default but begins no index", s.Name, field)
		}
	}
	if err := s.checkFeed(); err != nil {
		return err
	}
	return s.checkSharding()
}

// isMaintained reports whether engines maintain a field.
func isMaintained(field string) bool {
	return slices.Contains([]string{RevisionField, AddsField, PlaceField, ChangedField, MadeField, GoneField, DueField}, field)
}

// CheckDocument returns an error if every engine must refuse the document. There are
// these reasons:
//
//   - The document has more than MaxDocumentBytes.
//   - An index key has more than MaxKeyBytes.
//   - The revision is missing.
//   - The _id, or an indexed field without a default, is missing. A tombstone needs only the fields
//     of unique indexes, and no document needs that of a sparse one.
//   - The _id or an indexed field has another kind than declared.
func (s Spec) CheckDocument(document bson.Raw) error {
	if err := CheckEnvelope(document); err != nil {
		return err
	}
	id := Field{Name: IDIndex, Kind: s.ID}
	var key [256]byte
	if _, err := AppendKey(key[:0], []Field{id}, document); err != nil {
		return err
	}
	isTombstone := s.Tombstones && IsTombstone(document)
	var room [8]Field
	for _, index := range s.Indexes {
		if index.Omits(document, isTombstone) {
			continue
		}
		fields := append(s.appendFields(room[:0], index.Fields), id)
		if _, err := AppendKey(key[:0], fields, document); err != nil {
			return fmt.Errorf("index %q: %w", index.Name, err)
		}
	}
	return nil
}

// CheckChange returns an error if every engine must refuse the change because of a single
// field: a new value of an indexed field has another kind or is too long, or an indexed field
// without a default goes away from an index that is not sparse.
func (s Spec) CheckChange(change Change) error {
	for _, index := range s.Indexes {
		for _, field := range index.Fields {
			for _, set := range change.Set {
				if set.Path != field.Name {
					continue
				}
				alone := appendName(make([]byte, 4, 32), set.Value.Type, field.Name)
				alone = append(append(alone, set.Value.Value...), 0)
				binary.LittleEndian.PutUint32(alone, uint32(len(alone)))
				if _, err := AppendKey(nil, []Field{field}, alone); err != nil {
					return err
				}
			}
			if !index.Sparse && slices.Contains(change.Unset, field.Name) && s.Defaults[field.Name].IsNone() {
				return fmt.Errorf("docstore: field %q of index %q cannot be removed", field.Name, index.Name)
			}
		}
	}
	return nil
}

// ChangesKeys reports whether a change may change a key of an index.
func (s Spec) ChangesKeys(change Change) bool {
	isIndexed := func(path string) bool {
		return slices.ContainsFunc(s.Indexes, func(index Index) bool {
			return slices.ContainsFunc(index.Fields, func(field Field) bool { return field.Name == path })
		})
	}
	return slices.ContainsFunc(change.paths(), isIndexed)
}

// isSettable reports whether a new value of a field needs no look at the rest of its document: the value is in
// no key that may be taken or become too long, and says nothing about the place.
func (s Spec) isSettable(field string) bool {
	return !slices.Contains(s.PlaceFields, field) && !slices.ContainsFunc(s.Indexes, func(index Index) bool {
		return slices.ContainsFunc(index.Fields, func(each Field) bool {
			return each.Name == field && (index.Unique || each.Kind != Int64)
		})
	})
}

// CheckEnvelope makes the checks of CheckDocument that need no declaration: the size
// and the revision.
func CheckEnvelope(document bson.Raw) error {
	if err := CheckSize(len(document)); err != nil {
		return err
	}
	_, err := RevisionOf(document)
	return err
}

// CheckSize returns an error for a document of more than MaxDocumentBytes.
func CheckSize(bytes int) error {
	if bytes > MaxDocumentBytes {
		return fmt.Errorf("docstore: document has %d bytes, more than the limit of %d", bytes, MaxDocumentBytes)
	}
	return nil
}

// RevisionOf returns the revision of a stored document.
func RevisionOf(document bson.Raw) (int64, error) {
	revision, err := Field{Name: RevisionField, Kind: Int64}.sharedValue(document)
	return revision.number, err
}

// AppendKey appends the values that a document has in the given fields, in the
// order-preserving encoding of package keys.
func AppendKey(key []byte, fields []Field, document bson.Raw) ([]byte, error) {
	text := 0
	for _, field := range fields {
		value, err := field.sharedValue(document)
		if err != nil {
			return key, err
		}
		if !utf8.ValidString(value.text) {
			return key, fmt.Errorf("docstore: field %q is not valid UTF-8", field.Name)
		}
		if text += len(value.text); text > MaxKeyBytes {
			return key, fmt.Errorf("docstore: index key has more than %d string bytes at field %q", MaxKeyBytes, field.Name)
		}
		key = value.append(key)
	}
	return key, nil
}

// AppendValues appends values in the encoding of AppendKey.
func AppendValues(key []byte, values ...Value) []byte {
	for _, value := range values {
		key = value.append(key)
	}
	return key
}

func (v Value) append(key []byte) []byte {
	if v.kind == Int64 {
		return keys.AppendInt64(key, v.number)
	}
	return keys.AppendString(key, v.text)
}
