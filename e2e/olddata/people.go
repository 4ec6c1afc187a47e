package olddata

import (
	"crypto/md5" // #nosec G501 -- a form that old services have
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/moving/movefile"
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

var (
	families = strings.Split("陳林黃張李王吳劉蔡楊許鄭謝郭洪曾邱廖賴徐", "")
	given    = strings.Split("志明春嬌淑芬俊傑怡君家豪雅婷宗翰佳穎承恩品妤宥廷詠晴冠宇", "")
	handles  = []string{"小", "阿", "大", "老"}
	titles   = []string{"東北角一日遊", "淡水夕陽", "貓與狗", "未命名", "畢業旅行", "我的生日 party", "九份老街", "阿里山看日出", "校慶", "夜市美食"}
	phrases  = []string{
		"今天天氣很好,", "我們一大早就出發,", "路上塞車塞了兩個小時。", "晚餐吃了蚵仔煎和珍珠奶茶,", "拍了好多照片!", "真的好累……", "下次還要再來。",
		"<b>粗體</b> & 'quotes' \"雙引號\" ]]>", "http://old.example/?a=1&b=2", "😊👍", "\r\n", "\n\n", "\t縮排", "  ", "許功蓋", "𠮷野家", "e\u0301", "مرحبا", "\u200b",
	}
)

// Decimal formats a number.
func Decimal(n int64) string { return strconv.FormatInt(n, 10) }

func pick(die *rand.Rand, from []string) string { return from[die.IntN(len(from))] }

func nickname(die *rand.Rand) string {
	if die.IntN(3) == 0 {
		return pick(die, handles) + pick(die, given) + []string{"", "★", " ^_^", "<i>", "&"}[die.IntN(5)]
	}
	return pick(die, families) + pick(die, given) + pick(die, given)
}

func title(die *rand.Rand) string {
	return pick(die, titles) + []string{"", " 2008", " (二)", " & more", " <未完>"}[die.IntN(5)]
}

// prose returns a text that is not blank.
func prose(die *rand.Rand, length int) string {
	var text strings.Builder
	text.WriteString(pick(die, phrases[:7]))
	for range length {
		text.WriteString(pick(die, phrases))
	}
	return text.String()
}

// spoil gives some texts a flaw.
func (s service) spoil(die *rand.Rand, text *string) {
	if !s.hasFlaw(die) {
		return
	}
	if die.IntN(2) == 0 {
		*text += "\x0b\x00"
		return
	}
	*text = strings.Repeat(*text+" ", 1+220/len([]rune(*text)))
	if len([]rune(*text)) > 1500 {
		*text = string([]rune(*text)[:1500])
	}
}

func place(die *rand.Rand) (lat, lng float64) {
	return float64(21_900_000+die.IntN(3_400_000)) / 1e6, float64(120_000_000+die.IntN(2_000_000)) / 1e6
}

// moment returns when the nth of several things was made, in the years from 2004 to 2024.
func moment(die *rand.Rand, n, of int) movefile.Moment {
	const years = 20 * 365 * 24 * 3600
	begin := time.Date(2004, 5, 1, 0, 0, 0, 0, time.UTC)
	return movefile.Moment{Time: begin.Add(time.Duration(int64(n)*years/int64(max(of, 1))+die.Int64N(86_400)) * time.Second)}
}

func later(die *rand.Rand, than movefile.Moment) movefile.Moment {
	return movefile.Moment{Time: than.Add(time.Duration(die.Int64N(40*86_400)) * time.Second)}
}

// after returns a time after the first edition.
func after(than movefile.Moment) movefile.Moment { return movefile.Moment{Time: than.AddDate(2, 0, 0)} }
