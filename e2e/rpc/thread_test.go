package rpc_test

import (
	"context"
	"fmt"
	"testing"

	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

func (i item) add(ctx context.Context, author int64, requestID, text string) (*commentv1.Comment, error) {
	reply, err := i.send(ctx, "AddComment", fields{"author_id": author, "id": i.id, "request_id": requestID, "text": text})
	return read[*commentv1.Comment](reply, "comment"), err
}

// first returns the comments that a read of the content includes.
func (i item) first() ([]*commentv1.Comment, string) {
	reply := i.get(i.id)
	return readAll[*commentv1.Comment](reply, "comments"), read[string](reply, "next_comments_token")
}

func TestTheFirst200CommentsComeWithTheContent(t *testing.T) {
	t.Parallel()
	const count = 203
	w := start(t)
	owner := w.newUser("a")
	for _, thread := range w.items(owner) {
		t.Run(thread.service, func(t *testing.T) {
			for i := range count {
				must(thread.add(t.Context(), owner, "", fmt.Sprint(i)))(t)
			}
			shown, next := thread.first()
			if len(shown) != 200 || next == "" {
				t.Fatalf("%d comments, token %q", len(shown), next)
			}
			reply := must(thread.send(t.Context(), "ListComments", fields{"id": thread.id, "page_size": int32(100), "page_token": next}))(t)
			rest := readAll[*commentv1.Comment](reply, "comments")
			if next := read[string](reply, "next_page_token"); next != "" || len(rest) != count-200 {
				t.Fatalf("%d more, token %q", len(rest), next)
			}
			for i, c := range append(shown, rest...) {
				if c.GetText() != fmt.Sprint(i) {
					t.Fatalf("comment %d is %v", i, c)
				}
			}
		})
	}
}
