// Package comments keeps the comments under albums, entries and landmarks. Each has at most
// one answer by the content's owner.
package comments

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// FirstPage is how many comments a reply includes with the content itself.
const FirstPage = 200

// Comment is a comment as it is stored.
type Comment struct {
	ID         int64     `bson:"_id"`
	ParentID   int64     `bson:"parent_id"`
	AuthorID   int64     `bson:"author_id"`
	RequestKey string    `bson:"request_key"`
	CreateTime time.Time `bson:"create_time"`
	Text       string    `bson:"text"`
	Reply      *Reply    `bson:"reply,omitempty"`
	// Guest is the author of a comment that was moved in, if the author has no account. AuthorID
	// is 0 then.
	Guest *Guest `bson:"guest,omitempty"`
}

// Guest is an author without an account.
type Guest struct {
	Name    string `bson:"name"`
	IconURL string `bson:"icon_url"`
}

// Reply is the owner's answer to a comment.
type Reply struct {
	CreateTime time.Time `bson:"create_time"`
	Text       string    `bson:"text"`
}

// Spec declares a collection of comments.
func Spec(collection string) docstore.Spec {
	return child.Spec(collection, ByParent(), byRequest().Declare())
}

// ByParent orders the comments by the documents that they belong to.
func ByParent() docstore.Index1[int64] { return child.ByParent("parent_id") }

// byRequest finds the comment that an author's request created.
func byRequest() docstore.Index3[int64, int64, string] {
	return docstore.Index3[int64, int64, string]{
		Name: docstore.RequestIndex, A: "parent_id", B: "author_id", C: "request_key", Unique: true,
	}
}

// Set holds the comments under documents of type P. Its fields do not change after
// creation. It may be used concurrently.
type Set[P any] struct {
	*child.Set[P, Comment]
	Profiles *profiles.Directory
	Now      func() time.Time

	limits limits
}

// ParentOf returns the id of the document that a comment belongs to.
func ParentOf(comment *Comment) int64 { return comment.ParentID }

// RequestKey returns the key of the request that created a comment.
func RequestKey(comment *Comment) string { return comment.RequestKey }

// NewComment is a request to add a comment.
type NewComment interface {
	proto.Message
	GetRequestId() string
	GetAuthorId() int64
	GetText() string
}

// Post adds a comment.
func (s *Set[P]) Post(ctx context.Context, parentID int64, request NewComment) (*commentv1.Comment, error) {
	authorID := request.GetAuthorId()
	asked := docstore.Request{By: byRequest().Second(parentID, authorID), ID: request.GetRequestId(), Digest: service.Digest(request)}
	mayComment := func() error {
		if _, err := s.Profiles.Require(ctx, authorID); err != nil {
			return err
		}
		refused := s.refuse(parentID, authorID)
		if refused == nil {
			refused = s.refuseMore(ctx, parentID, authorID)
		}
		if refused == nil {
			return nil
		}
		// A retried request gets its reply at a limit, too.
		_, found, err := s.Children.Answered(ctx, asked)
		if err == nil && !found {
			return refused
		}
		return err
	}
	comment, err := s.Add(ctx, 0, parentID, asked, mayComment,
		func(id int64, requestKey string) Comment {
			return Comment{
				ID: id, ParentID: parentID, AuthorID: authorID, RequestKey: requestKey,
				CreateTime: s.Now(), Text: request.GetText(),
			}
		})
	if err != nil {
		return nil, err
	}
	return s.show(ctx, comment), nil
}

// Reply sets the owner's answer to a comment.
func (s *Set[P]) Reply(ctx context.Context, parentID, commentID, actorID int64, text string) (*commentv1.Comment, error) {
	if err := s.refuse(parentID, actorID); err != nil {
		return nil, err
	}
	comment, err := s.Update(ctx, actorID, parentID, commentID, "", func(comment *Comment) {
		if comment.Reply == nil || comment.Reply.Text != text {
			comment.Reply = &Reply{CreateTime: s.Now(), Text: text}
		}
	})
	if err != nil {
		return nil, err
	}
	return s.show(ctx, comment), nil
}

// Withdraw removes a comment. Only its author and the owner of the document may do so.
func (s *Set[P]) Withdraw(ctx context.Context, parentID, commentID, actorID int64) error {
	return s.Remove(ctx, parentID, commentID, "",
		func(parent *P, comment *Comment) error {
			if actorID == comment.AuthorID {
				return nil
			}
			return s.Parents.Allow(parent, actorID, parentID)
		})
}

// List returns a page of the comments under a document, as contracts show them, and the
// next page's token.
func (s *Set[P]) List(ctx context.Context, parentID int64, limit int, token string) ([]*commentv1.Comment, string, error) {
	page, err := s.Page(ctx, parentID, limit, token)
	if err != nil {
		return nil, "", err
	}
	return Proto(ctx, page.Documents, s.Profiles.Show(ctx, Authors(page.Documents)...)), page.Next, nil
}

// Authors returns the ids of the comments' authors that are users, followed by others.
func Authors(comments []Comment, others ...int64) []int64 {
	ids := make([]int64, 0, len(comments)+len(others))
	for _, comment := range comments {
		if comment.AuthorID != 0 {
			ids = append(ids, comment.AuthorID)
		}
	}
	return append(ids, others...)
}

// shownComment is the messages of a comment, which a page has many of.
type shownComment struct {
	comment commentv1.Comment
	author  typev1.Profile
	created timestamppb.Timestamp
}

// Proto converts comments and their authors' profiles to messages, for the reply of a call.
func Proto(ctx context.Context, comments []Comment, profiles profiles.Shown) []*commentv1.Comment {
	shown := arena.Slice[*commentv1.Comment](arena.Of(ctx), len(comments))
	pieces := arena.Slice[shownComment](arena.Of(ctx), len(comments))
	for i, comment := range comments {
		piece := &pieces[i]
		author := profiles.Of(comment.AuthorID)
		if comment.Guest != nil {
			author.Name, author.IconURL = comment.Guest.Name, comment.Guest.IconURL
		}
		piece.author.UserId, piece.author.Name, piece.author.IconUrl = comment.AuthorID, author.Name, author.IconURL
		piece.created.Seconds, piece.created.Nanos = comment.CreateTime.Unix(), int32(comment.CreateTime.Nanosecond())
		shown[i] = &piece.comment
		shown[i].CommentId, shown[i].Text, shown[i].OldId = comment.ID, comment.Text, aliases.OldID(comment.ID, comment.RequestKey)
		shown[i].Author, shown[i].CreateTime = &piece.author, &piece.created
		if comment.Reply != nil {
			shown[i].Reply = &commentv1.Reply{
				CreateTime: timestamppb.New(comment.Reply.CreateTime),
				Text:       comment.Reply.Text,
			}
		}
	}
	return shown
}

func (s *Set[P]) show(ctx context.Context, comment Comment) *commentv1.Comment {
	return Proto(ctx, []Comment{comment}, s.Profiles.Show(ctx, Authors([]Comment{comment})...))[0]
}
