package docstore

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Condition is a value of a top-level field; none if the field is missing.
type Condition struct {
	Field string
	Value Value
	// Time, unless zero, is the value of a field that is a time.
	Time time.Time
}

// Is returns the condition that a field has a value.
func Is[K Key](field string, value K) Condition {
	return Condition{Field: field, Value: ValueOf(value)}
}

// At returns the condition that a field has a time, to the millisecond.
func At(field string, moment time.Time) Condition { return Condition{Field: field, Time: moment} }

// Lacks returns the condition that a field is missing.
func Lacks(field string) Condition { return Condition{Field: field} }

func meets(document bson.Raw, conditions []Condition) bool {
	return !slices.ContainsFunc(conditions, func(is Condition) bool {
		if !is.Time.IsZero() {
			moment, isTime := document.Lookup(is.Field).TimeOK()
			return !isTime || moment.UnixMilli() != is.Time.UnixMilli()
		}
		if is.Value.IsNone() {
			_, err := document.LookupErr(is.Field)
			return err == nil
		}
		value, err := Field{Name: is.Field, Kind: is.Value.Kind()}.Value(document)
		return err != nil || value != is.Value
	})
}

// Change is a change of a document. Paths name a top-level field, or with dots a field of an
// embedded document or an element of an array, as MongoDB does. No path is the beginning of
// another.
type Change struct {
	// ID is the document's id.
	ID Value
	// Revision is the revision of the state from which the document changes; 0 for any. The fields
	// of a change of any revision are at the top level, except those of Add; those of indexes are
	// integers and in no unique one.
	Revision int64
	// If are values that the document must have, or it stays.
	If []Condition
	// Set are the new values, Unset the fields to remove, and Add the amounts to add to
	// integers. Add creates a missing field.
	Set   []Assignment
	Unset []string
	// IfNew, unless empty, are fields of Set at the top level: the document stays if it has all
	// their new values. Numbers are compared by value, and a missing field has the zero of each
	// type.
	IfNew []string
	Add   []Amount
	// Raise, unless its field is empty, is an integer field that becomes By if it is less or
	// missing.
	Raise Amount
	// Touches says that followers are to see the change, whatever it changes.
	Touches bool
	// Fields are those that Update returns, as in Scan. IsWhole says that it returns all.
	Fields  []string
	IsWhole bool
}

// Assignment is the new value of a field.
type Assignment struct {
	Path  string
	Value bson.RawValue
}

// Amount is added to an integer field.
type Amount struct {
	Field string
	By    int64
}

// Counts returns the field that counts the change. It is the revision if fields are set, so that
// an Update that has read them runs again. Any other change of any revision disturbs no Update.
func (c Change) Counts() string {
	if c.Revision != 0 || len(c.Set)+len(c.Unset) > 0 {
		return RevisionField
	}
	return AddsField
}

// paths returns the paths that the change names.
func (c Change) paths() []string {
	paths := slices.Clone(c.Unset)
	for _, set := range c.Set {
		paths = append(paths, set.Path)
	}
	for _, amount := range c.Add {
		paths = append(paths, amount.Field)
	}
	if c.Raise.Field != "" {
		paths = append(paths, c.Raise.Field)
	}
	return paths
}

// IsEmpty reports whether the change changes nothing.
func (c Change) IsEmpty() bool { return len(c.paths()) == 0 }

// isSame reports whether two values are the same to MongoDB. One that is missing is as a zero.
func isSame(was, is bson.RawValue) bool {
	if was.Type == 0 {
		return IsZero(is)
	}
	if one, ok := was.Int64OK(); ok || was.Type == bson.TypeInt32 {
		other, isNumber := is.AsInt64OK()
		if !ok {
			one = int64(was.Int32())
		}
		return isNumber && is.Type != bson.TypeDouble && one == other
	}
	if one, ok := was.DoubleOK(); ok {
		other, ok := is.DoubleOK()
		return ok && one == other
	}
	return was.Equal(is)
}

// IsZero reports whether a value is the zero of a number, a text or a truth value.
func IsZero(value bson.RawValue) bool {
	if text, ok := value.StringValueOK(); ok {
		return text == ""
	}
	return !slices.ContainsFunc(value.Value, func(b byte) bool { return b != 0 })
}

// New returns the assignments to the fields of IfNew.
func (c Change) New() (all []Assignment) {
	for _, set := range c.Set {
		if slices.Contains(c.IfNew, set.Path) {
			all = append(all, set)
		}
	}
	return all
}

// IsNewTo reports whether a document lacks one of the values of IfNew.
func (c Change) IsNewTo(document bson.Raw) bool {
	return len(c.IfNew) == 0 || slices.ContainsFunc(c.New(), func(set Assignment) bool {
		return !isSame(document.Lookup(set.Path), set.Value)
	})
}

// edit is what happens to one field: it is set, removed, increased, or changed inside.
type edit struct {
	set    *bson.RawValue
	unset  bool
	by     int64
	inside node
}

// node holds the edits of the fields of a document, in order.
type node []named

type named struct {
	name string
	edit
}

func (n node) find(name string) int {
	for i := range n {
		if n[i].name == name {
			return i
		}
	}
	return -1
}

func (n *node) add(path string, e edit) {
	name, rest, isDeeper := strings.Cut(path, ".")
	at := n.find(name)
	if at < 0 {
		at = len(*n)
		*n = append(*n, named{name: name})
	}
	if isDeeper {
		(*n)[at].inside.add(rest, e)
	} else {
		(*n)[at].edit = e
	}
}

// appendTo appends the edited field. old is the zero value if the field is missing.
func (n named) appendTo(into []byte, old bson.RawValue) ([]byte, error) {
	switch {
	case n.set != nil:
		return append(appendName(into, n.set.Type, n.name), n.set.Value...), nil
	case n.unset:
		return into, nil
	case n.inside == nil:
		sum, ok := old.Int64OK()
		if !ok && old.Type != 0 {
			return nil, fmt.Errorf("docstore: field %q is no int64", n.name)
		}
		return binary.LittleEndian.AppendUint64(appendName(into, bson.TypeInt64, n.name), uint64(sum+n.by)), nil
	}
	if old.Type != bson.TypeEmbeddedDocument && old.Type != bson.TypeArray {
		return nil, fmt.Errorf("docstore: field %q has no fields inside", n.name)
	}
	return n.inside.apply(appendName(into, old.Type, n.name), bson.Raw(old.Value))
}

// apply appends the edited document.
func (n node) apply(into []byte, document bson.Raw) ([]byte, error) {
	start := len(into)
	into = append(into, 0, 0, 0, 0)
	body, ok := elementsOf(document)
	if !ok {
		return nil, errMalformed
	}
	var err error
	met := make([]bool, len(n))
	for len(body) > 0 {
		e, rest, ok := nextElement(body)
		if !ok {
			return nil, errMalformed
		}
		if at := n.find(sharedString(e.name)); at < 0 {
			into = append(into, body[:len(body)-len(rest)]...)
		} else if into, err = n[at].appendTo(into, e.raw()); err != nil {
			return nil, err
		} else {
			met[at] = true
		}
		body = rest
	}
	for i := range n {
		if !met[i] {
			if into, err = n[i].appendTo(into, bson.RawValue{}); err != nil {
				return nil, err
			}
		}
	}
	into = append(into, 0)
	binary.LittleEndian.PutUint32(into[start:], uint32(len(into)-start))
	return into, nil
}

// Apply returns the document after the change, with the next revision or one more of AddsField,
// for engines that store documents themselves. It fails if an amount meets a field that is no
// int64, or if a path leads through a value that has no fields. Errors: ErrConflict if the
// document has another revision or does not meet the conditions.
func (c Change) Apply(document bson.Raw) (bson.Raw, error) {
	revision, err := RevisionOf(document)
	if err != nil {
		return nil, err
	}
	if c.Revision != 0 && revision != c.Revision || !meets(document, c.If) || !c.IsNewTo(document) {
		return nil, ErrConflict
	}
	edits := node{}
	for _, set := range c.Set {
		edits.add(set.Path, edit{set: &set.Value})
	}
	for _, path := range c.Unset {
		edits.add(path, edit{unset: true})
	}
	for _, amount := range c.Add {
		edits.add(amount.Field, edit{by: amount.By})
	}
	if to := c.Raise; to.Field != "" {
		before, isThere := document.Lookup(to.Field).Int64OK()
		by := to.By - before
		if isThere {
			by = max(by, 0)
		}
		edits.add(to.Field, edit{by: by})
	}
	edits.add(c.Counts(), edit{by: 1})
	return edits.apply(make([]byte, 0, len(document)+64), document)
}
