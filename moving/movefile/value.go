package movefile

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// ID is an identifier of the old service: a positive number in decimal digits, or another text. In
// a file, a number may be a JSON number or a string.
type ID string

// MaxUser is the highest number that every JSON reader keeps exactly, and the highest identifier
// of a user (rule 14.1).
const MaxUser = 1<<53 - 1

// Number returns the number that the identifier is.
func (id ID) Number() (number int64, isNumber bool) {
	number, err := strconv.ParseInt(string(id), 10, 64)
	return number, err == nil && number > 0 && number <= MaxUser && strconv.FormatInt(number, 10) == string(id)
}

// MarshalJSON writes a number as a JSON number.
func (id ID) MarshalJSON() ([]byte, error) {
	if _, isNumber := id.Number(); isNumber {
		return []byte(id), nil
	}
	return json.Marshal(string(id))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (id *ID) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] != '"' {
		*id = ID(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(id))
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
type Moment struct {
	time.Time
	// IsLocal says that it is written without a zone, as databases print times.
	IsLocal bool
}

// MarshalJSON writes RFC 3339 in UTC, or a local time.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m.IsLocal {
		return json.Marshal(m.Format(time.DateTime))
	}
	return json.Marshal(m.UTC().Format(time.RFC3339Nano))
}

// layouts are the forms of a time, first those without a zone. Databases print the last two.
func layouts() []string {
	return []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07"}
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
	return Moment{Time: found}, ok && found.Year() >= 1 && found.Year() <= 9998 && !found.IsZero()
}

func parseText(text string, zone *time.Location) (time.Time, bool) {
	if strings.HasSuffix(text, "Z") { // most have it
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return at, true
		}
	}
	for _, layout := range layouts() {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
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

// text reads a text. ok is false if it must not be used.
func (r *reading) text(f *field, raw json.RawMessage, path string) (value string, ok bool) {
	value, isText := stringOf(raw)
	if !isText {
		r.fault(WrongType, path, "", "%s is no string", shown(raw))
		return "", false
	}
	if !text.IsValid(value) || text.IsHalved(raw, value) {
		r.fault(Characters, path, ControlCharacters, "XML cannot carry a character of %s", shown(raw))
		value = strings.Map(func(c rune) rune {
			if text.IsChar(c, utf8.RuneLen(c)) {
				return c
			}
			return utf8.RuneError
		}, value)
	}
	if len(f.rule.words) > 0 {
		if slices.Contains(f.rule.words, value) {
			return value, true
		}
		if allow := OddValues; r.fault(OutOfRange, path, allow, "%s is none of %s", shown(raw), strings.Join(f.rule.words, ", ")) {
			return f.rule.word, true
		}
		return "", false
	}
	r.length(f.rule, value, path)
	if f.pattern != nil && value != "" && !f.pattern.MatchString(value) {
		var allow Allowance
		if f.other != nil && f.other.MatchString(value) {
			allow = f.rule.other
		}
		if r.fault(WrongType, path, allow, "%s", f.rule.patternText); allow == OtherPasswords {
			return "", false
		}
	}
	return value, true
}

// length checks the length of a text.
func (r *reading) length(limits rule, value, path string) {
	if limits.min > 0 && value == "" || limits.needsVisible && text.IsBlank(value) {
		r.fault(Blank, path, limits.short, "this text has nothing to see")
	}
	count, limit, unit := int64(len(value)), int64(limits.maxBytes), "bytes"
	if limits.max > 0 {
		count, limit, unit = int64(utf8.RuneCountInString(value)), limits.max, "characters"
	}
	if limit == 0 || count <= limit {
		return
	}
	allow := limits.long
	if count > limits.longMax {
		allow = ""
	}
	r.fault(TooLong, path, allow, "%d %s; at most %d", count, unit, limit)
}

// id reads an identifier.
func (r *reading) id(f *field, into reflect.Value, raw json.RawMessage, path string) {
	value, isText := stringOf(raw)
	if !isText {
		value = string(raw)
	}
	isDigits := value != "" && strings.Trim(value, "0123456789") == ""
	switch {
	case !isText && !isDigits:
		r.fault(WrongType, path, "", "%s is no identifier; want a positive integer or a string", shown(raw))
		return
	case isDigits && value[0] == '0':
		r.fault(WrongType, path, "", "%s is no identifier; want a number without leading zeros, or null for none", shown(raw))
		return
	case text.IsBlank(value) || !text.IsValid(value) || len(value) > maxIDBytes || value != strings.TrimSpace(value):
		r.fault(WrongType, path, "", "%s is no identifier; want 1 to %d bytes without white space around them", shown(raw), maxIDBytes)
		return
	}
	if f.rule.max > 0 {
		if number, err := strconv.ParseInt(value, 10, 64); !isDigits || err != nil || number > f.rule.max {
			r.fault(OutOfRange, path, "", "%s is no identifier of a user; want a number from 1 to %d", shown(raw), f.rule.max)
			return
		}
	}
	into.SetString(value)
}

// number reads an integer or a decimal.
func (r *reading) number(f *field, into reflect.Value, raw json.RawMessage, path string) {
	digits, value := string(raw), 0.0
	if quoted, isText := stringOf(raw); isText {
		if !r.fault(WrongType, path, OddValues, "%s is a string; want a number, as with: %s + 0", shown(raw), f.name) {
			return
		}
		digits = strings.TrimSpace(quoted)
	}
	if f.rule.form == formInteger {
		integer, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			r.odd(f, into, WrongType, path, "%s is no integer", shown(raw))
			return
		}
		value = float64(integer)
		into.SetInt(integer)
	} else {
		decimal, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			r.odd(f, into, WrongType, path, "%s is no number", shown(raw))
			return
		}
		if value = decimal; value == 0 {
			value = 0 // negative zero is zero (rule 2.3)
		}
		into.SetFloat(value)
	}
	if !(value >= float64(f.rule.min) && value <= float64(f.rule.max)) {
		r.odd(f, into, OutOfRange, path, "%s is not from %d to %d", shown(raw), f.rule.min, f.rule.max)
	}
}

// whole checks what concerns several fields.
func (r *reading) whole(record Record) {
	switch record := record.(type) {
	case *User:
		if record.PasswordHash != "" && record.Email == "" &&
			r.fault(Conflict, "password_hash", OddValues, "a user with a password needs an email address") {
			record.PasswordHash = ""
		}
	case *Entry:
		if record.PostDate == "" && r.decoder.options.Allowed.Has(BadTimes) {
			record.PostDate = record.CreateTime.In(r.decoder.options.Zone).Format(time.DateOnly)
		}
	case *Comment:
		hasGuest := record.AuthorName != "" || record.AuthorIconURL != ""
		switch {
		case record.AuthorID != "" && hasGuest:
			if r.fault(Conflict, "author_id", OddValues, "an author with an account has name and icon there; leave out author_name and author_icon_url") {
				record.AuthorName, record.AuthorIconURL = "", ""
			}
		case record.AuthorID == "" && record.AuthorName == "" && !r.hasFault("author_id", "author_name"):
			r.fault(Missing, "author_id", EmptyTexts, "author_id or author_name is required")
		}
		if record.Reply == "" && !record.ReplyTime.IsZero() {
			if r.fault(Conflict, "reply_time", OddValues, "there is no reply") {
				record.ReplyTime = Moment{}
			}
		}
	}
}

// hasFault reports whether one of some fields has a fault already.
func (r *reading) hasFault(fields ...string) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return slices.Contains(fields, f.Field) })
}
