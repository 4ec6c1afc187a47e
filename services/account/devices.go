package account

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
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

// present is a device that a client has named by its token.
type present struct {
	device
	userID int64
	token  string
}

// usersOf returns the ids of users that tokens name.
func usersOf(tokens []string) (ids []int64, err error) {
	ids = make([]int64, len(tokens))
	for i, token := range tokens {
		id, _, _ := strings.Cut(token, "-")
		if ids[i], err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// named returns the devices of users that tokens name and that have not expired. The users may
// have another generation by now.
func (d *devices) named(ctx context.Context, tokens []string, ids []int64) (all []present, err error) {
	stored, err := d.stored.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	now := d.now().UnixMilli()
	for i, token := range tokens {
		for _, of := range stored {
			for _, each := range of.Devices {
				if of.UserID == ids[i] && each.ID == tokenID(token) && now < each.ExpireMillis {
					all = append(all, present{each, of.UserID, token})
				}
			}
		}
	}
	return all, nil
}

// remember extends the time of a known device. For the zero device it stores a new one. It
// returns the device.
func (d *devices) remember(ctx context.Context, u user, last present) (present, error) {
	now := d.now()
	next := last
	next.CredentialGeneration, next.ExpireMillis = u.CredentialGeneration, now.Add(deviceLife).UnixMilli()
	if next.ID == "" {
		next.userID, next.token = u.ID, strconv.FormatInt(u.ID, 10)+"-"+newToken()
		next.ID = tokenID(next.token)
	} else if next.ExpireMillis-last.ExpireMillis < deviceRenewal.Milliseconds() {
		return last, nil
	}
	done, err := d.turns.take(ctx, u.EmailKey)
	if err != nil {
		return present{}, err
	}
	defer done()
	err = upsert(ctx, d.stored, u.ID, userDevices{UserID: u.ID}, func(of *userDevices) error {
		of.put(next.device, now.UnixMilli())
		return nil
	})
	return next, err
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
