package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// deviceLife is how long a device is known after the last login from it.
	deviceLife = 365 * 24 * time.Hour
	// deviceRenewal is how much a device's time is extended at least. So a login from a known
	// device rarely writes.
	deviceRenewal = 24 * time.Hour
	// maxDevices bounds the known devices of a user. Clients that never send a device token
	// back get a new one with each login, so the bound is far above what a person has.
	maxDevices = 100
)

// devices are the devices from which users have logged in, over all processes that share the
// store. Attempts from them have a limit of their own, so strangers lock nobody out. Devices
// may be used concurrently.
type devices struct {
	stored *docstore.Collection[int64, userDevices]
	now    func() time.Time
	turns  *turns
}

// known returns the user's device that one of the tokens names, or the zero device. It reads
// as much for a user who does not exist, so its time reveals nothing.
func (d *devices) known(ctx context.Context, u user, tokens []string) (found device, token string, err error) {
	if len(tokens) == 0 {
		return device{}, "", nil
	}
	stored, err := d.stored.Get(ctx, u.ID)
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return device{}, "", err
	}
	now := d.now().UnixMilli()
	for _, token := range tokens {
		id := tokenID(token)
		for _, each := range stored.Devices {
			if each.ID == id && each.isValid(u.CredentialGeneration, now) {
				return each, token, nil
			}
		}
	}
	return device{}, "", nil
}

// remember extends the time of a known device. For the zero device it stores a new one. It
// returns the device and its token.
func (d *devices) remember(ctx context.Context, u user, last device, token string) (device, string, error) {
	now := d.now()
	next := device{ID: last.ID, CredentialGeneration: u.CredentialGeneration, ExpireMillis: now.Add(deviceLife).UnixMilli()}
	if next.ID == "" {
		token = newToken()
		next.ID = tokenID(token)
	} else if next.ExpireMillis-last.ExpireMillis < deviceRenewal.Milliseconds() {
		return last, token, nil
	}
	done, err := d.turns.take(ctx, u.EmailKey)
	if err != nil {
		return device{}, "", err
	}
	defer done()
	err = upsert(ctx, d.stored, u.ID, userDevices{UserID: u.ID}, func(of *userDevices) error {
		of.put(next, now.UnixMilli())
		return nil
	})
	return next, token, err
}

// put stores a device in the place that it has, or that an invalid device has, or in a new
// one. If there are maxDevices, it takes the place of the one that was used least recently.
// All other devices keep their places, so that the change of the document is small.
func (of *userDevices) put(next device, nowMillis int64) {
	of.ExpireMillis = max(of.ExpireMillis, next.ExpireMillis)
	place := slices.IndexFunc(of.Devices, func(each device) bool { return each.ID == next.ID })
	if place < 0 {
		place = slices.IndexFunc(of.Devices, func(each device) bool {
			return each.CredentialGeneration < next.CredentialGeneration || each.ExpireMillis <= nowMillis
		})
	}
	if place < 0 && len(of.Devices) < maxDevices {
		of.Devices = append(of.Devices, next)
		return
	}
	if place < 0 {
		place = slices.Index(of.Devices, slices.MinFunc(of.Devices, func(a, b device) int {
			return cmp.Compare(a.ExpireMillis, b.ExpireMillis)
		}))
	}
	of.Devices[place] = next
}

func (each device) isValid(generation, nowMillis int64) bool {
	return each.CredentialGeneration == generation && nowMillis < each.ExpireMillis
}

func (d *devices) removeExpired(ctx context.Context) error {
	return removeExpired(ctx, d.stored, d.now())
}
