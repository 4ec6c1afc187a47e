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

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/moving/format"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// album returns the nth album and its recommendations, and so on for the functions below.
func (s service) album(n int) []*moveinv1.Record {
	die := s.dice(format.KindAlbum, n)
	a := &moveinv1.Album{
		Id: s.id(format.KindAlbum, n), OwnerId: s.user(die.IntN(s.Users)), Title: title(die), Category: 1 + die.Int32N(16),
		CreateTime: moment(die, n, s.Albums),
	}
	a.Lat, a.Lng = place(die)
	a.UpdateTime = later(die, a.GetCreateTime())
	recommenders := s.recommenders(die)
	a.Score = int64(len(recommenders)) + die.Int64N(3)
	s.spoil(die, &a.Title)
	records := []*moveinv1.Record{{Record: &moveinv1.Record_Album{Album: a}}}
	for _, user := range recommenders {
		records = append(records, recommendation(&moveinv1.Recommendation{Parent: &moveinv1.Recommendation_AlbumId{AlbumId: a.GetId()}, UserId: user}))
	}
	return records
}

func (s service) landmark(n int) []*moveinv1.Record {
	die := s.dice(format.KindLandmark, n)
	l := &moveinv1.Landmark{
		Id: s.id(format.KindLandmark, n), OwnerId: s.user(die.IntN(s.Users)), Name: title(die), Category: 1 + die.Int32N(5),
		CreateTime: moment(die, n, s.Landmarks),
	}
	l.Lat, l.Lng = place(die)
	recommenders := s.recommenders(die)
	l.Score = int64(len(recommenders))
	records := []*moveinv1.Record{{Record: &moveinv1.Record_Landmark{Landmark: l}}}
	for _, user := range recommenders {
		records = append(records, recommendation(&moveinv1.Recommendation{Parent: &moveinv1.Recommendation_LandmarkId{LandmarkId: l.GetId()}, UserId: user}))
	}
	return records
}

func (s service) entry(n int) []*moveinv1.Record {
	die := s.dice(format.KindEntry, n)
	e := &moveinv1.Entry{
		Id: s.id(format.KindEntry, n), AuthorId: s.user(die.IntN(s.Users)), Type: blogv1.BlogType(1 + die.Int32N(9)),
		Title: title(die), Content: prose(die, 3+die.IntN(40)), Weather: blogv1.Weather(1 + die.Int32N(7)),
		CreateTime: moment(die, n, s.Entries), Reward: 10,
	}
	e.Lat, e.Lng = place(die)
	day := e.GetCreateTime().AsTime()
	e.PostDate = &typev1.Date{Year: int32(day.Year()), Month: int32(day.Month()), Day: int32(day.Day())} // #nosec G115 -- of this century
	if n > 0 && die.IntN(5) == 0 {
		e.QuotedId = s.id(format.KindEntry, die.IntN(n)) // people quote what they have read
	}
	if s.hasFlaw(die) {
		e.QuotedId = Decimal(gone(die))
	}
	if die.IntN(3) == 0 {
		e.ZoomLevel, e.MapType = new(die.Int32N(22)), new(1+die.Int32N(3))
	}
	ballots := s.vote(die, e)
	records := append([]*moveinv1.Record{{Record: &moveinv1.Record_Entry{Entry: e}}}, ballots...)
	return append(records, &moveinv1.Record{Record: &moveinv1.Record_Reward{Reward: &moveinv1.Reward{UserId: e.GetAuthorId(), Id: e.GetId(), Amount: 10}}})
}

// vote gives an entry a vote, and returns the ballots.
func (s service) vote(die *rand.Rand, e *moveinv1.Entry) (ballots []*moveinv1.Record) {
	if die.IntN(2) == 0 {
		return nil
	}
	e.Vote = &moveinv1.Vote{Description: pick(die, titles) + "?"}
	for range 2 + die.IntN(4) {
		e.Vote.Choices = append(e.GetVote().GetChoices(), &moveinv1.Choice{Description: title(die), Votes: die.Int64N(4)})
	}
	for _, user := range s.recommenders(die) {
		choice := die.IntN(len(e.GetVote().GetChoices()))
		e.GetVote().GetChoices()[choice].Votes++
		ballot := &moveinv1.Ballot{EntryId: e.GetId(), UserId: user, Choice: int32(choice) + 1} // #nosec G115 -- a few
		ballots = append(ballots, &moveinv1.Record{Record: &moveinv1.Record_Ballot{Ballot: ballot}})
	}
	return ballots
}

// recommenders returns up to five users, each once.
func (s service) recommenders(die *rand.Rand) (users []int64) {
	first := die.IntN(s.Users)
	for k := range min(die.IntN(6), s.Users) {
		users = append(users, s.user((first+k)%s.Users))
	}
	return users
}

func (s service) photo(n int) []*moveinv1.Record {
	die := s.dice(format.KindPhoto, n)
	p := &moveinv1.Photo{Id: s.id(format.KindPhoto, n), Url: "upload/" + Decimal(int64(n%100)) + "/" + Decimal(int64(n)) + ".jpg"}
	if die.IntN(4) == 0 {
		p.Description = prose(die, 1+die.IntN(3))
	}
	switch {
	case s.hasFlaw(die):
		p.Parent = &moveinv1.Photo_AlbumId{AlbumId: Decimal(gone(die))}
	case die.IntN(25) == 0:
		p.Parent = &moveinv1.Photo_LandmarkId{LandmarkId: s.id(format.KindLandmark, die.IntN(s.Landmarks))}
	default:
		p.Parent = &moveinv1.Photo_AlbumId{AlbumId: s.id(format.KindAlbum, s.parent(die, n, s.Photos, s.Albums, days))}
	}
	return []*moveinv1.Record{{Record: &moveinv1.Record_Photo{Photo: p}}}
}

func (s service) comment(n int) []*moveinv1.Record {
	die := s.dice(format.KindComment, n)
	c := &moveinv1.Comment{Id: s.id(format.KindComment, n), Text: prose(die, 1+die.IntN(6)), CreateTime: moment(die, n, s.Comments)}
	switch kind := die.IntN(20); {
	case s.hasFlaw(die):
		c.Parent = &moveinv1.Comment_AlbumId{AlbumId: Decimal(gone(die))}
	case kind == 0:
		c.Parent = &moveinv1.Comment_LandmarkId{LandmarkId: s.id(format.KindLandmark, die.IntN(s.Landmarks))}
	case kind < 6:
		c.Parent = &moveinv1.Comment_EntryId{EntryId: s.id(format.KindEntry, s.parent(die, n, s.Comments, s.Entries, weeks))}
	default:
		c.Parent = &moveinv1.Comment_AlbumId{AlbumId: s.id(format.KindAlbum, s.parent(die, n, s.Comments, s.Albums, weeks))}
	}
	switch {
	case die.IntN(10) == 0:
		c.AuthorName, c.AuthorIconUrl = nickname(die), "guest.gif"
	case s.hasFlaw(die):
		c.AuthorId = gone(die)
	default:
		c.AuthorId = s.user(die.IntN(s.Users))
	}
	s.spoil(die, &c.Text)
	if die.IntN(4) == 0 {
		c.Reply, c.ReplyTime = pick(die, []string{"謝謝!", "哈哈", "下次一起去 :)", "<3"}), later(die, c.GetCreateTime())
	}
	return []*moveinv1.Record{{Record: &moveinv1.Record_Comment{Comment: c}}}
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
	number := s.number(format.KindUser, n)
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
func (s service) person(n int) []*moveinv1.Record {
	die, account := s.dice(format.KindUser, n), s.Account(n)
	u := &moveinv1.User{Id: s.user(n), Name: nickname(die), Email: account.Email, CreateTime: moment(die, n, s.Users)}
	if die.IntN(3) > 0 {
		u.IconUrl = "icons/" + Decimal(u.GetId()) + ".gif"
	}
	switch n % 3 {
	case 0:
		sum := md5.Sum([]byte(account.Password)) // #nosec G401 -- a form that old services have
		u.PasswordHash = hex.EncodeToString(sum[:])
	case 1:
		u.PasswordHash = bcryptHash
	}
	records := []*moveinv1.Record{{Record: &moveinv1.Record_User{User: u}}}
	if account.IDRand != "" {
		opened := time.Date(2026, 11, 1, 0, 0, n, 0, time.UTC)
		session := &moveinv1.Session{
			UserId: u.GetId(), Idrand: account.IDRand, CreateTime: timestamppb.New(opened), ExpireTime: timestamppb.New(opened.AddDate(1, 0, 0)),
		}
		records = append(records, &moveinv1.Record{Record: &moveinv1.Record_Session{Session: session}})
	}
	return records
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

func place(die *rand.Rand) (lat, lng *float64) {
	return new(float64(21_900_000+die.IntN(3_400_000)) / 1e6), new(float64(120_000_000+die.IntN(2_000_000)) / 1e6)
}

// moment returns when the nth of several things was made, in the years from 2004 to 2024.
func moment(die *rand.Rand, n, of int) *timestamppb.Timestamp {
	const years = 20 * 365 * 24 * 3600
	begin := time.Date(2004, 5, 1, 0, 0, 0, 0, time.UTC)
	return timestamppb.New(begin.Add(time.Duration(int64(n)*years/int64(max(of, 1))+die.Int64N(86_400)) * time.Second))
}

func later(die *rand.Rand, than *timestamppb.Timestamp) *timestamppb.Timestamp {
	return timestamppb.New(than.AsTime().Add(time.Duration(die.Int64N(40*86_400)) * time.Second))
}

func recommendation(r *moveinv1.Recommendation) *moveinv1.Record {
	return &moveinv1.Record{Record: &moveinv1.Record_Recommendation{Recommendation: r}}
}
