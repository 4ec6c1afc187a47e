package profiles

import (
	"context"
	"fmt"
	"slices"

	"github.com/maypok86/otter/v2"
)

// Missing returns which of the users do not exist now. It asks for all of them at once, and again for
// those that the cache says are missing, because users move in before what they own. Errors: those
// of the account service, if it is down and the cache does not know all users.
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
