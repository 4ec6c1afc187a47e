// Package blog is the blog service: diary entries with their votes and comments.
package blog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

const (
	// DefaultReward is what an author gets for posting an entry, in the service's
	// virtual currency, unless the program is told otherwise (rule 7.24).
	DefaultReward = 10
	// MaxReward is the most that the account service gives at once.
	MaxReward = 1_000_000_000
)

// Server implements BlogService. It may be used concurrently.
type Server struct {
	blogv1.UnimplementedBlogServiceServer

	blogs   *owned.Collection[blog]
	ballots *choices.Tally[blog]
	threads *comments.Threads[blog]
	// recommendations counts who recommends what.
	recommendations *choices.Tally[blog]
	people          *profiles.Directory
	account         accountv1.AccountServiceClient
	draw            func() int64
	now             func() time.Time
	zone            *time.Location
	reward          int64
	log             *slog.Logger
}

// Config is how the service is run.
type Config struct {
	// Reward is what an author gets for posting an entry, from 0 to MaxReward.
	Reward int64
	// Zone is where the day is today up to which entries are published.
	Zone *time.Location
}

// New returns the service over a store.
func New(ctx context.Context, deps service.Deps, config Config) (*Server, error) {
	if config.Reward < 0 || config.Reward > MaxReward {
		return nil, fmt.Errorf("-reward: %d is not from 0 to %d", config.Reward, MaxReward)
	}
	documents, err := docstore.Open[blog](ctx, deps.Store, blogsSpec())
	if err != nil {
		return nil, err
	}
	ballots, err := docstore.Open[choices.Choice](ctx, deps.Store, choices.Spec("blog_ballots"))
	if err != nil {
		return nil, err
	}
	written, err := docstore.Open[comments.Comment](ctx, deps.Store, comments.Spec("blog_comments"))
	if err != nil {
		return nil, err
	}
	recommendations, err := docstore.Open[choices.Choice](ctx, deps.Store, choices.Spec("blog_recommendations"))
	if err != nil {
		return nil, err
	}
	bin, err := tombstone.Open(ctx, deps.Store, "blog_trash", deps.Now)
	if err != nil {
		return nil, err
	}
	blogs := &owned.Collection[blog]{
		Documents: documents, Bin: bin,
		ID:       func(b *blog) int64 { return b.ID },
		Owner:    func(b *blog) int64 { return b.AuthorID },
		NotFound: noBlog, NotOwner: notOwner,
	}
	return &Server{
		blogs: blogs,
		ballots: &choices.Tally[blog]{
			Parents: blogs, Choices: ballots, Draw: deps.Draw,
			Mark:    func(b *blog) *choices.Mark { return &b.Vote.Ballots },
			Add:     func(b *blog, choice int32, by int64) { b.Vote.Choices[choice-1].Votes += by },
			Numbers: votesOf,
		},
		threads: &comments.Threads[blog]{
			Set: child.Set[blog, comments.Comment]{
				Parents: blogs, Children: written, Draw: deps.Draw,
				Count:    func(b *blog) *int64 { return &b.CommentCount },
				ParentOf: comments.ParentOf,
				NoChild:  comments.NotFound,
			},
			People: deps.People, Now: deps.Now,
		},
		recommendations: &choices.Tally[blog]{
			Parents: blogs, Choices: recommendations, Draw: deps.Draw,
			Mark:    func(b *blog) *choices.Mark { return &b.Recommendations },
			Add:     func(b *blog, _ int32, by int64) { b.Score += by },
			Numbers: func(b *blog) []int64 { return []int64{b.Score} },
		},
		people: deps.People, account: deps.Account, draw: deps.Draw, now: deps.Now,
		zone: config.Zone, reward: config.Reward, log: deps.Log,
	}, nil
}

// Register registers the service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	blogv1.RegisterBlogServiceServer(registrar, s)
}

// Sweep removes what deleted entries left behind and settles the rewards that are due.
func (s *Server) Sweep(ctx context.Context) error {
	removed := s.blogs.Sweep(ctx, func(ctx context.Context, id int64) error {
		return errors.Join(s.ballots.Forget(ctx, id), s.threads.RemoveAll(ctx, id), s.recommendations.Forget(ctx, id))
	})
	return errors.Join(removed, s.settleDue(ctx))
}

// Relations are what hangs on entries.
func (s *Server) Relations() []integrity.Relation {
	return []integrity.Relation{s.ballots.Relation(), s.threads.Relation(), s.recommendations.Relation()}
}

func noBlog(id int64) *apierror.Error {
	return apierror.NotFound("BLOG_NOT_FOUND", "there is no entry %d", id)
}

func notOwner(id int64) *apierror.Error {
	return apierror.NotOwner("entry %d belongs to somebody else", id)
}
