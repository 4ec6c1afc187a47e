// Package contract tests the edge against docs/contract.md.
//
// It replays the golden cases of testdata, which show the rules, against Waybook as it is deployed: in
// one process, in five as the manifests start them, and on MongoDB's wire protocol, where the short form
// replays every eighth. It sends strings that often break programs in every parameter of every operation:
// the reply must always be a well-formed document and never a server error.
package contract

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for the service's zone on machines without zone files

	"github.com/waybook/waybook/e2e/contract/casefile"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const caseDirectory = "testdata"

func TestGoldenOnEachStore(t *testing.T) {
	cases, err := casefile.Load(caseDirectory)
	if err != nil {
		t.Fatal(err)
	}
	binaries := buildPrograms(t)
	for _, d := range []struct {
		name  string
		start func(t *testing.T, binaries string) *deployment
	}{
		{"one process", startOneProcess},
		{"five processes", startFiveProcesses},
		{"replica set", startOnReplicaSet},
		{"mongos", on(mongowire.Config{Role: mongowire.Router, Shards: 2})},
		{"replica set of MongoDB 4.4", on(mongowire.Config{Plays: mongowire.Version44})},
		{"mongos of MongoDB 4.4", on(mongowire.Config{Plays: mongowire.Version44, Role: mongowire.Router, Shards: 2})},
		{"real server", startOnMongoDB},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			on := d.start(t, binaries)
			cases := cases
			if on.isSlow && !longform.Selected() { // the other deployments show every rule
				cases = everyEighth(cases)
			}
			for _, c := range cases {
				if c.IsAlone {
					t.Run(c.Name, func(t *testing.T) { replay(t, on, c) })
				}
			}
			for _, c := range cases {
				if !c.IsAlone {
					t.Run(c.Name, func(t *testing.T) {
						if !on.isSlow {
							t.Parallel()
						}
						replay(t, on, c)
					})
				}
			}
		})
	}
}

func everyEighth(cases []*casefile.Case) (some []*casefile.Case) {
	for i := 0; i < len(cases); i += 8 {
		some = append(some, cases[i])
	}
	return some
}

// stepTimeout bounds one step. It is far above what any step takes.
const stepTimeout = 30 * time.Second

// patience is how long a request is repeated: longer than a process remembers names (rule 4.4).
const patience = 45 * time.Second

// zoneName is the services' default time zone (rule 8.10).
const zoneName = "Asia/Taipei"

// player runs the steps of one case.
type player struct {
	t         *testing.T
	on        *deployment
	played    *casefile.Case
	variables casefile.Variables
	began     time.Time
	zone      *time.Location
	rewritten []rewriting
}

func newPlayer(t *testing.T, on *deployment) *player {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		t.Fatal(err)
	}
	return &player{t: t, on: on, variables: casefile.Variables{}, began: time.Now().In(zone), zone: zone}
}

func replay(t *testing.T, on *deployment, c *casefile.Case) {
	p := newPlayer(t, on)
	p.played = c
	p.take(c.Steps, "")
	if err := p.rewrite(); err != nil {
		t.Error(err)
	}
}

// take runs steps. It continues after a failed step, so that one run reports all failures.
func (p *player) take(steps []casefile.Step, row string) {
	for _, step := range steps {
		var err error
		switch step := step.(type) {
		case *casefile.User:
			err = p.makeUser(step)
		case *casefile.Request:
			err = p.request(step, row == "") // rows have different replies
			for began := time.Now(); err != nil && step.IsRepeated && time.Since(began) < patience; time.Sleep(500 * time.Millisecond) {
				err = p.request(step, false)
			}
		case *casefile.Call:
			err = p.call(step)
		case *casefile.Each:
			p.takeRows(step)
		}
		if err != nil {
			p.t.Errorf("%s:%d%s: %v", p.played.Path, step.Line(), row, err)
		}
	}
}

// takeRows runs the steps of a table once per row, and then forgets the row's variables.
func (p *player) takeRows(each *casefile.Each) {
	before := p.variables
	for _, row := range each.Rows {
		p.variables = maps.Clone(before)
		for i, cell := range row.Cells {
			value, err := cell.Expand(before)
			if err != nil {
				p.t.Errorf("%s:%d: %v", p.played.Path, row.Line(), err)
			}
			p.variables[each.Columns[i]] = value
		}
		p.take(each.Steps, fmt.Sprintf(" (row of line %d)", row.Line()))
	}
	p.variables = before
}

// span returns the time from the beginning of the case until now.
func (p *player) span() casefile.Span {
	return casefile.Span{From: p.began, To: time.Now().In(p.zone)}
}

// secretOf returns the variable that holds the secret of a user's session.
func secretOf(user string) string { return user + ".idrand" }

func (p *player) makeUser(user *casefile.User) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), stepTimeout)
	defer cancel()
	name, err := user.Name.Expand(p.variables)
	if err != nil {
		return err
	}
	icon, err := user.Icon.Expand(p.variables)
	if err != nil {
		return err
	}
	accounts := accountv1.NewAccountServiceClient(p.on.connections["account"])
	made, err := accounts.CreateUser(ctx, &accountv1.CreateUserRequest{Name: name, IconUrl: icon})
	if err != nil {
		return err
	}
	opened, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: made.GetUser().GetUserId()})
	if err != nil {
		return err
	}
	p.variables[user.ID] = fmt.Sprint(made.GetUser().GetUserId())
	p.variables[secretOf(user.ID)] = opened.GetToken()
	return nil
}

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
