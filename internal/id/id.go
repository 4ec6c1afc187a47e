// Package id generates the decimal identifiers of Waybook. They are positive, at most 2^53-1 so
// that any client can hold them (rule 14.1), ordered by time, and name the place of their
// document in the low bits.
package id

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/chance"
)

// Max is the highest identifier.
const Max = 1<<53 - 1

// tick is the unit of time in an identifier. The 37 bits above the place last for 69 years from
// the epoch.
const (
	tick     = 16 * time.Millisecond
	maxTicks = 1<<(53-PlaceBits) - 1
)

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	// maxAhead bounds how far identifiers of one place run ahead of the clock, in ticks: 30 days,
	// or 162 million identifiers drawn at once.
	maxAhead = int64(30 * 24 * time.Hour / tick)
	// lead is how far identifiers of different places may run ahead of the clock to be in the
	// order in which they were drawn, in ticks.
	lead = 64
	// parts is how many draws of different sources bring the identifiers of a place to about
	// pastOthers ahead.
	parts = 64
	// takenBeforeGaps is how many identifiers may be taken before the next leaves out ticks: twice
	// as many each time, up to 2^maxGapBits.
	takenBeforeGaps = 32
	maxGapBits      = 20
	// keptPlaces is how many places a source remembers before it looks for those to forget.
	keptPlaces = 1024
)

// ErrAhead reports that so many identifiers of one place were drawn that the next one would be
// 30 days ahead of the clock.
var ErrAhead = errors.New("id: this place has too many identifiers for now")

// Source generates the identifiers of one collection. It may be used concurrently.
//
// Identifiers of one place always grow, even when the clock steps back. There is one for each
// tick of 16 ms. When more are drawn, they run ahead of the clock, by 30 days at most.
//
// Two sources may generate the same identifier. The unique index of _id then refuses one insert,
// and its caller draws again, above the highest identifier of the place. For the other source may
// be far ahead of the clock.
type Source struct {
	now func() time.Time

	mu sync.Mutex
	// clock is the latest tick that now has shown.
	clock int64
	// latest is the highest identifier that is ahead of the clock by lead at most.
	latest int64
	// last has the tick of the last identifier of each place where it may not be before clock.
	last map[Place]int64
	// met has a bit for each place where the source knows the identifiers of others; see Meet.
	met    [Places / 64]uint64
	isSole bool
	// full is the size of last at which places are forgotten.
	full int
}

// NewSource returns a source that reads the time from now.
func NewSource(now func() time.Time) *Source {
	return &Source{now: now, last: make(map[Place]int64), full: keptPlaces}
}

// Next returns an identifier in a place that is above after. taken is how many in a row were taken
// that the caller has drawn: from the 32nd on, Next leaves out ticks at random, more each time, so
// that sources that draw at the same time part. After one that was taken, the next one follows
// closely, as sources that draw in turns rely on: what they draw is in order because the one
// before is taken. Errors: ErrAhead.
func (s *Source) Next(place Place, after int64, taken int) (int64, error) {
	return s.next(place, after, taken, false)
}

// NextInOrder is Next for collections that are listed over all places. While few identifiers are
// drawn, those of different places grow in the order in which they are drawn; under load, to
// within a second. For that, they run ahead of the clock by a second at most. Other sources do not
// know of it.
func (s *Source) NextInOrder(place Place, after int64, taken int) (int64, error) {
	return s.next(place, after, taken, true)
}

func (s *Source) next(place Place, after int64, taken int, keepsOrder bool) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tick()
	drawn := s.clock
	if before := s.latest >> PlaceBits; keepsOrder && join(drawn, place) <= s.latest && before < s.clock+lead {
		drawn = before
		if place <= PlaceOf(s.latest) {
			drawn++
		}
	}
	if after > 0 && PlaceOf(after) == place {
		others := after >> PlaceBits
		if taken == 0 {
			others = s.beyond(place, others)
		}
		drawn = max(drawn, others+1)
		s.meet(place, after)
	}
	if last, isAhead := s.last[place]; isAhead {
		drawn = max(drawn, last+1)
	}
	if taken >= takenBeforeGaps {
		drawn += chance.Below[int64](1 << min(taken-takenBeforeGaps+1, maxGapBits))
	}
	if drawn > s.clock+maxAhead || drawn > maxTicks {
		return 0, ErrAhead
	}
	s.last[place] = drawn
	if len(s.last) >= s.full {
		s.forget()
	}
	if drawn <= s.clock+lead {
		s.latest = max(s.latest, join(drawn, place))
	}
	return join(drawn, place), nil
}

// beyond returns the tick of an identifier that the next one is above. If another source drew it,
// whose clock is ahead, that one has drawn more, and what was removed of it is in no index. So the
// next one is at a random distance: less, the further they are ahead of the clock already, and
// none from pastOthers on.
func (s *Source) beyond(place Place, others int64) int64 {
	room := (s.clock + pastOthers - others) / parts
	if others <= s.last[place] || others <= s.clock+lead || room < 1 {
		return others
	}
	return others + chance.Below(room)
}

// tick raises the clock.
func (s *Source) tick() { s.clock = max(s.clock, int64(s.now().Sub(epoch)/tick), 1) }

// InOrder returns a function that draws identifiers in a place as NextInOrder does.
func (s *Source) InOrder(place Place) func(after int64, taken int) (int64, error) {
	return func(after int64, taken int) (int64, error) { return s.NextInOrder(place, after, taken) }
}

// pastTicks is how far back Unordered draws: three days.
const pastTicks = 1 << 24

// Unordered returns an identifier in a place that is in no order with others. A place has as many
// of them as anybody can store. The caller draws again if it is taken.
func (s *Source) Unordered(place Place) int64 {
	now := max(int64(s.now().Sub(epoch)/tick), pastTicks)
	return join(now-chance.Below[int64](pastTicks), place)
}

// forget forgets the places whose next identifier is later than the last one anyway.
func (s *Source) forget() {
	for place, last := range s.last {
		if last < s.clock {
			delete(s.last, place)
		}
	}
	s.full = 2*len(s.last) + keptPlaces
}

func join(ticks int64, place Place) int64 { return ticks<<PlaceBits | int64(place) }

// PlaceBits is how many low bits of an identifier name its place, and Places is the number of
// places.
const (
	PlaceBits = 16
	Places    = 1 << PlaceBits
)

// Place is where a document lies among the shards of a store. A document has the place of the
// document that it belongs to: an album that of its owner, a photo that of its album. So what
// is read together lies together.
type Place uint16

// PlaceOf returns the place that an identifier names.
func PlaceOf(id int64) Place { return Place(id & (Places - 1)) }

// PlaceOfKey returns the place of a document that an owner names by a key. Documents of one
// owner spread over all places. The result never changes: it is in stored identifiers.
func PlaceOfKey(ownerID int64, key string) Place {
	hash := fnv.New64a()
	_, _ = hash.Write(binary.BigEndian.AppendUint64(nil, uint64(ownerID)))
	_, _ = hash.Write([]byte(key))
	sum := hash.Sum64()
	return Place(sum ^ sum>>16 ^ sum>>32 ^ sum>>48)
}

// AnyPlace returns a random place, for a document that belongs to no other.
func AnyPlace() Place { return Place(chance.Below[int64](Places)) }
