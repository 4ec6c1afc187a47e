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

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// changes measures the feeds of changes: how late they are, what a follower costs writers, and what
// a walk over a large collection takes.
func (b *bench) changes(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := startStandalone(ctx, w, b.settings.Documents)
	if err != nil {
		return err
	}
	channel := d.channels[albumService][0]
	if err := b.feedWalk(ctx, poiv1.NewPoiServiceClient(channel), d.edge); err != nil {
		return err
	}
	if err := b.followedWriters(ctx, d, albumv1.NewAlbumServiceClient(channel)); err != nil {
		return err
	}
	if err := b.feedLag(ctx, "", d); err != nil {
		return err
	}
	far, err := startFar(ctx, w)
	if err != nil {
		return err
	}
	return b.feedLag(ctx, ", over MongoDB's protocol at 1 ms", far)
}

// startFar starts processes over MongoDB's protocol, at a distance.
func startFar(ctx context.Context, w *workshop) (*deployment, error) {
	d, face, err := startOnWire(ctx, w)
	if err != nil {
		return nil, err
	}
	return d, face.delay(distance)
}

// feedWalk follows a collection from nothing until it has all landmarks.
func (b *bench) feedWalk(ctx context.Context, pois poiv1.PoiServiceClient, p *process.Process) error {
	table := report.Table{Title: fmt.Sprintf("A follower from nothing over %d landmarks, with the landmarks", b.settings.Documents),
		Rows: [][]string{{"changes/s", "server CPU, µs a change", "MiB more at the most"}}}
	var rate, cpu, grown report.Spread
	for range b.settings.Rounds {
		if err := p.ForgetPeak(); err != nil {
			return err
		}
		before, err := p.Memory()
		if err != nil {
			return err
		}
		used, err := p.CPU()
		if err != nil {
			return err
		}
		began, seen := time.Now(), 0
		for token := ""; seen < b.settings.Documents; {
			page, err := pois.ListPoiChanges(ctx, &poiv1.ListPoiChangesRequest{PageToken: token, PageSize: 1000, IncludePoi: true})
			if err != nil {
				return err
			}
			seen, token = seen+len(page.GetChanges()), page.GetNextPageToken()
		}
		took := time.Since(began)
		usedAfter, err := p.CPU()
		if err != nil {
			return err
		}
		after, err := p.Memory()
		if err != nil {
			return err
		}
		rate = append(rate, float64(seen)/took.Seconds())
		cpu = append(cpu, float64((usedAfter-used).Microseconds())/float64(seen))
		grown = append(grown, after.Peak-before.All())
	}
	table.Add(rate.String(), cpu.String(), grown.String())
	table.Print(b.out)
	b.target(grown.Median() < 32+64, grown.String()+" MiB", "< 96 MiB", "a feed over %d landmarks: growth of the process", b.settings.Documents)
	return nil
}

// shownAfter is longer than a change waits before a follower gets it.
const shownAfter = 3 * time.Second

// followedWriters compares many writers without a follower and with one, which has all earlier changes
// when it begins. A turn is measured once the follower gets changes as fast as they are made.
func (b *bench) followedWriters(ctx context.Context, d *deployment, albums albumv1.AlbumServiceClient) error {
	c := caseNamed(d.content, "addAlbum")
	edge := contender{name: byEdge, serves: d.serving(c, d.edge), open: d.opener(c)}
	results := []result{{contender: edge}, {contender: edge}}
	var seen report.Spread
	for at := range turns(b.settings.Rounds, len(results)) {
		follows, stop := context.WithCancel(ctx)
		var following sync.WaitGroup
		var count atomic.Int64
		if at == 1 {
			token, err := present(ctx, albums)
			if err != nil {
				stop()
				return err
			}
			following.Go(func() { _ = watch(follows, albums, token, func(*albumv1.AlbumChange) { count.Add(1) }) }) // it ends by stop
		}
		before := result{contender: edge}
		err := before.closed(ctx, manyWriters, shownAfter)
		early, began := count.Load(), time.Now()
		if err == nil {
			err = results[at].closed(ctx, manyWriters, b.settings.Duration)
		}
		got := float64(count.Load()-early) / time.Since(began).Seconds()
		stop()
		following.Wait()
		if err != nil {
			return err
		}
		if at == 1 {
			seen = append(seen, got)
		}
	}
	table := report.Table{Title: fmt.Sprintf("addAlbum by %d clients, without a follower and with one", manyWriters), Rows: [][]string{{"follower", "albums/s", "CPU µs", "changes/s that it gets"}}}
	table.Add("no", results[0].rate.String(), results[0].serverCPU.String(), "")
	table.Add("yes", results[1].rate.String(), results[1].serverCPU.String(), seen.String())
	ratio := ratios(results[1].rate, results[0].rate)
	table.Notes = []string{"Albums/s with the follower over those without: " + ratio.String() + "."}
	table.Print(b.out)
	b.target(ratio.Median() > 0.95, ratio.String(), "> 0.95", "addAlbum by %d clients with a follower over without", manyWriters)
	return nil
}

// feedLag measures how long after the reply to its writer a change reaches a follower. where says on
// which store.
func (b *bench) feedLag(ctx context.Context, where string, d *deployment) error {
	albums := albumv1.NewAlbumServiceClient(d.channels[albumService][0])
	var mu sync.Mutex
	arrived := map[int64]time.Time{}
	token, err := present(ctx, albums)
	if err != nil {
		return err
	}
	follows, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		_ = watch(follows, albums, token, func(change *albumv1.AlbumChange) { // it ends by stop
			mu.Lock()
			defer mu.Unlock()
			if _, isKnown := arrived[change.GetAlbumId()]; !isKnown {
				arrived[change.GetAlbumId()] = time.Now()
			}
		})
	})
	defer following.Wait()
	defer stop()
	written := map[int64]time.Time{}
	for began := time.Now(); time.Since(began) < time.Duration(b.settings.Rounds)*b.settings.Duration+3*time.Second; {
		reply, err := albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
			OwnerId: d.content.Owner, Title: "lag", Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121},
		})
		if err != nil {
			return err
		}
		written[reply.GetAlbum().GetAlbumId()] = time.Now()
		time.Sleep(10 * time.Millisecond)
	}
	var lags []time.Duration
	for deadline := time.Now().Add(10 * time.Second); len(lags) < len(written); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d changes have not come", len(written)-len(lags), len(written))
		}
		time.Sleep(100 * time.Millisecond)
		lags = lags[:0]
		mu.Lock()
		for id, at := range written {
			if came, isThere := arrived[id]; isThere {
				lags = append(lags, came.Sub(at))
			}
		}
		mu.Unlock()
	}
	slices.Sort(lags)
	p50, p99 := lags[len(lags)/2], lags[len(lags)*99/100]
	table := report.Table{Title: "From the reply to a writer to a follower" + where, Rows: [][]string{{"changes", "p50 ms", "p99 ms", "most ms"}}}
	table.Add(report.Number(float64(len(lags))), report.Number(millis(p50)), report.Number(millis(p99)), report.Number(millis(lags[len(lags)-1])))
	table.Print(b.out)
	b.target(p99 < 3*time.Second, report.Number(millis(p99))+" ms", "< 3,000 ms", "lag of a follower%s, p99", where)
	return nil
}

// present returns the token of a follower that has all changes.
func present(ctx context.Context, albums albumv1.AlbumServiceClient) (token string, err error) {
	for {
		page, err := albums.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageToken: token, PageSize: 1000})
		if err != nil || !page.GetHasMore() {
			return page.GetNextPageToken(), err
		}
		token = page.GetNextPageToken()
	}
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
