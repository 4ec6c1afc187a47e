package edge

import (
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// xmlReply writes the legacy XML. An empty value is an element with no content,
// <info></info>, never <info/>, which some old parsers read differently.
type xmlReply struct{ *document }

func (x xmlReply) contentType() string { return "text/xml; charset=utf-8" }

func (x xmlReply) start() {
	x.bytes = append(x.bytes, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<response>"...)
}

func (x xmlReply) finish() { x.bytes = append(x.bytes, "</response>"...) }

func (x xmlReply) begin(name string) {
	x.bytes = append(x.bytes, '<')
	x.bytes = append(x.bytes, name...)
	x.bytes = append(x.bytes, '>')
}

func (x xmlReply) end(name string) {
	x.bytes = append(x.bytes, '<', '/')
	x.bytes = append(x.bytes, name...)
	x.bytes = append(x.bytes, '>')
}

func (x xmlReply) beginList(name string) { x.begin(name) }

func (x xmlReply) beginItem(name string, position int) {
	x.bytes = append(x.bytes, '<')
	x.bytes = append(x.bytes, name...)
	x.bytes = strconv.AppendInt(x.bytes, int64(position), 10)
	x.bytes = append(x.bytes, '>')
}

func (x xmlReply) endItem(name string, position int) {
	x.bytes = append(x.bytes, '<', '/')
	x.bytes = append(x.bytes, name...)
	x.bytes = strconv.AppendInt(x.bytes, int64(position), 10)
	x.bytes = append(x.bytes, '>')
}

func (x xmlReply) endList(name string) { x.end(name) }

func (x xmlReply) text(name, value string) {
	x.begin(name)
	x.bytes = appendXML(x.bytes, value)
	x.end(name)
}

func (x xmlReply) integer(name string, value int64) {
	x.begin(name)
	x.bytes = strconv.AppendInt(x.bytes, value, 10)
	x.end(name)
}

func (x xmlReply) decimal(name string, value float64) {
	x.begin(name)
	x.bytes = appendDecimal(x.bytes, value)
	x.end(name)
}

func (x xmlReply) twoDigits(name string, value int) {
	x.begin(name)
	if 0 <= value && value <= 9 {
		x.bytes = append(x.bytes, '0')
	}
	x.bytes = strconv.AppendInt(x.bytes, int64(value), 10)
	x.end(name)
}

func (x xmlReply) moment(name string, at *timestamppb.Timestamp) {
	x.begin(name)
	x.appendMoment(at)
	x.end(name)
}

func (x xmlReply) day(name string, at *timestamppb.Timestamp) {
	year, month, day := at.AsTime().In(x.zone).Date()
	writeDate(x, name, year, int(month), day)
}

// plainInXML are the characters of ASCII that are written as they are.
var plainInXML = func() (plain [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		plain[c] = true
	}
	plain['\t'], plain['\n'], plain[0x7F] = true, true, true
	plain['&'], plain['<'], plain['>'] = false, false, false
	return plain
}()

// firstLead and lastLead begin the characters from U+1000 to U+CFFF in UTF-8, with two
// continuations each. All of them are plain, and they are most of what Chinese is made of.
const firstLead, lastLead = 0xE1, 0xEC

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }

// appendXML appends text that any parser gives back byte for byte. A carriage
// return is written as a reference, because a parser turns a bare one into a
// line feed (XML 1.0, 2.11); `>` is escaped so that "]]>" cannot appear. What
// XML cannot carry at all becomes U+FFFD.
func appendXML(b []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case plainInXML[c]:
			i++
			continue
		case firstLead <= c && c <= lastLead && i+2 < len(s) && isContinuation(s[i+1]) && isContinuation(s[i+2]):
			i += 3
			continue
		}
		size := 1
		var escaped string
		switch c {
		case '&':
			escaped = "&amp;"
		case '<':
			escaped = "&lt;"
		case '>':
			escaped = "&gt;"
		case '\r':
			escaped = "&#13;"
		default:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); !inXML(r, size) {
				escaped = "\uFFFD"
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
