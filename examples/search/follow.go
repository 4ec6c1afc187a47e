package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Batch is a batch of changes, with the token that continues after them.
type Batch struct {
	Changes []Change
	Token   string
}

// Source watches the changes of a kind. watch calls each with every batch, until it fails.
type Source struct {
	Kind  Kind
	watch func(ctx context.Context, token string, each func(Batch) error) error
}

// Albums returns the changes of albums.
func Albums(service grpc.ClientConnInterface) Source {
	client := albumv1.NewAlbumServiceClient(service)
	return Source{Album, func(ctx context.Context, token string, each func(Batch) error) error {
		stream, err := client.WatchAlbumChanges(ctx, &albumv1.WatchAlbumChangesRequest{PageToken: token, IncludeAlbum: true})
		return receive(stream, err, each, func(batch *albumv1.WatchAlbumChangesResponse) (b Batch) {
			for _, c := range batch.GetChanges() {
				b.add(c.GetAlbumId(), c.GetAlbum() != nil, Text{
					Kind: Album, Title: c.GetAlbum().GetTitle(), Category: wordOf(c.GetAlbum().GetCategory()), Place: placeOf(c.GetAlbum()),
				})
			}
			return b
		})
	}}
}

// Entries returns the changes of entries.
func Entries(service grpc.ClientConnInterface) Source {
	client := blogv1.NewBlogServiceClient(service)
	return Source{Entry, func(ctx context.Context, token string, each func(Batch) error) error {
		stream, err := client.WatchBlogChanges(ctx, &blogv1.WatchBlogChangesRequest{PageToken: token, IncludeBlog: true})
		return receive(stream, err, each, func(batch *blogv1.WatchBlogChangesResponse) (b Batch) {
			for _, c := range batch.GetChanges() {
				day := c.GetBlog().GetPostDate()
				b.add(c.GetBlogId(), c.GetBlog() != nil, Text{
					Kind: Entry, Title: c.GetBlog().GetTitle(), Content: c.GetBlog().GetContent(), Category: wordOf(c.GetBlog().GetType()),
					Place: placeOf(c.GetBlog()), Day: dayOf(int(day.GetYear()), int(day.GetMonth()), int(day.GetDay())),
				})
			}
			return b
		})
	}}
}

// Landmarks returns the changes of landmarks.
func Landmarks(service grpc.ClientConnInterface) Source {
	client := poiv1.NewPoiServiceClient(service)
	return Source{Landmark, func(ctx context.Context, token string, each func(Batch) error) error {
		stream, err := client.WatchPoiChanges(ctx, &poiv1.WatchPoiChangesRequest{PageToken: token, IncludePoi: true})
		return receive(stream, err, each, func(batch *poiv1.WatchPoiChangesResponse) (b Batch) {
			for _, c := range batch.GetChanges() {
				b.add(c.GetPoiId(), c.GetPoi() != nil, Text{
					Kind: Landmark, Title: c.GetPoi().GetName(), Category: wordOf(c.GetPoi().GetCategory()), Place: placeOf(c.GetPoi()),
				})
			}
			return b
		})
	}}
}

// wordOf returns the word of a value: ALBUM_CATEGORY_FOOD is food.
func wordOf(value protoreflect.Enum) string {
	all := value.Descriptor().Values()
	prefix := strings.TrimSuffix(string(all.ByNumber(0).Name()), "UNSPECIFIED")
	described := all.ByNumber(value.Number())
	if described == nil {
		return "" // a later version has it
	}
	return strings.ToLower(strings.TrimPrefix(string(described.Name()), prefix))
}

// categories are the words of all categories and types.
var categories = func() (all []string) {
	for _, enum := range []protoreflect.Enum{albumv1.AlbumCategory(0), blogv1.BlogType(0), poiv1.PoiCategory(0)} {
		values := enum.Descriptor().Values()
		for i := range values.Len() {
			if number := values.Get(i).Number(); number != 0 {
				all = append(all, wordOf(enum.Type().New(number)))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}()

func placeOf(content interface{ GetLocation() *typev1.Location }) Place {
	return Place{content.GetLocation().GetLat(), content.GetLocation().GetLng()}
}

// dayOf returns a day as Text.Day has it.
func dayOf(year, month, day int) int { return (year*100+month)*100 + day }

// add adds a change. What is not there is deleted.
func (b *Batch) add(id int64, isThere bool, text Text) {
	change := Change{ID: id}
	if isThere {
		change.Text = &text
	}
	b.Changes = append(b.Changes, change)
}

// receive hands the batches of a stream on. err is that of its start.
func receive[M interface{ GetNextPageToken() string }](
	stream interface{ Recv() (M, error) }, err error, each func(Batch) error, convert func(M) Batch,
) error {
	for err == nil {
		var message M
		if message, err = stream.Recv(); err == nil {
			batch := convert(message)
			batch.Token = message.GetNextPageToken()
			err = each(batch)
		}
	}
	return err
}

// retryAfter is the time between two attempts to watch.
const retryAfter = time.Second

// Follow keeps an index equal to a source until ctx ends. It continues where it was when it ended,
// killed or not. Its errors are logged.
func (x Index) Follow(ctx context.Context, from Source) {
	for ctx.Err() == nil {
		err := x.follow(ctx, from)
		slog.InfoContext(ctx, "watching again", "kind", from.Kind, "because", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (x Index) follow(ctx context.Context, from Source) error {
	token, err := x.Token(from.Kind)
	if err != nil {
		return err
	}
	err = from.watch(ctx, token, func(b Batch) error { return x.Apply(from.Kind, b.Changes, b.Token) })
	if reasonOf(err) == "START_ANEW" {
		return x.Clear(ctx, from.Kind)
	}
	return err
}

// reasonOf returns the reason of an error of Waybook; see docs/grpc.md.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}
