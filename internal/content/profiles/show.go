package profiles

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/maypok86/otter/v2"

	"github.com/waybook/waybook/internal/arena"
)

// Shown are the profiles of users for a reply, by ascending id.
type Shown []shown

type shown struct {
	userID int64
	Profile
}

// Of returns the profile of a user whom Show was asked for.
func (s Shown) Of(userID int64) Profile {
	at, found := slices.BinarySearchFunc(s, userID,
		func(each shown, id int64) int { return cmp.Compare(each.userID, id) })
	if !found {
		return Profile{}
	}
	return s[at].Profile
}

// maxSorted is how many ids Show sorts without an allocation: a page of comments and the owner of
// their document.
const maxSorted = 256

// Show returns the profiles of users for the reply of a call. It never fails, because content with
// a missing name is better than no content. A user who no longer exists has the zero Profile. So
// has a user never seen before, while the account service is down.
func (d *Directory) Show(ctx context.Context, ids ...int64) Shown {
	var buffer [maxSorted]int64
	distinct := append(buffer[:0], ids...) // a few users often write a whole page
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	all := Shown(arena.Slice[shown](arena.Of(ctx), len(distinct)))
	var unknown []int64
	for i, id := range distinct {
		profile, isCached := d.cached(id)
		if !isCached {
			unknown = append(unknown, id)
		}
		all[i] = shown{id, profile}
	}
	if unknown != nil {
		d.load(ctx, all, unknown)
	}
	return all
}

// load fills in the profiles of users whom the cache does not have.
func (d *Directory) load(ctx context.Context, all Shown, unknown []int64) {
	loaded, err := d.fresh.BulkGet(ctx, unknown, otter.BulkLoaderFunc[int64, Profile](d.fetch))
	if err != nil {
		d.stale.Add(1)
		d.log.WarnContext(ctx, "showing the last known names", "users", len(unknown), "error", err)
	}
	for i, each := range all {
		switch profile, isLoaded := loaded[each.userID]; {
		case isLoaded:
			all[i].Profile = profile
		case slices.Contains(unknown, each.userID):
			all[i].Profile, _ = d.last.GetIfPresent(each.userID)
		}
	}
}

// Expect loads the profile of a user that a later call of Show wants, unless the cache has it.
// It lets a caller load it while other reads are in flight. It never fails.
func (d *Directory) Expect(ctx context.Context, id int64) {
	if _, ok := d.fresh.GetEntryQuietly(id); !ok {
		d.Show(ctx, id)
	}
}

// Missing returns which of the users do not exist now. It asks for all of them at once, and again
// for those that the cache says are missing, because users move in before what they own. Errors:
// those of the account service, if it is down and the cache does not know all users.
func (d *Directory) Missing(ctx context.Context, ids []int64) (map[int64]bool, error) {
	load := otter.BulkLoaderFunc[int64, Profile](d.fetch)
	profiles, err := d.fresh.BulkGet(ctx, slices.Compact(slices.Sorted(slices.Values(ids))), load)
	if err != nil {
		return nil, fmt.Errorf("resolve users: %w", err)
	}
	var asked []int64
	for id, profile := range profiles {
		if !profile.Exists {
			d.fresh.Invalidate(id)
			asked = append(asked, id)
		}
	}
	missing := map[int64]bool{}
	if len(asked) == 0 {
		return missing, nil
	}
	if profiles, err = d.fresh.BulkGet(ctx, asked, load); err != nil {
		return nil, fmt.Errorf("resolve users: %w", err)
	}
	for id, profile := range profiles {
		if !profile.Exists {
			missing[id] = true
		}
	}
	return missing, nil
}
