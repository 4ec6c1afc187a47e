package casefile

import (
	"fmt"
	"strings"
)

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
