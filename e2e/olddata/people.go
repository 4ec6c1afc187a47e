package olddata

import (
	"crypto/md5" // #nosec G501 -- a form that old services have
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/waybook/waybook/waybookctl/movefile"
)

// BcryptPassword is the password of the users whose hash is bcrypt.
const BcryptPassword = "bcrypt-password"

// bcryptHash is its hash, at the lowest cost.
const bcryptHash = "$2a$04$kDPWcEv0JjwYHN3aLKo7eO3pOSpaRBAb9JOBiE3TRVDNNW2bpw8oO" // #nosec G101 -- a test

// Account is how a user logs in.
type Account struct {
	ID              int64
	Email, Password string
	// IDRand is the part of the cookie of an open session; empty if there is none.
	IDRand string
}

// Account returns how the nth user logs in. The hash is md5 for every third, bcrypt for the next; the
// third has no password.
func (o Options) Account(n int) Account {
	s := service{o}
	number := s.number(movefile.KindUser, n)
	a := Account{ID: number}
	switch n % 3 {
	case 0:
		a.Email, a.Password = fmt.Sprintf("user%d@old.example", number), fmt.Sprintf("old password %d", number)
	case 1:
		a.Email, a.Password = fmt.Sprintf("User%d@old.example", number), BcryptPassword
	}
	if n < o.Sessions {
		secret := sha256.Sum256(fmt.Appendf(nil, "session %d of %d", n, o.Seed))
		a.IDRand = hex.EncodeToString(secret[:16])
	}
	return a
}

// person returns the nth user and the session.
func (s service) person(n int) []movefile.Record {
	die, account := s.dice(movefile.KindUser, n), s.Account(n)
	u := &movefile.User{ID: s.user(n), Name: nickname(die), Email: account.Email, CreateTime: moment(die, n, s.Users)}
	if die.IntN(3) > 0 {
		u.IconURL = "icons/" + string(u.ID) + ".gif"
	}
	switch n % 3 {
	case 0:
		sum := md5.Sum([]byte(account.Password)) // #nosec G401 -- a form that old services have
		u.PasswordHash = hex.EncodeToString(sum[:])
	case 1:
		u.PasswordHash = bcryptHash
	}
	if s.isChanged(movefile.KindUser, n) {
		u.Name += "改"
	}
	if account.IDRand == "" {
		return []movefile.Record{u}
	}
	opened := movefile.Moment{Time: time.Date(2026, 11, 1, 0, 0, n, 0, time.UTC)}
	return []movefile.Record{u, &movefile.Session{
		UserID: u.ID, IDRand: account.IDRand, CreateTime: opened, ExpireTime: movefile.Moment{Time: opened.AddDate(1, 0, 0)},
	}}
}
