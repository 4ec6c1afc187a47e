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

func (r *reading) text(f *field, into protoreflect.Message, path string) {
	value, isText := stringOf(r.raw)
	if !isText {
		r.fault(WrongType, path, "", "this is no string; want one in quotes")
		return
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
		characters := []rune(value)
		if len(characters) > f.maxLen &&
			r.fault(TooLong, path, "long-text", "%d characters; at most %d", len(characters), f.maxLen) {
			value = string(characters[:f.maxLen])
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

// bare returns a value that is no text for people: a string without quotes and blanks around it,
// or other JSON.
func (r *reading) bare(path string) (value string, isText bool) {
	value, isText = stringOf(r.raw)
	if !isText {
		return string(r.raw), false
	}
	trimmed := strings.TrimSpace(value)
	if trimmed != value {
		r.fault(WrongType, path, "blanks", "there are blanks around %s", shown(r.raw))
	}
	return trimmed, true
}

// id reads an identifier. Zero is no user.
func (r *reading) id(f *field, into protoreflect.Message, path string) {
	value, isText := r.bare(path)
	isDigits := onlyHas(value, digits)
	isNumber := isDigits && value[0] != '0'
	switch number, err := strconv.ParseInt(value, 10, 64); {
	case f.form == formID && (isNumber || isText && !isDigits) && len(value) <= f.maxBytes &&
		!text.IsBlank(value) && text.IsValid(value) && !text.IsHalved(r.raw, value):
		into.Set(f.FieldDescriptor, protoreflect.ValueOfString(value))
	case f.form == formID:
		r.fault(WrongType, path, "",
			"%s is no identifier; want a positive number, or a text of at most %d bytes; null for none", shown(r.raw),
			f.maxBytes)
	case isNumber && err == nil && number <= int64(f.max):
		into.Set(f.FieldDescriptor, protoreflect.ValueOfInt64(number))
	case value != "0" || f.required:
		r.fault(WrongType, path, "", "%s is no user; want a number from 1 to %d", shown(r.raw), int64(f.max))
	}
}

const digits = "0123456789"

// onlyHas reports whether a text has nothing but some characters.
func onlyHas(value, characters string) bool {
	return value != "" && strings.Trim(value, characters) == ""
}

// number reads an integer or a decimal. All bounds are below 2^53, so a float64 is exact.
func (r *reading) number(f *field, into protoreflect.Message, path string) {
	written, isText := r.bare(path)
	value, err := strconv.ParseFloat(written, 64)
	isPlain := !isText && (f.form == formDecimal || onlyHas(written, "-"+digits))
	switch {
	case err != nil || !onlyHas(written, "-+.eE"+digits) || f.form == formInteger && value != math.Trunc(value):
		r.bad(f, into, WrongType, path, "%s is not %s", shown(r.raw), f.wanted)
	case !isPlain && !r.fault(WrongType, path, "number",
		"%s is not %s; want it without quotes and decimals, as with: %s + 0", shown(r.raw), f.wanted, f.name):
	case value < f.min || value > f.max:
		isMended := r.bad(f, into, OutOfRange, path, "%s is not from %v to %v", shown(r.raw), f.min, f.max)
		if isMended && value > f.max && f.repair == "amount" {
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

func (r *reading) word(f *field, into protoreflect.Message, path string) {
	value, _ := r.bare(path)
	number := slices.Index(f.words, r.charset(value, path))
	if number <= 0 {
		r.bad(f, into, WrongType, path, "%s is not one of %v", shown(r.raw), f.words[1:])
		return
	}
	into.Set(f.FieldDescriptor, protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))) // #nosec G115 -- few
}

func (r *reading) day(f *field, into protoreflect.Message, path string) {
	value, _ := r.bare(path)
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1 {
		r.bad(f, into, WrongType, path, "%s is no day of the calendar; want YYYY-MM-DD", shown(r.raw))
		return
	}
	into.Set(f.FieldDescriptor, protoreflect.ValueOfMessage(dateOf(day).ProtoReflect()))
}

func dateOf(at time.Time) *typev1.Date {
	year, month, day := at.Date()
	return &typev1.Date{Year: int32(year), Month: int32(month), Day: int32(day)} // #nosec G115 -- a calendar's
}

// time reads a time, with milliseconds, as stores have.
func (r *reading) time(f *field, into protoreflect.Message, path string) {
	value, isText := r.bare(path)
	seconds, err := strconv.ParseInt(value, 10, 64)
	at := time.Unix(seconds, 0)
	switch {
	case err != nil:
		at = parseTime(value, r.decoder.Zone)
	case isText && !r.fault(WrongType, path, "number", "the seconds since 1970 are a string"):
		return
	}
	if seconds := at.Unix(); seconds <= firstSecond || seconds >= lastSecond {
		r.bad(f, into, WrongType, path,
			"%s is no time; want 2008-03-05T09:07:31Z, 2008-03-05 09:07:31 or seconds since 1970", shown(r.raw))
		return
	}
	into.Set(f.FieldDescriptor, protoreflect.ValueOfMessage(timestamppb.New(at.Truncate(time.Millisecond)).ProtoReflect()))
}

// The years 1 and 9999 begin at these seconds since 1970.
const firstSecond, lastSecond = -62_135_596_800, 253_370_764_800

// parseTime reads RFC 3339, and times as databases print them: with a blank, and without a zone or
// with its hours. It returns the zero time for others.
func parseTime(value string, zone *time.Location) time.Time {
	layouts := []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07"}
	if len(value) == len(time.DateTime) { // it has no zone
		layouts = layouts[1:]
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, strings.Replace(value, " ", "T", 1), zone); err == nil {
			return at
		}
	}
	return time.Time{}
}

// whole checks the rules of several fields of a record that has no faults but mended ones.
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
		const text = "an author with an account has name and icon there; leave out author_name and author_icon_url"
		if r.fault(Conflict, "author_id", "author", text) {
			c.AuthorName, c.AuthorIconUrl = "", ""
		}
	case c.GetAuthorId() == 0 && c.GetAuthorName() == "":
		if r.fault(Missing, "author_id", "author", "author_id or author_name is required") {
			c.AuthorName = dash
		}
	}
	if c.GetReply() == "" && c.GetReplyTime() != nil &&
		r.fault(Conflict, "reply_time", "reply-time", "there is no reply") {
		c.ReplyTime = nil
	}
}
