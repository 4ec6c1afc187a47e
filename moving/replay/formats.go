package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
)

// parseAccess reads a line of the common or the combined format. The log has no bodies and no
// cookies.
func parseAccess(line string) ([]entry, error) {
	_, quoted, found := strings.Cut(line, `"`)
	if !found {
		return nil, errors.New(`no request in quotes, such as "GET /API.php?func=getAlbum&albumID=1 HTTP/1.1"`)
	}
	request, err := unquote(quoted)
	if err != nil {
		return nil, err
	}
	return requestLine(request)
}

// requestLine reads the first line of a request.
func requestLine(line string) ([]entry, error) {
	words := strings.Split(line, " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") {
		return nil, fmt.Errorf("%.80q is not the first line of a request", line)
	}
	return []entry{{method: words[0], target: words[1]}}, nil
}

// unquote returns the text before the next quote that is not escaped. Apache and nginx write \", \\
// and \x22.
func unquote(quoted string) (string, error) {
	var text strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch c := quoted[i]; {
		case c == '"':
			return text.String(), nil
		case c != '\\' || i+1 == len(quoted):
			text.WriteByte(c)
		case quoted[i+1] == 'x' && i+3 < len(quoted):
			value, err := strconv.ParseUint(quoted[i+2:i+4], 16, 8)
			if err != nil {
				return "", fmt.Errorf("the escape %q is invalid", quoted[i:i+4])
			}
			text.WriteByte(byte(value))
			i += 3
		default:
			i++
			text.WriteByte(quoted[i])
		}
	}
	return "", errors.New("a quote is not closed")
}

// parseObject reads an object with method, url, body, content_type and cookie, or with request, the
// first line of a request.
func parseObject(line string) ([]entry, error) {
	var object struct {
		Method      string `json:"method"`
		URL         string `json:"url"`
		Request     string `json:"request"`
		Body        string `json:"body"`
		ContentType string `json:"content_type"`
		Cookie      string `json:"cookie"`
	}
	if err := json.Unmarshal([]byte(line), &object); err != nil {
		return nil, fmt.Errorf("not a JSON object of a request: %w", err)
	}
	read := entry{method: object.Method, target: object.URL}
	switch {
	case object.URL == "" && object.Request == "":
		return nil, errors.New("the object has neither url nor request")
	case object.URL == "":
		parsed, err := requestLine(object.Request)
		if err != nil {
			return nil, err
		}
		read = parsed[0]
	case read.method == "":
		read.method = "GET"
	}
	read.body, read.contentType, read.cookie = object.Body, object.ContentType, object.Cookie
	return []entry{read}, nil
}

// parserOfIDs returns a function that reads a line with a parameter and its value, such as "albumID
// 12" or "albumID=12", or with a value of the given parameter alone. The requests are the reads of the
// legacy contract that need this parameter only.
func parserOfIDs(parameter string) (func(string) ([]entry, error), error) {
	functions := map[string][]string{}
	for _, each := range edge.Operations() {
		var required []string
		for _, p := range each.Parameters {
			if p.IsRequired {
				required = append(required, p.Name)
			}
		}
		if each.Effect == operation.Reads && !each.IsAddition && len(required) == 1 {
			functions[required[0]] = append(functions[required[0]], each.Func)
		}
	}
	names := slices.Sorted(maps.Keys(functions))
	unknown := func(name string) error {
		return fmt.Errorf("%q is not one of %s", name, strings.Join(names, ", "))
	}
	if parameter != "" && functions[parameter] == nil {
		return nil, unknown(parameter)
	}
	return func(line string) ([]entry, error) {
		words := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '=' })
		if len(words) == 1 && parameter != "" {
			words = []string{parameter, words[0]}
		}
		if len(words) != 2 {
			return nil, errors.New("want a parameter and its value, such as albumID 12")
		}
		if functions[words[0]] == nil {
			return nil, unknown(words[0])
		}
		var entries []entry
		for _, function := range functions[words[0]] {
			query := url.Values{"func": {function}, words[0]: {words[1]}}.Encode()
			entries = append(entries, entry{method: "GET", target: edge.Path + "?" + query})
		}
		return entries, nil
	}, nil
}
