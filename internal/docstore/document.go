package docstore

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// MaxDocumentBytes bounds a document as MongoDB does. A larger one is refused by
// Insert and Replace with a plain error.
const MaxDocumentBytes = 16 << 20

// Validate tells what is wrong with a declaration.
func (s Spec) Validate() error {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	if !name.MatchString(s.Name) {
		return fmt.Errorf("docstore: collection name %q is not in lower_snake_case", s.Name)
	}
	if s.ID != Int64 && s.ID != String {
		return fmt.Errorf("docstore: collection %q declares no kind of _id", s.Name)
	}
	seen := make(map[string]bool)
	for _, index := range s.Indexes {
		if !name.MatchString(index.Name) || seen[index.Name] {
			return fmt.Errorf("docstore: collection %q: index name %q is not in lower_snake_case or comes twice", s.Name, index.Name)
		}
		seen[index.Name] = true
		if len(index.Fields) == 0 {
			return fmt.Errorf("docstore: collection %q: index %q has no fields", s.Name, index.Name)
		}
		fields := make(map[string]bool)
		for _, field := range index.Fields {
			if field.Name == "" || field.Name == "_id" || field.Name == RevisionField || fields[field.Name] {
				return fmt.Errorf("docstore: collection %q: index %q can't be on field %q", s.Name, index.Name, field.Name)
			}
			if field.Kind != Int64 && field.Kind != String {
				return fmt.Errorf("docstore: collection %q: field %q of index %q has no kind", s.Name, field.Name, index.Name)
			}
			fields[field.Name] = true
		}
		if index.Unique && s.Sharding != OneShard {
			return fmt.Errorf("docstore: collection %q can't be sharded: unique index %q would hold on each shard only", s.Name, index.Name)
		}
	}
	return nil
}

// CheckDocument tells why every engine must refuse a document of the collection:
// it is too large, or lacks a revision, an _id or an indexed field of the declared
// kind, or has too long a key.
func (s Spec) CheckDocument(document bson.Raw) error {
	if err := CheckEnvelope(document); err != nil {
		return err
	}
	id := Field{Name: "_id", Kind: s.ID}
	scratch, err := AppendKey(nil, []Field{id}, document)
	if err != nil {
		return err
	}
	for _, index := range s.Indexes {
		fields := append(append(make([]Field, 0, 8), index.Fields...), id)
		if scratch, err = AppendKey(scratch[:0], fields, document); err != nil {
			return fmt.Errorf("index %q: %w", index.Name, err)
		}
	}
	return nil
}

// CheckEnvelope is the part of CheckDocument that needs no declaration.
func CheckEnvelope(document bson.Raw) error {
	if len(document) > MaxDocumentBytes {
		return fmt.Errorf("docstore: a document of %d bytes is larger than %d", len(document), MaxDocumentBytes)
	}
	_, err := RevisionOf(document)
	return err
}

// RevisionOf returns the revision that a document carries.
func RevisionOf(document bson.Raw) (int64, error) {
	value, err := document.LookupErr(RevisionField)
	if err != nil {
		return 0, fmt.Errorf("docstore: field %q: %w", RevisionField, err)
	}
	revision, ok := value.Int64OK()
	if !ok {
		return 0, fmt.Errorf("docstore: field %q is a %s", RevisionField, value.Type)
	}
	return revision, nil
}

// AppendKey appends a document's values of some fields in the order-preserving
// form of package keys.
func AppendKey(key []byte, fields []Field, document bson.Raw) ([]byte, error) {
	text := 0
	for _, field := range fields {
		value, err := document.LookupErr(field.Name)
		if err != nil {
			return key, fmt.Errorf("docstore: field %q: %w", field.Name, err)
		}
		if n, ok := value.Int64OK(); ok && field.Kind == Int64 {
			key = keys.AppendInt64(key, n)
			continue
		}
		s, ok := value.StringValueOK()
		if !ok || field.Kind != String {
			return key, fmt.Errorf("docstore: field %q is a %s", field.Name, value.Type)
		}
		if !utf8.ValidString(s) {
			return key, fmt.Errorf("docstore: field %q is not UTF-8", field.Name)
		}
		if text += len(s); text > MaxKeyBytes {
			return key, fmt.Errorf("docstore: a key is longer than %d bytes at field %q", MaxKeyBytes, field.Name)
		}
		key = keys.AppendString(key, s)
	}
	return key, nil
}

// AppendValues appends values of some fields, the first for the first, in the form
// of AppendKey.
func AppendValues(key []byte, fields []Field, values []any) ([]byte, error) {
	if len(values) > len(fields) {
		return key, fmt.Errorf("docstore: %d values for %d fields", len(values), len(fields))
	}
	for i, value := range values {
		value, err := fields[i].Value(value)
		if err != nil {
			return key, err
		}
		switch value := value.(type) {
		case int64:
			key = keys.AppendInt64(key, value)
		case string:
			key = keys.AppendString(key, value)
		}
	}
	return key, nil
}

// Value returns a value given by a caller, of any integer or string type, as the
// int64 or string that the field holds.
func (f Field) Value(value any) (any, error) {
	switch value.(type) {
	case int64:
		if f.Kind == Int64 {
			return value, nil
		}
	case string:
		if f.Kind == String {
			return value, nil
		}
	}
	v := reflect.ValueOf(value)
	switch {
	case f.Kind == Int64 && v.CanInt():
		return v.Int(), nil
	case f.Kind == String && v.Kind() == reflect.String:
		return v.String(), nil
	}
	return nil, fmt.Errorf("docstore: field %q can't be a %T", f.Name, value)
}

// Checked returns a scan of an index that sorts by fields as engines serve it: the
// bounds are int64 or string, and of From and After only the one is left that is
// further on. It tells what is wrong with the scan.
func (s Scan) Checked(fields []Field) (Scan, error) {
	switch {
	case s.Limit < 1:
		return s, fmt.Errorf("docstore: a limit of %d", s.Limit)
	case len(s.Equal) > len(fields):
		return s, fmt.Errorf("docstore: %d values for the %d fields of index %q", len(s.Equal), len(fields), s.Index)
	case s.After != nil && len(s.After) != len(fields)-len(s.Equal):
		return s, errors.New("docstore: After must have all values that Equal has not")
	case s.From == nil && s.To == nil:
		return s, nil
	case len(s.Equal) == len(fields):
		return s, fmt.Errorf("docstore: index %q has no field left for a range", s.Index)
	}
	field := fields[len(s.Equal)]
	for _, bound := range []*any{&s.From, &s.To} {
		if *bound == nil {
			continue
		}
		var err error
		if *bound, err = field.Value(*bound); err != nil {
			return s, err
		}
	}
	if s.From == nil || s.After == nil {
		return s, nil
	}
	after, err := field.Value(s.After[0])
	if err != nil {
		return s, err
	}
	if isLess(after, s.From) {
		s.After = nil
	} else {
		s.From = nil
	}
	return s, nil
}

// isLess compares two values of one kind.
func isLess(a, b any) bool {
	if n, ok := a.(int64); ok {
		return n < b.(int64)
	}
	return a.(string) < b.(string)
}
