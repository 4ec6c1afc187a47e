package attack

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// message is one request within the bytes of a connection, as RFC 9112 frames it.
type message struct {
	method string
	raw    []byte
	// body is that of a chunked request, without the lines between the chunks.
	body []byte
	// isRequired says that the request has to get an answer. isLast says that nothing after it is a
	// request. isMalformed says that its answer, if it gets one, is a refusal.
	isRequired, isLast, isMalformed bool
}

// has reports whether a text is in the request.
func (m message) has(text string) bool {
	return bytes.Contains(m.raw, []byte(text)) || bytes.Contains(m.body, []byte(text))
}

var (
	requestLine = regexp.MustCompile(`^([!#$%&'*+.^_|~0-9A-Za-z` + "`" + `-]+) (\S*) (HTTP/1\.[0-9])$`)
	token       = regexp.MustCompile(`^[!#$%&'*+.^_|~0-9A-Za-z` + "`" + `-]*$`)
	plainTarget = regexp.MustCompile(`^/[\w./?&=-]*$`)
	plainHost   = regexp.MustCompile(`^[\w.-]+(:[0-9]+)?$`)
	fieldLine   = regexp.MustCompile(`^([!#$%&'*+.^_|~0-9A-Za-z` + "`" + `-]+):[ \t]*(.*)$`)
	controls    = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)
	chunkLine   = regexp.MustCompile(`^([0-9A-Fa-f]{1,15})(;[ -~]*)?$`)
)

// frame reads the requests of a connection. It is stricter than a server has to be about which
// requests need an answer, and as strict about what is a request.
func frame(stream []byte) (messages []message) {
	isCertain := true
	for len(stream) > 0 {
		m, rest := frameOne(stream)
		m.raw = stream[:len(stream)-len(rest)]
		m.isRequired = m.isRequired && isCertain
		isCertain = m.isRequired
		messages = append(messages, m)
		if m.isLast {
			break
		}
		stream = rest
	}
	return messages
}

// fields are the header fields of a request, by their names in lower case.
type fields map[string][]string

// frameOne reads the first request. It is unfinished, and the last one, if the bytes end within it.
func frameOne(stream []byte) (m message, rest []byte) {
	unfinished, malformed := message{isLast: true}, message{isLast: true, isMalformed: true}
	m.isRequired = true
	for len(stream) > 0 && (stream[0] == '\r' || stream[0] == '\n') { // a server may skip these
		m.isRequired, stream = false, stream[1:]
	}
	line, rest, hasEnd := cutLine(stream)
	if !hasEnd {
		return unfinished, nil
	}
	parts := requestLine.FindStringSubmatch(line)
	if parts == nil || parts[2] == "" && parts[1] != http.MethodConnect {
		return malformed, nil
	}
	m.method = parts[1]
	version, header := parts[3], fields{}
	if !plainTarget.MatchString(parts[2]) || len(parts[2]) > 8000 || version > "HTTP/1.1" || m.method == http.MethodConnect {
		m.isRequired = false
	}
	head := len(line)
	for name, count := "", 0; ; count++ {
		if line, rest, hasEnd = cutLine(rest); !hasEnd {
			return unfinished, nil
		}
		if line == "" {
			break
		}
		if head += len(line) + 2; head > 7<<10 || count >= 95 {
			m.isRequired = false // near a limit of a port
		}
		isFolded := line[0] == ' ' || line[0] == '\t'
		field := fieldLine.FindStringSubmatch(line)
		switch {
		case isFolded && name != "": // a server may refuse a fold or take it for a blank
			m.isRequired = false
			last := &header[name][len(header[name])-1]
			*last = strings.Trim(*last+" "+strings.Trim(line, " \t"), " \t")
		case isFolded || field == nil:
			return malformed, nil
		case controls.MatchString(line):
			return malformed, nil
		default:
			name = strings.ToLower(field[1])
			header[name] = append(header[name], strings.Trim(field[2], " \t"))
		}
	}
	return m.frameBody(header, version, rest)
}

// frameBody reads the body of a request whose header is complete.
func (m message) frameBody(header fields, version string, rest []byte) (message, []byte) {
	host, lengths, encodings := header["host"], header["content-length"], header["transfer-encoding"]
	isOld := version == "HTTP/1.0"
	malformed := message{isLast: true, isMalformed: true}
	switch {
	case len(host) > 1, len(host) == 0 && !isOld && m.method != http.MethodConnect: // whose target is a host
		return malformed, nil
	case len(host) == 1 && !plainHost.MatchString(host[0]):
		m.isRequired = false
	}
	for _, option := range strings.Split(strings.ToLower(strings.Join(header["connection"], ",")), ",") {
		option = strings.Trim(option, " \t")
		m.isLast = m.isLast || option == "close"
		if !token.MatchString(option) {
			m.isRequired = false // a server may take one of its words for close
		}
	}
	// Keeping the connection of HTTP/1.0 is no part of the standard.
	m.isLast = m.isLast || isOld
	if header["expect"] != nil {
		m.isRequired = false
	}
	if encodings != nil {
		// RFC 9112, 6.1: with a length, or in HTTP/1.0, the connection ends. SECURITY.md promises that for
		// every chunked request.
		m.isLast = true
		switch {
		case isOld:
			m.isRequired = false
		case len(encodings) != 1 || !strings.EqualFold(encodings[0], "chunked"):
			return malformed, nil
		}
		isWhole := false
		if m.body, isWhole = joined(rest); !isWhole {
			m.isRequired = false
		}
		return m, nil
	}
	if lengths == nil {
		return m, rest
	}
	length, err := strconv.ParseInt(lengths[0], 10, 64)
	isDigits := !strings.ContainsAny(lengths[0], "+-")
	if err != nil || !isDigits || slices.ContainsFunc(lengths, func(each string) bool { return each != lengths[0] }) {
		return malformed, nil
	}
	if length > int64(len(rest)) {
		return message{method: m.method, isLast: true}, nil
	}
	if length > 200<<10 || len(lengths) > 1 {
		m.isRequired = false // a server may close instead of reading that much
	}
	return m, rest[length:]
}

// joined returns the bytes of a chunked body, and whether it is complete, and well-formed beyond doubt.
func joined(chunks []byte) (body []byte, isWhole bool) {
	for {
		line, rest, hasEnd := cutLine(chunks)
		parts := chunkLine.FindStringSubmatch(line)
		if !hasEnd || parts == nil {
			return body, false
		}
		size, err := strconv.ParseInt(parts[1], 16, 64)
		if err != nil || size > int64(len(rest)) || size > 200<<10 {
			return body, false
		}
		if size == 0 {
			return body, bytes.HasPrefix(rest, []byte("\r\n"))
		}
		body = append(body, rest[:size]...)
		if chunks = rest[size:]; !bytes.HasPrefix(chunks, []byte("\r\n")) {
			return body, false
		}
		chunks = chunks[2:]
	}
}

// cutLine cuts off a line, whose CR may be missing (RFC 9112, 2.2).
func cutLine(stream []byte) (line string, rest []byte, hasEnd bool) {
	found, rest, hasEnd := bytes.Cut(stream, []byte("\n"))
	return strings.TrimSuffix(string(found), "\r"), rest, hasEnd
}
