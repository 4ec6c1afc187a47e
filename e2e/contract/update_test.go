package contract

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/waybook/waybook/e2e/contract/casefile"
)

// update is for a person who intends every change it writes; nothing else sets it. It skips
// replies in a table. An id that no variable holds yet is written as received, to be
// replaced by a variable.
var update = flag.Bool("update", false, "replace the expected bodies of cases with the received ones of a single process (review the difference!)")

// rewriting is a received body that replaces the expected one.
type rewriting struct {
	reply *casefile.Reply
	body  string
}

// rewrite writes received bodies to the file of the case. It starts with the last one, so
// that the lines of the others do not move.
func (p *player) rewrite() error {
	if len(p.rewritten) == 0 {
		return nil
	}
	text, err := os.ReadFile(p.played.Path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for _, r := range slices.Backward(p.rewritten) {
		at := r.reply.Line()
		lines = slices.Replace(lines, at, at+r.reply.BodyLines, p.written(r.body)...)
	}
	return os.WriteFile(p.played.Path, []byte(strings.Join(lines, "\n")), 0o644)
}

var (
	clockTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	updated   = regexp.MustCompile(`<updateDate><year>\d+</year><month>\d+</month><day>\d+</day></updateDate>`)
)

// written returns a body in the form of a case, one element per line.
func (p *player) written(body string) []string {
	body = strings.TrimPrefix(body, casefile.Declaration)
	for name, value := range p.variables {
		if len(value) > 8 { // an id or a secret, not a cell of a table
			body = strings.ReplaceAll(body, value, "{"+name+"}")
		}
	}
	body = strings.NewReplacer("\n", "{LF}", "\r", "{CR}", "\t", "{TAB}").Replace(body)
	body = clockTime.ReplaceAllString(body, "{time}")
	body = updated.ReplaceAllString(body,
		"<updateDate><year>{yyyy}</year><month>{mm}</month><day>{dd}</day></updateDate>")

	var lines []string
	indent := "  "
	for i, element := range strings.Split(body, "><") {
		if i > 0 {
			element = "<" + element
		}
		if i < strings.Count(body, "><") {
			element += ">"
		}
		closes := strings.HasPrefix(element, "</")
		if closes {
			indent = indent[2:]
		}
		if n := len(lines); closes && n > 0 && strings.TrimSpace(lines[n-1]) == strings.Replace(element, "/", "", 1) {
			lines[n-1] += element // an empty element
			continue
		}
		lines = append(lines, indent+element)
		if !closes && !strings.Contains(element, "</") {
			indent += "  "
		}
	}
	return lines
}
