package rpc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// thread is the comments on one album, entry or landmark.
type thread struct {
	add    func(ctx context.Context, author int64, requestID, text string) (*typev1.Comment, error)
	reply  func(ctx context.Context, actor, comment int64, text string) (*typev1.Comment, error)
	remove func(ctx context.Context, actor, comment int64) error
	list   func(ctx context.Context, size int32, token string) ([]*typev1.Comment, string, error)
	// first returns the comments that a read of the content includes.
	first func() ([]*typev1.Comment, string)
}

// threads returns a thread for each service, on new content of an owner.
func (w *waybook) threads(owner int64) map[string]thread {
	album, blog, poi := w.newAlbum(owner, "x"), w.newBlog(owner), w.newPoi(owner, "x")
	return map[string]thread{
		"album": {
			func(ctx context.Context, author int64, requestID, text string) (*typev1.Comment, error) {
				r, err := w.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: author, AlbumId: album, RequestId: requestID, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64, text string) (*typev1.Comment, error) {
				r, err := w.album.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{ActorId: actor, AlbumId: album, CommentId: comment, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64) error {
				return failed(w.album.RemoveComment(ctx, &albumv1.RemoveCommentRequest{ActorId: actor, AlbumId: album, CommentId: comment}))
			},
			func(ctx context.Context, size int32, token string) ([]*typev1.Comment, string, error) {
				r, err := w.album.ListComments(ctx, &albumv1.ListCommentsRequest{AlbumId: album, PageSize: size, PageToken: token})
				return r.GetComments(), r.GetNextPageToken(), err
			},
			func() ([]*typev1.Comment, string) {
				r := w.getAlbum(album)
				return r.GetComments(), r.GetNextCommentsToken()
			},
		},
		"blog": {
			func(ctx context.Context, author int64, requestID, text string) (*typev1.Comment, error) {
				r, err := w.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: author, BlogId: blog, RequestId: requestID, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64, text string) (*typev1.Comment, error) {
				r, err := w.blog.ReplyToComment(ctx, &blogv1.ReplyToCommentRequest{ActorId: actor, BlogId: blog, CommentId: comment, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64) error {
				return failed(w.blog.RemoveComment(ctx, &blogv1.RemoveCommentRequest{ActorId: actor, BlogId: blog, CommentId: comment}))
			},
			func(ctx context.Context, size int32, token string) ([]*typev1.Comment, string, error) {
				r, err := w.blog.ListComments(ctx, &blogv1.ListCommentsRequest{BlogId: blog, PageSize: size, PageToken: token})
				return r.GetComments(), r.GetNextPageToken(), err
			},
			func() ([]*typev1.Comment, string) {
				r := w.getBlog(blog)
				return r.GetComments(), r.GetNextCommentsToken()
			},
		},
		"poi": {
			func(ctx context.Context, author int64, requestID, text string) (*typev1.Comment, error) {
				r, err := w.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: author, PoiId: poi, RequestId: requestID, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64, text string) (*typev1.Comment, error) {
				r, err := w.poi.ReplyToComment(ctx, &poiv1.ReplyToCommentRequest{ActorId: actor, PoiId: poi, CommentId: comment, Text: text})
				return r.GetComment(), err
			},
			func(ctx context.Context, actor, comment int64) error {
				return failed(w.poi.RemoveComment(ctx, &poiv1.RemoveCommentRequest{ActorId: actor, PoiId: poi, CommentId: comment}))
			},
			func(ctx context.Context, size int32, token string) ([]*typev1.Comment, string, error) {
				r, err := w.poi.ListComments(ctx, &poiv1.ListCommentsRequest{PoiId: poi, PageSize: size, PageToken: token})
				return r.GetComments(), r.GetNextPageToken(), err
			},
			func() ([]*typev1.Comment, string) {
				r := w.getPoi(poi)
				return r.GetComments(), r.GetNextCommentsToken()
			},
		},
	}
}

func TestTheOwnerRepliesToACommentAndOwnerOrAuthorRemovesIt(t *testing.T) {
	w := start(t)
	owner, guest, third := w.newUser("主人"), w.newUser("客人"), w.newUser("路人")
	for name, thread := range w.threads(owner) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			comment := must(thread.add(ctx, guest, "", "好\r\n美 😊"))(t)
			if c := comment; c.GetAuthor().GetName() != "客人" || c.GetText() != "好\r\n美 😊" || c.GetReply() != nil {
				t.Errorf("added %v", c)
			}
			id := comment.GetCommentId()
			for _, text := range []string{"謝謝", "再來"} {
				if c := must(thread.reply(ctx, owner, id, text))(t); c.GetReply().GetText() != text || c.GetText() != comment.GetText() {
					t.Errorf("answered %v", c)
				}
			}
			expectFault(t, failed(thread.reply(ctx, guest, id, "x")), codes.PermissionDenied, "NOT_OWNER")
			expectFault(t, thread.remove(ctx, third, id), codes.PermissionDenied, "NOT_OWNER")
			second := must(thread.add(ctx, guest, "", "2"))(t)
			if err := thread.remove(ctx, guest, id); err != nil {
				t.Errorf("its author can't remove it: %v", err)
			}
			if err := thread.remove(ctx, owner, second.GetCommentId()); err != nil {
				t.Errorf("the owner can't remove it: %v", err)
			}
			expectFault(t, thread.remove(ctx, owner, id), codes.NotFound, "COMMENT_NOT_FOUND")
			if left, _ := thread.first(); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

func TestConcurrentCommentsAreAllStored(t *testing.T) {
	const guests = 32
	w := start(t)
	owner := w.newUser("a")
	for name, thread := range w.threads(owner) {
		t.Run(name, func(t *testing.T) {
			var group sync.WaitGroup
			for i := range guests {
				group.Go(func() {
					if _, err := thread.add(t.Context(), owner, "", fmt.Sprint(i)); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			shown, next := thread.first()
			texts := map[string]bool{}
			for _, c := range shown {
				texts[c.GetText()] = true
			}
			if len(shown) != guests || len(texts) != guests || next != "" {
				t.Errorf("%d comments, %d texts, token %q", len(shown), len(texts), next)
			}
		})
	}
}

func TestTheFirst200CommentsComeWithTheContent(t *testing.T) {
	const count = 203
	w := start(t)
	owner := w.newUser("a")
	for name, thread := range w.threads(owner) {
		t.Run(name, func(t *testing.T) {
			for i := range count {
				must(thread.add(t.Context(), owner, "", fmt.Sprint(i)))(t)
			}
			shown, next := thread.first()
			if len(shown) != 200 || next == "" {
				t.Fatalf("%d comments, token %q", len(shown), next)
			}
			rest, next, err := thread.list(t.Context(), 100, next)
			if err != nil || next != "" || len(rest) != count-200 {
				t.Fatalf("%d more, token %q, %v", len(rest), next, err)
			}
			for i, c := range append(shown, rest...) {
				if c.GetText() != fmt.Sprint(i) {
					t.Fatalf("comment %d is %v", i, c)
				}
			}
		})
	}
}
