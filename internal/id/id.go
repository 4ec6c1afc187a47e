// Package id draws the decimal identifiers of Waybook: positive, at most 2^53-1 so
// that any client can hold them, ordered by time, the low bits random (rule 14.1).
package id

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Max is the highest identifier.
const Max = 1<<53 - 1

// 41 bits of milliseconds last from the epoch for 69 years; 12 random bits below
// them keep processes that draw in the same millisecond apart.
const randomBits = 12

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Source draws identifiers. Each is higher than the one before, also when the clock
// steps back. Two sources may draw the same one: the unique _id index settles that,
// and the loser draws again. It may be used concurrently.
type Source struct {
	now func() time.Time

	mu   sync.Mutex
	last int64
}

// NewSource returns a source that reads the time from now.
func NewSource(now func() time.Time) *Source {
	return &Source{now: now}
}

// Next draws an identifier.
func (s *Source) Next() int64 {
	drawn := s.now().Sub(epoch).Milliseconds()<<randomBits | rand.Int64N(1<<randomBits) // #nosec G404 -- no secret
	s.mu.Lock()
	defer s.mu.Unlock()
	if drawn <= s.last {
		drawn = s.last + 1 + rand.Int64N(8) // #nosec G404 -- no secret
	}
	s.last = drawn
	return drawn
}
