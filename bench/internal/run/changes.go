package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// changes measures the feeds of changes: what a walk over a large collection takes, what a follower costs
// writers, and how late a follower is.
func (b *bench) changes(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := startStandalone(ctx, w, b.settings.Documents)
	if err != nil {
		return err
	}
	if err := b.feedWalk(ctx, poiv1.NewPoiServiceClient(d.channels[poiService][0]), d.edge); err != nil {
		return err
	}
	if err := b.followedWriters(ctx, d); err != nil {
		return err
	}
	return b.feedLag(ctx, d)
}

// feedWalk follows a collection from nothing until it has all landmarks.
func (b *bench) feedWalk(ctx context.Context, pois poiv1.PoiServiceClient, p *process.Process) error {
	landmarks := b.settings.Documents
	table := report.New(fmt.Sprintf("A follower from nothing over %d landmarks, with the landmarks", landmarks))
	row := table.Row()
	for range b.settings.Rounds {
		err := grown(p, landmarks, row, func() error {
			for seen, token := 0, ""; seen < landmarks; {
				page, err := pois.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageToken: token, PageSize: 1000, IncludePoi: true})
				if err != nil {
					return err
				}
				seen, token = seen+len(page.GetChanges()), page.GetNextPageToken()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return b.print(table)
}

// shownAfter is longer than a change waits before a follower gets it.
const shownAfter = 3 * time.Second

// followedWriters compares many writers without a follower and with one, which has all earlier changes
// when it begins. A turn is measured once the follower gets changes as fast as they are made.
func (b *bench) followedWriters(ctx context.Context, d *deployment) error {
	edge := d.toEdge(caseNamed(d.content, "addAlbum"))
	table := report.New(fmt.Sprintf("addAlbum by %d clients, without a follower and with one", manyWriters), "follower")
	rows := table.Rows("no", "yes")
	err := b.inTurns(rows, func(i int, to *report.Row) (err error) {
		var count atomic.Int64
		if i == 1 {
			stop, failed := follow(ctx, d, func(*albumv1.AlbumChange) { count.Add(1) })
			if failed != nil {
				return failed
			}
			defer func() { err = errors.Join(err, stop()) }()
		}
		if _, err := load.Closed(ctx, edge.open, manyWriters, shownAfter); err != nil {
			return err
		}
		early, began := count.Load(), time.Now()
		if _, err := edge.closed(ctx, manyWriters, b.settings.Duration, to); err != nil {
			return err
		}
		to.Add("changes/s that it gets", float64(count.Load()-early)/time.Since(began).Seconds())
		return nil
	})
	if err != nil {
		return err
	}
	rows[1].AddRatio("replies, ratio", repliesPerSecond, rows[0])
	return b.print(table)
}

// feedLag measures how long after the reply to its writer a change reaches a follower.
func (b *bench) feedLag(ctx context.Context, d *deployment) (err error) {
	var mu sync.Mutex
	arrived := map[int64]time.Time{}
	stop, err := follow(ctx, d, func(change *albumv1.AlbumChange) {
		mu.Lock()
		defer mu.Unlock()
		if _, isKnown := arrived[change.GetAlbumId()]; !isKnown {
			arrived[change.GetAlbumId()] = time.Now()
		}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	albums := albumv1.NewAlbumServiceClient(d.channels[albumService][0])
	written := map[int64]time.Time{}
	for began := time.Now(); time.Since(began) < time.Duration(b.settings.Rounds)*b.settings.Duration+shownAfter; {
		id, err := newAlbum(ctx, albums, d.content.owner)
		if err != nil {
			return err
		}
		written[id] = time.Now()
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(2 * shownAfter)
	mu.Lock()
	defer mu.Unlock()
	var lags load.Latencies
	for id, at := range written {
		came, isThere := arrived[id]
		if !isThere {
			return fmt.Errorf("%s: the change of album %d has not come", d.name, id)
		}
		lags = append(lags, came.Sub(at))
	}
	slices.Sort(lags)
	table := report.New("From the reply to a writer to a follower, "+d.name, "changes")
	row := table.Row(report.Number(float64(len(lags))))
	addLatencies(row, lags)
	row.Add("most ms", millis(lags.Quantile(1)))
	return b.print(table)
}

// follow starts a follower of albums that has all earlier changes. stop ends it.
func follow(ctx context.Context, d *deployment, see func(*albumv1.AlbumChange)) (stop func() error, err error) {
	albums := albumv1.NewAlbumServiceClient(d.channels[albumService][0])
	token, hasMore := "", true
	for hasMore {
		page, err := albums.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageToken: token, PageSize: 1000})
		if err != nil {
			return nil, err
		}
		token, hasMore = page.GetNextPageToken(), page.GetHasMore()
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- watch(ctx, albums, token, see) }()
	return func() error {
		defer cancel()
		select {
		case err := <-ended: // before it is stopped
			return fmt.Errorf("the follower ended: %w", err)
		default:
			cancel()
			<-ended // its error is that of ctx
			return nil
		}
	}, nil
}

// watch follows albums from a token until ctx ends.
func watch(ctx context.Context, albums albumv1.AlbumServiceClient, token string, see func(*albumv1.AlbumChange)) error {
	for {
		stream, err := albums.WatchAlbumChanges(ctx, &albumv1.WatchAlbumChangesRequest{PageToken: token}, grpc.WaitForReady(true))
		for err == nil {
			var batch *albumv1.WatchAlbumChangesResponse
			if batch, err = stream.Recv(); err == nil {
				token = batch.GetNextPageToken()
				for _, change := range batch.GetChanges() {
					see(change)
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
}
