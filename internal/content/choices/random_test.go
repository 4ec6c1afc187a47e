package choices_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// program is a random program: users put their choices through processes that crash and
// start again.
type program struct {
	*rapid.T
	engine docstore.Engine
	// survivor never crashes. It only reads, until the end.
	survivor *counter
	running  [3]*counter
	mortals  [3]*storetest.Mortal
	// possible are the values that a user's choice may have, given what was acknowledged.
	possible map[int64][]int32
	// isBroken: a process has crashed since the last sweep of one that does not.
	isBroken bool
}

func TestRandomProgramsCountExactly(t *testing.T) {
	engine := newStore(t)
	rapid.Check(t, func(r *rapid.T) {
		p := &program{T: r, engine: engine, survivor: newCounter(r, engine), possible: map[int64][]int32{}}
		defer remove(t, p.survivor)
		for i := range p.running {
			p.start(i)
		}
		for range rapid.IntRange(1, 15).Draw(r, "steps") {
			p.step()
		}
		p.recover()
	})
}

// start starts a process that will crash at one of its next writes.
func (p *program) start(i int) {
	writes, happens := rapid.IntRange(0, 12).Draw(p.T, "writes"), rapid.Bool().Draw(p.T, "happens")
	var store docstore.Engine
	store, p.mortals[i] = storetest.NewMortal(p.engine, writes, storetest.Outcome(happens))
	p.running[i] = openCounter(p, store)
}

func (p *program) step() {
	i := rapid.IntRange(0, len(p.running)-1).Draw(p.T, "process")
	switch rapid.SampledFrom([]string{"change", "change", "vote", "vote", "sweep", "recover"}).Draw(p.T, "step") {
	case "change":
		p.put(p.running[i], choices.Always[vote])
	case "vote":
		p.put(p.running[i], ballot)
	case "sweep":
		if err := p.running[i].Sweep(p.Context()); err != nil && !errors.Is(err, storetest.ErrBroken) {
			p.Errorf("sweep: %v", err)
		}
	case "recover":
		p.recover()
	}
	if p.mortals[i].Died() {
		p.isBroken = true
		p.start(i)
	}
}

func (p *program) put(process *counter, decision func(int32) choices.Decision[vote]) {
	userID := rapid.Int64Range(1, 5).Draw(p.T, "user")
	value := rapid.Int32Range(choices.None, choiceCount).Draw(p.T, "value")
	parent, err := process.Put(p.Context(), voteID, userID, decision(value))
	p.isBroken = p.isBroken || p.anyDied()
	switch {
	case err == nil:
		p.possible[userID] = []int32{value}
		p.expectCounted(userID)
		if value != choices.None && parent.Numbers[value-1] < 1 && !p.isBroken {
			p.Errorf("the reply to a choice of %d has numbers %v", value, parent.Numbers)
		}
	case errors.Is(err, errVoted):
		p.expectCounted(userID)
	case errors.Is(err, storetest.ErrBroken):
		p.possible[userID] = append(slices.Clone(p.of(userID)), value)
	default:
		p.Errorf("put: %v", err)
	}
}

func (p *program) anyDied() bool {
	return slices.ContainsFunc(p.mortals[:], (*storetest.Mortal).Died)
}

// of returns the values that a user's choice may have. At first a user has none.
func (p *program) of(userID int64) []int32 {
	if values, has := p.possible[userID]; has {
		return values
	}
	return []int32{choices.None}
}

// expectCounted checks that a user's choice is possible and counts, unless something was interrupted.
func (p *program) expectCounted(userID int64) {
	value := choices.None
	for _, choice := range all(p, p.survivor) {
		if choice.UserID() != userID {
			continue
		}
		if value = choice.Wanted; choice.Counted != value && !p.isBroken {
			p.Errorf("answered, and not counted: %+v", choice)
		}
	}
	if !slices.Contains(p.of(userID), value) {
		p.Errorf("user %d has %d, which is none of %v", userID, value, p.of(userID))
	}
	p.possible[userID] = []int32{value}
}

// recover sweeps. All choices are counted then.
func (p *program) recover() {
	must(p, p.survivor.Sweep(p.Context()))
	p.isBroken = false
	expectTidy(p, p.survivor)
	for userID := range p.possible {
		p.expectCounted(userID)
	}
}
