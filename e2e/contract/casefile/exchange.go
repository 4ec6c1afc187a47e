package casefile

import (
	"net/http"
	"strconv"
	"strings"
)

// apiPath is the path of all operations (rule 1.1).
const apiPath = "/API.php"

func (p *parser) beginRequest(b *block) error {
	request := &Request{line: line(b.number), Method: b.words[0], Path: apiPath}
	words := b.words[1:]
	request.IsHTTP10 = cutWord(&words, "HTTP/1.0")
	if len(words) > 0 && strings.HasPrefix(words[0], "/") {
		request.Path, words = words[0], words[1:]
	}
	if len(words) == 2 && words[0] == "as" {
		request.As, words = words[1], nil
	}
	if len(words) > 0 {
		return p.errorf(b.number, "want METHOD [path] [as user] [HTTP/1.0], got %q", strings.Join(b.words, " "))
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
