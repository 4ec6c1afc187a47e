package docstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// shape names the fields that a program knows of a document, with those of the embedded
// documents and of the documents in arrays. A Change leaves all other fields alone, so the
// fields of a newer version survive. Only an array that changes its length is replaced as a
// whole.
type shape map[string]shape

var timeType = reflect.TypeFor[time.Time]()

// shapeOf returns the shape of a struct type with bson tags.
func shapeOf(t reflect.Type) shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == timeType {
		return nil
	}
	known := shape{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("bson"), ",")
		if name == "" {
			name = strings.ToLower(t.Field(i).Name)
		}
		known[name] = shapeOf(t.Field(i).Type)
	}
	return known
}

// has reports whether there is a field at a path.
func (known shape) has(path string) bool {
	name, rest, isDeeper := strings.Cut(path, ".")
	inside, has := known[name]
	if _, err := strconv.Atoi(name); err == nil { // an element of an array
		inside, has = known, true
	}
	return has && (!isDeeper || inside.has(rest))
}

// difference compares two states of a document.
func (known shape) difference(before, after bson.Raw) (change Change, err error) {
	err = change.compare("", known, before, after)
	return change, err
}

// compare adds to a change what differs between two states of a document at a path.
func (c *Change) compare(prefix string, known shape, before, after bson.Raw) error {
	was, isDocument := elementsOf(before)
	is, areDocuments := elementsOf(after)
	if !isDocument || !areDocuments {
		return errMalformed
	}
	olds := findIn(was)
	for rest := is; len(rest) > 0; {
		var e element
		var ok bool
		if e, rest, ok = nextElement(rest); !ok {
			return errMalformed
		}
		old, had := olds.find(sharedString(e.name))
		if had && old.kind == e.kind && bytes.Equal(old.value, e.value) {
			continue
		}
		name := string(e.name)
		if !had {
			c.set(prefix+name, e.raw())
		} else if err := c.compareValue(prefix+name, known[name], old.raw(), e.raw()); err != nil {
			return err
		}
	}
	news := findIn(is)
	for rest := was; len(rest) > 0; {
		var e element
		var ok bool
		if e, rest, ok = nextElement(rest); !ok {
			return errMalformed
		}
		if _, isKnown := known[string(e.name)]; !isKnown {
			continue
		}
		if _, stays := news.find(sharedString(e.name)); !stays {
			c.Unset = append(c.Unset, prefix+string(e.name))
		}
	}
	return nil
}

func (c *Change) compareValue(path string, known shape, old, value bson.RawValue) error {
	switch {
	case old.Type == value.Type && bytes.Equal(old.Value, value.Value):
		return nil
	case old.Type != value.Type || known == nil:
	case value.Type == bson.TypeEmbeddedDocument:
		return c.compare(path+".", known, old.Document(), value.Document())
	case value.Type == bson.TypeArray:
		was, err := old.Array().Values()
		if err != nil {
			return err
		}
		is, err := value.Array().Values()
		if err != nil || len(was) != len(is) {
			c.set(path, value)
			return err
		}
		for i := range is {
			if err := c.compareValue(path+"."+strconv.Itoa(i), known, was[i], is[i]); err != nil {
				return err
			}
		}
		return nil
	}
	c.set(path, value)
	return nil
}

func (c *Change) set(path string, value bson.RawValue) {
	c.Set = append(c.Set, Assignment{path, value})
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

// isSettable reports whether a new value of a field needs no look at the rest of its document: the
// value is in no key that may be taken or become too long, and says nothing about the place.
func (s Spec) isSettable(field string) bool {
	return !slices.Contains(s.PlaceFields, field) && !slices.ContainsFunc(s.Indexes, func(index Index) bool {
		return slices.ContainsFunc(index.Fields, func(each Field) bool {
			return each.Name == field && (index.Unique || each.Kind != Int64)
		})
	})
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
			if !index.Sparse && slices.Contains(change.Unset, field.Name) {
				return fmt.Errorf("docstore: field %q of index %q cannot be removed", field.Name, index.Name)
			}
		}
	}
	return nil
}
