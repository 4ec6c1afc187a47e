package content

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// maxSmallDraws bounds how often numbers are drawn again whose aliases stand for something else.
const maxSmallDraws = 64

// DrawIn returns a Draw in a place of the documents.
func (k *Kind[P]) DrawIn(ctx context.Context, ids *id.Source, place id.Place) docstore.Draw {
	if k.Small == nil {
		return ids.In(ctx, place, k.Documents.Highest)
	}
	return k.drawSmallIn(ctx, place)
}

// DrawInOrder returns a Draw in a place of the documents, which are listed over all places.
func (k *Kind[P]) DrawInOrder(ctx context.Context, ids *id.Source, place id.Place) docstore.Draw {
	if k.Small == nil {
		return ids.InOrder(place)
	}
	return k.drawSmallIn(ctx, place)
}

func (k *Kind[P]) drawSmallIn(ctx context.Context, place id.Place) docstore.Draw {
	return func(int64, int) (int64, error) {
		drawn, err := k.drawSmall(ctx, []id.Place{place})
		if err != nil {
			return 0, err
		}
		return drawn[0], nil
	}
}

// DrawAllInOrder draws an identifier in each of some places, as DrawInOrder does. taken is that of
// a Draw.
func (k *Kind[P]) DrawAllInOrder(ctx context.Context, ids *id.Source, places []id.Place, taken int) ([]int64, error) {
	if k.Small != nil && len(places) > 0 {
		return k.drawSmall(ctx, places)
	}
	drawn := make([]int64, len(places))
	for i, place := range places {
		var err error
		if drawn[i], err = ids.NextInOrder(place, 0, taken); err != nil {
			return nil, err
		}
	}
	return drawn, nil
}

// drawSmall draws small identifiers in places. Their aliases are stored before what they stand
// for, as with what is moved in; one of something that was deleted is in the way, and stays.
func (k *Kind[P]) drawSmall(ctx context.Context, places []id.Place) ([]int64, error) {
	drawn := make([]int64, len(places))
	for range maxSmallDraws {
		first, err := k.Small.Next(ctx, len(places))
		if err != nil {
			return nil, err
		}
		numbers := make(map[string]int64, len(places))
		for i, place := range places {
			number := first + int64(i)
			drawn[i] = id.OfOld(number, place)
			numbers[strconv.FormatInt(number, 10)] = drawn[i]
		}
		if err = k.Aliases.Add(ctx, numbers); !errors.Is(err, docstore.ErrConflict) {
			return drawn, err
		}
	}
	return nil, fmt.Errorf("all of %d small identifiers had aliases", maxSmallDraws)
}

// bury notes that content was deleted, if it was moved in.
func (k *Kind[P]) bury(ctx context.Context, id int64) error {
	if k.Small.Has(id) {
		return nil // nothing is moved in with its number
	}
	return k.Aliases.Bury(ctx, id)
}

// hasFrom returns a function that reports whether a collection has an identifier that is not below
// the one of a number; see smallids.Setting.Counter.
func hasFrom[T any](documents *docstore.Collection[int64, T]) func(context.Context, int64) (bool, error) {
	return func(ctx context.Context, number int64) (bool, error) {
		return smallids.HasFrom(ctx, documents, id.OfOld(number, 0))
	}
}
