package olddata

import (
	"crypto/md5" // #nosec G501 -- a form that old services have
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/moving/format"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// dice returns random numbers for the nth thing of a kind: always the same ones.
func dice(kind format.Kind, n int) *rand.Rand {
	const spread = 0x9e3779b97f4a7c15
	return rand.New(rand.NewPCG(uint64(kind[0])<<8+uint64(kind[1]), uint64(n)*spread+1)) // #nosec G404 -- the same ones each time
}

// number returns the nth number. They grow, with gaps.
func number(n int) int64 { return 7 + 3*int64(n) + int64(n*n%3) }

// id returns the identifier of the nth thing of a kind, of which some are texts.
func id(kind format.Kind, n int) string {
	if number(n)%53 == 0 {
		return "old-" + string(kind[:1]) + "." + strconv.FormatInt(number(n), 10)
	}
	return strconv.FormatInt(number(n), 10)
}

// moment returns when the nth of several things was made, in the years from 2004 to 2024; of those behind them, later.
func moment(n, of int) *timestamppb.Timestamp {
	const years = 20 * 365 * 24 * 3600
	return &timestamppb.Timestamp{Seconds: 1_083_369_600 + int64(n)*years/int64(of)}
}

func place(die *rand.Rand) (lat, lng *float64) {
	return proto.Float64(float64(21_900_000+die.IntN(3_400_000)) / 1e6), proto.Float64(float64(120_000_000+die.IntN(2_000_000)) / 1e6)
}

func user(n int) *moveinv1.User {
	sum := md5.Sum(fmt.Appendf(nil, "old password %d", n)) // #nosec G401 -- a form that old services have
	u := &moveinv1.User{
		Id: number(n), Name: title(dice(format.KindUser, n)), IconUrl: "icons/" + strconv.Itoa(n) + ".gif", CreateTime: moment(n, 1_000_000),
	}
	if n%3 > 0 {
		u.Email, u.PasswordHash = fmt.Sprintf("user%d@old.example", n), hex.EncodeToString(sum[:])
	}
	return u
}

// owner returns the user who owns the nth thing.
func (s Sizes) owner(die *rand.Rand) int64 { return number(die.IntN(s.Users)) }

func (s Sizes) album(n int) *moveinv1.Album {
	die := dice(format.KindAlbum, n)
	a := &moveinv1.Album{
		Id: id(format.KindAlbum, n), OwnerId: s.owner(die), Title: title(die), Category: 1 + die.Int32N(16), CreateTime: moment(n, s.Albums),
		Score: int64(len(s.some(format.KindRecommendation, n)) + die.IntN(3)),
	}
	a.Lat, a.Lng = place(die)
	return a
}

func (s Sizes) landmark(n int) *moveinv1.Landmark {
	die := dice(format.KindLandmark, n)
	l := &moveinv1.Landmark{
		Id: id(format.KindLandmark, n), OwnerId: s.owner(die), Name: title(die), Category: 1 + die.Int32N(5), CreateTime: moment(n, s.Landmarks),
	}
	l.Lat, l.Lng = place(die)
	return l
}

func (s Sizes) entry(n int) *moveinv1.Entry {
	die := dice(format.KindEntry, n)
	created := moment(n, s.Entries)
	day := created.AsTime()
	e := &moveinv1.Entry{
		Id: id(format.KindEntry, n), AuthorId: s.owner(die), Type: blogv1.BlogType(1 + die.Int32N(9)), Weather: blogv1.Weather(1 + die.Int32N(7)),
		Title: title(die), Content: prose(die, 3+die.IntN(40)), CreateTime: created, Reward: 10,
		PostDate: &typev1.Date{Year: int32(day.Year()), Month: int32(day.Month()), Day: int32(day.Day())}, // #nosec G115 -- of a calendar
		Vote:     &blogv1.Vote{Description: title(die) + "?"},
	}
	e.Lat, e.Lng = place(die)
	if n%5 == 1 {
		e.QuotedId = id(format.KindEntry, die.IntN(n))
	}
	for range choices {
		e.Vote.Choices = append(e.Vote.Choices, &blogv1.Choice{Description: title(die), Votes: 1 + die.Int64N(4)})
	}
	return e
}

// choices is how many choices a vote has. Each has a ballot, if there are so many users.
const choices = 5

// some returns up to five users, each once.
func (s Sizes) some(kind format.Kind, n int) (users []int64) {
	die := dice(kind, n)
	first := die.IntN(s.Users)
	for k := range min(die.IntN(choices+1), s.Users) {
		users = append(users, number((first+k)%s.Users))
	}
	return users
}

func photo(album, n int) *moveinv1.Photo {
	p := &moveinv1.Photo{
		Id: id(format.KindPhoto, n), Url: fmt.Sprintf("upload/%d/%d.jpg", n%100, n), Parent: &moveinv1.Photo_AlbumId{AlbumId: id(format.KindAlbum, album)},
	}
	if die := dice(format.KindPhoto, n); die.IntN(4) == 0 {
		p.Description = prose(die, 2)
	}
	return p
}

// comment returns a comment on content of one of contents.
func (s Sizes) comment(kind, parent, n int) *moveinv1.Comment {
	die := dice(format.KindComment, n)
	c := &moveinv1.Comment{Id: id(format.KindComment, n), Text: prose(die, 1+die.IntN(6)), CreateTime: moment(n%s.Comments, s.Comments)}
	switch of := id(contents()[kind], parent); kind {
	case 0:
		c.Parent = &moveinv1.Comment_AlbumId{AlbumId: of}
	case 1:
		c.Parent = &moveinv1.Comment_EntryId{EntryId: of}
	case 2:
		c.Parent = &moveinv1.Comment_LandmarkId{LandmarkId: of}
	}
	if die.IntN(10) == 0 {
		c.AuthorName, c.AuthorIconUrl = title(die), "guest.gif"
	} else {
		c.AuthorId = s.owner(die)
	}
	if die.IntN(4) == 0 {
		c.Reply = prose(die, 1)
	}
	return c
}

func pick(die *rand.Rand, from []string) string { return from[die.IntN(len(from))] }

func title(die *rand.Rand) string {
	return pick(die, []string{"東北角一日遊", "淡水夕陽", "貓與狗", "畢業旅行", "我的生日 party", "九份老街", "志明", "小春嬌"}) +
		pick(die, []string{"", " 2008", " (二)", " & more", " <未完>", "★"})
}

// prose returns a text that is not blank.
func prose(die *rand.Rand, length int) string {
	text := strings.Builder{}
	for range length {
		text.WriteString(pick(die, []string{
			"今天天氣很好,", "我們一大早就出發,", "晚餐吃了蚵仔煎和珍珠奶茶,", "拍了好多照片!", "<b>粗體</b> & 'quotes' \"雙引號\" ]]>", "http://old.example/?a=1&b=2",
			"😊👍", "\n\n", "\t縮排", "許功蓋", "𠮷野家", "e\u0301", "مرحبا", "\u200b",
		}))
	}
	return "好。" + text.String()
}
