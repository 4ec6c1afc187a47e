package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waybook/waybook/bench/internal/process"
)

// distance is how much longer a command takes from another machine.
const distance = time.Millisecond

// landmarksOnMongoDB is how many landmarks a store has that MongoDB's protocol leads to, and one beside it.
const landmarksOnMongoDB = 50

// startOnWire builds and starts what serves MongoDB's protocol, and starts processes over it. Each command
// takes as much longer as the database is away.
func startOnWire(ctx context.Context, w *workshop, away time.Duration) (*deployment, error) {
	// FerretDB decodes documents several times as fast with this experiment.
	faster := []string{"GOEXPERIMENT=jsonv2"}
	if err := process.Build(ctx, faster, "", w.directory, module+"e2e/mongotest/ferretdb"); err != nil {
		return nil, err
	}
	if err := process.Build(ctx, nil, "", w.directory, module+"e2e/mongotest/wire"); err != nil {
		return nil, err
	}
	data, err := w.newData()
	if err != nil {
		return nil, err
	}
	backend, err := process.Start(w.binary("ferretdb"), nil, "-data="+data)
	if err != nil {
		return nil, err
	}
	w.onClose(func() error { _ = backend.Stop(); return nil }) // it ends by the signal, with a status of its own
	face, err := w.start("wire", nil, "-backend="+backend.Addresses["grpc"])
	if err != nil {
		return nil, err
	}
	d, err := startProcessesOn(ctx, w, landmarksOnMongoDB, func() (string, error) {
		return "-mongodb-uri=mongodb://" + face.Addresses["grpc"] + "/bench?replicaSet=rs0", nil
	})
	if err != nil {
		return nil, err
	}
	d.name += ", MongoDB's protocol"
	if away > 0 {
		d.name += " at " + away.String()
		request := fmt.Appendf(nil, "POST /latency?of=%s HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n\r\n", away)
		_, _, err = fetch(face.Addresses["admin"], request)
	}
	return d, err
}

// mongodb measures requests that are made one after the other, in separate processes: on embedded
// stores, over MongoDB's protocol, and over the same with a distance. The database is FerretDB, which
// is slower than MongoDB and answers each query with a scan, so only differences count: in the CPU time of
// Waybook, which is that of the driver, and between near and far, which are the commands in a row.
func (b *bench) mongodb(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	embedded, err := startProcesses(ctx, w, landmarksOnMongoDB)
	if err != nil {
		return err
	}
	near, err := startOnWire(ctx, w, 0)
	if err != nil {
		return err
	}
	far, err := startOnWire(ctx, w, distance)
	if err != nil {
		return err
	}
	list := cases(embedded.content)
	for i := range list {
		list[i].connections = 1
	}
	return b.contest(ctx, "One request after the other", list, edges(embedded, near, far))
}
