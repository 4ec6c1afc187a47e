package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// table is how messages of a type are shown.
type table[T proto.Message] struct {
	// kind is their plural.
	kind  string
	heads []string
	cells func(T) []string
}

var users = table[*accountv1.User]{
	"users", []string{"USER", "NAME", "EMAIL", "HAS PASSWORD", "HASH", "DISABLED", "HIDDEN", "ICON", "CREATED"},
	func(u *accountv1.User) []string {
		hash := "-"
		if u.GetPasswordForm() != accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED {
			hash = inWord(u.GetPasswordForm())
		}
		return []string{
			number(u.GetUserId()), u.GetName(), u.GetEmail(), strconv.FormatBool(u.GetHasPassword()), hash,
			strconv.FormatBool(u.GetDisabled()), strconv.FormatBool(u.GetHidden()),
			u.GetIconUrl(), output.Time(u.GetCreateTime()),
		}
	},
}

var sessions = table[*accountv1.Session]{
	"sessions", []string{"SESSION", "USER", "OPENED", "LAST USED", "EXPIRES"},
	func(s *accountv1.Session) []string {
		return []string{
			s.GetSessionId(), number(s.GetUserId()), timeOrDash(s.GetCreateTime()), timeOrDash(s.GetLastUsedTime()),
			output.Time(s.GetExpireTime()),
		}
	},
}

var albums = table[*albumv1.Album]{
	"albums", []string{"ALBUM", "CATEGORY", "LAT,LNG", "SCORE", "UPDATED", "OWNER", "TITLE"},
	func(a *albumv1.Album) []string {
		return []string{
			number(a.GetAlbumId()), inWord(a.GetCategory()), placeText(a.GetLocation()), number(a.GetScore()),
			output.Time(a.GetUpdateTime()),
			profileText(a.GetOwner()), a.GetTitle(),
		}
	},
}

var landmarks = table[*poiv1.Poi]{
	"landmarks", []string{"LANDMARK", "CATEGORY", "LAT,LNG", "SCORE", "UPDATED", "OWNER", "NAME"},
	func(p *poiv1.Poi) []string {
		return []string{
			number(p.GetPoiId()), inWord(p.GetCategory()), placeText(p.GetLocation()), number(p.GetScore()),
			output.Time(p.GetUpdateTime()),
			profileText(p.GetOwner()), p.GetName(),
		}
	},
}

var entries = table[*blogv1.Blog]{
	"entries", []string{"ENTRY", "PLANNED", "TYPE", "WEATHER", "LAT,LNG", "SCORE", "REWARD", "QUOTES", "AUTHOR",
		"TITLE"},
	func(b *blogv1.Blog) []string {
		quotes := ""
		if b.GetReplyBlogId() != 0 {
			quotes = number(b.GetReplyBlogId())
		}
		day := b.GetPostDate()
		return []string{
			number(b.GetBlogId()), fmt.Sprintf("%04d-%02d-%02d", day.GetYear(), day.GetMonth(), day.GetDay()),
			inWord(b.GetType()), inWord(b.GetWeather()),
			placeText(b.GetLocation()), number(b.GetScore()), number(b.GetReward()), quotes,
			profileText(b.GetAuthor()), b.GetTitle(),
		}
	},
}

var comments = table[*commentv1.Comment]{
	"comments", []string{"COMMENT", "AUTHOR", "CREATED", "TEXT", "REPLY"},
	func(c *commentv1.Comment) []string {
		return []string{number(c.GetCommentId()), profileText(c.GetAuthor()), output.Time(c.GetCreateTime()),
			c.GetText(), c.GetReply().GetText()}
	},
}

var writtenComments = table[*commentv1.Comment]{
	"comments", []string{"COMMENT", "ON", "CREATED", "TEXT"},
	func(c *commentv1.Comment) []string {
		return []string{number(c.GetCommentId()), nounOf(c.GetParentKind()) + " " + number(c.GetParentId()),
			output.Time(c.GetCreateTime()), c.GetText()}
	},
}

var (
	photos = table[*photov1.Photo]{"photos", []string{"PHOTO", "URL", "DESCRIPTION"}, func(p *photov1.Photo) []string {
		return []string{number(p.GetPhotoId()), p.GetUrl(), p.GetDescription()}
	}}
	choices = table[*blogv1.Choice]{"choices", []string{"VOTES", "CHOICE"}, func(c *blogv1.Choice) []string {
		return []string{number(c.GetVotes()), c.GetDescription()}
	}}
)

func placeText(at *typev1.Location) string { // as maps accept it
	degrees := func(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
	return degrees(at.GetLat()) + "," + degrees(at.GetLng())
}

func profileText(of *typev1.Profile) string {
	return strings.TrimSpace(of.GetName() + " (" + number(of.GetUserId()) + ")")
}

func timeOrDash(moment *timestamppb.Timestamp) string {
	if moment == nil {
		return "-"
	}
	return output.Time(moment)
}

func number(value int64) string { return strconv.FormatInt(value, 10) }

// record lays out one message.
func (t table[T]) record(page *output.Page, item T) { page.Record(t.heads, t.cells(item)) }

// rows lays out several messages.
func (t table[T]) rows(page *output.Page, items []T) { output.Rows(page, t.heads, items, t.cells) }

// print prints one message, and secrets that are shown only now.
func (t table[T]) print(out *output.Printer, item T, secrets ...output.Field) error {
	return out.Value(append(output.FromProto(item), secrets...), func(page *output.Page) {
		heads, cells := t.heads, t.cells(item)
		for _, secret := range secrets {
			heads, cells = append(heads[:len(heads):len(heads)], strings.ToUpper(secret.Name)), append(cells,
				secret.Value.(string))
		}
		page.Record(heads, cells)
	})
}

func (t table[T]) list(out *output.Printer, items iter.Seq2[T, error]) error {
	return output.Items(out, t.kind, t.heads, items, t.cells)
}

// limit is the flag that bounds the length of a list.
type limit struct {
	Limit uint `placeholder:"COUNT" help:"Maximum number of items; all when not given."`
}

// pageSize is the number of items on a page: few enough for a fast first page, enough for a long
// list to need few calls. Every list allows it.
const pageSize = 100

// pages reads a list page by page, up to its limit. It fetches a page only when its caller asks
// for the first item of that page. ask is a method of a client, whose request has a page_size, by
// default pageSize, and a page_token.
func pages[Request proto.Message, Reply interface{ GetNextPageToken() string }, Item any](
	ctx context.Context, most limit, ask func(context.Context, Request, ...grpc.CallOption) (Reply, error),
	request Request,
	items func(Reply) []Item,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		message := request.ProtoReflect()
		fields := message.Descriptor().Fields()
		size, token := fields.ByName("page_size"), fields.ByName("page_token")
		each := cmp.Or(uint(message.Get(size).Int()), pageSize)
		for left := cmp.Or(most.Limit, math.MaxUint); ; {
			message.Set(size, protoreflect.ValueOfInt32(int32(min(left, each))))
			reply, err := ask(ctx, request)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			page := items(reply)
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if left -= uint(len(page)); left == 0 || reply.GetNextPageToken() == "" {
				return
			}
			message.Set(token, protoreflect.ValueOfString(reply.GetNextPageToken()))
		}
	}
}
