package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// SmallStore is the number of landmarks in a small store.
const SmallStore = 1000

// site is a store of a certain size.
type site struct {
	name    string
	data    string
	content content
	// landmarks is 0 in an empty store.
	landmarks int
}

// large measures what may grow with the size of the store: the start, memory, a list of everything, and
// reads.
func (b *bench) large(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	empty, small, large := &site{name: "empty"}, newSite(SmallStore), newSite(b.settings.Documents)
	if empty.data, err = w.newData(); err != nil {
		return err
	}
	for _, s := range []*site{small, large} {
		began := time.Now()
		if s.data, s.content, err = w.filledStore(ctx, s.landmarks); err != nil {
			return err
		}
		b.progress("created a store of %s in %s", s.name, time.Since(began).Round(time.Second/10))
	}
	if err := b.starts(ctx, w, []*site{empty, small, large}); err != nil {
		return err
	}
	running, err := standaloneOn(w, large.data, large.content, nil)
	if err != nil {
		return err
	}
	if err := b.longList(ctx, running, large.landmarks); err != nil {
		return err
	}
	beside, err := standaloneOn(w, small.data, small.content, nil)
	if err != nil {
		return err
	}
	return b.readsAtSizes(ctx, []*site{small, large}, []*deployment{beside, running})
}

func newSite(landmarks int) *site {
	return &site{name: report.Number(float64(landmarks)) + " landmarks", landmarks: landmarks}
}

func namesOf(sites []*site) (names []string) {
	for _, s := range sites {
		names = append(names, s.name)
	}
	return names
}

// settling is how long a process idles before its memory at rest is measured.
const settling = 2 * time.Second

// starts measures the time from exec to the first successful reply, and the memory at rest.
func (b *bench) starts(ctx context.Context, w *workshop, sites []*site) error {
	table := report.New("Start and rest", "store")
	rows := table.Rows(namesOf(sites)...)
	err := b.inTurns(rows, func(i int, to *report.Row) (err error) {
		each := w.within()
		defer func() { err = errors.Join(err, each.close()) }()
		want := wantXML
		if sites[i].landmarks == 0 {
			want = "ALBUM NOT FOUND"
		}
		began := time.Now()
		p, err := each.start("standalone", nil, onStore(sites[i].data)...)
		if err != nil {
			return err
		}
		reply, _, err := fetch(p.Addresses["edge"], get11(fmt.Sprintf("/API.php?func=getAlbum&albumID=%d", max(1, sites[i].content.bareAlbum))))
		to.Add("ms from exec to the first answer", millis(time.Since(began)))
		if err != nil {
			return err
		}
		if !strings.Contains(string(reply), want) {
			return fmt.Errorf("%s: the first reply was %s, want %q", sites[i].name, reply, want)
		}
		time.Sleep(settling)
		return addMemory(to, p)
	})
	if err != nil {
		return err
	}
	return b.print(table)
}

// longList measures the list of all landmarks.
func (b *bench) longList(ctx context.Context, d *deployment, landmarks int) error {
	table := report.New(fmt.Sprintf("A list of %d landmarks through the edge", landmarks))
	row := table.Row()
	for range b.settings.Rounds {
		connection, err := d.toEdge(caseNamed(d.content, longList)).open(0)
		if err != nil {
			return err
		}
		err = grown(d.edge, landmarks, row, func() error { return connection.Do(ctx) })
		if err := errors.Join(err, connection.Close()); err != nil {
			return err
		}
	}
	return b.print(table)
}

// grown adds to a row how fast some work read items from a process, the CPU time for each, and how much
// memory the process took more at the most.
func grown(p *process.Process, items int, to *report.Row, work func() error) error {
	if err := p.ForgetPeak(); err != nil {
		return err
	}
	before, err := p.Memory()
	if err != nil {
		return err
	}
	began := time.Now()
	measured, err := process.Measure([]*process.Process{p}, work)
	if err != nil {
		return err
	}
	took, used := time.Since(began), measured.CPU
	after, err := p.Memory()
	if err != nil {
		return err
	}
	to.Add("items/s", float64(items)/took.Seconds())
	to.Add("CPU µs an item", micros(used)/float64(items))
	to.Add("items/s and core", float64(items)/used.Seconds())
	to.Add("MiB more at the most", after.Peak-before.All())
	return nil
}

// readsAtSizes measures reads of landmarks from stores of different sizes in turn.
func (b *bench) readsAtSizes(ctx context.Context, sites []*site, running []*deployment) error {
	var edges []contender
	for i, s := range sites {
		requests, err := getPoiRequests(ctx, running[i].channels[poiService][0], s.landmarks)
		if err != nil {
			return err
		}
		edge := running[i].edge
		open := load.HTTP{Address: edge.Addresses["edge"], Requests: requests, Want: wantXML}.Open
		edges = append(edges, contender{s.name, open, []*process.Process{edge}})
	}
	for _, clients := range []int{1, manyConnections} {
		table := report.New(fmt.Sprintf("getPOI of any landmark through the edge, clients: %d", clients), "store")
		rows := table.Rows(namesOf(sites)...)
		err := b.inTurns(rows, func(i int, to *report.Row) error {
			done, err := edges[i].closed(ctx, clients, b.settings.Duration, to)
			if err != nil {
				return err
			}
			addLatencies(to, done.Latencies)
			return addMemory(to, running[i].edge)
		})
		if err != nil {
			return err
		}
		rows[1].AddRatio("p50, ratio", p50, rows[0])
		if err := b.print(table); err != nil {
			return err
		}
	}
	return nil
}

// sampled bounds the number of different landmarks that are read.
const sampled = 100_000

// getPoiRequests returns encoded requests for an evenly distributed sample of landmarks, in a scattered order.
func getPoiRequests(ctx context.Context, channel grpc.ClientConnInterface, landmarks int) (requests [][]byte, err error) {
	pois := poiv1.NewPoiServiceClient(channel)
	var ids []int64
	for seen, token := 0, ""; seen == 0 || token != ""; {
		page, err := pois.ListPois(ctx, &poiv1.ListPoisRequest{Category: listCategory, PageSize: 1000, PageToken: token})
		if err != nil {
			return nil, err
		}
		for i, poi := range page.GetPois() {
			if (seen+i)%max(1, landmarks/sampled) == 0 {
				ids = append(ids, poi.GetPoiId())
			}
		}
		seen, token = seen+len(page.GetPois()), page.GetNextPageToken()
	}
	const stride = 7919 // a prime, so that every id occurs
	for i := range ids {
		requests = append(requests, get11(fmt.Sprintf("/API.php?func=getPOI&POIID=%d", ids[i*stride%len(ids)])))
	}
	return requests, nil
}
