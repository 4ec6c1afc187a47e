package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// maxArchived bounds the bytes of one entry of an archive, its reply included.
const maxArchived = 64 << 20

// archive reads an HTTP archive, entry by entry.
type archive struct {
	decoder *json.Decoder
	bounded *boundedReader
	number  int
	isOpen  bool
}

// newArchive returns an archive of which an entry has at most limit bytes.
func newArchive(source io.Reader, limit int) *archive {
	bounded := &boundedReader{source, limit, limit}
	return &archive{decoder: json.NewDecoder(bounded), bounded: bounded}
}

// boundedReader fails when more than left bytes are read, of limit for an entry.
type boundedReader struct {
	io.Reader
	limit, left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an entry of the archive has more than %d bytes", b.limit)
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// next returns the next request.
func (a *archive) next() ([]entry, error) {
	if !a.isOpen {
		if err := a.open(); err != nil {
			return nil, err
		}
		a.isOpen = true
	}
	a.bounded.left = a.bounded.limit
	if !a.decoder.More() {
		return nil, a.end()
	}
	var archived struct {
		Request struct {
			Method, URL string
			Headers     []struct{ Name, Value string }
			PostData    struct {
				MimeType, Text string
				Params         []struct{ Name, Value string }
			}
		}
	}
	if err := a.decoder.Decode(&archived); err != nil {
		return nil, fmt.Errorf("entry %d: %v", a.number+1, err) // an io.EOF is no end of the entries
	}
	a.number++
	request := archived.Request
	read := entry{
		place: fmt.Sprintf("entry %d", a.number), method: request.Method, target: request.URL,
		body: request.PostData.Text, contentType: request.PostData.MimeType,
	}
	for _, header := range request.Headers {
		if strings.EqualFold(header.Name, "Cookie") {
			read.cookie = header.Value
		}
	}
	if read.body == "" && len(request.PostData.Params) > 0 {
		// The values of an archive are those that its form shows, before they are encoded.
		var pairs []string
		for _, each := range request.PostData.Params {
			pairs = append(pairs, url.QueryEscape(each.Name)+"="+url.QueryEscape(each.Value))
		}
		read.body, read.contentType = strings.Join(pairs, "&"), "application/x-www-form-urlencoded"
	}
	return []entry{read}, nil
}

// end returns io.EOF if the entries end here, and the rest of the file can be read.
func (a *archive) end() error {
	if _, err := a.decoder.Token(); err != nil {
		return fmt.Errorf("the archive was cut off after entry %d: %v", a.number, err)
	}
	if _, err := io.Copy(io.Discard, a.bounded.Reader); err != nil {
		return err
	}
	return io.EOF
}

// open reads up to the first entry.
func (a *archive) open() error {
	noArchive := errors.New("the file is not an HTTP archive: it has no log.entries")
	for _, name := range []string{"log", "entries"} {
		if token, err := a.decoder.Token(); err != nil || token != json.Delim('{') {
			return errors.Join(noArchive, err)
		}
		for {
			token, err := a.decoder.Token()
			if err != nil || token == json.Delim('}') {
				return errors.Join(noArchive, err)
			}
			if token == name {
				break
			}
			var skipped json.RawMessage
			if err := a.decoder.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	if token, err := a.decoder.Token(); err != nil || token != json.Delim('[') {
		return errors.Join(noArchive, err)
	}
	return nil
}
