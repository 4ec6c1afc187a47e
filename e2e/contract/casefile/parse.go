package casefile

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Load reads the cases of a directory in the order of their names.
func Load(directory string) ([]*Case, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.txt"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	for _, path := range paths {
		if filepath.Base(path) == RulesFile {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		parsed, err := Parse(path, string(text))
		if err != nil {
			return nil, err
		}
		cases = append(cases, parsed)
	}
	return cases, nil
}

// Parse reads one file. Its errors name the path and the line.
func Parse(path, text string) (*Case, error) {
	sentence, blocks, err := blocksOf(path, text)
	if err != nil {
		return nil, err
	}
	p := &parser{path: path, result: &Case{
		Name: strings.TrimSuffix(filepath.Base(path), ".txt"), Path: path, Sentence: sentence,
	}}
	p.steps = &p.result.Steps
	for _, b := range blocks {
		if err := p.take(b); err != nil {
			return nil, err
		}
	}
	if err := p.finish(len(strings.Split(text, "\n"))); err != nil {
		return nil, err
	}
	return p.result, nil
}

// parser is the state of Parse: the steps, table and request that the next block may belong
// to.
type parser struct {
	path    string
	result  *Case
	steps   *[]Step // where the next step goes
	each    *Each   // the open table
	request *Request
	call    *Call
}

var (
	userName   = regexp.MustCompile(`^[a-z]+$`)
	methodName = regexp.MustCompile(`^[A-Z]+$`)
)

func (p *parser) take(b *block) error {
	belongs := b.is("query") || b.is("body") || b.is("raw") || b.is("headers") || b.is("reply") || b.is("answer")
	if !belongs {
		if err := p.complete(b.number); err != nil {
			return err
		}
	}
	switch {
	case b.is("alone") && len(p.result.Steps) == 0:
		p.result.IsAlone = true
		return p.bare(b, 1)
	case b.is("user"):
		return p.user(b)
	case b.is("each"):
		return p.beginEach(b)
	case b.is("end"):
		return p.endEach(b)
	case b.is("call"):
		return p.beginCall(b)
	case b.is("answer"):
		return p.answer(b)
	case belongs:
		return p.requestBlock(b)
	case methodName.MatchString(b.words[0]):
		return p.beginRequest(b)
	}
	return p.errorf(b.number, "%q is unknown here", strings.Join(b.words, " "))
}

// complete rejects a request without a reply.
func (p *parser) complete(number int) error {
	if p.request != nil && p.request.Reply == nil {
		return p.errorf(number, "the request of line %d has no reply", p.request.Line())
	}
	p.request, p.call = nil, nil
	return nil
}

func (p *parser) finish(number int) error {
	if err := p.complete(number); err != nil {
		return err
	}
	if p.each != nil {
		return p.errorf(number, "the `each` of line %d has no `end`", p.each.Line())
	}
	if len(p.result.Steps) == 0 {
		return p.errorf(number, "no steps")
	}
	return nil
}

func (p *parser) user(b *block) error {
	if len(b.words) != 2 || !userName.MatchString(b.words[1]) {
		return p.errorf(b.number, "want `user` and a name in lower case")
	}
	u := &User{line: line(b.number), ID: b.words[1], Name: Template{Source: b.words[1], parts: []part{{literal, b.words[1]}}}}
	fields, err := p.fields(b, "=")
	if err != nil {
		return err
	}
	for _, f := range fields {
		switch f.Name.Source {
		case "name":
			u.Name = f.Value
		case "icon":
			u.Icon = f.Value
		default:
			return p.errorf(b.number, "a user has only a name and an icon, not %q", f.Name.Source)
		}
	}
	*p.steps = append(*p.steps, u)
	return nil
}

func (p *parser) beginEach(b *block) error {
	if p.each != nil {
		return p.errorf(b.number, "the `each` of line %d has not ended", p.each.Line())
	}
	each := &Each{line: line(b.number), Columns: b.words[1:]}
	if len(each.Columns) == 0 || len(b.lines) == 0 {
		return p.errorf(b.number, "`each` needs column names and rows")
	}
	for _, l := range b.lines {
		row := Row{line: line(l.number)}
		for cell := range strings.SplitSeq(l.text, "|") {
			value, err := p.template(l.number, strings.Trim(cell, " "))
			if err != nil {
				return err
			}
			row.Cells = append(row.Cells, value)
		}
		if len(row.Cells) != len(each.Columns) {
			return p.errorf(l.number, "want %d cells, got %d", len(each.Columns), len(row.Cells))
		}
		each.Rows = append(each.Rows, row)
	}
	*p.steps = append(*p.steps, each)
	p.each, p.steps = each, &each.Steps
	return nil
}

func (p *parser) endEach(b *block) error {
	if p.each == nil || len(p.each.Steps) == 0 {
		return p.errorf(b.number, "no `each` with steps to end")
	}
	p.each, p.steps = nil, &p.result.Steps
	return p.bare(b, 1)
}

// bare rejects additional words in a heading, and a block below it.
func (p *parser) bare(b *block, words int) error {
	if len(b.words) > words || len(b.lines) > 0 {
		return p.errorf(b.number, "%q stands alone", strings.Join(b.words[:words], " "))
	}
	return nil
}

// fields reads lines of a name, a separator and a value.
func (p *parser) fields(b *block, separator string) ([]Field, error) {
	var fields []Field
	for _, l := range b.lines {
		name, value, found := strings.Cut(l.text, separator)
		if !found {
			return nil, p.errorf(l.number, "want name%svalue, got %q", separator, l.text)
		}
		nameTemplate, err := p.template(l.number, name)
		if err != nil {
			return nil, err
		}
		valueTemplate, err := p.template(l.number, strings.TrimLeft(value, " "))
		if err != nil {
			return nil, err
		}
		fields = append(fields, Field{nameTemplate, valueTemplate})
	}
	return fields, nil
}

func (p *parser) template(number int, source string) (Template, error) {
	t, err := ParseTemplate(source)
	if err != nil {
		return t, p.errorf(number, "%v", err)
	}
	return t, nil
}

func (p *parser) errorf(number int, format string, args ...any) error {
	return &Error{p.path, number, fmt.Sprintf(format, args...)}
}

// cutWord removes a word from a heading and reports whether it was there.
func cutWord(words *[]string, word string) bool {
	i := slices.Index(*words, word)
	if i < 0 {
		return false
	}
	*words = slices.Delete(*words, i, i+1)
	return true
}

// block is a heading and the indented lines below it.
type block struct {
	number int
	words  []string
	lines  []blockLine
}

type blockLine struct {
	number int
	text   string
}

// is reports whether the heading begins with these words.
func (b *block) is(words ...string) bool {
	if len(b.words) < len(words) {
		return false
	}
	for i, word := range words {
		if b.words[i] != word {
			return false
		}
	}
	return true
}

// joined returns all lines as one.
func (b *block) joined(separator string) string {
	texts := make([]string, len(b.lines))
	for i, l := range b.lines {
		texts[i] = l.text
	}
	return strings.Join(texts, separator)
}

// Error is a mistake in a case file.
type Error struct {
	Path   string
	Number int
	Text   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Number, e.Text) }

// blocksOf splits a file into its first line, which is a sentence, and its blocks.
func blocksOf(path, text string) (sentence string, blocks []*block, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	sentence = lines[0]
	if rulesOf(sentence) == nil {
		return "", nil, &Error{path, 1, "want a sentence that ends in its rules, such as (rule 4.12) or (rules 4.12 and 5.1)"}
	}
	for i, text := range lines[1:] {
		number := i + 2
		switch {
		case strings.TrimSpace(text) == "" || text[0] == '#':
		case strings.TrimRight(text, " \t\r") != text:
			return "", nil, &Error{path, number, "blanks at the end of the line; write {SP} or {CR} if they are meant"}
		case strings.HasPrefix(text, "  "):
			if len(blocks) == 0 {
				return "", nil, &Error{path, number, "an indented line belongs below a heading"}
			}
			last := blocks[len(blocks)-1]
			last.lines = append(last.lines, blockLine{number, strings.TrimLeft(text, " ")})
		case text[0] == ' ' || text[0] == '\t':
			return "", nil, &Error{path, number, "indent by two spaces"}
		default:
			blocks = append(blocks, &block{number: number, words: strings.Fields(text)})
		}
	}
	return sentence, blocks, nil
}
