package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// manyWriters is the number of concurrent writers.
const manyWriters = 64

// writers compares the throughput of one writer with that of many, whose writes share commits.
func (b *bench) writers(ctx context.Context, w *workshop) error {
	d, err := startStandalone(ctx, w, 0)
	if err != nil {
		return err
	}
	edge := d.toEdge(caseNamed(d.content, addsAlbum))
	table := report.New("addAlbum, durable when it is answered, "+d.name, "clients")
	clients := []int{1, manyWriters}
	rows := table.Rows("1", fmt.Sprint(manyWriters))
	err = b.inTurns(rows, func(i int, to *report.Row) error {
		if _, err := edge.closed(ctx, clients[i], b.settings.Duration, to); err != nil {
			return err
		}
		return addMemory(to, d.edge)
	})
	if err != nil {
		return err
	}
	rows[1].AddRatio("ratio", repliesPerSecond, rows[0])
	return b.print(table)
}

// addMemory adds the memory of a process to a row.
func addMemory(to *report.Row, p *process.Process) error {
	own, all, err := p.Memory()
	to.Add("MiB own", own)
	to.Add("MiB in all", all)
	return err
}

// SmallStore is the number of albums in the smallest store.
const SmallStore = 1000

// growth measures what an addAlbum costs and writes in stores with different numbers of albums.
// One client waits for each reply, so each request has a commit of its own.
func (b *bench) growth(ctx context.Context, w *workshop) error {
	var names []string
	var running []*deployment
	for _, albums := range []int{SmallStore, b.settings.Documents / 10, b.settings.Documents} {
		d, err := startStandalone(ctx, w, 0)
		if err != nil {
			return err
		}
		if err := fillAlbums(ctx, d.channels, albums); err != nil {
			return err
		}
		names, running = append(names, report.Number(float64(albums))+" albums"), append(running, d)
		b.progress("created a store of %d albums", albums)
	}
	table := report.New("addAlbum by one client in stores of different sizes", "store")
	rows := table.Rows(names...)
	err := b.inTurns(rows, func(i int, to *report.Row) error {
		d := running[i]
		bytes, calls, err := d.edge.Written()
		if err != nil {
			return err
		}
		replies, err := d.toEdge(caseNamed(d.content, addsAlbum)).closed(ctx, 1, b.settings.Duration, to)
		if err != nil {
			return err
		}
		bytesAfter, callsAfter, err := d.edge.Written()
		to.Add("kB to the disk", (bytesAfter-bytes)/replies/1e3)
		to.Add("calls to write", (callsAfter-calls)/replies-1) // without that of the reply
		return errors.Join(err, addMemory(to, d.edge))
	})
	if err != nil {
		return err
	}
	for _, larger := range rows[1:] {
		larger.AddRatio("CPU, ratio", serverCPU, rows[0])
	}
	return b.print(table)
}

// These are the writers that fill a store, and the owners of its albums.
const fillWriters, fillOwners = 64, 200

// fillAlbums creates albums of several owners, categories and places.
func fillAlbums(ctx context.Context, channels map[string][]*grpc.ClientConn, count int) error {
	var owners []int64
	for n := range fillOwners {
		owner, err := newUser(ctx, accountv1.NewAccountServiceClient(channels[accountService][0]),
			fmt.Sprintf("owner %d", n))
		if err != nil {
			return err
		}
		owners = append(owners, owner)
	}
	albums := albumv1.NewAlbumServiceClient(channels[albumService][0])
	var writers sync.WaitGroup
	failed := make([]error, fillWriters)
	for writer := range failed {
		random := rand.New(rand.NewPCG(1, uint64(writer))) // #nosec G404 -- a benchmark repeats it
		writers.Go(func() {
			for range count / fillWriters {
				request := albumBy(owners[random.IntN(len(owners))])
				request.Category = albumv1.AlbumCategory(1 + random.Int32N(13))
				request.Location = &typev1.Location{Lat: 22 + 3*random.Float64(), Lng: 120 + 2*random.Float64()}
				if _, failed[writer] = albums.CreateAlbum(ctx, request); failed[writer] != nil {
					return
				}
			}
		})
	}
	writers.Wait()
	return errors.Join(failed...)
}
