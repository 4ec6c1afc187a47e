package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// smallStore is the number of landmarks in a small store.
const smallStore = 1000

// site is a store of a certain size.
type site struct {
	name    string
	data    string
	content content.Content
	// documents is the number of landmarks; 0 means an empty store.
	documents int
}

// large measures what may grow with the size of the store: the start, memory, lists and
// reads.
func (b *bench) large(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	sites := []site{
		{name: "empty"},
		{name: report.Number(smallStore) + " landmarks", documents: smallStore},
		{name: report.Number(float64(b.settings.Documents)) + " landmarks", documents: b.settings.Documents},
	}
	for i := range sites {
		s := &sites[i]
		began := time.Now()
		if s.documents == 0 {
			s.data, err = w.newData()
		} else {
			s.data, s.content, err = w.filledStore(ctx, s.documents)
		}
		if err != nil {
			return err
		}
		b.progress("created store in %s: %s", report.Duration(time.Since(began)), s.name)
	}
	if err := b.starts(ctx, w, sites); err != nil {
		return err
	}
	running := make([]*process.Process, len(sites))
	for i, s := range sites {
		if running[i], err = w.start("standalone", nil, standaloneArgs(s.data)...); err != nil {
			return err
		}
	}
	if err := b.longList(ctx, sites[2], running[2]); err != nil {
		return err
	}
	return b.readsAtSizes(ctx, w, sites[1:], running[1:])
}

// readsAtSizes measures reads from a small and a large store in turn.
func (b *bench) readsAtSizes(ctx context.Context, w *workshop, sites []site, running []*process.Process) error {
	table := report.Table{Title: "Reads from a small store and a large one, one client", Rows: [][]string{
		{"read", "landmarks", "p50 µs", "p99 µs", "CPU µs", "MiB own, in all, while 16 clients read"}}}
	reads := []string{"getPOI by the edge", "ListPois, 100 in the middle"}
	openers := make([][]load.Opener, len(reads)) // by read and site
	for i, s := range sites {
		channels, err := w.dial(running[i].Addresses["grpc"], nil, callChannels)
		if err != nil {
			return err
		}
		ids, middle, err := landmarksOf(ctx, channels[0], s.documents)
		if err != nil {
			return err
		}
		openers[0] = append(openers[0], load.HTTP{Address: running[i].Addresses["edge"], Requests: getPoiRequests(ids), Want: wantXML}.Open)
		page := &poiv1.ListPoisRequest{Category: content.ListCategory, PageSize: 100, PageToken: middle}
		openers[1] = append(openers[1], load.RPC{Channels: channels, Method: poiMethods + "ListPois", Request: page, Reply: &poiv1.ListPoisResponse{}}.Open)
	}
	for n, read := range reads {
		p50, p99, cpu := make([]report.Spread, len(sites)), make([]report.Spread, len(sites)), make([]report.Spread, len(sites))
		for range b.settings.Rounds {
			for i := range sites {
				before, err := running[i].CPU()
				if err != nil {
					return err
				}
				done, err := load.Closed(ctx, openers[n][i], 1, b.settings.Duration)
				if err != nil {
					return err
				}
				after, err := running[i].CPU()
				if err != nil {
					return err
				}
				p50[i] = append(p50[i], micros(done.Latencies.Quantile(0.5)))
				p99[i] = append(p99[i], micros(done.Latencies.Quantile(0.99)))
				cpu[i] = append(cpu[i], micros(after-before)/float64(len(done.Latencies)))
			}
		}
		for i, s := range sites {
			if _, err := load.Closed(ctx, openers[n][i], manyConnections, b.settings.Duration); err != nil {
				return err
			}
			memory, err := running[i].Memory()
			if err != nil {
				return err
			}
			table.Add(read, report.Number(float64(s.documents)), p50[i].String(), p99[i].String(), cpu[i].String(),
				report.Number(memory.Own)+", "+report.Number(memory.All()))
		}
		dearer := p50[1].Median() / p50[0].Median()
		b.target(dearer <= 1.2, report.Number(dearer)+"×", "≤ 1.2×", "%s: p50 at %s landmarks over that at %s",
			read, report.Number(float64(sites[1].documents)), report.Number(float64(sites[0].documents)))
	}
	table.Print(b.out)
	return nil
}

// sampled bounds the number of different landmarks that are read.
const sampled = 100_000

// landmarksOf returns an evenly distributed sample of the landmarks' ids, and the page token
// of the page in the middle of the list.
func landmarksOf(ctx context.Context, channel grpc.ClientConnInterface, count int) (ids []int64, middle string, err error) {
	pois := poiv1.NewPoiServiceClient(channel)
	const page = 1000
	for token, seen := "", 0; ; {
		reply, err := pois.ListPois(ctx, &poiv1.ListPoisRequest{Category: content.ListCategory, PageSize: page, PageToken: token})
		if err != nil {
			return nil, "", err
		}
		for i, poi := range reply.GetPois() {
			if (seen+i)%max(1, count/sampled) == 0 {
				ids = append(ids, poi.GetPoiId())
			}
		}
		seen += len(reply.GetPois())
		token = reply.GetNextPageToken()
		if token == "" {
			return ids, middle, nil
		}
		if middle == "" && seen >= count/2 {
			middle = token
		}
	}
}

// getPoiRequests returns encoded requests for landmarks in a scattered order.
func getPoiRequests(ids []int64) [][]byte {
	const stride = 7919 // a prime, so that every id occurs
	requests := make([][]byte, len(ids))
	for i := range ids {
		requests[i] = fmt.Appendf(nil, "GET /API.php?func=getPOI&POIID=%d HTTP/1.1\r\nHost: bench\r\n\r\n", ids[i*stride%len(ids)])
	}
	return requests
}
