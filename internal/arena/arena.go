// Package arena gives memory to the replies of services, and takes it back when they have been read. Who carries
// a call and knows when its reply has been read gives the call an Arena. The service takes memory from it for
// what is in the reply and nowhere else. Without an arena it takes new memory, so it need not know.
package arena

import (
	"context"
	"sync"
	"unsafe"
)

// mostKept bounds what an arena keeps for its next use, in bytes.
const mostKept = 256 << 10

// Arena is memory for one reply at a time. Slices may be taken from it concurrently. A nil Arena gives new memory.
type Arena struct {
	// lent is what the context of the call has; it is renewed for each.
	lent *lent
	mu   sync.Mutex
	// slabs are *slab[T], one for each type.
	slabs []interface{ free() (kept int) }
}

// slab is memory for values of one type. Its first ones are in use.
type slab[T any] struct {
	items []T
	used  int
}

// free clears what was used, so that a reader that comes too late finds nothing of another reply.
func (s *slab[T]) free() (kept int) {
	clear(s.items[:s.used])
	s.used = 0
	var item T
	return cap(s.items) * int(unsafe.Sizeof(item))
}

// Slice returns a slice of n zero values. It is good until the arena is freed.
func Slice[T any](a *Arena, n int) []T {
	if a == nil || n == 0 {
		return make([]T, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := slabOf[T](a)
	if len(s.items)-s.used < n {
		// What is in use stays good, and goes when nobody uses it any more.
		s.items, s.used = make([]T, max(n, 2*len(s.items))), 0
	}
	s.used += n
	return s.items[s.used-n : s.used : s.used]
}

func slabOf[T any](a *Arena) *slab[T] {
	for _, each := range a.slabs {
		if found, ok := each.(*slab[T]); ok {
			return found
		}
	}
	made := &slab[T]{}
	a.slabs = append(a.slabs, made)
	return made
}

// Reset takes the memory back, for the next reply of the same call.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	kept := 0
	for _, each := range a.slabs {
		kept += each.free()
	}
	if kept > mostKept {
		a.slabs = nil
	}
}

var arenas = sync.Pool{New: func() any { return new(Arena) }}

// lent is an arena in a context. It has none any more once that is free.
type lent struct{ arena *Arena }

type key struct{}

// With returns the context of a call with an arena, which the caller frees.
func With(ctx context.Context) (context.Context, *Arena) {
	a := arenas.Get().(*Arena)
	a.lent = &lent{a}
	return context.WithValue(ctx, key{}, a.lent), a
}

// Without returns the context of a call whose reply stays good.
func Without(ctx context.Context) context.Context {
	if Of(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*lent)(nil))
}

// Of returns the arena of a call; nil if it has none.
func Of(ctx context.Context) *Arena {
	if l, _ := ctx.Value(key{}).(*lent); l != nil {
		return l.arena
	}
	return nil
}

// Free takes the memory back. Nothing that was in it may be used any more.
func (a *Arena) Free() {
	a.lent.arena, a.lent = nil, nil
	a.Reset()
	arenas.Put(a)
}
