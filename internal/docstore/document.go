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

// MaxDocumentBytes bounds the size of a document, as MongoDB does. Insert and Replace
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
	seen := make(map[string]bool)
	for _, index := range s.Indexes {
		if !name.MatchString(index.Name) || seen[index.Name] {
			return fmt.Errorf("docstore: collection %q: index name %q is not in lower_snake_case or is declared twice", s.Name, index.Name)
		}
		seen[index.Name] = true
		if len(index.Fields) == 0 {
			return fmt.Errorf("docstore: collection %q: index %q has no fields", s.Name, index.Name)
		}
		fields := make(map[string]bool)
		for _, field := range index.Fields {
			if field.Name == "" || field.Name == "_id" || field.Name == RevisionField || fields[field.Name] {
				return fmt.Errorf("docstore: collection %q: index %q cannot include field %q", s.Name, index.Name, field.Name)
			}
			if field.Kind != Int64 && field.Kind != String {
				return fmt.Errorf("docstore: collection %q: field %q of index %q has no kind", s.Name, field.Name, index.Name)
			}
			fields[field.Name] = true
		}
		if index.Unique && s.Sharding != OneShard {
			return fmt.Errorf("docstore: collection %q cannot be sharded: index %q would be unique on each shard only", s.Name, index.Name)
		}
	}
	return nil
}

// CheckDocument returns an error if every engine must refuse the document. There are
// these reasons:
//
//   - The document has more than MaxDocumentBytes.
//   - An index key has more than MaxKeyBytes.
//   - The revision is missing.
//   - The _id or an indexed field is missing or has another kind than declared.
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

// CheckEnvelope makes the checks of CheckDocument that need no declaration: the size
// and the revision.
func CheckEnvelope(document bson.Raw) error {
	if len(document) > MaxDocumentBytes {
		return fmt.Errorf("docstore: document has %d bytes, more than the limit of %d", len(document), MaxDocumentBytes)
	}
	_, err := RevisionOf(document)
	return err
}

// RevisionOf returns the revision of a stored document.
func RevisionOf(document bson.Raw) (int64, error) {
	value, err := document.LookupErr(RevisionField)
	if err != nil {
		return 0, fmt.Errorf("docstore: field %q: %w", RevisionField, err)
	}
	revision, ok := value.Int64OK()
	if !ok {
		return 0, fmt.Errorf("docstore: field %q has the wrong BSON type %s", RevisionField, value.Type)
	}
	return revision, nil
}

// AppendKey appends the values that a document has in the given fields, in the
// order-preserving encoding of package keys.
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
			return key, fmt.Errorf("docstore: field %q has the wrong BSON type %s", field.Name, value.Type)
		}
		if !utf8.ValidString(s) {
			return key, fmt.Errorf("docstore: field %q is not valid UTF-8", field.Name)
		}
		if text += len(s); text > MaxKeyBytes {
			return key, fmt.Errorf("docstore: index key has more than %d string bytes at field %q", MaxKeyBytes, field.Name)
		}
		key = keys.AppendString(key, s)
	}
	return key, nil
}

// AppendValues appends values[i] as the value of fields[i], in the encoding of AppendKey.
func AppendValues(key []byte, fields []Field, values []any) ([]byte, error) {
	if len(values) > len(fields) {
		return key, fmt.Errorf("docstore: got %d values for %d fields", len(values), len(fields))
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

// Value converts a value from a caller, which may have any signed integer or string
// type, to the int64 or string that the field holds.
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
	return nil, fmt.Errorf("docstore: field %q cannot hold a %T", f.Name, value)
}

// Checked validates a scan of an index with the given sort fields. It returns the scan in
// the form that engines serve: bounds are int64 or string, and only the later one of From
// and After is set.
func (s Scan) Checked(fields []Field) (Scan, error) {
	switch {
	case s.Limit < 1:
		return s, fmt.Errorf("docstore: the limit is %d; it must be 1 or more", s.Limit)
	case len(s.Equal) > len(fields):
		return s, fmt.Errorf("docstore: got %d values for the %d fields of index %q", len(s.Equal), len(fields), s.Index)
	case s.After != nil && len(s.After) != len(fields)-len(s.Equal):
		return s, errors.New("docstore: After must have a value for each field that Equal does not cover")
	case s.From == nil && s.To == nil:
		return s, nil
	case len(s.Equal) == len(fields):
		return s, fmt.Errorf("docstore: From and To need a field after those of Equal; index %q has none", s.Index)
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

// isLess compares two values of the same kind.
func isLess(a, b any) bool {
	if n, ok := a.(int64); ok {
		return n < b.(int64)
	}
	return a.(string) < b.(string)
}
