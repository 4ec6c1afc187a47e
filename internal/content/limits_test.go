package content_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/apierror"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// limited is a kind whose comments have limits, on a clock of its own.
type limited struct {
	*world
	now time.Time
}

func newLimited(t *testing.T, limits comments.Limits) *limited {
	t.Helper()
	l := &limited{now: time.Unix(1e9, 0)}
	l.world = openWorld(t, newStore(t, time.Now), func() time.Time { return l.now })
	for id := range int64(2) {
		l.fill(t, boxID+id)
	}
	l.Comments.Limit(limits)
	return l
}

func (l *limited) post(ctx context.Context, box, author int64, requestID string) error {
	_, err := l.Comments.AddComment(ctx, &commentv1.AddCommentRequest{
		Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: box}, AuthorId: author, Text: "c", RequestId: requestID,
	})
	return err
}

func expectRefusal(t *testing.T, err error, reason string, wait time.Duration) {
	t.Helper()
	var known *apierror.Error
	if !errors.As(err, &known) || known.Kind != codes.ResourceExhausted || known.Reason != reason || known.RetryAfter != wait {
		t.Errorf("got %v, want %s with a wait of %v", err, reason, wait)
	}
}

func requestID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// The rule is 17.22.
func TestTheCommentsOfAUserUnderADocumentHaveARate(t *testing.T) {
	l, ctx := newLimited(t, comments.Limits{PerMinute: 4}), t.Context()
	for n := range 4 {
		must(t, l.post(ctx, boxID, 3, requestID(n)))
	}
	expectRefusal(t, l.post(ctx, boxID, 3, requestID(4)), "TOO_MANY_COMMENTS", 15*time.Second)
	must(t, l.post(ctx, boxID, 3, requestID(3))) // a retry gets its reply
	must(t, l.post(ctx, boxID, 4, ""))
	must(t, l.post(ctx, boxID+1, 3, ""))
	l.now = l.now.Add(15 * time.Second)
	must(t, l.post(ctx, boxID, 3, requestID(4)))

	page, err := l.Comments.Page(ctx, boxID, 10, "")
	must(t, err)
	for n := range 5 {
		_, err = l.Comments.ReplyToComment(ctx, &commentv1.ReplyToCommentRequest{
			Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: boxID}, CommentId: page.Documents[0].ID, ActorId: owner,
			Text: fmt.Sprint("reply ", n),
		})
		if n < 4 {
			must(t, err)
		}
	}
	expectRefusal(t, err, "TOO_MANY_COMMENTS", 15*time.Second)
}

func TestTheCommentsOfAUserUnderADocumentHaveANumber(t *testing.T) {
	l, ctx := newLimited(t, comments.Limits{Total: 250}), t.Context() // more than a page
	for n := range 250 {
		must(t, l.post(ctx, boxID, 3, requestID(n)))
	}
	expectRefusal(t, l.post(ctx, boxID, 3, ""), "COMMENT_LIMIT_REACHED", 0)
	must(t, l.post(ctx, boxID, 3, requestID(9)))
	must(t, l.post(ctx, boxID, 4, ""))
	must(t, l.post(ctx, boxID+1, 3, ""))
	page, err := l.Comments.Page(ctx, boxID, 2, "")
	must(t, err)
	_, err = l.Comments.RemoveComment(ctx, &commentv1.RemoveCommentRequest{
		Parent: &commentv1.RemoveCommentRequest_AlbumId{AlbumId: boxID}, CommentId: page.Documents[1].ID, ActorId: 3,
	})
	must(t, err)
	must(t, l.post(ctx, boxID, 3, ""))
	expectRefusal(t, l.post(ctx, boxID, 3, ""), "COMMENT_LIMIT_REACHED", 0)
}
