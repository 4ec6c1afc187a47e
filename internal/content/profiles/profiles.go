// Package profiles resolves the users of content to the names and icons to show.
package profiles

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// profileTTL is the maximum age of a shown name (rule 4.4).
	profileTTL = 30 * time.Second
	// maxProfiles bounds each of the two caches. A profile takes about 300 bytes.
	maxProfiles = 20_000
	// loadTimeout bounds one call to the account service. One load serves all callers that
	// wait for the same user, so it ignores their own deadlines.
	loadTimeout = 3 * time.Second
	// maxBatch is the maximum number of users in one BatchGetUsers call.
	maxBatch = 1000
)

// Profile is a user's name and icon. The zero Profile stands for a user who no longer
// exists.
type Profile struct {
	Name    string
	IconURL string
	Exists  bool
}

// Directory resolves user ids through a bounded cache. Concurrent misses for one user share
// one call. While the account service is down, the directory shows the last known profile.
// It may be used concurrently.
type Directory struct {
	account accountv1.AccountServiceClient
	log     *slog.Logger
	fresh   cache
	last    cache

	hits, misses, stale atomic.Uint64
}

// cache is an otter.Cache. The services that know the fields of a Directory do not compile the
// cache again, because it is behind an interface (docs/decisions/repository.md).
type cache interface {
	GetIfPresent(id int64) (Profile, bool)
	GetEntryQuietly(id int64) (otter.Entry[int64, Profile], bool)
	BulkGet(ctx context.Context, ids []int64, loader otter.BulkLoader[int64, Profile]) (map[int64]Profile, error)
	Set(id int64, profile Profile) (Profile, bool)
	Invalidate(id int64) (Profile, bool)
	EstimatedSize() int
}

// Stats are a directory's counts since its creation.
type Stats struct {
	// Hits and Misses count users by whether the cache had their profiles.
	Hits, Misses uint64
	// Stale counts the calls of Show that returned last known profiles.
	Stale uint64
	// Size is the approximate number of users in the cache.
	Size int
}

// NewDirectory returns a directory of the users of an account service.
func NewDirectory(account accountv1.AccountServiceClient, log *slog.Logger) *Directory {
	return &Directory{
		account: account, log: log,
		fresh: otter.Must(&otter.Options[int64, Profile]{
			MaximumSize:      maxProfiles,
			ExpiryCalculator: otter.ExpiryWriting[int64, Profile](profileTTL),
			Clock:            tickless{began: time.Now()},
		}),
		last: otter.Must(&otter.Options[int64, Profile]{MaximumSize: maxProfiles}),
	}
}

// tickless is a clock for a cache that removes what has expired when it needs the space. One with
// ticks would have a goroutine that does so every second, and that its owner has to end. A step of
// the wall clock does not change it.
type tickless struct{ began time.Time }

func (t tickless) NowNano() int64 { return int64(time.Since(t.began)) }

func (tickless) Tick(time.Duration) <-chan time.Time { return nil }

// Stats returns the counts.
func (d *Directory) Stats() Stats {
	return Stats{Hits: d.hits.Load(), Misses: d.misses.Load(), Stale: d.stale.Load(), Size: d.fresh.EstimatedSize()}
}

// cached returns a profile from the cache, and counts.
func (d *Directory) cached(id int64) (Profile, bool) {
	profile, isCached := d.fresh.GetIfPresent(id)
	if isCached {
		d.hits.Add(1)
	} else {
		d.misses.Add(1)
	}
	return profile, isCached
}

// Require returns the profile of a user who must exist, for a write by that user. It asks again
// for one whom the cache says is missing: another call may have asked for the user before the
// creation. Errors: USER_NOT_FOUND, or UNAVAILABLE if the account service is down and the cache
// has no profile.
func (d *Directory) Require(ctx context.Context, id int64) (Profile, error) {
	profile, isCached := d.cached(id)
	if !profile.Exists {
		if isCached {
			d.fresh.Invalidate(id)
		}
		profiles, err := d.fresh.BulkGet(ctx, []int64{id}, otter.BulkLoaderFunc[int64, Profile](d.fetch))
		if err != nil {
			profile, ok := d.last.GetIfPresent(id)
			if !ok || !profile.Exists {
				return Profile{}, fmt.Errorf("resolve user %d: %w", id, err)
			}
			return profile, nil
		}
		profile = profiles[id]
	}
	if !profile.Exists {
		return Profile{}, noUser(id)
	}
	return profile, nil
}

// fetch fetches profiles from the account service. It also stores that a user does not
// exist.
func (d *Directory) fetch(ctx context.Context, ids []int64) (map[int64]Profile, error) {
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
			// Cloned, because a substring would keep the whole reply in memory.
			profiles[user.GetUserId()] = Profile{Name: strings.Clone(user.GetName()),
				IconURL: strings.Clone(user.GetIconUrl()), Exists: true}
		}
	}
	for id, profile := range profiles {
		d.last.Set(id, profile)
	}
	return profiles, nil
}

// Proto returns the profile as a message of the contract.
func (p Profile) Proto(userID int64) *typev1.Profile {
	return &typev1.Profile{UserId: userID, Name: p.Name, IconUrl: p.IconURL}
}
