package reply

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// JSON writes the same elements as members of one object. A list is an array of objects, so that
// clients need not parse names like album1. Identifiers fit the 53 bits that every JSON reader can
// hold.
type JSON struct{ *Document }

func (j JSON) ContentType() string { return "application/json; charset=utf-8" }

func (j JSON) Start() { j.Bytes = append(j.Bytes, '{') }

func (j JSON) Finish() { j.Bytes = append(j.Bytes, '}') }

func (j JSON) Begin(name string) {
	j.key(name)
	j.Bytes = append(j.Bytes, '{')
}

func (j JSON) End(string) { j.Bytes = append(j.Bytes, '}') }

func (j JSON) BeginList(name string) {
	j.key(name)
	j.Bytes = append(j.Bytes, '[')
}

func (j JSON) BeginItem(_ string, position int) {
	if position > 1 {
		j.Bytes = append(j.Bytes, ',')
	}
	j.Bytes = append(j.Bytes, '{')
}

func (j JSON) EndItem(string, int) { j.Bytes = append(j.Bytes, '}') }

func (j JSON) EndList(string) { j.Bytes = append(j.Bytes, ']') }

func (j JSON) Text(name, value string) {
	j.key(name)
	j.Bytes = append(j.Bytes, '"')
	j.Bytes = appendJSON(j.Bytes, value)
	j.Bytes = append(j.Bytes, '"')
}

func (j JSON) Integer(name string, value int64) {
	j.key(name)
	j.Bytes = strconv.AppendInt(j.Bytes, value, 10)
}

// ID implements Writer.
func (j JSON) ID(name string, value int64, oldID string) { j.writeID(j, name, value, oldID) }

func (j JSON) Decimal(name string, value float64) {
	j.key(name)
	j.Bytes = appendDecimal(j.Bytes, value)
}

func (j JSON) TwoDigits(name string, value int) { j.Integer(name, int64(value)) }

func (j JSON) Moment(name string, at time.Time) {
	j.key(name)
	j.Bytes = append(j.Bytes, '"')
	j.appendMoment(at)
	j.Bytes = append(j.Bytes, '"')
}

func (j JSON) Day(name string, at time.Time) {
	year, month, day := at.In(j.Zone).Date()
	Date(j, name, year, int(month), day)
}

// key writes the name of the next member. A member needs no comma only after an opening brace,
// and no string ends in a bare one. An empty buffer means that the earlier members were sent, so
// the comma is needed.
func (j JSON) key(name string) {
	if n := len(j.Bytes); n == 0 || j.Bytes[n-1] != '{' {
		j.Bytes = append(j.Bytes, ',')
	}
	j.Bytes = append(j.Bytes, '"')
	j.Bytes = append(j.Bytes, name...)
	j.Bytes = append(j.Bytes, '"', ':')
}

// appendJSON appends the inside of a JSON string. It writes U+FFFD for characters that XML
// cannot carry, so that both formats have the same text.
func appendJSON(b []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); {
		size := 1
		var escaped string
		switch c := s[i]; {
		case c == '"':
			escaped = `\"`
		case c == '\\':
			escaped = `\\`
		case c == '\n':
			escaped = `\n`
		case c == '\r':
			escaped = `\r`
		case c == '\t':
			escaped = `\t`
		case ' ' <= c && c < utf8.RuneSelf:
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			switch {
			case !text.IsChar(r, size):
				escaped = "\uFFFD"
			case r == '\u2028': // a line terminator in older JavaScript
				escaped = `\u2028`
			case r == '\u2029':
				escaped = `\u2029`
			}
		}
		if escaped != "" {
			b = append(b, s[done:i]...)
			b = append(b, escaped...)
			done = i + size
		}
		i += size
	}
	return append(b, s[done:]...)
}
