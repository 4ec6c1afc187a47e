package movefile

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// ID is an identifier of the old service: a positive number in decimal digits, or another text. In
// a file, a number may be a JSON number or a string.
type ID string

// maxNumber is the highest number that every JSON reader keeps exactly, and the highest identifier
// of a user (rule 14.1).
const maxNumber = 1<<53 - 1

// Number returns the number that the identifier is.
func (id ID) Number() (number int64, isNumber bool) {
	number, err := strconv.ParseInt(string(id), 10, 64)
	return number, err == nil && number > 0 && number <= maxNumber && strconv.FormatInt(number, 10) == string(id)
}

// MarshalJSON writes a number as a JSON number.
func (id ID) MarshalJSON() ([]byte, error) {
	if _, isNumber := id.Number(); isNumber {
		return []byte(id), nil
	}
	return json.Marshal(string(id))
}

// Before orders identifiers: numbers by their value, before all others by their bytes.
func (id ID) Before(other ID) bool {
	a, isNumber := id.Number()
	b, isOtherNumber := other.Number()
	if isNumber && isOtherNumber {
		return a < b
	}
	return isNumber != isOtherNumber && isNumber || isNumber == isOtherNumber && id < other
}

// Moment is a time in a file. The zero Moment is absent.
type Moment struct{ time.Time }

// MarshalJSON writes RFC 3339 in UTC.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.UTC().Format(time.RFC3339Nano))
}

// localLayouts are the forms of a time without a zone.
func localLayouts() []string { return []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05"} }

// zonedLayouts are the forms of a time with a zone; databases print the second.
func zonedLayouts() []string {
	return []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07"}
}

// parseMoment reads a time: with a zone, a local time in the zone, or seconds since 1970. Its year is
// from 1 to 9998.
func parseMoment(text string, isNumber bool, zone *time.Location) (Moment, bool) {
	var found time.Time
	ok := false
	if isNumber {
		seconds, err := strconv.ParseInt(text, 10, 64)
		found, ok = time.Unix(seconds, 0), err == nil && seconds > -maxSeconds && seconds < maxSeconds
	} else {
		found, ok = parseText(text, zone)
	}
	found = found.UTC()
	return Moment{found}, ok && found.Year() >= 1 && found.Year() <= 9998 && !found.IsZero()
}

func parseText(text string, zone *time.Location) (time.Time, bool) {
	for _, layout := range localLayouts() {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, true
		}
	}
	for _, layout := range zonedLayouts() {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// maxSeconds is the year 9999 in seconds since 1970.
const maxSeconds = 253_370_764_800

// isDay reports whether a text is a day of the calendar: YYYY-MM-DD.
func isDay(text string) bool {
	day, err := time.Parse(time.DateOnly, text)
	return err == nil && day.Year() >= 1 && !strings.HasPrefix(text, "0000")
}
