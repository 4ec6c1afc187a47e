package history

import (
	"fmt"
	"maps"
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

// checkCounts checks that each count is at least the number of acknowledged members, and at most
// the number of members that tried.
func (m *model) checkCounts(counts []Count, marks []Mark) {
	sure, tried := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, mark := range marks {
		if sure[mark.Tally] == nil {
			sure[mark.Tally], tried[mark.Tally] = map[string]bool{}, map[string]bool{}
		}
		tried[mark.Tally][mark.Member] = true
		if mark.IsAcknowledged {
			sure[mark.Tally][mark.Member] = true
		}
	}
	for _, c := range counts {
		least, most := int64(len(sure[c.Tally])), int64(len(tried[c.Tally]))
		if c.Count < least || c.Count > most {
			m.report(Miscounted, fmt.Sprintf("%s is %d, not from %d to %d", c.Tally, c.Count, least, most))
		}
	}
}

// checkRewards checks that there is one reward for each created thing, including deleted ones. A
// thing without an acknowledged creation was created if a list shows it: no client could have
// deleted it, because none knows its id.
func (m *model) checkRewards(all []Rewarded) {
	for _, r := range all {
		if want := m.made(r.List); r.Count != want {
			m.report(Miscounted, fmt.Sprintf("rewards for %s are %d, not %d", r.List, r.Count, want))
		}
	}
}

// made returns how many things of a list were created.
func (m *model) made(list List) int64 {
	count := len(m.seen[list])
	for _, attempts := range m.requests[list] {
		for _, add := range attempts {
			if add.ID != 0 {
				count++
				break
			}
		}
	}
	return int64(count)
}

// checkRepeats checks that the attempts of one request created one thing.
func (m *model) checkRepeats() {
	for list, requests := range m.requests {
		for value, attempts := range requests {
			made := map[int64]bool{}
			for _, attempt := range attempts {
				if attempt.ID != 0 {
					made[attempt.ID] = true
				}
			}
			if len(made) > 1 {
				m.report(Twice, fmt.Sprintf("%s %q has the ids %v", list, value, slices.Sorted(maps.Keys(made))))
			}
		}
	}
}

func (m *model) checkValue(span Span, thing Thing, value string) {
	allowed := m.allowed(thing, span)
	if allowed[value] || len(allowed) == 0 && value == Gone {
		return
	}
	rule := Lost
	if value != Gone && !slices.ContainsFunc(m.puts[thing], func(p Put) bool { return p.Value == value }) {
		rule = Invented
	}
	m.report(rule, fmt.Sprintf("%s shows %q, want one of %q", thing, value, slices.Sorted(maps.Keys(allowed))))
}

// checkListing checks that a list has every expected item exactly once, in order, and no others.
func (m *model) checkListing(l Listing) {
	shown := map[Thing]bool{}
	previous := int64(0)
	for _, item := range l.Items {
		if item.ID <= previous {
			m.report(Twice, fmt.Sprintf("%s has %d after %d", l.List, item.ID, previous))
		}
		previous = item.ID
		thing := NameThing(l.List.Kind, item.ID)
		shown[thing] = true
		if _, isKnown := m.valueOf[thing]; isKnown {
			m.checkValue(l.Span, thing, item.Value)
		} else {
			m.checkUnacknowledged(l, item)
		}
	}
	for value, attempts := range m.requests[l.List] {
		for _, add := range attempts {
			thing := NameThing(l.List.Kind, add.ID)
			if add.ID == 0 || add.End >= l.Begin || shown[thing] || m.allowed(thing, l.Span)[Gone] {
				continue
			}
			m.report(Lost, fmt.Sprintf("%s has no %q (%d)", l.List, value, add.ID))
			break
		}
	}
}

// checkUnacknowledged checks that every unacknowledged item matches one request and exists at most
// once.
func (m *model) checkUnacknowledged(l Listing, item Item) {
	attempts := m.requests[l.List][item.Value]
	hasBegun := slices.ContainsFunc(attempts, func(a Add) bool { return a.Begin < l.End })
	if !hasBegun {
		m.report(Invented, fmt.Sprintf("%s has %d, %q", l.List, item.ID, item.Value))
		return
	}
	if made := slices.IndexFunc(attempts, func(a Add) bool { return a.ID != 0 }); made >= 0 {
		m.report(Twice, fmt.Sprintf("%s has %q as %d and as %d", l.List, item.Value, attempts[made].ID, item.ID))
		return
	}
	if m.seen[l.List] == nil {
		m.seen[l.List] = map[string]int64{}
	}
	if before, ok := m.seen[l.List][item.Value]; ok && before != item.ID {
		m.report(Twice, fmt.Sprintf("%s has %q as %d and as %d", l.List, item.Value, before, item.ID))
	}
	m.seen[l.List][item.Value] = item.ID
}
