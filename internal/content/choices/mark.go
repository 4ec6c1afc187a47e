package choices

// Mark is a parent's record of the choices that it counted last.
type Mark struct {
	// Count grows by one with each change of the numbers.
	Count int64 `bson:"count"`
	// Group are the choices that the last change counted. A parent that has counted nothing since
	// its last tidying has none.
	Group []Counted `bson:"group,omitempty"`
}

// Counted is the counted value of a choice.
type Counted struct {
	ChoiceID int64 `bson:"choice_id"`
	Value    int32 `bson:"value"`
}

// maxGroup bounds the choices that one change of a parent counts. A member takes some 40
// bytes in the parent.
const maxGroup = 256

// smallGroup is the size up to which a settled group may stay in its parent.
const smallGroup = 8

// valueOf returns the counted value of a choice under a parent with this mark. isUnsettled
// reports that the choice does not hold this value yet; at is the CountedAt to settle it
// with.
func (m *Mark) valueOf(choice *Choice) (value int32, at int64, isUnsettled bool) {
	if choice.CountedAt < m.Count {
		for _, each := range m.Group {
			if each.ChoiceID == choice.ID {
				return each.Value, m.Count, true
			}
		}
	}
	return choice.Counted, choice.CountedAt, false
}

// members returns the ids of the choices that the mark names.
func (m *Mark) members() []int64 {
	ids := make([]int64, len(m.Group))
	for i, each := range m.Group {
		ids[i] = each.ChoiceID
	}
	return ids
}

// advance replaces the settled group of a mark by another.
func (m *Mark) advance(group []Counted) { *m = Mark{Count: m.Count + 1, Group: group} }

// clear removes a settled group.
func (m *Mark) clear() { m.Group = nil }
