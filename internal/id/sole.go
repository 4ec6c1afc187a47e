package id

import (
	"context"
	"time"

	"github.com/waybook/waybook/internal/chance"
)

// pastOthers bounds the random gap of a sole source between an identifier of others that is ahead
// of the clock and its first, in ticks: 17 minutes. For an old file that was put back does not
// know what was drawn above that one before.
const pastOthers = 1 << 16

// NewSoleSource is NewSource for a store that no other process uses at the same time.
func NewSoleSource(now func() time.Time) *Source {
	s := NewSource(now)
	s.isSole = true
	return s
}

// In returns a function that draws identifiers in a place, for a collection. highest returns the
// highest identifier that is stored there from another one on. The first of a sole source is above
// all of them, also those of a process before this one whose clock was ahead.
func (s *Source) In(ctx context.Context, place Place,
	highest func(ctx context.Context, from int64) (int64, error)) func(after int64, taken int) (int64, error) {
	return func(after int64, taken int) (int64, error) {
		if from, isUnmet := s.Unmet(place); isUnmet {
			last, err := highest(ctx, from)
			if err != nil {
				return 0, err
			}
			s.Meet(place, last)
		}
		return s.Next(place, after, taken)
	}
}

// Unmet reports whether a sole source does not know yet what was drawn in a place before it, by a
// process whose clock may have been ahead. The identifiers that the source draws are not below
// from. Other sources are not told to ask: beside sources that draw at the same time the answer is
// soon old.
func (s *Source) Unmet(place Place) (from int64, isUnmet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	return join(s.clock, place), s.isSole && !s.hasMet(place)
}

// Meet says that others drew identifiers in a place up to highest; 0 if all of theirs are below
// what Unmet returned.
func (s *Source) Meet(place Place, highest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	s.meet(place, highest)
}

func (s *Source) meet(place Place, highest int64) {
	if s.hasMet(place) {
		return
	}
	s.met[place/64] |= 1 << (place % 64)
	others := highest >> PlaceBits
	if room := s.clock + maxAhead - others; s.isSole && others >= s.clock && room > 0 {
		others += chance.Below(min(pastOthers, room))
	}
	s.last[place] = max(s.last[place], others)
}

func (s *Source) hasMet(place Place) bool { return s.met[place/64]&(1<<(place%64)) != 0 }
