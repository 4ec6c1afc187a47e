package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/listing"
	"github.com/waybook/waybook/waybookctl/output"
)

// change is a change of one kind of thing.
type change interface {
	proto.Message
	GetKind() typev1.ChangeKind
	GetChangeTime() *timestamppb.Timestamp
	GetParts() *typev1.PartRevisions
}

// followed is a kind of thing whose changes have the type M. Its zero value is ready for use.
type followed[M change] interface {
	changes(ctx context.Context, call *services, page pageOf) (changes []M, next string, more bool, err error)
	// subject returns the thing that changed, and its title as it is now.
	subject(change M) (id int64, title string)
}

type changesOf[K followed[M], M change] struct {
	TokenFile string `placeholder:"FILE" help:"File that keeps the position between runs. The command begins there, and writes its new position when it has printed all. Without the file, it begins with everything that exists. Delete the file to start anew."`
}

// Run lists the settled changes. It writes the token when they are printed, so a command that is
// interrupted prints them again.
func (c *changesOf[K, M]) Run(ctx context.Context, call *services, out *output.Printer) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	var kind K
	columns := []output.Column[M]{
		{Head: "CHANGED", Cell: func(m M) string { return output.Time(m.GetChangeTime()) }},
		{Head: "HOW", Cell: func(m M) string { return inWord(m.GetKind()) }},
		{Head: "ID", Cell: func(m M) string { id, _ := kind.subject(m); return number(id) }},
		{Head: "PARTS", Cell: func(m M) string { return partsText(m.GetParts()) }},
		{Head: "TITLE", Cell: func(m M) string { _, title := kind.subject(m); return title }},
	}
	if err := output.Items(out, "changes", columns, c.follow(ctx, call, &token)); err != nil || c.TokenFile == "" {
		return err
	}
	return atomicfile.Write(c.TokenFile, 0o600, func(file io.Writer) error {
		_, err := fmt.Fprintln(file, token)
		return err
	})
}

// token returns the token in the file.
func (c *changesOf[K, M]) token() (string, error) {
	if c.TokenFile == "" {
		return "", nil
	}
	written, err := os.ReadFile(c.TokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(written)), err
}

// follow returns the settled changes after a token, and moves the token behind them.
func (c *changesOf[K, M]) follow(ctx context.Context, call *services, token *string) iter.Seq2[M, error] {
	var kind K
	return listing.Pages(func(string) ([]M, string, error) {
		changes, next, more, err := kind.changes(ctx, call, pageOf{pageSize, *token})
		if err != nil {
			return nil, "", err
		}
		if *token = next; !more {
			next = ""
		}
		return changes, next, nil
	})
}

// partsText names the parts that have changed since the thing was made, with their revisions.
func partsText(parts *typev1.PartRevisions) string {
	var all []string
	for _, part := range []struct {
		name     string
		revision int64
	}{{"content", parts.GetContent()}, {"photos", parts.GetPhotos()}, {"comments", parts.GetComments()}, {"numbers", parts.GetNumbers()}} {
		if part.revision > 0 {
			all = append(all, part.name+" "+number(part.revision))
		}
	}
	return strings.Join(all, ", ")
}

func (albums) changes(ctx context.Context, call *services, page pageOf) ([]*albumv1.AlbumChange, string, bool, error) {
	listed, err := call.album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageSize: page.size, PageToken: page.token, IncludeAlbum: true})
	return listed.GetChanges(), listed.GetNextPageToken(), listed.GetHasMore(), err
}

func (albums) subject(change *albumv1.AlbumChange) (int64, string) {
	return change.GetAlbumId(), change.GetAlbum().GetTitle()
}

func (entries) changes(ctx context.Context, call *services, page pageOf) ([]*blogv1.BlogChange, string, bool, error) {
	listed, err := call.blog.ListBlogChanges(ctx, &blogv1.ListBlogChangesRequest{PageSize: page.size, PageToken: page.token, IncludeBlog: true})
	return listed.GetChanges(), listed.GetNextPageToken(), listed.GetHasMore(), err
}

func (entries) subject(change *blogv1.BlogChange) (int64, string) {
	return change.GetBlogId(), change.GetBlog().GetTitle()
}

func (landmarks) changes(ctx context.Context, call *services, page pageOf) ([]*poiv1.PoiChange, string, bool, error) {
	listed, err := call.poi.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageSize: page.size, PageToken: page.token, IncludePoi: true})
	return listed.GetChanges(), listed.GetNextPageToken(), listed.GetHasMore(), err
}

func (landmarks) subject(change *poiv1.PoiChange) (int64, string) {
	return change.GetPoiId(), change.GetPoi().GetName()
}

// users implements followed for the account service.
type users struct{}

func (users) changes(ctx context.Context, call *services, page pageOf) ([]*accountv1.UserChange, string, bool, error) {
	listed, err := call.account.ListUserChanges(ctx, &accountv1.ListUserChangesRequest{PageSize: page.size, PageToken: page.token, IncludeUser: true})
	return listed.GetChanges(), listed.GetNextPageToken(), listed.GetHasMore(), err
}

func (users) subject(change *accountv1.UserChange) (int64, string) {
	return change.GetUserId(), change.GetUser().GetName()
}
