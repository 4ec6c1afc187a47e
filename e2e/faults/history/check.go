package history

import (
	"slices"
	"time"
)

// The rules, by which a report counts violations.
const (
	// Lost: what was acknowledged is not there, or an older state is.
	Lost = "lost"
	// Invented: something is there that nobody wrote, or that was deleted.
	Invented = "invented"
	// Twice: one request was done more than once.
	Twice = "twice"
	// Miscounted: a count is not that of its members.
	Miscounted = "miscounted"
	// Malformed: a reply that is no whole document, or no answer to its request.
	Malformed = "malformed"
	// Late: an answer did not come within its bound.
	Late = "late"
	// Idle: too little was carried for a run to mean anything.
	Idle = "idle"
)

// Check returns every promise that the history shows broken.
func (h *History) Check() []Violation {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := newModel(h)
	m.violations = slices.Clone(h.complaints)
	m.checkRepeats()
	for _, read := range h.reads {
		m.checkValue(read.Span, read.Thing, read.Value)
	}
	for _, listing := range h.listings {
		m.checkListing(listing)
	}
	m.checkCounts(h.counts, h.marks)
	m.checkRewards(h.rewarded)
	return m.violations
}

// model is the history by what it is about.
type model struct {
	// puts are the writes of each thing, its creation included.
	puts map[Thing][]Put
	// requests are the attempts of each creation.
	requests map[List]map[string][]Add
	// valueOf is what each thing was created as, of those whose creation was
	// acknowledged.
	valueOf map[Thing]string
	// seen are the values that a list showed of things whose creation was not
	// acknowledged.
	seen       map[List]map[string]int64
	violations []Violation
}

func newModel(h *History) *model {
	m := &model{
		puts: map[Thing][]Put{}, requests: map[List]map[string][]Add{},
		valueOf: map[Thing]string{}, seen: map[List]map[string]int64{},
	}
	for _, add := range h.adds {
		if m.requests[add.List] == nil {
			m.requests[add.List] = map[string][]Add{}
		}
		m.requests[add.List][add.Value] = append(m.requests[add.List][add.Value], add)
		if add.ID == 0 {
			continue
		}
		m.valueOf[NameThing(add.List.Kind, add.ID)] = add.Value
	}
	for list, requests := range m.requests {
		for _, attempts := range requests {
			m.addCreation(list, attempts)
		}
	}
	for _, put := range h.puts {
		m.puts[put.Thing] = append(m.puts[put.Thing], put)
	}
	return m
}

// addCreation makes the attempts to create a thing its first write, which began with
// the first of them and was acknowledged by the first that was.
func (m *model) addCreation(list List, attempts []Add) {
	whole := Span{Begin: attempts[0].Begin, End: -1}
	for _, a := range attempts {
		whole.Begin = min(whole.Begin, a.Begin)
		if a.ID != 0 && (whole.End < 0 || a.End < whole.End) {
			whole.End = a.End
		}
	}
	for _, a := range attempts {
		if a.ID != 0 {
			thing := NameThing(list.Kind, a.ID)
			m.puts[thing] = append(m.puts[thing], Put{whole, thing, a.Value, true})
			return
		}
	}
}

func (m *model) report(rule, detail string) {
	m.violations = append(m.violations, Violation{rule, detail})
}

// allowed are the values that a read may show: that of the last write acknowledged
// before it began, those of the writes acknowledged later that had begun when it
// ended, and any that was never acknowledged and had begun.
func (m *model) allowed(thing Thing, span Span) map[string]bool {
	values := map[string]bool{}
	last, lastEnd := "", time.Duration(-1)
	for _, put := range m.puts[thing] {
		switch {
		case put.Begin >= span.End:
		case put.IsAcknowledged && put.End < span.Begin:
			if put.End > lastEnd {
				last, lastEnd = put.Value, put.End
			}
		default:
			values[put.Value] = true
		}
	}
	if lastEnd >= 0 {
		values[last] = true
	}
	return values
}
