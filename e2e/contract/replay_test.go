package contract

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/contract/casefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

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
