package choices

import "context"

// Take is what a recount of a round does to the mark of a choice.
func (c *Counter[P]) Take(ctx context.Context, id string, round int64) (Choice, error) {
	return c.take(ctx, id, round)
}
