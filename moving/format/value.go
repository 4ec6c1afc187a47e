package format

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/text"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// text reads a text.
func (r *reading) text(f *field, into protoreflect.Message, path string) {
	value, isText := stringOf(r.raw)
	if !isText {
		repair := Repair("")
		if onlyHas(string(r.raw[:1]), "-0123456789") {
			repair = "number"
		}
		if !r.fault(WrongType, path, repair, "this is no string; want one in quotes") {
			return
		}
		value = string(r.raw)
	}
	if f.pattern == nil {
		value = r.charset(value, path)
	}
	if !text.IsValid(value) || text.IsHalved(r.raw, value) {
		if !r.fault(Characters, path, "control-characters", "XML cannot carry a character of this text") {
			return
		}
		value = strings.Map(func(c rune) rune {
			if text.IsChar(c, utf8.RuneLen(c)) {
				return c
			}
			return -1
		}, value)
	}
	if value == "" && !f.required {
		return
	}
	if f.maxLen > 0 && len(value) > f.maxLen {
		count := utf8.RuneCountInString(value)
		if count > f.maxLen && r.fault(TooLong, path, "long-text", "%d characters; at most %d", count, f.maxLen) {
			end := 0
			for range f.maxLen {
				_, size := utf8.DecodeRuneInString(value[end:])
				end += size
			}
			value = value[:end]
		}
	}
	switch {
	case value == "", f.isName && text.IsBlank(value):
		r.bad(f, into, Blank, path, "this text has no visible character")
	case f.maxBytes > 0 && len(value) > f.maxBytes:
		r.bad(f, into, TooLong, path, "%d bytes; at most %d", len(value), f.maxBytes)
	case f.pattern != nil && !f.pattern.MatchString(value):
		r.bad(f, into, WrongType, path, "want %s", f.wanted)
	default:
		into.Set(f.FieldDescriptor, protoreflect.ValueOfString(value))
	}
}

// id reads an identifier. It reports false if the field counts as absent.
func (r *reading) id(f *field, into protoreflect.Message, path string) (isPresent bool) {
	value, isText := stringOf(r.raw)
	if !isText {
		value = string(r.raw)
	} else if trimmed := strings.TrimSpace(value); trimmed != value && r.decoder.options.Repair {
		r.fault(WrongType, path, "blanks", "there are blanks around the identifier")
		value = trimmed
	}
	isDigits := onlyHas(value, "0123456789")
	number, err := strconv.ParseInt(value, 10, 64)
	switch {
	case value == "0" && f.form == formUser && f.min == 0:
		return false
	case (value == "0" || value == "") && !f.required && r.decoder.options.Repair:
		r.fault(WrongType, path, "zero-id", "this is no identifier")
		return false
	case isDigits && value[0] == '0', !isDigits && (!isText || f.form == formUser):
	case f.form == formUser:
		if err == nil && number <= int64(f.max) {
			into.Set(f.FieldDescriptor, protoreflect.ValueOfInt64(number))
			return true
		}
	case !text.IsBlank(value) && text.IsValid(value) && !text.IsHalved(r.raw, value) && strings.TrimSpace(value) == value && len(value) <= f.maxBytes:
		into.Set(f.FieldDescriptor, protoreflect.ValueOfString(value))
		return true
	}
	if f.form == formUser {
		r.fault(WrongType, path, "", "%s is no user; want a number from 1 to %d", shown(r.raw), int64(f.max))
	} else {
		r.fault(WrongType, path, "", "%s is no identifier; want a positive number, or a text of at most %d bytes; null for none", shown(r.raw), f.maxBytes)
	}
	return true
}

// onlyHas reports whether a text has nothing but some characters.
func onlyHas(value, characters string) bool {
	for i := range len(value) {
		if strings.IndexByte(characters, value[i]) < 0 {
			return false
		}
	}
	return value != ""
}

// number reads an integer or a decimal. All bounds are below 2^53, so a float64 is exact.
func (r *reading) number(f *field, into protoreflect.Message, path string) {
	digits := string(r.raw)
	quoted, isText := stringOf(r.raw)
	if isText {
		digits = strings.TrimSpace(quoted)
	}
	value, err := strconv.ParseFloat(digits, 64)
	isPlain := !isText && (f.form == formDecimal || onlyHas(digits, "-0123456789"))
	switch {
	case err != nil || !onlyHas(digits, "-+.eE0123456789") || f.form == formInteger && value != math.Trunc(value):
		r.bad(f, into, WrongType, path, "%s is not %s", shown(r.raw), f.wanted)
	case !isPlain && !r.fault(WrongType, path, "number", "%s is not %s; want it without quotes and decimals, as with: %s + 0", shown(r.raw), f.wanted, f.name):
	case value < f.min || value > f.max:
		if r.bad(f, into, OutOfRange, path, "%s is not from %v to %v", shown(r.raw), f.min, f.max) && value > f.max && f.repair == "amount" {
			into.Set(f.FieldDescriptor, f.numeric(f.max))
		}
	default:
		into.Set(f.FieldDescriptor, f.numeric(value))
	}
}

// numeric returns a number as a value of the field. Negative zero is zero (rule 2.3).
func (f *field) numeric(value float64) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(value))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(value))
	}
	return protoreflect.ValueOfFloat64(value + 0)
}

// word reads a word of an enumeration.
func (r *reading) word(f *field, into protoreflect.Message, path string) {
	value, isText := stringOf(r.raw)
	number := slices.Index(f.words, value)
	if number <= 0 && isText && r.decoder.options.Repair {
		if number = slices.Index(f.words, strings.TrimSpace(r.charset(value, path))); number > 0 {
			r.fault(WrongType, path, "blanks", "the word is written otherwise")
		}
	}
	if number <= 0 {
		r.bad(f, into, WrongType, path, "%s is not one of %v", shown(r.raw), f.words[1:])
		return
	}
	into.Set(f.FieldDescriptor, protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))) // #nosec G115 -- few
}

// time reads a time or a day.
func (r *reading) time(f *field, into protoreflect.Message, path string) {
	value, isText := stringOf(r.raw)
	if !isText {
		value = string(r.raw)
	}
	found, isTime := r.timeOf(f, value, isText)
	if !isTime && isText && r.decoder.options.Repair {
		value = strings.TrimSpace(value)
		if f.form == formDay {
			value, _, _ = strings.Cut(value, " ")
		}
		if found, isTime = r.timeOf(f, value, true); isTime {
			r.fault(WrongType, path, "blanks", "there are blanks around the time, or a time after the day")
		} else if found, isTime = r.timeOf(f, value, false); isTime {
			r.fault(WrongType, path, "number", "the seconds since 1970 are a string")
		}
	}
	switch {
	case isTime:
		into.Set(f.FieldDescriptor, found)
	case f.form == formDay:
		r.bad(f, into, WrongType, path, "%s is no day of the calendar; want YYYY-MM-DD", shown(r.raw))
	default:
		r.bad(f, into, WrongType, path, "%s is no time; want 2008-03-05T09:07:31Z, 2008-03-05 09:07:31 or seconds since 1970", shown(r.raw))
	}
}

// timeOf returns a text, or the digits of a number, as a time with milliseconds, as stores have, or as a day.
func (r *reading) timeOf(f *field, value string, isText bool) (found protoreflect.Value, isTime bool) {
	if f.form == formDay {
		day, err := time.Parse(time.DateOnly, value)
		if !isText || err != nil || day.Year() < 1 {
			return found, false
		}
		date := &typev1.Date{Year: int32(day.Year()), Month: int32(day.Month()), Day: int32(day.Day())} // #nosec G115 -- a calendar's
		return protoreflect.ValueOfMessage(date.ProtoReflect()), true
	}
	var at time.Time
	if isText {
		at, isTime = parseTime(value, r.decoder.options.Zone)
	} else {
		seconds, err := strconv.ParseInt(value, 10, 64)
		at, isTime = time.Unix(seconds, 0), err == nil
	}
	if seconds := at.Unix(); !isTime || seconds <= firstSecond || seconds >= lastSecond {
		return found, false
	}
	return protoreflect.ValueOfMessage(timestamppb.New(at.Truncate(time.Millisecond)).ProtoReflect()), true
}

// The years 1 and 9999 begin at these seconds since 1970.
const firstSecond, lastSecond = -62_135_596_800, 253_370_764_800

// parseTime reads RFC 3339, and times as databases print them: with a blank, and without a zone or with its hours.
func parseTime(value string, zone *time.Location) (at time.Time, isTime bool) {
	layouts := []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07"}
	if len(value) == len(time.DateTime) { // it has no zone
		layouts = layouts[1:]
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, strings.Replace(value, " ", "T", 1), zone); err == nil {
			return at, true
		}
	}
	return at, false
}

// whole checks the rules of several fields.
func (r *reading) whole(record *moveinv1.Record) {
	if user := record.GetUser(); user.GetPasswordHash() != "" && user.GetEmail() == "" &&
		r.fault(Conflict, "password_hash", "password", "a user with a password needs an email address") {
		user.PasswordHash = ""
	}
	c := record.GetComment()
	if c == nil {
		return
	}
	switch hasGuest := c.GetAuthorName() != "" || c.GetAuthorIconUrl() != ""; {
	case c.GetAuthorId() != 0 && hasGuest:
		if r.fault(Conflict, "author_id", "author", "an author with an account has name and icon there; leave out author_name and author_icon_url") {
			c.AuthorName, c.AuthorIconUrl = "", ""
		}
	case c.GetAuthorId() == 0 && c.GetAuthorName() == "" && !r.hasFault("author_id", "author_name"):
		if r.fault(Missing, "author_id", "author", "author_id or author_name is required") {
			c.AuthorName = dash
		}
	}
	if c.GetReply() == "" && c.GetReplyTime() != nil && r.fault(Conflict, "reply_time", "reply-time", "there is no reply") {
		c.ReplyTime = nil
	}
}

// hasFault reports whether one of some fields has a fault that was not mended.
func (r *reading) hasFault(fields ...string) bool {
	return slices.ContainsFunc(r.faults, func(f Fault) bool { return f.Repair == "" && slices.Contains(fields, f.Field) })
}
