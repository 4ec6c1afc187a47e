package edge

import (
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// jsonReply writes the same elements as members of one object. A list is an
// array of objects, so that nobody has to parse album1, album2. Identifiers fit
// the 53 bits that every JSON reader can hold.
type jsonReply struct{ *document }

func (j jsonReply) contentType() string { return "application/json; charset=utf-8" }

func (j jsonReply) start() { j.bytes = append(j.bytes, '{') }

func (j jsonReply) finish() { j.bytes = append(j.bytes, '}') }

func (j jsonReply) begin(name string) {
	j.key(name)
	j.bytes = append(j.bytes, '{')
}

func (j jsonReply) end(string) { j.bytes = append(j.bytes, '}') }

func (j jsonReply) beginList(name string) {
	j.key(name)
	j.bytes = append(j.bytes, '[')
}

func (j jsonReply) beginItem(_ string, position int) {
	if position > 1 {
		j.bytes = append(j.bytes, ',')
	}
	j.bytes = append(j.bytes, '{')
}

func (j jsonReply) endItem(string, int) { j.bytes = append(j.bytes, '}') }

func (j jsonReply) endList(string) { j.bytes = append(j.bytes, ']') }

func (j jsonReply) text(name, value string) {
	j.key(name)
	j.bytes = append(j.bytes, '"')
	j.bytes = appendJSON(j.bytes, value)
	j.bytes = append(j.bytes, '"')
}

func (j jsonReply) integer(name string, value int64) {
	j.key(name)
	j.bytes = strconv.AppendInt(j.bytes, value, 10)
}

func (j jsonReply) decimal(name string, value float64) {
	j.key(name)
	j.bytes = appendDecimal(j.bytes, value)
}

func (j jsonReply) twoDigits(name string, value int) { j.integer(name, int64(value)) }

func (j jsonReply) moment(name string, at *timestamppb.Timestamp) {
	j.key(name)
	j.bytes = append(j.bytes, '"')
	j.appendMoment(at)
	j.bytes = append(j.bytes, '"')
}

func (j jsonReply) day(name string, at *timestamppb.Timestamp) {
	year, month, day := at.AsTime().In(j.zone).Date()
	writeDate(j, name, year, int(month), day)
}

// key writes the name of the next member. Only the first one follows an opening
// brace, as a string never ends in a bare one; nothing before it means that what
// was before has been sent, which happens only between members and items.
func (j jsonReply) key(name string) {
	if n := len(j.bytes); n == 0 || j.bytes[n-1] != '{' {
		j.bytes = append(j.bytes, ',')
	}
	j.bytes = append(j.bytes, '"')
	j.bytes = append(j.bytes, name...)
	j.bytes = append(j.bytes, '"', ':')
}

// appendJSON appends the inside of a JSON string. What XML could not carry
// becomes U+FFFD here too, so that both formats say the same.
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
			case !inXML(r, size):
				escaped = "\uFFFD"
			case r == '\u2028': // ends a line in older JavaScript
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
