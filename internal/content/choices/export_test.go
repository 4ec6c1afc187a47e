package choices

import "context"

// The bounds that tests refer to.
const (
	MaxGroup   = maxGroup
	SmallGroup = smallGroup
)

// ValueOf returns the counted value of a choice.
func (m *Mark) ValueOf(choice *Choice) int32 {
	value, _ := m.valueOf(choice)
	return value
}

// CountStored counts choices and does not settle them.
func (c *Counter[P]) CountStored(ctx context.Context, parentID int64, ids ...string) error {
	_, err := c.count(ctx, parentID, keeping[P](ids...))
	return err
}
