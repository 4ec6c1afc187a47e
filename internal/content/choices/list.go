package choices

import (
	"context"

	"github.com/waybook/waybook/internal/docstore"
)

// List returns a page of the choices under a parent, in the order of the users' identifiers, and
// the next page's token. A choice is listed as soon as it is stored, which may be before it is
// counted. A page has fewer than limit choices where users have withdrawn theirs. The caller
// has seen that the parent exists.
func (c *Counter[P]) List(ctx context.Context, parentID int64, limit int, token string) ([]Choice, string, error) {
	page, err := c.Choices.Page(ctx, docstore.Query{Where: byUser().First(parentID), Token: token, Limit: limit})
	if err != nil {
		return nil, "", err
	}
	listed := page.Documents[:0]
	for _, choice := range page.Documents {
		if choice.Wanted != None {
			listed = append(listed, choice)
		}
	}
	return listed, page.Next, nil
}

// Users returns the users of choices.
func Users(choices []Choice) []int64 {
	users := make([]int64, len(choices))
	for i := range choices {
		users[i] = choices[i].UserID
	}
	return users
}
