package reply

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// XML writes the legacy XML. It writes an empty value as <info></info>, never as <info/>, which
// some old parsers read differently.
type XML struct{ *Document }

func (x XML) ContentType() string { return "text/xml; charset=utf-8" }

func (x XML) Start() {
	x.Bytes = append(x.Bytes, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<response>"...)
}

func (x XML) Finish() { x.Bytes = append(x.Bytes, "</response>"...) }

func (x XML) Begin(name string) {
	x.Bytes = append(x.Bytes, '<')
	x.Bytes = append(x.Bytes, name...)
	x.Bytes = append(x.Bytes, '>')
}

func (x XML) End(name string) {
	x.Bytes = append(x.Bytes, '<', '/')
	x.Bytes = append(x.Bytes, name...)
	x.Bytes = append(x.Bytes, '>')
}

func (x XML) BeginList(name string) { x.Begin(name) }

func (x XML) BeginItem(name string, position int) {
	x.Bytes = append(x.Bytes, '<')
	x.Bytes = append(x.Bytes, name...)
	x.Bytes = strconv.AppendInt(x.Bytes, int64(position), 10)
	x.Bytes = append(x.Bytes, '>')
}

func (x XML) EndItem(name string, position int) {
	x.Bytes = append(x.Bytes, '<', '/')
	x.Bytes = append(x.Bytes, name...)
	x.Bytes = strconv.AppendInt(x.Bytes, int64(position), 10)
	x.Bytes = append(x.Bytes, '>')
}

func (x XML) EndList(name string) { x.End(name) }

func (x XML) Text(name, value string) {
	x.Begin(name)
	x.Bytes = appendXML(x.Bytes, value)
	x.End(name)
}

func (x XML) Integer(name string, value int64) {
	x.Begin(name)
	x.Bytes = strconv.AppendInt(x.Bytes, value, 10)
	x.End(name)
}

// ID implements Writer.
func (x XML) ID(name string, value int64, oldID string) { x.writeID(x, name, value, oldID) }

func (x XML) Decimal(name string, value float64) {
	x.Begin(name)
	x.Bytes = appendDecimal(x.Bytes, value)
	x.End(name)
}

func (x XML) TwoDigits(name string, value int) {
	x.Begin(name)
	if 0 <= value && value <= 9 {
		x.Bytes = append(x.Bytes, '0')
	}
	x.Bytes = strconv.AppendInt(x.Bytes, int64(value), 10)
	x.End(name)
}

func (x XML) Moment(name string, at time.Time) {
	x.Begin(name)
	x.appendMoment(at)
	x.End(name)
}

func (x XML) Day(name string, at time.Time) {
	year, month, day := at.In(x.Zone).Date()
	Date(x, name, year, int(month), day)
}

// plainInXML marks the ASCII characters that need no escaping.
var plainInXML = func() (plain [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		plain[c] = true
	}
	plain['\t'], plain['\n'], plain[0x7F] = true, true, true
	plain['&'], plain['<'], plain['>'] = false, false, false
	return plain
}()

// firstLead and lastLead are the first bytes of the characters from U+1000 to U+CFFF in UTF-8.
// Two continuation bytes follow each. All these characters need no escaping, and they make up
// most Chinese text.
const firstLead, lastLead = 0xE1, 0xEC

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }

// appendXML appends text that every parser reads back byte for byte. It escapes a carriage
// return, because a parser turns a bare one into a line feed (XML 1.0, 2.11). It escapes `>` so
// that "]]>" cannot occur. It writes U+FFFD for characters that XML cannot carry.
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
			if r, size = utf8.DecodeRuneInString(s[i:]); !text.IsChar(r, size) {
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
