package golden

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/golden/casefile"
)

// update is for a person who means every difference that it writes; nothing else
// sets it. Replies in a table are left alone, and an id that no variable holds yet
// is written as it came, to be named.
var update = flag.Bool("update", false, "rewrite the bodies that cases expect to those that came from one process (read the difference!)")

// rewriting is a body that came in place of the one that a case expects.
type rewriting struct {
	reply *casefile.Reply
	body  string
}

// rewrite puts the bodies that came into the file of the case, the last first so
// that the lines of the others stay where they are.
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

// written is a body as cases have it, an element a line.
func (p *player) written(body string) []string {
	body = strings.TrimPrefix(body, casefile.Declaration)
	for name, value := range p.variables {
		if len(value) > 8 { // an id or a secret, not the cell of a table
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

func TestARewrittenReplyReadsLikeTheOthers(t *testing.T) {
	p := &player{variables: casefile.Variables{"album": "1234567890", "category": "5"}}
	body := casefile.Declaration + "<response><status>SUCCESS</status><albumList><album1><albumID>1234567890</albumID>" +
		"<albumTitle>5\r\n</albumTitle></album1></albumList><comments><comment1><time>2024-02-29 12:00:00</time>" +
		"<comment></comment></comment1></comments></response>"
	want := `  <response>
    <status>SUCCESS</status>
    <albumList>
      <album1>
        <albumID>{album}</albumID>
        <albumTitle>5{CR}{LF}</albumTitle>
      </album1>
    </albumList>
    <comments>
      <comment1>
        <time>{time}</time>
        <comment></comment>
      </comment1>
    </comments>
  </response>`
	if got := strings.Join(p.written(body), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
