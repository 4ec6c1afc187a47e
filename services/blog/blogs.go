package blog

import (
	"cmp"
	"context"
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// defaultZoomLevel is the zoom level of an entry posted without one (rule 7.5).
const defaultZoomLevel = 14

// CreateBlog creates an entry.
func (s *server) CreateBlog(ctx context.Context,
	request *blogv1.CreateBlogRequest) (*blogv1.CreateBlogResponse, error) {
	request = withDefaults(request)
	asked := docstore.Request{
		By: byRequest().All().At(request.GetAuthorId()), Owner: request.GetAuthorId(), ID: request.GetRequestId(),
		Digest: service.Digest(request),
	}
	var author profiles.Profile
	var quotedOldID string
	var quoted error
	err := s.blogs.Together(func() (err error) {
		author, err = s.profiles.Require(ctx, request.GetAuthorId())
		return err
	}, func() error {
		quotedOldID, quoted = s.requireQuoted(ctx, 0, request.GetReplyBlogId())
		return nil
	})
	if err != nil {
		return nil, err
	}
	if quoted != nil {
		// A retried request gets its reply even if the quoted entry has been deleted since.
		if _, found, err := docstore.Answered(ctx, s.blogs.Documents, asked); err != nil || !found {
			return nil, cmp.Or(err, quoted)
		}
	}
	draw := s.blogs.DrawIn(ctx, s.ids, id.PlaceOf(request.GetAuthorId()))
	created, _, err := docstore.Create(ctx, s.blogs.Documents, draw, asked,
		func(id int64, requestKey string) blog {
			made := s.newBlog(id, requestKey, request)
			made.ReplyOldID = quotedOldID
			return made
		})
	if err != nil {
		return nil, err
	}
	return &blogv1.CreateBlogResponse{Blog: blogProto(&created, author)}, nil
}

// withDefaults returns a request that names the defaults of what it leaves out.
func withDefaults(request *blogv1.CreateBlogRequest) *blogv1.CreateBlogRequest {
	whole := proto.CloneOf(request)
	if whole.ZoomLevel == nil {
		whole.ZoomLevel = proto.Int32(defaultZoomLevel)
	}
	if whole.GetMapType() == blogv1.MapType_MAP_TYPE_UNSPECIFIED {
		whole.MapType = blogv1.MapType_MAP_TYPE_MAP
	}
	return whole
}

func (s *server) newBlog(id int64, requestKey string, request *blogv1.CreateBlogRequest) blog {
	now := s.now()
	made := blog{
		ID: id, AuthorID: request.GetAuthorId(), RequestKey: requestKey, ReplyBlogID: request.GetReplyBlogId(),
		CreateTime: now, UpdateTime: now,
		Reward: s.reward, Vote: voteFromProto(request.GetVote()),
	}
	if made.Reward > 0 {
		made.RewardDue = rewardDue
	}
	blogFields.Create(&made, request)
	return made
}

// UpdateBlog changes an entry.
func (s *server) UpdateBlog(ctx context.Context,
	request *blogv1.UpdateBlogRequest) (*blogv1.UpdateBlogResponse, error) {
	var updated blog
	err := s.blogs.Together(func() error {
		quotedOldID, err := s.requireQuoted(ctx, request.GetBlogId(), request.GetReplyBlogId())
		if err != nil {
			// Only the author learns about the quoted entry.
			_, denied := s.blogs.GetBy(ctx, request.GetActorId(), request.GetBlogId())
			return cmp.Or(denied, err)
		}
		updated, err = s.blogs.SetBy(ctx, request.GetActorId(), request.GetBlogId(), request.GetEtag(), s.now(), false,
			func(*blog) map[string]any { return changeTo(request, quotedOldID) })
		return err
	}, func() error { s.profiles.Expect(ctx, request.GetActorId()); return nil })
	if err != nil {
		return nil, err
	}
	author := s.profiles.Show(ctx, updated.AuthorID).Of(updated.AuthorID)
	return &blogv1.UpdateBlogResponse{Blog: blogProto(&updated, author)}, nil
}

// changeTo returns the fields that a request sets.
func changeTo(request *blogv1.UpdateBlogRequest, quotedOldID string) map[string]any {
	set := blogFields.Change(&blog{}, request)
	if request.ReplyBlogId != nil {
		set["reply_blog_id"], set["reply_old_id"] = request.GetReplyBlogId(), quotedOldID
	}
	return set
}

// requireQuoted rejects a quote of an entry that does not exist, or of the entry that quotes (0 if
// it is new). If the quoted entry is deleted later, the quote stays. It returns the old identifier
// of the quoted entry, if the identifier does not tell it.
func (s *server) requireQuoted(ctx context.Context, by, id int64) (oldID string, err error) {
	switch id {
	case 0:
		return "", nil
	case by:
		return "", apierror.Invalid("QUOTED_BLOG_NOT_FOUND",
			apierror.Violation{Field: "reply_blog_id", Message: "an entry cannot quote itself"})
	}
	quoted, err := s.blogs.Documents.Get(ctx, id)
	if errors.Is(err, docstore.ErrNotFound) || err == nil && s.blogs.Visible(ctx, &quoted, id) != nil {
		return "", apierror.Invalid("QUOTED_BLOG_NOT_FOUND",
			apierror.Violation{Field: "reply_blog_id", Message: "there is no such entry"})
	}
	return aliases.OldID(quoted.ID, quoted.RequestKey), err
}

// DeleteBlog deletes an entry. A later sweep removes its ballots and comments.
func (s *server) DeleteBlog(ctx context.Context,
	request *blogv1.DeleteBlogRequest) (*blogv1.DeleteBlogResponse, error) {
	if still, changed := s.blogs.Still(request.GetActorId(), request.GetEtag()); changed == nil {
		err := s.blogs.Documents.Delete(ctx, request.GetBlogId(),
			docstore.Deletion{If: append(still, docstore.Lacks(dueField))})
		if err == nil {
			return &blogv1.DeleteBlogResponse{}, nil
		}
		if !errors.Is(err, docstore.ErrConflict) && !errors.Is(err, docstore.ErrNotFound) {
			return nil, err
		}
		// A majority has what the deletion found. If the entry is there, its reward is granted
		// first: the mark is part of the entry, so afterwards nothing would record that the reward
		// is due.
		found, err := s.blogs.GetBy(ctx, request.GetActorId(), request.GetBlogId())
		if err != nil {
			return nil, err
		}
		if found.RewardDue == rewardDue {
			if err := s.grant(ctx, found); err != nil {
				return nil, err
			}
		}
	}
	return &blogv1.DeleteBlogResponse{}, s.blogs.DeleteBy(ctx, request.GetActorId(), request.GetBlogId(),
		request.GetEtag())
}

// GetBlog returns an entry with its first comments.
func (s *server) GetBlog(ctx context.Context, request *blogv1.GetBlogRequest) (*blogv1.GetBlogResponse, error) {
	mask, err := service.ReadMaskOf(request.GetReadMask(), (*blogv1.GetBlogResponse)(nil))
	if err != nil {
		return nil, err
	}
	found, err := s.blogs.Get(ctx, request.GetBlogId())
	if err != nil {
		return nil, err
	}
	var written docstore.Page[comments.Comment]
	err = s.blogs.Together(mask.Read(func() (err error) {
		written, err = s.blogs.Comments.First(ctx, found.ID, &found, comments.FirstPage)
		return err
	}, "comments", "next_comments_token"),
		mask.Read(func() error { s.profiles.Expect(ctx, found.AuthorID); return nil }, "blog.author"))
	if err != nil {
		return nil, err
	}
	names := comments.Authors(written.Documents)
	if mask.Wants("blog.author") {
		names = append(names, found.AuthorID)
	}
	profiles := s.profiles.Show(ctx, names...)
	reply := &blogv1.GetBlogResponse{
		Blog:              blogProto(&found, profiles.Of(found.AuthorID)),
		Comments:          comments.Proto(ctx, written.Documents, profiles),
		NextCommentsToken: written.Next,
	}
	mask.Keep(reply)
	return reply, nil
}

func blogProto(b *blog, author profiles.Profile) *blogv1.Blog {
	shown := &blogv1.Blog{
		BlogId:      b.ID,
		Author:      author.Proto(b.AuthorID),
		ReplyBlogId: b.ReplyBlogID,
		Score:       b.shownScore(),
		Vote:        voteProto(b.Vote),
		Reward:      b.Reward,
		CreateTime:  timestamppb.New(b.CreateTime),
		UpdateTime:  timestamppb.New(b.UpdateTime),
		OldId:       aliases.OldID(b.ID, b.RequestKey),
		Etag:        owned.EtagOf(b.ContentRevision, b.UpdateTime),
		IsSmall:     aliases.IsSmall(b.ID, b.RequestKey),
		ReplyOldId:  b.ReplyOldID,
	}
	blogFields.Show(b, shown)
	return shown
}

func voteProto(v *vote) *blogv1.Vote {
	if v == nil {
		return nil
	}
	shown := &blogv1.Vote{Description: v.Description, Choices: make([]*blogv1.Choice, len(v.Choices))}
	for i, c := range v.Choices {
		shown.Choices[i] = &blogv1.Choice{Description: c.Description,
			Votes: c.Votes + max(0, c.MovedVotes-c.NamedVotes)}
	}
	return shown
}

func voteFromProto(asked *blogv1.NewVote) *vote {
	if asked == nil {
		return nil
	}
	v := &vote{Description: asked.GetDescription()}
	for _, description := range asked.GetChoices() {
		v.Choices = append(v.Choices, choice{Description: description})
	}
	return v
}

func dayFromProto(d *typev1.Date) day {
	return newDay(int(d.GetYear()), int(d.GetMonth()), int(d.GetDay()))
}

func (d day) proto() *typev1.Date {
	return &typev1.Date{Year: int32(d / 10_000), Month: int32(d / 100 % 100), Day: int32(d % 100)}
}
