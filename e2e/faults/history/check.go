package history

import (
	"slices"
	"time"
)

// The rules of a history. A report counts violations by rule.
const (
	// Lost: acknowledged data is missing, or a read shows an older state.
	Lost = "lost"
	// Invented: a read shows data that was never written, or was deleted.
	Invented = "invented"
	// Twice: one request was executed more than once.
	Twice = "twice"
	// Miscounted: a count differs from the number of its members.
	Miscounted = "miscounted"
	// Malformed: a reply is not a complete document, or does not answer its request.
	Malformed = "malformed"
	// Late: a reply exceeded its time bound.
	Late = "late"
	// Idle: too few requests succeeded for a meaningful run.
	Idle = "idle"
)

// Check returns every violation of a promise in the history.
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

// model is the history, grouped by thing.
type model struct {
	// puts are the writes of each thing, including its creation.
	puts map[Thing][]Put
	// requests are the attempts at each creation.
	requests map[List]map[string][]Add
	// valueOf is the initial value of each thing with an acknowledged creation.
	valueOf map[Thing]string
	// seen are the values in lists of things whose creation was not acknowledged.
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

// addCreation records the attempts to create a thing as its first write. The write began with the
// first attempt and ended with the first acknowledgement.
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

// allowed returns the values that a read may show. These are the value of the last write
// acknowledged before the read began, and the values of all writes that overlapped the read. Writes
// that were never acknowledged also count if they began before the read ended.
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
