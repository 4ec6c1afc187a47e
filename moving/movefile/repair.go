package movefile

import (
	"html"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Repair names what a RowWriter repairs.
type Repair string

// The repairs.
const (
	// Doubled: UTF-8 in a column of Latin-1, which the database has converted to UTF-8 once more.
	Doubled Repair = "UTF-8 stored as Latin-1"
	// Big5: bytes in Big5, beside UTF-8.
	Big5 Repair = "Big5"
	// Latin1: bytes in Windows-1252, which contains Latin-1.
	Latin1 Repair = "Latin-1"
	// Entities: entities of HTML.
	Entities Repair = "entities"
	// Blanks: blanks around a number, a time or an identifier.
	Blanks Repair = "blanks"
	// ZeroTimes: 0000-00-00, which becomes no time.
	ZeroTimes Repair = "0000-00-00"
)

// Repairs returns all repairs.
func Repairs() []Repair { return []Repair{Doubled, Big5, Latin1, Entities, Blanks, ZeroTimes} }

// text repairs the charset of a text, and entities. Each text is looked at alone: old tables have several charsets.
func (w *RowWriter) text(value []byte) string {
	repaired := w.charset(value)
	if w.options.HasEntities {
		if plain := html.UnescapeString(repaired); plain != repaired {
			w.Repairs[Entities]++
			repaired = plain
		}
	}
	return repaired
}

func (w *RowWriter) charset(value []byte) string {
	if !utf8.Valid(value) {
		if text, isBig5 := fromBig5(value); isBig5 {
			w.Repairs[Big5]++
			return text
		}
		w.Repairs[Latin1]++
		return fromLatin1(value)
	}
	text := string(value)
	raw, isLatin1 := toLatin1(text)
	switch {
	case !isLatin1:
	case utf8.Valid(raw):
		w.Repairs[Doubled]++
		return string(raw)
	case w.options.HasBig5:
		if fixed, isBig5 := fromBig5(raw); isBig5 {
			w.Repairs[Big5]++
			return fixed
		}
	}
	return text
}

// fromBig5 returns a text from Big5, and whether all of it is.
func fromBig5(raw []byte) (string, bool) {
	text, err := traditionalchinese.Big5.NewDecoder().Bytes(raw)
	return string(text), err == nil && !strings.ContainsRune(string(text), utf8.RuneError)
}

// fromLatin1 returns a text from Windows-1252. Bytes that it does not have are control characters, as in Latin-1 and in
// MySQL.
func fromLatin1(raw []byte) string {
	var text strings.Builder
	for _, b := range raw {
		r := charmap.Windows1252.DecodeByte(b)
		if r == utf8.RuneError {
			r = rune(b)
		}
		text.WriteRune(r)
	}
	return text.String()
}

// toLatin1 returns the bytes that a text was before it was taken for Windows-1252, or for Latin-1. It reports false if
// it was not, or if all are ASCII.
func toLatin1(text string) (raw []byte, ok bool) {
	isASCII := true
	for _, r := range text {
		b, isThere := charmap.Windows1252.EncodeRune(r)
		switch {
		case isThere:
		case r >= 0x80 && r < 0xA0:
			b = byte(r)
		default:
			return nil, false
		}
		isASCII = isASCII && b < utf8.RuneSelf
		raw = append(raw, b)
	}
	return raw, !isASCII
}
