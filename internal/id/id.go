// Package id generates the decimal identifiers of Waybook. They are positive, at most
// 2^53-1 so that any client can hold them, ordered by time, and random in the low bits
// (rule 14.1).
package id

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Max is the highest identifier.
const Max = 1<<53 - 1

// 41 bits of milliseconds last for 69 years from the epoch. The 12 random bits below them
// separate processes that generate identifiers in the same millisecond.
const randomBits = 12

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Source generates identifiers. Each is higher than the one before, even when the clock
// steps back. Two sources may generate the same identifier. The unique _id index then
// rejects one insert, and its caller tries again with another. It may be used concurrently.
type Source struct {
	now func() time.Time

	mu   sync.Mutex
	last int64
}

// NewSource returns a source that reads the time from now.
func NewSource(now func() time.Time) *Source {
	return &Source{now: now}
}

// Next returns a new identifier.
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
