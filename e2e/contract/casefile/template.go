package casefile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Template is text with placeholders:
//
//	{CR} {LF} {TAB} {SP} {U+0007}   a character; {EMPTY} is none
//	{GIF}                           a picture of one white pixel
//	{字*200}                         a character that many times
//	{album}                         a variable: the digits of an id. Its first match in a
//	                                reply binds it, and later matches must be
//	                                equal. {token:hex} binds a session's secret,
//	                                {until:date} a date of a cookie, {next:token} a page token
//
// and, only in a reply, in the zone of the service:
//
//	{time}                          the time of this case as YYYY-MM-DD HH:MM:SS
//	{yyyy} {mm} {dd} {m} {d}        the date of this case; m and d without a zero
//
// Braces around anything else are ordinary characters.
type Template struct {
	Source string
	parts  []part
}

// part is literal text or a placeholder, depending on kind.
type part struct {
	kind kind
	text string // the literal text, or the name of the variable or pattern
}

type kind int

const (
	literal    kind = iota
	digits          // a variable of digits
	hexes           // a variable of 32 hexadecimal digits
	cookieDate      // a variable of the date of a cookie
	pageToken       // a variable of characters of a page token
	clock           // a pattern of the time or date
)

var (
	placeholder = regexp.MustCompile(`\{(U\+[0-9A-Fa-f]+|.\*[0-9]+|[A-Za-z][A-Za-z0-9.]*(?::[a-z]+)?)\}`)
	characters  = map[string]string{"CR": "\r", "LF": "\n", "TAB": "\t", "SP": " ", "EMPTY": "", "GIF": whitePixel}
	clocks      = map[string]string{"time": "2006-01-02 15:04:05", "yyyy": "2006", "mm": "01", "dd": "02", "m": "1", "d": "2"}
)

const whitePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// maxRepeat keeps a typing error from filling the memory.
const maxRepeat = 4 << 20

// ParseTemplate reads a template.
func ParseTemplate(source string) (Template, error) {
	t := Template{Source: source}
	rest := source
	for rest != "" {
		at := placeholder.FindStringSubmatchIndex(rest)
		if at == nil {
			t.add(part{literal, rest})
			break
		}
		t.add(part{literal, rest[:at[0]]})
		p, err := parsePlaceholder(rest[at[2]:at[3]])
		if err != nil {
			return Template{}, err
		}
		t.add(p)
		rest = rest[at[1]:]
	}
	return t, nil
}

func parsePlaceholder(name string) (part, error) {
	if character, ok := characters[name]; ok {
		return part{literal, character}, nil
	}
	if _, ok := clocks[name]; ok {
		return part{clock, name}, nil
	}
	if hex, ok := strings.CutPrefix(name, "U+"); ok {
		code, err := strconv.ParseInt(hex, 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return part{}, fmt.Errorf("{%s}: not a Unicode character", name)
		}
		return part{literal, string(rune(code))}, nil
	}
	if character, count, ok := strings.Cut(name, "*"); ok {
		n, err := strconv.Atoi(count)
		if err != nil || n*len(character) > maxRepeat {
			return part{}, fmt.Errorf("{%s}: too long", name)
		}
		return part{literal, strings.Repeat(character, n)}, nil
	}
	variable, class, hasClass := strings.Cut(name, ":")
	switch {
	case !hasClass:
		return part{digits, variable}, nil
	case class == "hex":
		return part{hexes, variable}, nil
	case class == "date":
		return part{cookieDate, variable}, nil
	case class == "token":
		return part{pageToken, variable}, nil
	}
	return part{}, fmt.Errorf("{%s}: the classes are hex, date and token", name)
}

func (t *Template) add(p part) {
	n := len(t.parts)
	switch {
	case p.kind == literal && p.text == "":
	case p.kind == literal && n > 0 && t.parts[n-1].kind == literal:
		t.parts[n-1].text += p.text
	default:
		t.parts = append(t.parts, p)
	}
}

// Variables are the values of a case's placeholders.
type Variables map[string]string

// Expand returns the text with all placeholders replaced.
func (t Template) Expand(variables Variables) (string, error) {
	var out strings.Builder
	for _, p := range t.parts {
		switch p.kind {
		case literal:
			out.WriteString(p.text)
		case clock:
			return "", fmt.Errorf("{%s} is allowed only in a reply", p.text)
		default:
			value, ok := variables[p.text]
			if !ok {
				return "", fmt.Errorf("{%s} has no value yet; a reply must bind it first", p.text)
			}
			out.WriteString(value)
		}
	}
	return out.String(), nil
}
