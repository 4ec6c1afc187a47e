package choices

// Mark is a parent's record of the choices that it counted last.
type Mark struct {
	// ChoiceID is the first choice of the group, and Value its counted value. A parent that
	// has counted nothing since its last tidying has no group, and no ChoiceID.
	ChoiceID int64 `bson:"choice_id"`
	Value    int32 `bson:"value"`
	// Count grows by one with each change of the numbers.
	Count int64 `bson:"count"`
	// Group are the other choices of the group. GroupAt was Count when they were counted. It
	// is lower than Count only if an older program, which knows groups of one, counted since.
	Group   []Counted `bson:"group,omitempty"`
	GroupAt int64     `bson:"group_at,omitempty"`
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
	if m.ChoiceID == choice.ID && choice.CountedAt < m.Count {
		return m.Value, m.Count, true
	}
	if choice.CountedAt < m.GroupAt {
		for _, each := range m.Group {
			if each.ChoiceID == choice.ID {
				return each.Value, m.GroupAt, true
			}
		}
	}
	return choice.Counted, choice.CountedAt, false
}

// members returns the ids of the choices that the mark names.
func (m *Mark) members() []int64 {
	var ids []int64
	if m.ChoiceID != 0 {
		ids = append(ids, m.ChoiceID)
	}
	for _, each := range m.Group {
		if each.ChoiceID != m.ChoiceID {
			ids = append(ids, each.ChoiceID)
		}
	}
	return ids
}

// advance replaces the settled group of a mark by another.
func (m *Mark) advance(group []Counted) {
	*m = Mark{ChoiceID: group[0].ChoiceID, Value: group[0].Value, Count: m.Count + 1}
	if len(group) > 1 {
		m.Group, m.GroupAt = group[1:], m.Count
	}
}

// clear removes a settled group.
func (m *Mark) clear() { *m = Mark{Count: m.Count} }
