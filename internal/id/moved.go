package id

import (
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"time"
)

// What was moved in from an old service has identifiers that follow from the old ones, so that it
// can be moved in again. Their ticks are before all that the clock draws: 2^33 ticks after the
// epoch is May 2024.
//
//	ticks                  identifiers from   of
//	[2^24, 2^33 - 2^31)    2^40               old identifiers that are numbers: 2^24 + old
//	[2^33 - 2^31, 2^33)    2^48.6             all other old identifiers, by a hash
//	from 2^33 on           2^49               the clock
const (
	movedTicks  = int64(1) << 24
	hashedTicks = int64(1)<<33 - int64(1)<<31
	drawnTicks  = int64(1) << 33
)

const (
	// Lowest is the lowest identifier. A lower number can only be an old one.
	Lowest = int64(1) << 40
	// MaxOld is the highest old identifier from which an identifier follows as a number.
	MaxOld = hashedTicks - movedTicks - 1
	// Probes is how many identifiers OfOldText has for a text and a place.
	Probes = 8
)

// OfOld returns the identifier in a place of what had an old identifier from 1 to MaxOld. The
// order of identifiers is that of the old ones.
func OfOld(old int64, place Place) int64 { return join(movedTicks+old, place) }

// OfOldText returns an identifier in a place of what had another old identifier. Two texts may
// have the same one; the caller then takes that of the next probe, from 0 to Probes - 1.
func OfOldText(old string, place Place, probe int) int64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(old))
	_, _ = hash.Write(binary.BigEndian.AppendUint64(nil, uint64(probe)))
	sum := hash.Sum64()
	return join(hashedTicks+int64((sum^sum>>32)%uint64(drawnTicks-hashedTicks)), place)
}

// AfterOld returns the position after what had an old identifier from 1 to MaxOld, and before what
// had the next, in every place.
func AfterOld(old int64) int64 { return join(movedTicks+old, Places-1) }

// Old returns the old identifier from which an identifier follows as a number. It reports false
// for any other identifier.
func Old(id int64) (old int64, ok bool) {
	ticks := id >> PlaceBits
	if ticks <= movedTicks || ticks >= hashedTicks {
		return 0, false
	}
	return ticks - movedTicks, true
}

// IsMoved reports whether an identifier follows from an old one.
func IsMoved(id int64) bool {
	ticks := id >> PlaceBits
	return ticks > movedTicks && ticks < drawnTicks
}

// TimeOf returns the time that the clock of a source showed when it drew an identifier, or a later
// one if identifiers ran ahead of it.
func TimeOf(id int64) time.Time { return epoch.Add(time.Duration(id>>PlaceBits) * tick) }

// ParseOld reads an old identifier that is a number from 1 to Max in its usual form: decimal
// digits without a leading zero.
func ParseOld(text string) (old int64, ok bool) {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0, false
	}
	old, err := strconv.ParseInt(text, 10, 64)
	return old, err == nil && old <= Max
}

// Scheme tells a store what identifiers mean; see docstore.Scheme.
type Scheme struct{}

// PlaceOf is the function PlaceOf.
func (Scheme) PlaceOf(id int64) int64 { return int64(PlaceOf(id)) }

// Places is the number of places.
func (Scheme) Places() int64 { return Places }

// TimeOf is the function TimeOf.
func (Scheme) TimeOf(id int64) time.Time { return TimeOf(id) }
