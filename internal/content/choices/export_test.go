package choices

// The bounds that tests refer to.
const (
	MaxGroup   = maxGroup
	SmallGroup = smallGroup
)

// ValueOf returns the counted value of a choice.
func (c *Counter[P]) ValueOf(parent *P, choice *Choice) int32 { return c.valueOf(parent, choice) }
