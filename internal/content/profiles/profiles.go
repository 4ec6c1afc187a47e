// Package profiles tells a service how the users that its content names are shown.
package profiles

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/maypok86/otter/v2/stats"

	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// profileTTL is how old a shown name may be (rule 4.4).
	profileTTL = 30 * time.Second
	// maxProfiles bounds each of the two caches, at some 300 bytes a profile.
	maxProfiles = 20_000
	// loadTimeout bounds one call to the account service. A load serves every
	// caller that waits for the same user, so no single caller's deadline does.
	loadTimeout = 3 * time.Second
	// maxBatch is how many users one BatchGetUsers may ask for.
	maxBatch = 1000
)

// Profile is how a user is shown; the zero Profile is that of a user who is gone.
type Profile struct {
	Name    string
	IconURL string
	Exists  bool
}

// Directory resolves user ids through a bounded cache. Concurrent misses for one
// user share one call. While the account service is down it shows the last profile
// it knew. It may be used concurrently.
type Directory struct {
	account accountv1.AccountServiceClient
	log     *slog.Logger
	fresh   *otter.Cache[int64, Profile]
	last    *otter.Cache[int64, Profile]

	stale atomic.Uint64
}

// Stats are what a directory counts since it was made.
type Stats struct {
	// Hits and Misses are users whose profiles the cache had and had not.
	Hits, Misses uint64
	// Stale is how often Show gave the last known profiles.
	Stale uint64
	// Size is about how many users are in the cache.
	Size int
}

// NewDirectory returns a directory of the users of an account service.
func NewDirectory(account accountv1.AccountServiceClient, log *slog.Logger) (*Directory, error) {
	fresh, err := otter.New(&otter.Options[int64, Profile]{
		MaximumSize:      maxProfiles,
		ExpiryCalculator: otter.ExpiryWriting[int64, Profile](profileTTL),
		StatsRecorder:    stats.NewCounter(),
	})
	if err != nil {
		return nil, fmt.Errorf("profile cache: %w", err)
	}
	last, err := otter.New(&otter.Options[int64, Profile]{MaximumSize: maxProfiles})
	if err != nil {
		return nil, fmt.Errorf("profile cache: %w", err)
	}
	return &Directory{account: account, log: log, fresh: fresh, last: last}, nil
}

// Close ends what the caches run in the background. Nobody uses the directory any more.
func (d *Directory) Close(context.Context) error {
	d.fresh.StopAllGoroutines()
	d.last.StopAllGoroutines()
	return nil
}

// Stats returns what the directory counts.
func (d *Directory) Stats() Stats {
	counted := d.fresh.Stats()
	return Stats{Hits: counted.Hits, Misses: counted.Misses, Stale: d.stale.Load(), Size: d.fresh.EstimatedSize()}
}

// Show returns the profiles of users for a reply. It never fails: a user who is gone
// has the zero Profile, and so has one never seen before while the account service
// is down, since content with a name missing serves a reader better than none. It orders ids.
func (d *Directory) Show(ctx context.Context, ids ...int64) map[int64]Profile {
	ids = distinct(ids)
	profiles, err := d.fresh.BulkGet(ctx, ids, otter.BulkLoaderFunc[int64, Profile](d.load))
	if err == nil {
		return profiles
	}
	d.stale.Add(1)
	d.log.WarnContext(ctx, "showing the last known names", "users", len(ids), "error", err)
	profiles = make(map[int64]Profile, len(ids))
	for _, id := range ids {
		if entry, ok := d.fresh.GetEntryQuietly(id); ok { // counted above
			profiles[id] = entry.Value
			continue
		}
		profiles[id], _ = d.last.GetIfPresent(id)
	}
	return profiles
}

// distinct orders ids and leaves out repetitions: few people often wrote all there is.
func distinct(ids []int64) []int64 {
	if len(ids) < 2 {
		return ids
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Require returns the profile of a user who must exist, for a write in that user's
// name. Errors: USER_NOT_FOUND; UNAVAILABLE when nobody can tell.
func (d *Directory) Require(ctx context.Context, id int64) (Profile, error) {
	profiles, err := d.fresh.BulkGet(ctx, []int64{id}, otter.BulkLoaderFunc[int64, Profile](d.load))
	if err != nil {
		profile, ok := d.last.GetIfPresent(id)
		if !ok || !profile.Exists {
			return Profile{}, fmt.Errorf("resolve user %d: %w", id, err)
		}
		return profile, nil
	}
	profile := profiles[id]
	if !profile.Exists {
		return Profile{}, apierror.NotFound("USER_NOT_FOUND", "there is no user %d", id)
	}
	return profile, nil
}

// load asks the account service. Users who are gone are remembered as such.
func (d *Directory) load(ctx context.Context, ids []int64) (map[int64]Profile, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	profiles := make(map[int64]Profile, len(ids))
	for _, id := range ids {
		profiles[id] = Profile{}
	}
	for len(ids) > 0 {
		batch := ids[:min(len(ids), maxBatch)]
		ids = ids[len(batch):]
		reply, err := d.account.BatchGetUsers(ctx, &accountv1.BatchGetUsersRequest{UserIds: batch})
		if err != nil {
			return nil, err
		}
		for _, user := range reply.GetUsers() {
			// Cloned, since a part of a string would keep the whole reply in memory.
			profiles[user.GetUserId()] = Profile{Name: strings.Clone(user.GetName()), IconURL: strings.Clone(user.GetIconUrl()), Exists: true}
		}
	}
	for id, profile := range profiles {
		d.last.Set(id, profile)
	}
	return profiles, nil
}

// Proto is the profile as a contract shows it.
func (p Profile) Proto(userID int64) *typev1.Profile {
	return &typev1.Profile{UserId: userID, Name: p.Name, IconUrl: p.IconURL}
}
