package arena_test

import (
	"testing"

	"github.com/waybook/waybook/internal/arena"
)

// item has a pointer, so the collector must know what an arena holds.
type item struct {
	of    *int
	count int
}

func TestMemoryIsClearWhenItIsUsedAgain(t *testing.T) {
	_, a := arena.Lend(t.Context())
	for round := range 3 {
		items, letters := arena.Slice[item](a, 4), arena.Slice[byte](a, 100)
		more := arena.Slice[item](a, 1000) // more than the arena has
		for i := range items {
			if items[i] != (item{}) || more[i] != (item{}) {
				t.Fatalf("round %d: item %d is %v and %v", round, i, items[i], more[i])
			}
			items[i].count, more[i].count = i+1, -1
			items[i].of, more[i].of = &items[i].count, nil
		}
		for i := range letters {
			if letters[i] != 0 {
				t.Fatalf("round %d: byte %d is %d", round, i, letters[i])
			}
			letters[i] = 'x'
		}
		for i := range items {
			if items[i].count != i+1 || *items[i].of != i+1 {
				t.Fatalf("round %d: item %d was changed by another slice: %v", round, i, items[i])
			}
		}
		if extended := append(items, item{}); &extended[0] == &items[0] {
			t.Fatal("a slice has room for items of the next one")
		}
		a.Reset()
		if round == 2 && items[0].count != 0 { // by then the arena has room for all
			t.Fatal("a reader that comes too late finds the old reply")
		}
	}
	a.Free()
}

func TestAnArenaAllocatesNothingWhenItIsUsedAgain(t *testing.T) {
	_, a := arena.Lend(t.Context())
	defer a.Free()
	use := func() {
		arena.Slice[item](a, 50)[0].count++
		arena.Slice[byte](a, 3000)[0]++
		a.Reset()
	}
	use()
	if n := testing.AllocsPerRun(100, use); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestACallBelowHasNoArena(t *testing.T) {
	if arena.Of(t.Context()) != nil || arena.Take(t.Context()) != t.Context() {
		t.Error("a call has an arena that nobody lent")
	}
	call, a := arena.Lend(t.Context())
	if arena.Of(call) != nil {
		t.Error("the caller has the arena of its call")
	}
	handler := arena.Take(call)
	if arena.Of(handler) != a {
		t.Error("the handler has another arena")
	}
	if arena.Of(arena.Take(handler)) != nil {
		t.Error("a call below, whose reply the service may keep, has its arena")
	}
	a.Free()
	if arena.Of(handler) != nil {
		t.Error("a call that has ended still has its arena")
	}
}

func TestWithoutAnArenaMemoryIsNew(t *testing.T) {
	if items := arena.Slice[item](nil, 3); len(items) != 3 {
		t.Errorf("%d items", len(items))
	}
	(*arena.Arena)(nil).Reset()
}
