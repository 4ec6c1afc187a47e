package storetest_test

import (
	"context"
	"testing"

	"github.com/waybook/waybook/internal/storetest"
)

func TestAnUpdateChangesNoOtherStateThanItHasRead(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{})
	c, late := openNotes(t, r), openNotes(t, r.Process())
	must(t, c.Insert(t.Context(), note{ID: 1}))
	set := func(on *notes, text string) error {
		_, err := on.Update(t.Context(), 1, func(n *note) error { n.Text += text; return nil })
		return err
	}
	r.Hold(0)
	expectUnavailable(t, set(c, "rolled back"))
	hasRun := false
	_, err := late.Update(t.Context(), 1, func(n *note) error {
		if !hasRun {
			hasRun = true
			r.Fail(storetest.Failover{})
			must(t, set(c, "acknowledged"))
		}
		n.Text += ", late"
		return nil
	})
	must(t, err)
	if found, err := c.Get(t.Context(), 1); err != nil || found.Text != "acknowledged, late" {
		t.Errorf("got %q, %v", found.Text, err)
	}
}

func TestAnUpdateThatWasOvertakenChangesNoOtherStateThanItHasRead(t *testing.T) {
	r := storetest.NewReplica(t, storetest.ReplicaSettings{})
	c := openNotes(t, r)
	must(t, c.Insert(t.Context(), note{ID: 1}))
	set := func(text string) error {
		_, err := c.Update(t.Context(), 1, func(n *note) error { n.Text += text; return nil })
		return err
	}
	reads, tries := 0, 0
	late := openNotes(t, &storetest.Hooked{Engine: r.Process(), Read: func(_ context.Context, _ storetest.Call, do func() error) error {
		if reads++; reads == 2 {
			r.Hold(0)
			expectUnavailable(t, set(", rolled back"))
		}
		return do()
	}})
	_, err := late.Update(t.Context(), 1, func(n *note) error {
		if tries++; tries == 1 {
			must(t, set("first"))
		} else {
			r.Fail(storetest.Failover{})
			must(t, set(", acknowledged"))
		}
		n.Text += ", late"
		return nil
	})
	expectUnavailable(t, err)
	r.Fail(storetest.Failover{})
	if found, err := c.Get(t.Context(), 1); err != nil || found.Text != "first" {
		t.Errorf("got %q, %v", found.Text, err)
	}
}
