package output

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A template is text with expressions in braces, as kubectl's: {.owner.name}, {.photos[0].url}, {.photos[*].url},
// {['a.b']}, and strings such as {"\n"}. Filters, ranges, slices and recursion are not supported: jq has them.

// part is a piece of a template: a text, or the steps of a path.
type part struct {
	text  string
	steps []step
}

// step goes from a value to a field of it, to an item, or to all items.
type step struct {
	field string
	// index is a position, from the end if it is negative.
	index int
	kind  stepKind
}

type stepKind int

const (
	toField stepKind = iota
	toItem
	toAll
)

// parseTemplate parses a template.
func parseTemplate(template string) (parts []part, err error) {
	for template != "" {
		text, rest, isExpression := strings.Cut(template, "{")
		if text != "" {
			parts = append(parts, part{text: text})
		}
		if !isExpression {
			break
		}
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, noString(rest)
			}
			if text, err = strconv.Unquote(quoted); err != nil {
				return nil, noString(rest)
			}
			if !strings.HasPrefix(rest[len(quoted):], "}") {
				return nil, fmt.Errorf("%s has no }", rest)
			}
			parts, template = append(parts, part{text: text}), rest[len(quoted)+1:]
			continue
		}
		expression, after, isClosed := strings.Cut(rest, "}")
		if !isClosed {
			return nil, fmt.Errorf("{%s has no }", rest)
		}
		steps, err := parseSteps(strings.TrimSpace(expression))
		if err != nil {
			return nil, fmt.Errorf("{%s} is not supported; want fields and positions such as {.photos[0].url}, or use -o json with jq", expression)
		}
		parts, template = append(parts, part{steps: steps}), after
	}
	return parts, nil
}

func noString(text string) error {
	if !strings.Contains(text, `"}`) {
		return fmt.Errorf("{%s has no }", text)
	}
	return fmt.Errorf("{%s: not a string", text)
}

var errUnsupported = errors.New("not supported")

// parseSteps parses a path such as .photos[0].url. It needs a step.
func parseSteps(path string) (steps []step, err error) {
	path = strings.TrimLeft(path, "$@")
	for path != "" || steps == nil {
		var next step
		switch {
		case strings.HasPrefix(path, "."):
			end := strings.IndexAny(path[1:], ".[") + 1
			if end == 0 {
				end = len(path)
			}
			next.field, path = path[1:end], path[end:]
			if next.field == "" || strings.Trim(next.field, letters) != "" {
				return nil, errUnsupported
			}
		case strings.HasPrefix(path, "["):
			inner, rest, isClosed := strings.Cut(path[1:], "]")
			name, isQuoted := strings.CutPrefix(inner, "'")
			switch index, err := strconv.Atoi(inner); {
			case !isClosed:
				return nil, errUnsupported
			case inner == "*":
				next.kind = toAll
			case isQuoted && strings.HasSuffix(name, "'"):
				next.field = strings.TrimSuffix(name, "'")
			case err == nil:
				next.kind, next.index = toItem, index
			default:
				return nil, errUnsupported
			}
			path = rest
		default:
			return nil, errUnsupported
		}
		steps = append(steps, next)
	}
	return steps, nil
}

// letters are the characters of a field's name.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// fillTemplate returns the text of a template for a value. A field that is not there has no text; several values
// have a space between them.
func fillTemplate(parts []part, value any) string {
	var out strings.Builder
	for _, each := range parts {
		if each.steps == nil {
			out.WriteString(each.text)
			continue
		}
		for i, found := range follow([]any{value}, each.steps) {
			if i > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(textOf(found))
		}
	}
	return out.String()
}

// follow returns the values at the end of a path.
func follow(values []any, steps []step) []any {
	for _, each := range steps {
		var next []any
		for _, value := range values {
			switch value := value.(type) {
			case Object:
				for _, field := range value {
					if each.kind == toAll || each.kind == toField && field.Name == each.field {
						next = append(next, field.Value)
					}
				}
			case List:
				index := each.index
				if index < 0 {
					index += len(value)
				}
				switch {
				case each.kind == toAll:
					next = append(next, value...)
				case each.kind == toItem && index >= 0 && index < len(value):
					next = append(next, value[index])
				}
			}
		}
		values = next
	}
	return values
}

// textOf returns the text of a value: JSON, but without quotes around a string.
func textOf(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case Object, List:
		encoded, err := marshalJSON(value, "", "")
		if err != nil {
			return ""
		}
		return string(encoded)
	}
	return fmt.Sprint(value)
}
