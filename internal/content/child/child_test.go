package child_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
)

type item struct {
	ID         int64  `bson:"_id"`
	BoxID      int64  `bson:"box_id"`
	RequestKey string `bson:"request_key"`
	Text       string `bson:"text"`
}

type set = child.Set[crate, item]

const boxID, owner = 7, 1

func byBox() docstore.Index1[int64] { return child.ByParent("box_id") }

func byRequest() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: docstore.RequestIndex, A: "box_id", B: "request_key", Unique: true}
}

// newSet returns a set with one box.
func newSet(t *testing.T) *set {
	t.Helper()
	return newSetOn(t, &storetest.Hooked{})
}

// newSetOn is newSet on a store with hooks.
func newSetOn(t *testing.T, engine *storetest.Hooked) *set {
	t.Helper()
	engine.Engine = newFile(t)
	return cratesOn(t, engine, time.Hour)
}

func add(t *testing.T, s *set, actor int64, requestID, text string) (item, error) {
	return addIn(t.Context(), s, actor, requestID, text)
}

func addIn(ctx context.Context, s *set, actor int64, requestID, text string) (item, error) {
	return s.Add(ctx, actor, boxID, docstore.Request{By: byRequest().First(boxID), ID: requestID, Digest: int64(len(text))},
		nil,
		func(id int64, requestKey string) item {
			return item{ID: id, BoxID: boxID, RequestKey: requestKey, Text: text}
		})
}

// check compares the number of items with want, and checks that the box knows the latest.
func check(t *testing.T, s *set, want int) {
	t.Helper()
	parent, err := s.Parents.Get(t.Context(), boxID)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.Page(t.Context(), boxID, 1000, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Documents) != want {
		t.Errorf("the box holds %d items, want %d", len(page.Documents), want)
	}
	if want > 0 && parent.Latest < page.Documents[want-1].ID {
		t.Errorf("the box knows item %d as the latest, and has %d", parent.Latest, page.Documents[want-1].ID)
	}
}

func reasonOf(err error) string {
	var known *apierror.Error
	if errors.As(err, &known) {
		return known.Reason
	}
	return fmt.Sprint(err)
}

func TestAReusedRequestIDIsRefused(t *testing.T) {
	s := newSet(t)
	var group sync.WaitGroup
	var refused atomic.Int64
	texts := []string{"first", "another"}
	for i := range 16 {
		group.Go(func() {
			switch _, err := add(t, s, owner, "r1", texts[i%2]); {
			case errors.Is(err, docstore.ErrRequestReused):
				refused.Add(1)
			case err != nil:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if refused.Load() != 8 {
		t.Errorf("%d of 16 calls were refused", refused.Load())
	}
	check(t, s, 1)
}

// Rule 14.10: nobody looks for the children of a parent that never had one.
func TestAParentThatNeverHadChildrenCostsNoQueryForThem(t *testing.T) {
	store := &storetest.Hooked{}
	s := newSetOn(t, store)
	scans := 0
	first := func(want, queries int) item {
		t.Helper()
		parent, err := s.Parents.Get(t.Context(), boxID)
		if err != nil {
			t.Fatal(err)
		}
		scans = 0
		page, err := s.First(t.Context(), boxID, &parent, 10)
		if err != nil || len(page.Documents) != want || scans != queries {
			t.Fatalf("%d queries found %d items, want %d and %d: %v", scans, len(page.Documents), queries, want, err)
		}
		return append(page.Documents, item{})[0]
	}
	store.Read = func(_ context.Context, call storetest.Call, do func() error) error {
		if call == (storetest.Call{Collection: "items", Verb: "scan"}) {
			scans++
		}
		return do()
	}
	first(0, 0)
	if _, err := add(t, s, owner, "", "x"); err != nil {
		t.Fatal(err)
	}
	added := first(1, 1)
	if err := s.Remove(t.Context(), boxID, added.ID, "", func(*crate, *item) error { return nil }); err != nil {
		t.Fatal(err)
	}
	first(0, 1)
}
