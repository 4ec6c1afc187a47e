package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// AddComment adds a comment to a landmark.
func (s *Server) AddComment(ctx context.Context, request *poiv1.AddCommentRequest) (*poiv1.AddCommentResponse, error) {
	added, err := s.pois.Comments.Post(ctx, request.GetPoiId(), request)
	if err != nil {
		return nil, err
	}
	return &poiv1.AddCommentResponse{Comment: added}, nil
}

// ReplyToComment sets the owner's answer to a comment.
func (s *Server) ReplyToComment(ctx context.Context, request *poiv1.ReplyToCommentRequest) (*poiv1.ReplyToCommentResponse, error) {
	answered, err := s.pois.Comments.Reply(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	if err != nil {
		return nil, err
	}
	return &poiv1.ReplyToCommentResponse{Comment: answered}, nil
}

// RemoveComment removes a comment.
func (s *Server) RemoveComment(ctx context.Context, request *poiv1.RemoveCommentRequest) (*poiv1.RemoveCommentResponse, error) {
	if err := s.pois.Comments.Withdraw(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId()); err != nil {
		return nil, err
	}
	return &poiv1.RemoveCommentResponse{}, nil
}

// ListComments returns a page of a landmark's comments.
func (s *Server) ListComments(ctx context.Context, request *poiv1.ListCommentsRequest) (*poiv1.ListCommentsResponse, error) {
	shown, next, err := s.pois.Comments.List(ctx, request.GetPoiId(), service.PageSize(request.GetPageSize(), comments.FirstPage), request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &poiv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, nil
}
