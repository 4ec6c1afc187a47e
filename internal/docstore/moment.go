package docstore

import "time"

// Moment is a time of a store. Its upper 32 bits are seconds since 1970. The lower ones are a fraction
// of the second, or a counter: moments grow with each write that is stamped, whatever the clock does.
type Moment uint64

// MomentOf returns the moment of a time.
func MomentOf(t time.Time) Moment {
	return Moment(t.Unix())<<32 | Moment(uint64(t.Nanosecond())<<32/uint64(time.Second)) // #nosec G115 -- no clock is before 1970
}

// Time returns the time of a moment.
func (m Moment) Time() time.Time {
	fraction := uint64(m) & (1<<32 - 1)
	return time.Unix(int64(m>>32), int64(fraction*uint64(time.Second)>>32)).UTC() // #nosec G115 -- 32 bits
}
