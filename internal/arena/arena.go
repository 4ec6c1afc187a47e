// Package arena gives memory to the replies of services, and takes it back when they have been
// read. The caller that knows when a reply has been read lends an Arena to its call. The service
// takes memory from it for what is in the reply and nowhere else. Without an arena it takes new
// memory, so it need not know.
package arena

import (
	"context"
	"sync"
	"unsafe"
)

// mostKept bounds what an arena keeps for its next use, in bytes.
const mostKept = 256 << 10

// Arena is memory for one reply at a time. Slices may be taken from it concurrently. A nil Arena
// gives new memory.
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
		// Items in use stay valid; the garbage collector frees them later.
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

// lent is the arena that a call may use. It has none any more once that is free.
type lent struct{ arena *Arena }

// taken is the arena of a handler. The calls that the handler makes have none.
type taken struct{ *lent }

type key struct{}

// Lend returns the context of a call with an arena for its reply, which the caller frees. A call
// over a network ignores it.
func Lend(ctx context.Context) (context.Context, *Arena) {
	a := arenas.Get().(*Arena)
	a.lent = &lent{a}
	return context.WithValue(ctx, key{}, a.lent), a
}

// Take returns the context of the handler of a call, with the arena of the call.
func Take(ctx context.Context) context.Context {
	switch of := ctx.Value(key{}).(type) {
	case *lent:
		return context.WithValue(ctx, key{}, taken{of})
	case taken: // the caller is a handler, and keeps what it gets
		return context.WithValue(ctx, key{}, nil)
	}
	return ctx
}

// Of returns the arena of a handler; nil if it has none.
func Of(ctx context.Context) *Arena {
	if of, isTaken := ctx.Value(key{}).(taken); isTaken {
		return of.arena
	}
	return nil
}

// Free takes the memory back. Nothing that was in it may be used any more.
func (a *Arena) Free() {
	a.lent.arena, a.lent = nil, nil
	a.Reset()
	arenas.Put(a)
}
