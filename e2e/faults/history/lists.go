package history

import (
	"fmt"
	"maps"
	"slices"
)

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
