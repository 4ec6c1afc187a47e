package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// distance is how much longer a command takes from another machine.
const distance = time.Millisecond

// How many requests a turn of section mongodb makes, one after the other: few of those that let the
// stores grow, because FerretDB answers each query with a scan.
const (
	inSequence        = 200
	growingInSequence = 30
)

// landmarksOnMongoDB is how many landmarks a store has that MongoDB's protocol leads to, and one beside it.
const landmarksOnMongoDB = 50

// single is a request that section mongodb sends. make returns the encoded requests of a turn.
type single struct {
	name string
	make func(ctx context.Context, d *deployment) ([][]byte, error)
}

// singles returns the requests of section mongodb, those that let the stores grow last.
func singles() []single {
	read := func(name string, form func(content.Content) url.Values) single {
		return single{name, func(_ context.Context, d *deployment) ([][]byte, error) {
			return slices.Repeat([][]byte{testCase{form: form(d.content)}.edgeRequest("")}, inSequence), nil
		}}
	}
	write := func(name string, count int, form func(content.Content) url.Values) single {
		return single{name, func(_ context.Context, d *deployment) ([][]byte, error) {
			return slices.Repeat([][]byte{testCase{form: form(d.content), writes: true}.edgeRequest(d.content.Cookie)}, count), nil
		}}
	}
	return []single{
		read("getAlbum", func(c content.Content) url.Values { return readForm("getAlbum", "albumID", c.FullAlbum) }),
		read("getUserAlbumList", func(c content.Content) url.Values { return readForm("getUserAlbumList", "userID", c.Lister) }),
		read("getBlog", func(c content.Content) url.Values { return readForm("getBlog", "blogID", c.Blog) }),
		read("getPOI", func(c content.Content) url.Values { return readForm("getPOI", "POIID", c.Poi) }),
		read("getNearbyPOIList", func(content.Content) url.Values {
			return url.Values{"func": {"getNearbyPOIList"}, "lat": {"23.5"}, "lng": {"121.0"}, "radius": {"5000"}}
		}),
		write("updateBlog", inSequence, func(c content.Content) url.Values {
			form := postBlogForm(c.Owner)
			form["func"], form["blogID"] = []string{"updateBlog"}, []string{fmt.Sprint(c.Blog)}
			return form
		}),
		write("updateAlbum", inSequence, func(c content.Content) url.Values {
			return url.Values{"func": {"updateAlbum"}, "albumID": {fmt.Sprint(c.BareAlbum)}, "albumTitle": {"象山"}}
		}),
		write("addAlbum", growingInSequence, func(content.Content) url.Values { return addAlbumForm() }),
		{"updateAlbum, delete", deletions("updateAlbum", "albumID", func(ctx context.Context, d *deployment) (int64, error) {
			made, err := albumv1.NewAlbumServiceClient(d.channels[albumService][0]).CreateAlbum(ctx, content.NewAlbum(d.content.Owner))
			return made.GetAlbum().GetAlbumId(), err
		})},
		write("postBlog", growingInSequence, func(c content.Content) url.Values { return postBlogForm(c.Owner) }),
		{"updateBlog, delete", deletions("updateBlog", "blogID", func(ctx context.Context, d *deployment) (int64, error) {
			made, err := blogv1.NewBlogServiceClient(d.channels[blogService][0]).CreateBlog(ctx, content.NewBlog(d.content.Owner))
			return made.GetBlog().GetBlogId(), err
		})},
	}
}

// deletions returns a function that creates what its requests delete.
func deletions(
	function, parameter string, create func(context.Context, *deployment) (int64, error),
) func(context.Context, *deployment) ([][]byte, error) {
	return func(ctx context.Context, d *deployment) (requests [][]byte, err error) {
		for range growingInSequence {
			id, err := create(ctx, d)
			if err != nil {
				return nil, err
			}
			form := url.Values{"func": {function}, parameter: {fmt.Sprint(id)}, "delete": {"1"}}
			requests = append(requests, testCase{form: form, writes: true}.edgeRequest(d.content.Cookie))
		}
		return requests, nil
	}
}

// wire is the program that serves MongoDB's protocol.
type wire struct{ admin string }

func (w wire) do(method, path string) (string, error) {
	request, err := http.NewRequest(method, "http://"+w.admin+path, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, body)
	}
	return strings.TrimSpace(string(body)), err
}

// commands returns how many commands have arrived.
func (w wire) commands() (float64, error) {
	text, err := w.do(http.MethodGet, "/commands")
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// delay sets how long each command takes more.
func (w wire) delay(by time.Duration) error {
	_, err := w.do(http.MethodPost, "/latency?of="+by.String())
	return err
}

// startOnWire starts processes over MongoDB's protocol.
func startOnWire(ctx context.Context, w *workshop) (*deployment, wire, error) {
	face, uri, err := startWire(ctx, w)
	if err != nil {
		return nil, face, err
	}
	d, err := startProcessesOn(ctx, w, nil, landmarksOnMongoDB, func() (string, error) { return "-mongodb-uri=" + uri, nil })
	return d, face, err
}

// startWire builds and starts what serves MongoDB's protocol. It returns the URI of a database.
func startWire(ctx context.Context, w *workshop) (wire, string, error) {
	// FerretDB decodes documents several times as fast with this experiment.
	faster := []string{"GOEXPERIMENT=jsonv2"}
	if err := process.BuildWith(ctx, faster, "", w.directory, module+"e2e/mongotest/ferretdb"); err != nil {
		return wire{}, "", err
	}
	if err := process.Build(ctx, "", w.directory, module+"e2e/mongotest/wire"); err != nil {
		return wire{}, "", err
	}
	data, err := w.newData()
	if err != nil {
		return wire{}, "", err
	}
	backend, err := process.Start(w.binary("ferretdb"), nil, "-data="+data)
	if err != nil {
		return wire{}, "", err
	}
	w.onClose(func() error { _ = backend.Stop(); return nil }) // it ends by the signal, with a status of its own
	face, err := w.start("wire", nil, "-backend="+backend.Addresses["grpc"])
	if err != nil {
		return wire{}, "", err
	}
	return wire{face.Addresses["admin"]}, "mongodb://" + face.Addresses["grpc"] + "/bench?replicaSet=rs0", nil
}

// sequence is the measurements of one contender with one request.
type sequence struct{ p50, p99, cpu, commands report.Spread }

// mongodb measures requests that are made one after the other, in separate processes: on embedded
// stores, over MongoDB's protocol, and over the same with a distance. The database is FerretDB, which
// is slower than MongoDB, so only the differences count: in the CPU time of Waybook, which is that of
// the driver, and between near and far, which are the commands in a row.
func (b *bench) mongodb(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	near, face, err := startOnWire(ctx, w)
	if err != nil {
		return err
	}
	embedded, err := startProcesses(ctx, w, nil, landmarksOnMongoDB)
	if err != nil {
		return err
	}
	table := report.Table{Title: "One request after the other, separate processes", Rows: [][]string{{
		"request", "embedded: p50 ms", "p99 ms", "CPU µs", "MongoDB's protocol: commands", "p50 ms", "p99 ms", "CPU µs",
		"at 1 ms: p50 ms", "p99 ms", "in a row",
	}}}
	for _, each := range singles() {
		var on [3]sequence
		for range b.settings.Rounds {
			for i, d := range []*deployment{embedded, near, near} {
				latency := time.Duration(0)
				if i == 2 {
					latency = distance
				}
				if err := b.inTurn(ctx, each, d, face, latency, &on[i]); err != nil {
					return fmt.Errorf("%s: %w", each.name, err)
				}
			}
		}
		row := []string{each.name}
		for i, s := range on {
			if i == 1 {
				row = append(row, report.Number(s.commands.Median()))
			}
			row = append(row, s.p50.String(), report.Number(s.p99.Median()))
			if i < 2 {
				row = append(row, s.cpu.String())
			}
		}
		table.Add(append(row, report.Number((on[2].p50.Median()-on[1].p50.Median())/millis(distance)))...)
		b.progress("mongodb, %s: p50 %s ms embedded, %s and at 1 ms %s over the protocol", each.name, on[0].p50, on[1].p50, on[2].p50)
	}
	table.Notes = []string{
		"The CPU is that of Waybook's processes. The last column is how much the median grows by a distance of 1 ms, in ms.",
	}
	table.Print(b.out)
	return nil
}

// inTurn sends the requests of a turn, one after the other.
func (b *bench) inTurn(ctx context.Context, each single, d *deployment, face wire, latency time.Duration, to *sequence) (err error) {
	requests, err := each.make(ctx, d)
	if err != nil {
		return err
	}
	if err := face.delay(latency); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, face.delay(0)) }()
	connection, err := load.HTTP{Address: d.edge.Addresses["edge"], Requests: requests, Want: wantXML}.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	all := []*process.Process{d.edge, d.account, d.services[albumService], d.services[blogService], d.services[poiService]}
	before, err := cpuOf(all)
	if err != nil {
		return err
	}
	commands, err := face.commands()
	if err != nil {
		return err
	}
	var latencies load.Latencies
	for range requests {
		began := time.Now()
		if err := connection.Do(ctx); err != nil {
			return err
		}
		latencies = append(latencies, time.Since(began))
	}
	commandsAfter, err := face.commands()
	if err != nil {
		return err
	}
	after, err := cpuOf(all)
	if err != nil {
		return err
	}
	slices.Sort(latencies)
	n := float64(len(requests))
	to.p50 = append(to.p50, millis(latencies.Quantile(0.5)))
	to.p99 = append(to.p99, millis(latencies.Quantile(0.99)))
	to.cpu = append(to.cpu, micros(after-before)/n)
	to.commands = append(to.commands, (commandsAfter-commands)/n)
	return nil
}

// cpuOf returns the CPU time of processes.
func cpuOf(all []*process.Process) (sum time.Duration, err error) {
	for _, each := range all {
		used, err := each.CPU()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}
