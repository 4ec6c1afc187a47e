package comments

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// Limits bound what a user writes under one document. They are flags. The zero value has none.
type Limits struct {
	// PerMinute is the rate of comments and replies, with a minute's worth at once. Total is the
	// number of comments. 0 is no limit.
	PerMinute, Total int
}

// Register declares the flags, with their defaults.
func (l *Limits) Register(flags *flag.FlagSet) {
	flags.IntVar(&l.PerMinute, "comments-per-minute", 20,
		"rate limit of a user's comments and replies under one album, entry or landmark, per minute, 0 for none")
	flags.IntVar(&l.Total, "comments-per-user", 500,
		"limit of a user's comments under one album, entry or landmark, 0 for none")
}

// Check reports a setting out of its range.
func (l Limits) Check() error {
	var err error
	if l.PerMinute < 0 {
		err = fmt.Errorf("-comments-per-minute is %d; it must not be negative", l.PerMinute)
	}
	if l.Total < 0 || l.Total > maxTotal {
		err = errors.Join(err, fmt.Errorf("-comments-per-user is %d; it must be from 0 to %d", l.Total, maxTotal))
	}
	return err
}

// maxTotal bounds what a comment costs: as many entries of an index are read before it is stored.
const maxTotal = 10_000

// limits are the Limits of a Set.
type limits struct {
	Limits
	rate *admission.Rate
	// written are the comments of an author under a document, from the index of their requests
	// alone.
	written *docstore.Reader[int64, written]
}

type written struct {
	ParentID int64 `bson:"parent_id"`
}

// Limit sets the limits, before the Set is used.
func (s *Set[P]) Limit(l Limits) {
	s.limits = limits{l, admission.NewRate(float64(l.PerMinute)/60, time.Minute, s.Now),
		docstore.Project[written](s.Children)}
}

// refuse returns the error for a comment, or a reply, that exceeds the rate limit.
func (s *Set[P]) refuse(parentID, authorID int64) error {
	wait := s.limits.rate.Take(fmt.Sprintf("%d/%d", authorID, parentID))
	if wait == 0 {
		return nil
	}
	e := apierror.New(codes.ResourceExhausted, "TOO_MANY_COMMENTS",
		"too many comments under one document (limit %d a minute); retry after %v",
		s.limits.PerMinute, (wait + time.Second - 1).Truncate(time.Second))
	e.RetryAfter = wait
	return e
}

// refuseMore returns the error for one more comment of an author who has as many as the limit
// under a document. Calls at the same time may exceed it by their number.
func (s *Set[P]) refuseMore(ctx context.Context, parentID, authorID int64) error {
	most := s.limits.Total
	if most <= 0 {
		return nil
	}
	query, n := docstore.Query{Where: byRequest().Second(parentID, authorID), Limit: most, Most: most}, 0
	for batch, err := range s.limits.written.Batches(ctx, query) {
		if err != nil {
			return err
		}
		n += len(batch)
	}
	if n < most {
		return nil
	}
	return apierror.New(codes.ResourceExhausted, "COMMENT_LIMIT_REACHED",
		"the user has %d comments under this document, which is the limit; remove one before adding another", n)
}
