package storekeeping

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// The survey sees every collection that a service opens. Constraints between collections
// come from the service's own declarations, which can be incomplete.
func TestEveryCollectionOfChildrenIsInAConstraint(t *testing.T) {
	store, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	children := 0
	for _, p := range allParts() {
		collections, constraints, err := p.inspect(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		if len(collections) == 0 {
			t.Errorf("%s opens no collections", p.name)
		}
		for _, c := range collections {
			// The identifier of a choice is a text that begins with its parent's.
			isChild := c.spec.Sharding == docstore.ByPlace && c.spec.ID == docstore.String || slices.Contains(c.spec.PlaceFields, "parent_id") || slices.ContainsFunc(c.spec.Indexes, func(index docstore.Index) bool {
				return index.Name == child.ByParent("").Name
			})
			isConstrained := false
			for _, constraint := range constraints {
				if constraint.Children != c.spec.Name {
					continue
				}
				isConstrained = true
				if _, err := c.spec.FieldsOf(constraint.Index); err != nil {
					t.Error(err)
				}
				if !slices.ContainsFunc(collections, func(parent collection) bool { return parent.spec.Name == constraint.Parents }) {
					t.Errorf("%s belongs to %s, which %s does not open", c.spec.Name, constraint.Parents, p.name)
				}
			}
			if isChild != isConstrained {
				t.Errorf("%s: has a parent collection: %v; is in a constraint: %v", c.spec.Name, isChild, isConstrained)
			}
			if isChild {
				children++
			}
		}
	}
	if children < 9 {
		t.Errorf("only %d collections have parents", children)
	}
}
