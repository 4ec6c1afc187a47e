// Package blog is the blog service: diary entries with their votes and comments.
package blog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// DefaultReward is the default reward of an author for posting an entry, in the
	// service's virtual currency (rule 7.24).
	DefaultReward = 10
	// MaxReward is the largest reward that the account service gives at once.
	MaxReward = 1_000_000_000
)

// server implements BlogService. It may be used concurrently.
type server struct {
	blogv1.UnimplementedBlogServiceServer
	// Resolver resolves the old identifiers in requests.
	*movein.Resolver
	// mover takes records of an old service.
	mover *movein.Mover[blog]

	blogs *content.Kind[blog]
	// summaries are the entries as lists show them.
	summaries *content.Summaries[summary]
	// onMap finds entries by their place.
	onMap    *nearby.Documents[located]
	ballots  *choices.Counter[blog]
	profiles *profiles.Directory
	account  accountv1.AccountServiceClient
	ids      *id.Source
	now      func() time.Time
	zone     *time.Location
	reward   int64
}

// Config holds the settings of the service.
type Config struct {
	// Reward is an author's reward for posting an entry, from 0 to MaxReward.
	Reward int64
	// Zone determines the current day, which is the last day of published entries.
	Zone *time.Location
}

// Check reports a setting out of its range.
func (c Config) Check() error {
	if c.Reward < 0 || c.Reward > MaxReward {
		return fmt.Errorf("-reward is %d; it must be from 0 to %d", c.Reward, MaxReward)
	}
	return nil
}

// New returns the service over a store.
func New(ctx context.Context, deps content.Deps, config Config) (_ content.Service, err error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	s := &server{
		profiles: deps.Profiles, account: deps.Account, ids: deps.NewIDs(), now: deps.Now,
		zone: config.Zone, reward: config.Reward,
	}
	s.blogs, err = content.Open(ctx, deps, content.Spec[blog]{
		Kind:      typev1.Kind_KIND_BLOG,
		Documents: blogsSpec(deps.Changes),
		Name:      "blog", Noun: "entry", NotFound: "BLOG_NOT_FOUND",
		ID:            func(b *blog) int64 { return b.ID },
		Owner:         func(b *blog) int64 { return b.AuthorID },
		OwnerField:    "author_id",
		RequestKey:    func(b *blog) string { return docstore.BareKey(b.RequestKey) },
		Etag:          func(b *blog) string { return owned.EtagOf(b.ContentRevision, b.UpdateTime) },
		Revision:      func(b *blog) *int64 { return &b.ContentRevision },
		LatestComment: func(b *blog) *int64 { return &b.LatestComment },
		Score:         func(b *blog) choices.Number { return choices.Number{Count: &b.Score, Moved: &b.NamedScore} },
		ScoreRound:    func(b *blog) *int64 { return &b.ScoreRound },
		ShownScore:    (*blog).shownScore,
		Attached: []content.Attachment[blog]{
			content.Choices(&s.ballots, content.ChoiceSpec[blog]{
				Collection: "blog_ballots",
				Round:      func(b *blog) *int64 { return &b.VoteRound }, RoundField: "vote_round",
				Numbers: votesOf, Fields: voteFields,
			}),
		},
	})
	if err != nil {
		return nil, err
	}
	s.summaries = content.Summarize(s.blogs, showSummary)
	s.onMap = nearby.New(s.blogs.Documents, onMap(), keyOf, docstore.Project[located](s.blogs.Documents), locationOf)
	s.mover = s.newMover()
	s.Resolver = s.mover.Resolver
	return s, nil
}

// Name is the service's name in metrics and logs.
func (s *server) Name() string { return "blog" }

// Register registers the service.
func (s *server) Register(registrar grpc.ServiceRegistrar) {
	blogv1.RegisterBlogServiceServer(registrar, s)
}

// Parts implements service.Service.
func (s *server) Parts() service.Parts {
	parts := s.blogs.Parts()
	parts.Records, parts.Resolver = s.mover, s.Resolver
	return parts
}

// Sweep removes the attachments of deleted entries, grants the rewards that are due, and
// forgets old deletions.
func (s *server) Sweep(ctx context.Context) error {
	return errors.Join(s.blogs.Sweep(ctx), s.grantDue(ctx))
}

// Constraints returns the constraints between entries and their attachments.
func (s *server) Constraints() []integrity.Constraint { return s.blogs.Constraints() }
