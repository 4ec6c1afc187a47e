// Package examples reads the documents in docs and runs their examples against a real
// Waybook.
package examples

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Docs is the folder of the documents, for tests two folders below the root.
const Docs = "../../docs/"

// Block is a fenced block of a document.
type Block struct {
	// Line is its first line in the document.
	Line int
	// Language is the info string of the fence, such as sh.
	Language string
	Text     string
}

// Blocks returns the blocks of a document.
func Blocks(path string) ([]Block, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found []Block
	var open *Block
	for number, line := range strings.Split(string(document), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &Block{Line: number + 1, Language: fence}
		case isFence:
			found, open = append(found, *open), nil
		case open != nil:
			open.Text += line + "\n"
		}
	}
	return found, nil
}

// example is a block of code with its documented output.
type example struct {
	Block
	// printed is nil if the document does not show the output.
	printed *string
}

// examples returns the examples of a document: every block of sh, go or php, with a following block
// of text or xml as its output. Blocks of json are data, not examples.
func examples(path string) ([]example, error) {
	blocks, err := Blocks(path)
	if err != nil {
		return nil, err
	}
	var found []example
	for _, block := range blocks {
		switch block.Language {
		case "sh", "go", "php":
			found = append(found, example{Block: block})
		case "text", "xml":
			if len(found) == 0 || found[len(found)-1].printed != nil {
				return nil, fmt.Errorf("%s:%d: an output without an example", path, block.Line)
			}
			found[len(found)-1].printed = &block.Text
		case "json":
		default:
			return nil, fmt.Errorf("%s:%d: a block of the unsupported language %q", path, block.Line, block.Language)
		}
	}
	return found, nil
}

// varying matches text that differs from run to run: identifiers, secrets, days and times.
var varying = regexp.MustCompile(`\b[0-9]{13,16}\b|\b(?:[0-9a-f]{32}){1,2}\b|` +
	`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?|` +
	`<updateDate><year>\d{4}</year><month>\d\d</month><day>\d\d</day>`)

// spaces matches blanks, which protojson varies on purpose.
var spaces = regexp.MustCompile(`[ \t]+`)

// masked replaces text that differs from run to run.
func masked(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(varying.ReplaceAllString(text, "…"), " "))
}
