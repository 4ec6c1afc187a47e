package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// AddComment adds a comment to an album.
func (s *Server) AddComment(ctx context.Context, request *albumv1.AddCommentRequest) (*albumv1.AddCommentResponse, error) {
	added, err := s.albums.Comments.Post(ctx, request.GetAlbumId(), request)
	if err != nil {
		return nil, err
	}
	return &albumv1.AddCommentResponse{Comment: added}, nil
}

// ReplyToComment sets the owner's answer to a comment.
func (s *Server) ReplyToComment(ctx context.Context, request *albumv1.ReplyToCommentRequest) (*albumv1.ReplyToCommentResponse, error) {
	answered, err := s.albums.Comments.Reply(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	if err != nil {
		return nil, err
	}
	return &albumv1.ReplyToCommentResponse{Comment: answered}, nil
}

// RemoveComment removes a comment.
func (s *Server) RemoveComment(ctx context.Context, request *albumv1.RemoveCommentRequest) (*albumv1.RemoveCommentResponse, error) {
	if err := s.albums.Comments.Withdraw(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId()); err != nil {
		return nil, err
	}
	return &albumv1.RemoveCommentResponse{}, nil
}

// ListComments returns a page of an album's comments.
func (s *Server) ListComments(ctx context.Context, request *albumv1.ListCommentsRequest) (*albumv1.ListCommentsResponse, error) {
	shown, next, err := s.albums.Comments.List(ctx, request.GetAlbumId(), service.PageSize(request.GetPageSize(), comments.FirstPage), request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &albumv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, nil
}
