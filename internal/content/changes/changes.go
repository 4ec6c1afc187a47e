// Package changes serves the changes of a service's documents to followers.
package changes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/service"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parts of a document whose changes followers distinguish.
const (
	Content  = "content"
	Photos   = "photos"
	Comments = "comments"
	Numbers  = "numbers"
)

// The fields that every kind of content has.
const (
	updateTime = "update_time"
	commented  = "comment_latest"
)

// Of declares the feed of a kind of content. photos are the fields of its photos, numbers those of its
// numbers, and unseen those that followers are not shown.
func Of(settings service.Changes, photos, numbers []string, unseen ...string) *docstore.Feed {
	parts := []docstore.Part{{Name: Comments, Fields: []string{commented}}, {Name: Numbers, Fields: numbers}}
	if len(photos) > 0 {
		parts = append(parts, docstore.Part{Name: Photos, Fields: photos})
	}
	return &docstore.Feed{
		Parts: parts, Rest: Content, NoPart: []string{updateTime}, NotStamped: append(unseen, nearby.CellField), Settling: settings.Settling,
	}
}

// The limits of followers.
const (
	// pageSize is the default number of changes in a page, and batchSize the number in a batch.
	pageSize, batchSize = 100, 1000
	// maxWatches is how many streams one feed has at a time.
	maxWatches = 100
	// heartbeat is how long a stream sends nothing before its next token, which follows within the time
	// that a page waits.
	heartbeat = 2500 * time.Millisecond
	// watchTime is how long a stream takes at most.
	watchTime = 10 * time.Minute
)

// Feed serves the changes of documents of type T, as messages of type M. It may be used
// concurrently.
type Feed[T, M any] struct {
	documents *docstore.Collection[int64, T]
	show      func(ctx context.Context, changes []docstore.FeedChange[int64, T]) []*M
	settings  service.Changes
	watches   *admission.Gate
	ending    chan struct{}
	end       func()
}

// New returns the feed of a collection. show converts changes to messages.
func New[T, M any](
	documents *docstore.Collection[int64, T], settings service.Changes,
	show func(ctx context.Context, changes []docstore.FeedChange[int64, T]) []*M,
) *Feed[T, M] {
	ending := make(chan struct{})
	return &Feed[T, M]{
		documents: documents, show: show, settings: settings, watches: admission.New(admission.Limits{Slots: maxWatches}),
		ending: ending, end: sync.OnceFunc(func() { close(ending) }),
	}
}

// Page is a page of changes.
type Page[M any] struct {
	Changes []*M
	Next    string
	HasMore bool
}

// Request is what the requests for pages have.
type Request interface {
	GetPageToken() string
	GetPageSize() int32
	GetStartTime() *timestamppb.Timestamp
}

// List returns a page of changes.
func (f *Feed[T, M]) List(ctx context.Context, request Request, withDocuments bool) (Page[M], error) {
	query := docstore.FeedQuery{
		Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), pageSize, service.MaxPage), WithDocuments: withDocuments,
	}
	if start := request.GetStartTime(); start != nil {
		query.Start = start.AsTime()
	}
	return f.page(ctx, query)
}

func (f *Feed[T, M]) page(ctx context.Context, query docstore.FeedQuery) (Page[M], error) {
	found, err := f.documents.Feed(ctx, query)
	if err != nil {
		return Page[M]{}, err
	}
	return Page[M]{f.show(ctx, found.Changes), found.Next, found.More}, nil
}

// Watch sends changes, and tokens while there are none, until ctx or the feed ends, or for watchTime.
func (f *Feed[T, M]) Watch(ctx context.Context, token string, withDocuments bool, send func(changes []*M, next string) error) error {
	if !f.watches.TryEnter(1) {
		return fmt.Errorf("%d streams of changes: %w", maxWatches, admission.ErrFull)
	}
	defer f.watches.Leave(1)
	watching, stop := context.WithTimeout(ctx, watchTime)
	var ending sync.WaitGroup
	ending.Go(func() {
		select {
		case <-f.ending:
			stop()
		case <-watching.Done():
		}
	})
	defer ending.Wait()
	defer stop()
	query := docstore.FeedQuery{Token: token, Limit: batchSize, WithDocuments: withDocuments}
	for sent := (time.Time{}); ; {
		page, err := f.page(watching, query)
		if watching.Err() != nil {
			return ctx.Err() // nil if the service or the stream ends
		}
		if err != nil {
			return err
		}
		if len(page.Changes) > 0 || time.Since(sent) >= heartbeat {
			if err := send(page.Changes, page.Next); err != nil {
				return err
			}
			sent = time.Now()
		}
		query.Token = page.Next
	}
}

// End ends the streams, also those that begin later.
func (f *Feed[T, M]) End() { f.end() }

// Head is what all changes have.
type Head struct {
	Kind  typev1.ChangeKind
	Time  *timestamppb.Timestamp
	Parts *typev1.PartRevisions
}

// HeadOf returns what all changes have.
func HeadOf[T any](change docstore.FeedChange[int64, T]) Head {
	head := Head{Kind: kindOf(change.Kind), Time: timestamppb.New(change.Time)}
	if change.Kind != docstore.DocumentDeleted {
		head.Parts = &typev1.PartRevisions{
			Content: change.Parts[Content], Photos: change.Parts[Photos], Comments: change.Parts[Comments], Numbers: change.Parts[Numbers],
		}
	}
	return head
}

func kindOf(kind docstore.FeedKind) typev1.ChangeKind {
	switch kind {
	case docstore.DocumentCreated:
		return typev1.ChangeKind_CHANGE_KIND_CREATED
	case docstore.DocumentDeleted:
		return typev1.ChangeKind_CHANGE_KIND_DELETED
	}
	return typev1.ChangeKind_CHANGE_KIND_CHANGED
}

// Owners returns the ids of users that documents in changes belong to.
func Owners[T any](changes []docstore.FeedChange[int64, T], owner func(*T) int64) (ids []int64) {
	for i := range changes {
		if changes[i].Document != nil {
			ids = append(ids, owner(changes[i].Document))
		}
	}
	return ids
}
