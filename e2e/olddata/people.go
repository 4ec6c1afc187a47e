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

func (s service) users(write put) error {
	for n := range s.Users {
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
		if err := write(u); err != nil {
			return err
		}
		if account.IDRand == "" {
			continue
		}
		opened := movefile.Moment{Time: time.Date(2026, 11, 1, 0, 0, n, 0, time.UTC)}
		if err := write(&movefile.Session{
			UserID: u.ID, IDRand: account.IDRand, CreateTime: opened, ExpireTime: movefile.Moment{Time: opened.AddDate(1, 0, 0)},
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s service) comments(write put) error {
	count := s.Comments
	if s.Edition > 1 {
		count += s.Comments/100 + 1
	}
	for n := range count {
		die := s.dice(movefile.KindComment, n)
		c := &movefile.Comment{ID: s.id(movefile.KindComment, n), Text: prose(die, 1+die.IntN(6)), CreateTime: moment(die, n, s.Comments)}
		if s.Edition > 1 && s.number(movefile.KindComment, n)%997 == 0 {
			continue
		}
		switch kind := die.IntN(20); {
		case s.hasFlaw(die):
			c.AlbumID = gone(die)
		case kind == 0:
			c.LandmarkID = s.id(movefile.KindLandmark, die.IntN(s.Landmarks))
		case kind < 6:
			c.EntryID = s.id(movefile.KindEntry, s.skewed(die, s.Entries))
		default:
			c.AlbumID = s.id(movefile.KindAlbum, s.skewed(die, s.Albums))
		}
		switch {
		case die.IntN(10) == 0:
			c.AuthorName, c.AuthorIconURL = nickname(die), "guest.gif"
		case s.hasFlaw(die):
			c.AuthorID = gone(die)
		default:
			c.AuthorID = s.user(die.IntN(s.Users))
		}
		s.spoil(die, &c.Text)
		if die.IntN(4) == 0 {
			c.Reply, c.ReplyTime = pick(die, []string{"謝謝!", "哈哈", "下次一起去 :)", "<3"}), later(die, c.CreateTime)
		}
		if err := write(c); err != nil {
			return err
		}
	}
	return nil
}
