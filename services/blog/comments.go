package blog

import (
	"context"

	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// AddComment adds a comment to an entry.
func (s *Server) AddComment(ctx context.Context, request *blogv1.AddCommentRequest) (*blogv1.AddCommentResponse, error) {
	added, err := s.blogs.Comments.Post(ctx, request.GetBlogId(), request)
	if err != nil {
		return nil, err
	}
	return &blogv1.AddCommentResponse{Comment: added}, nil
}

// ReplyToComment sets the author's answer to a comment.
func (s *Server) ReplyToComment(ctx context.Context, request *blogv1.ReplyToCommentRequest) (*blogv1.ReplyToCommentResponse, error) {
	answered, err := s.blogs.Comments.Reply(ctx, request.GetBlogId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	if err != nil {
		return nil, err
	}
	return &blogv1.ReplyToCommentResponse{Comment: answered}, nil
}

// RemoveComment removes a comment.
func (s *Server) RemoveComment(ctx context.Context, request *blogv1.RemoveCommentRequest) (*blogv1.RemoveCommentResponse, error) {
	if err := s.blogs.Comments.Withdraw(ctx, request.GetBlogId(), request.GetCommentId(), request.GetActorId()); err != nil {
		return nil, err
	}
	return &blogv1.RemoveCommentResponse{}, nil
}

// ListComments returns a page of an entry's comments.
func (s *Server) ListComments(ctx context.Context, request *blogv1.ListCommentsRequest) (*blogv1.ListCommentsResponse, error) {
	shown, next, err := s.blogs.Comments.List(ctx, request.GetBlogId(), service.PageSize(request.GetPageSize(), comments.FirstPage), request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &blogv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, nil
}
