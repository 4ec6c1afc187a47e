package history

import "fmt"

// checkCounts wants each count to be that of the members who were acknowledged, and
// of no more than all who tried.
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

// checkRewards wants one reward for each thing that was made, deleted ones included.
// A thing whose creation was not acknowledged was made when a list shows it: nobody
// can have deleted it, for lack of its id.
func (m *model) checkRewards(all []Rewarded) {
	for _, r := range all {
		if want := m.made(r.List); r.Count != want {
			m.report(Miscounted, fmt.Sprintf("rewards for %s are %d, not %d", r.List, r.Count, want))
		}
	}
}

// made is how many things of a list were made.
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
