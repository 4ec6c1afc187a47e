package history

import "fmt"

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
