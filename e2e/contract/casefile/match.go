package casefile

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxID is the highest identifier, 2^53-1 (rule 2.6).
const maxID = 1<<53 - 1

// Span is the time from the start to the end of a case, in the zone of the service.
type Span struct{ From, To time.Time }

// Match returns an error that shows how text differs from the template, or nil. If text
// matches, Match binds the variables that are still unbound.
func (t Template) Match(text string, variables Variables, span Span) error {
	bound := maps.Clone(variables)
	if bound == nil {
		bound = Variables{}
	}
	rest := text
	for _, p := range t.parts {
		var taken int
		var err error
		switch value, known := bound[p.text]; {
		case p.kind == literal:
			taken, err = matchLiteral(rest, p.text)
		case p.kind == clock:
			taken, err = span.match(rest, p.text)
		case known:
			taken, err = matchLiteral(rest, value)
		default:
			taken, err = matchVariable(rest, p)
			bound[p.text] = rest[:taken]
		}
		if err != nil {
			return fmt.Errorf("at byte %d, after %q: %w", len(text)-len(rest)+taken, tail(text[:len(text)-len(rest)+taken]), err)
		}
		rest = rest[taken:]
	}
	if rest != "" {
		return fmt.Errorf("at byte %d, after %q: want the end, got %q", len(text)-len(rest), tail(text[:len(text)-len(rest)]), head(rest))
	}
	if variables != nil {
		maps.Copy(variables, bound)
	}
	return nil
}

// matchLiteral returns the length of the common prefix of text and want. err is nil if text
// begins with all of want.
func matchLiteral(text, want string) (int, error) {
	if strings.HasPrefix(text, want) {
		return len(want), nil
	}
	n := 0
	for n < len(text) && n < len(want) && text[n] == want[n] {
		n++
	}
	for n > 0 && n < len(want) && !utf8.RuneStart(want[n]) {
		n-- // show complete characters
	}
	return n, fmt.Errorf("want %q, got %q", head(want[n:]), head(text[n:]))
}

func matchVariable(text string, p part) (int, error) {
	if p.kind == cookieDate {
		return matchDate(text, p)
	}
	class, what := "0123456789", "an id"
	switch p.kind {
	case hexes:
		class, what = "0123456789abcdef", "32 lowercase hexadecimal digits"
	case pageToken:
		class, what = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.", "a page token"
	}
	n := len(text) - len(strings.TrimLeft(text, class))
	if n == 0 || p.kind == hexes && n != 32 || p.kind == digits && !isID(text[:n]) {
		return 0, fmt.Errorf("want %s for {%s}, got %q", what, p.text, head(text))
	}
	return n, nil
}

func matchDate(text string, p part) (int, error) {
	const layout = "Mon, 02-Jan-2006 15:04:05 GMT"
	n := len(layout)
	if len(text) >= n {
		if _, err := time.Parse(layout, text[:n]); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("want a date of a cookie for {%s}, got %q", p.text, head(text))
}

// isID reports whether s is a valid identifier: no leading zero, at most 2^53-1.
func isID(s string) bool {
	id, err := strconv.ParseInt(s, 10, 64)
	return err == nil && 1 <= id && id <= maxID && s[0] != '0'
}

// match reads a time or a part of a date within the span.
func (s Span) match(text, name string) (int, error) {
	layout := clocks[name]
	if name != "time" {
		// Try the longest text first, because {d} could be 1 or 12. No case takes a whole
		// day.
		from, to := s.From.Format(layout), s.To.Format(layout)
		if len(from) < len(to) {
			from, to = to, from
		}
		for _, want := range []string{from, to} {
			if strings.HasPrefix(text, want) {
				return len(want), nil
			}
		}
		return 0, fmt.Errorf("want {%s}, which is %s, got %q", name, to, head(text))
	}
	n := min(len(text), len(layout))
	got, err := time.ParseInLocation(layout, text[:n], s.From.Location())
	if err != nil || got.Before(s.From.Truncate(time.Second)) || got.After(s.To) {
		return 0, fmt.Errorf("want {time} from %s to %s, got %q", s.From.Format(layout), s.To.Format(layout), head(text))
	}
	return n, nil
}

const shown = 80

func head(s string) string {
	if runes := []rune(s); len(runes) > shown {
		return string(runes[:shown]) + "…"
	}
	return s
}

func tail(s string) string {
	if runes := []rune(s); len(runes) > shown {
		return "…" + string(runes[len(runes)-shown:])
	}
	return s
}

// apiPath is the path of all operations (rule 1.1).
const apiPath = "/API.php"

func (p *parser) beginRequest(b *block) error {
	request := &Request{line: line(b.number), Method: b.words[0]}
	path, words := apiPath, b.words[1:]
	request.IsRepeated = cutWord(&words, "eventually")
	request.IsHTTP10 = cutWord(&words, "HTTP/1.0")
	if len(words) > 0 && strings.HasPrefix(words[0], "/") {
		path, words = words[0], words[1:]
	}
	if len(words) == 2 && words[0] == "as" {
		request.As, words = words[1], nil
	}
	if len(words) > 0 {
		return p.errorf(b.number, "want METHOD [path] [as user] [HTTP/1.0] [eventually], got %q", strings.Join(b.words, " "))
	}
	var err error
	if request.Path, err = ParseTemplate(path); err != nil {
		return p.errorf(b.number, "%v", err)
	}
	fields, err := p.fields(b, "=")
	if err != nil {
		return err
	}
	if request.Method == http.MethodPost {
		request.Body = fields
	} else {
		request.Query = fields
	}
	*p.steps = append(*p.steps, request)
	p.request = request
	return nil
}

// requestBlock adds a block to the request above it.
func (p *parser) requestBlock(b *block) (err error) {
	if p.request == nil {
		return p.errorf(b.number, "%q belongs to a request", strings.Join(b.words, " "))
	}
	if b.is("reply", "headers") {
		if p.request.Reply == nil {
			return p.errorf(b.number, "the reply comes before its headers")
		}
		p.request.Reply.Headers, err = p.fields(b, ":")
		return err
	}
	if p.request.Reply != nil {
		return p.errorf(b.number, "the reply comes last")
	}
	switch {
	case b.is("query"):
		p.request.Query, err = p.fields(b, "=")
	case b.is("body"):
		p.request.Body, err = p.fields(b, "=")
	case b.is("headers"):
		p.request.Headers, err = p.fields(b, ":")
	case b.is("raw", "query"):
		p.request.RawQuery, err = p.raw(b)
	case b.is("raw", "body"):
		p.request.RawBody, err = p.raw(b)
	case b.is("reply"):
		p.request.Reply, err = p.reply(b)
	default:
		err = p.errorf(b.number, "want `raw query` or `raw body`")
	}
	return err
}

func (p *parser) raw(b *block) (*Template, error) {
	t, err := p.template(b.number, b.joined(""))
	return &t, err
}

func (p *parser) reply(b *block) (*Reply, error) {
	reply := &Reply{line: line(b.number), Status: http.StatusOK, BodyLines: len(b.lines)}
	words := b.words[1:]
	if len(words) > 0 {
		if status, err := strconv.Atoi(words[0]); err == nil {
			reply.Status, words = status, words[1:]
		}
	}
	if len(words) > 1 {
		return nil, p.errorf(b.number, "want reply [status] [reason], got %q", strings.Join(b.words, " "))
	}
	text := b.joined("")
	if strings.HasPrefix(text, "<response>") {
		text = Declaration + text
	}
	var err error
	if reply.Reason, err = p.template(b.number, strings.Join(words, "")); err != nil {
		return nil, err
	}
	reply.Body, err = p.template(b.number, text)
	return reply, err
}

func (p *parser) beginCall(b *block) (err error) {
	if len(b.words) != 2 || strings.Count(b.words[1], "/") != 1 {
		return p.errorf(b.number, "want `call` and package.Service/Method")
	}
	call := &Call{line: line(b.number), Answer: &Answer{line: line(b.number), Code: "OK"}}
	call.Service, call.Method, _ = strings.Cut(b.words[1], "/")
	call.Request, err = p.template(b.number, b.joined("\n"))
	*p.steps = append(*p.steps, call)
	p.call = call
	return err
}

func (p *parser) answer(b *block) error {
	if p.call == nil {
		return p.errorf(b.number, "`answer` belongs to a call")
	}
	words := b.words[1:]
	answer := &Answer{line: line(b.number), Code: "OK", Reply: b.joined("\n")}
	if len(words) > 0 {
		answer.Code, words = words[0], words[1:]
	}
	if len(words) > 0 {
		answer.Reason, words = words[0], words[1:]
	}
	if len(words) > 0 {
		return p.errorf(b.number, "want answer [code] [reason], got %q", strings.Join(b.words, " "))
	}
	p.call.Answer, p.call = answer, nil
	return nil
}
