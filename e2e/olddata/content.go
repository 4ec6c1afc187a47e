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

// album returns the nth album and its recommendations, and so on for the functions below.
func (s service) album(n int) []movefile.Record {
	die := s.dice(movefile.KindAlbum, n)
	a := &movefile.Album{
		ID: s.id(movefile.KindAlbum, n), OwnerID: s.user(die.IntN(s.Users)), Title: title(die), Category: 1 + die.Int64N(16),
		CreateTime: moment(die, n, s.Albums),
	}
	a.Lat, a.Lng = place(die)
	a.UpdateTime = later(die, a.CreateTime)
	recommenders := s.recommenders(die)
	a.Score = int64(len(recommenders)) + die.Int64N(3)
	s.spoil(die, &a.Title)
	if s.isChanged(movefile.KindAlbum, n) {
		a.Title, a.UpdateTime = "改 "+a.Title, after(a.UpdateTime)
	}
	records := []movefile.Record{a}
	for _, user := range recommenders {
		records = append(records, &movefile.Recommendation{AlbumID: a.ID, UserID: user})
	}
	return records
}

func (s service) landmark(n int) []movefile.Record {
	die := s.dice(movefile.KindLandmark, n)
	l := &movefile.Landmark{
		ID: s.id(movefile.KindLandmark, n), OwnerID: s.user(die.IntN(s.Users)), Name: title(die), Category: 1 + die.Int64N(5),
		CreateTime: moment(die, n, s.Landmarks),
	}
	l.Lat, l.Lng = place(die)
	recommenders := s.recommenders(die)
	l.Score = int64(len(recommenders))
	if s.isChanged(movefile.KindLandmark, n) {
		l.Name, l.UpdateTime = "改 "+l.Name, after(l.CreateTime)
	}
	records := []movefile.Record{l}
	for _, user := range recommenders {
		records = append(records, &movefile.Recommendation{LandmarkID: l.ID, UserID: user})
	}
	return records
}

func (s service) entry(n int) []movefile.Record {
	die := s.dice(movefile.KindEntry, n)
	e := &movefile.Entry{
		ID: s.id(movefile.KindEntry, n), AuthorID: s.user(die.IntN(s.Users)), Type: pick(die, movefile.EntryTypes()),
		Title: title(die), Content: prose(die, 3+die.IntN(40)), Weather: pick(die, movefile.Weathers()),
		CreateTime: moment(die, n, s.Entries), Reward: 10,
	}
	e.Lat, e.Lng = place(die)
	e.PostDate = e.CreateTime.Format("2006-01-02")
	if n > 0 && die.IntN(5) == 0 {
		e.QuotedID = s.id(movefile.KindEntry, die.IntN(n)) // people quote what they have read
	}
	if s.hasFlaw(die) {
		e.QuotedID = gone(die)
	}
	if die.IntN(3) == 0 {
		zoom := die.Int64N(22)
		e.ZoomLevel, e.MapType = &zoom, 1+die.Int64N(3)
	}
	ballots := s.vote(die, e)
	if s.isChanged(movefile.KindEntry, n) {
		e.Content, e.UpdateTime = e.Content+"\n(改)", after(e.CreateTime)
	}
	records := append([]movefile.Record{e}, ballots...)
	return append(records, &movefile.Reward{UserID: e.AuthorID, ID: e.ID, Amount: 10})
}

// vote gives an entry a vote, and returns the ballots.
func (s service) vote(die *rand.Rand, e *movefile.Entry) (ballots []movefile.Record) {
	if die.IntN(2) == 0 {
		return nil
	}
	e.Vote = &movefile.Vote{Description: pick(die, titles) + "?"}
	for range 2 + die.IntN(4) {
		e.Vote.Choices = append(e.Vote.Choices, movefile.Choice{Description: title(die), Votes: die.Int64N(4)})
	}
	for _, user := range s.recommenders(die) {
		choice := die.IntN(len(e.Vote.Choices))
		e.Vote.Choices[choice].Votes++
		ballots = append(ballots, &movefile.Ballot{EntryID: e.ID, UserID: user, Choice: int64(choice) + 1})
	}
	return ballots
}

// recommenders returns up to five users, each once.
func (s service) recommenders(die *rand.Rand) (users []movefile.ID) {
	first := die.IntN(s.Users)
	for k := range min(die.IntN(6), s.Users) {
		users = append(users, s.user((first+k)%s.Users))
	}
	return users
}

func (s service) photo(n int) []movefile.Record {
	die := s.dice(movefile.KindPhoto, n)
	p := &movefile.Photo{ID: s.id(movefile.KindPhoto, n), URL: "upload/" + Decimal(int64(n%100)) + "/" + Decimal(int64(n)) + ".jpg"}
	if die.IntN(4) == 0 {
		p.Description = prose(die, 1+die.IntN(3))
	}
	switch {
	case s.hasFlaw(die):
		p.AlbumID = gone(die)
	case die.IntN(25) == 0:
		p.LandmarkID = s.id(movefile.KindLandmark, die.IntN(s.Landmarks))
	default:
		p.AlbumID = s.id(movefile.KindAlbum, s.parent(die, n, s.Photos, s.Albums, days))
	}
	return []movefile.Record{p}
}

func (s service) comment(n int) []movefile.Record {
	die := s.dice(movefile.KindComment, n)
	c := &movefile.Comment{ID: s.id(movefile.KindComment, n), Text: prose(die, 1+die.IntN(6)), CreateTime: moment(die, n, s.Comments)}
	if s.Edition > 1 && s.number(movefile.KindComment, n)%997 == 0 {
		return nil
	}
	switch kind := die.IntN(20); {
	case s.hasFlaw(die):
		c.AlbumID = gone(die)
	case kind == 0:
		c.LandmarkID = s.id(movefile.KindLandmark, die.IntN(s.Landmarks))
	case kind < 6:
		c.EntryID = s.id(movefile.KindEntry, s.parent(die, n, s.Comments, s.Entries, weeks))
	default:
		c.AlbumID = s.id(movefile.KindAlbum, s.parent(die, n, s.Comments, s.Albums, weeks))
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
	return []movefile.Record{c}
}

// days and weeks are parts of the time that the service ran.
const (
	days  = 1. / 2000
	weeks = 1. / 200
)

// parent chooses the parent, of count, of the nth of several children. Children come soon after their parents, and some
// at any time later. A few parents have many children.
func (s service) parent(die *rand.Rand, n, children, count int, soon float64) int {
	newest := min(int(int64(n)*int64(count)/int64(children)), count-1)
	switch kind := die.IntN(50); {
	case kind == 0:
		return die.IntN(1 + count/1000)
	case s.Scattered:
		return die.IntN(count)
	case kind < 5:
		return die.IntN(newest + 1)
	}
	return max(0, newest-int(die.ExpFloat64()*float64(count)*soon))
}

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
