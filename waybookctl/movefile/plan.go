package movefile

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// plan says how the fields of a type are read.
type plan struct {
	fields []field
	byName map[string]int
	// hasParent says that exactly one of the fields that are parents is given.
	hasParent bool
}

// field is a field of a type.
type field struct {
	name, doc string
	rule      rule
	// pattern and other are compiled from the rule; nil if it has none.
	pattern  *regexp.Regexp
	other    *regexp.Regexp
	index    int
	required bool
	isParent bool
	// object is the plan of an object, or of each item of a list.
	object *plan
}

// planOf reads the tags of a type.
func planOf(of reflect.Type) *plan {
	all := rules()
	p := &plan{byName: map[string]int{}}
	for i := range of.NumField() {
		declared := of.Field(i)
		name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
		ruleName, how, _ := strings.Cut(declared.Tag.Get("move"), ",")
		r, isKnown := all[ruleName]
		if !isKnown {
			panic(fmt.Sprintf("movefile: %s.%s has the unknown rule %q", of.Name(), declared.Name, ruleName))
		}
		f := field{name: name, doc: declared.Tag.Get("doc"), rule: r, index: i, required: how == "required", isParent: how == "parent"}
		if r.pattern != "" {
			f.pattern = regexp.MustCompile(r.pattern)
		}
		if r.other != "" {
			f.other = regexp.MustCompile(r.otherPattern)
		}
		if r.form == formObject || r.form == formList {
			f.object = planOf(declared.Type.Elem())
		}
		p.hasParent = p.hasParent || f.isParent
		p.byName[name] = len(p.fields)
		p.fields = append(p.fields, f)
	}
	return p
}

// parents returns the names of the fields that are parents.
func (p *plan) parents() (names []string) {
	for _, f := range p.fields {
		if f.isParent {
			names = append(names, f.name)
		}
	}
	return names
}

// planOfKind returns the plan of a kind.
func planOfKind(kind Kind) *plan { return planOf(reflect.TypeOf(newRecord(kind)).Elem()) }
