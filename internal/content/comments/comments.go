// Package comments keeps the comments under albums, entries and landmarks. Each has at most
// one answer by the content's owner.
package comments

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/parent"
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
	return child.Spec(collection, ByParent(), byRequest().Declare(), byAuthor().Declare())
}

// ByParent orders the comments by the documents that they belong to.
func ByParent() docstore.Index1[int64] { return child.ByParent("parent_id") }

// byRequest finds the comment that an author's request created.
func byRequest() docstore.Index3[int64, int64, string] {
	return docstore.Index3[int64, int64, string]{
		Name: docstore.RequestIndex, A: "parent_id", B: "author_id", C: "request_key", Unique: true,
	}
}

// byAuthor orders the comments by their authors.
func byAuthor() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "author", A: "author_id"} }

// Set holds the comments under documents of type P, and implements CommentService for them. Its
// fields do not change after creation. It may be used concurrently.
type Set[P any] struct {
	commentv1.UnimplementedCommentServiceServer
	*child.Set[P, Comment]
	Profiles *profiles.Directory
	Now      func() time.Time

	limits limits
}

// ParentOf returns the id of the document that a comment belongs to.
func ParentOf(comment *Comment) int64 { return comment.ParentID }

// RequestKey returns the key of the request that created a comment.
func RequestKey(comment *Comment) string { return comment.RequestKey }

// AddComment adds a comment.
func (s *Set[P]) AddComment(ctx context.Context,
	request *commentv1.AddCommentRequest) (*commentv1.AddCommentResponse, error) {
	_, parentID := parent.Of(request)
	authorID := request.GetAuthorId()
	asked := docstore.Request{By: byRequest().Second(parentID, authorID), ID: request.GetRequestId(),
		Digest: service.Digest(request)}
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
		_, found, err := docstore.Answered(ctx, s.Children, asked)
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
	return &commentv1.AddCommentResponse{Comment: s.show(ctx, comment)}, nil
}

// ReplyToComment sets the owner's reply to a comment.
func (s *Set[P]) ReplyToComment(ctx context.Context,
	request *commentv1.ReplyToCommentRequest) (*commentv1.ReplyToCommentResponse, error) {
	_, parentID := parent.Of(request)
	if err := s.refuse(parentID, request.GetActorId()); err != nil {
		return nil, err
	}
	comment, err := s.Update(ctx, request.GetActorId(), parentID, request.GetCommentId(), "", func(comment *Comment) {
		if comment.Reply == nil || comment.Reply.Text != request.GetText() {
			comment.Reply = &Reply{CreateTime: s.Now(), Text: request.GetText()}
		}
	})
	if err != nil {
		return nil, err
	}
	return &commentv1.ReplyToCommentResponse{Comment: s.show(ctx, comment)}, nil
}

// RemoveComment removes a comment. Only its author and the owner of the document may do so.
func (s *Set[P]) RemoveComment(ctx context.Context,
	request *commentv1.RemoveCommentRequest) (*commentv1.RemoveCommentResponse, error) {
	_, parentID := parent.Of(request)
	err := s.Remove(ctx, parentID, request.GetCommentId(), "", func(parent *P, comment *Comment) error {
		if request.GetActorId() == comment.AuthorID {
			return nil
		}
		return s.Parents.Allow(parent, request.GetActorId(), parentID)
	})
	if err != nil {
		return nil, err
	}
	return &commentv1.RemoveCommentResponse{}, nil
}

// ListComments returns a page of the comments under a document.
func (s *Set[P]) ListComments(ctx context.Context,
	request *commentv1.ListCommentsRequest) (*commentv1.ListCommentsResponse, error) {
	_, parentID := parent.Of(request)
	page, err := s.Page(ctx, parentID, service.PageSize(request.GetPageSize(), FirstPage, service.MaxPage),
		request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &commentv1.ListCommentsResponse{Comments: s.showAll(ctx, page.Documents), NextPageToken: page.Next}, nil
}

// First returns the first page of the comments under a document, without those of hidden users.
// See child.Set.
func (s *Set[P]) First(ctx context.Context, parentID int64, parent *P, limit int) (docstore.Page[Comment], error) {
	page, err := s.Set.First(ctx, parentID, parent, limit)
	return s.visible(ctx, page), err
}

// Page is First for a page of the comments.
func (s *Set[P]) Page(ctx context.Context, parentID int64, limit int, token string) (docstore.Page[Comment], error) {
	page, err := s.Set.Page(ctx, parentID, limit, token)
	return s.visible(ctx, page), err
}

// visible leaves out the comments of hidden users.
func (s *Set[P]) visible(ctx context.Context, page docstore.Page[Comment]) docstore.Page[Comment] {
	if hidden := s.Parents.Hidden.Users(ctx); len(hidden) > 0 {
		page.Documents = slices.DeleteFunc(page.Documents, func(c Comment) bool { return hidden[c.AuthorID] })
	}
	return page
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
		shown[i].CommentId, shown[i].Text, shown[i].OldId = comment.ID, comment.Text, aliases.OldID(comment.ID,
			comment.RequestKey)
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
	return s.showAll(ctx, []Comment{comment})[0]
}

func (s *Set[P]) showAll(ctx context.Context, comments []Comment) []*commentv1.Comment {
	return Proto(ctx, comments, s.Profiles.Show(ctx, Authors(comments)...))
}
