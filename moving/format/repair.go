package format

import (
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Repair is a rule by which a record is mended. docs/moving-in.md lists all.
type Repair string

// dash is the text in place of a required one.
const dash = "-"

// standards returns the rules for bad values, by the names of the fields.
func standards() map[string]Repair {
	return map[string]Repair{
		"email": "email", "vote": "vote", "password_hash": "password", "post_date": "post-date",
		"icon_url": "long-address", "author_icon_url": "long-address",
		"title": "empty-text", "name": "empty-text", "content": "empty-text", "text": "empty-text",
		"description": "empty-text",
		"category":    "category", "type": "type", "weather": "weather", "zoom_level": "map", "map_type": "map",
		"lat": "position", "lng": "position", "score": "amount", "reward": "amount", "amount": "amount",
		"votes":       "amount",
		"create_time": "time", "update_time": "time", "expire_time": "time", "reply_time": "time",
	}
}

// standard returns the value that the field's rule gives in place of a bad one, which is invalid
// for none.
func (f *field) standard() protoreflect.Value {
	switch f.repair {
	case "empty-text":
		return protoreflect.ValueOfString(dash)
	case "category":
		return f.numeric(map[float64]float64{16: 16, 5: 4}[f.max]) // of albums and of landmarks
	case "type":
		return protoreflect.ValueOfEnum(3)
	case "weather":
		return protoreflect.ValueOfEnum(1)
	case "position", "amount":
		return f.numeric(0)
	}
	return protoreflect.Value{}
}

// entity finds the entities that are replaced. Without a semicolon, an address such as ?a=1&copy=2
// would have one.
var entity = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});`)
})

// charset mends the charset of a text, and entities. Each text is looked at alone: old tables have
// several charsets.
func (r *reading) charset(value, path string) string {
	if !r.decoder.Repair {
		return value
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c >= utf8.RuneSelf }) {
		if mended, repair := mendCharset(r.raw, value); repair != "" {
			r.fault(Charset, path, repair, "the text is in another charset")
			value = mended
		}
	}
	if strings.Contains(value, "&") {
		if plain := entity().ReplaceAllStringFunc(value, html.UnescapeString); plain != value {
			r.fault(Charset, path, "entities", "the text has entities of HTML")
			value = plain
		}
	}
	return value
}

// mendCharset returns a text of a JSON string, raw, in the charset in which it was written. The
// repair is empty if that is UTF-8.
func mendCharset(raw []byte, value string) (string, Repair) {
	if !utf8.Valid(raw) {
		return fromBytes(raw)
	}
	stored, isLatin1 := toWindows1252(value)
	if !isLatin1 {
		return value, ""
	}
	if utf8.Valid(stored) {
		return string(stored), "utf8-as-latin1"
	}
	if text, isBig5 := fromBig5(stored, 1); isBig5 {
		return text, "big5"
	}
	return value, ""
}

// fromBytes returns the text of a JSON string that is not UTF-8.
func fromBytes(raw []byte) (string, Repair) {
	wide, _ := charmap.ISO8859_1.NewDecoder().Bytes(raw) // has a character for each byte
	text, _ := stringOf(wide)
	if narrow, err := charmap.ISO8859_1.NewEncoder().Bytes([]byte(text)); err == nil {
		if converted, isBig5 := fromBig5(narrow, 0); isBig5 {
			return converted, "big5"
		}
	}
	return strings.Map(func(c rune) rune {
		if known := charmap.Windows1252.DecodeByte(byte(c)); c <= 0xFF && known != utf8.RuneError {
			return known
		}
		return c
	}, text), "latin1"
}

// fromBig5 returns a text from Big5. It reports false unless all bytes but ASCII are pairs, more
// than least of them are ideographs, at least half of these frequent ones (the first level of
// Big5), and enough of these look like nothing in Latin-1: Québécois has pairs, too, but hardly
// two letters with accents side by side, or signs such as ¥ with a letter after each.
func fromBig5(raw []byte, least int) (string, bool) {
	var ideographs, frequent, sure int
	enough, signs := least, -1 // signs is where the pair before ended, if that begins with a sign
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case b < utf8.RuneSelf:
			if unicode.IsLetter(rune(b)) {
				enough = least + 1
			}
		case i+1 == len(raw):
			return "", false
		default:
			i++
			if b >= 0xA4 && b <= 0xC6 {
				frequent++
				if raw[i] >= 0xA1 || b < 0xC0 && signs == i-2 {
					sure++
				}
			}
			if b >= 0xA4 && b < 0xC0 {
				signs = i
			}
		}
	}
	text, err := traditionalchinese.Big5.NewDecoder().Bytes(raw)
	if err != nil {
		return "", false
	}
	for _, c := range string(text) {
		switch {
		case unicode.Is(unicode.Han, c):
			ideographs++
		case c >= utf8.RuneSelf && c < 0x2000, c == utf8.RuneError:
			return "", false
		}
	}
	return string(text), ideographs > least && 2*frequent >= ideographs && sure >= enough
}

// toWindows1252 returns the bytes that a text was before it was taken for Windows-1252, or for
// Latin-1. It reports false if it was not.
func toWindows1252(value string) (raw []byte, isIt bool) {
	for _, c := range value {
		b, isThere := charmap.Windows1252.EncodeRune(c)
		if c >= 0x80 && c < 0xA0 {
			b, isThere = byte(c), true
		}
		if !isThere {
			return nil, false
		}
		raw = append(raw, b)
	}
	return raw, true
}
