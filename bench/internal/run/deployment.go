package run

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
)

// The names of the services, which are those of their programs.
const (
	accountService = "account"
	albumService   = "album"
	blogService    = "blog"
	poiService     = "poi"
)

// serviceNames returns the services in the order in which they start.
func serviceNames() []string { return []string{accountService, albumService, blogService, poiService} }

// callChannels is the number of connections for direct gRPC calls. With one connection, the
// client's single writer would limit the throughput.
const callChannels = 4

// deployment is a running Waybook.
type deployment struct {
	name    string
	content content
	// edge is the process to which HTTP clients connect.
	edge *process.Process
	// services are the processes of the services, and channels connections to them. In one process
	// each is edge.
	services map[string]*process.Process
	channels map[string][]*grpc.ClientConn
	// gatewayArgs are the flags of a gateway for the same content.
	gatewayArgs []string
}

// starter starts a deployment with a number of listed landmarks.
type starter func(ctx context.Context, w *workshop, landmarks int) (*deployment, error)

// serving returns the processes that take part in serving a case, front first. A front of a deployment
// in one process runs the services itself.
func (d *deployment) serving(c testCase, front *process.Process) []*process.Process {
	all := []*process.Process{front}
	if isOneProcess := d.services[accountService] == d.edge; isOneProcess {
		return all
	}
	for _, each := range []string{c.service, accountService} {
		if !slices.Contains(all, d.services[each]) {
			all = append(all, d.services[each])
		}
	}
	return all
}

// rpc returns the direct call of a case.
func (d *deployment) rpc(c testCase) load.RPC {
	return load.RPC{Channels: d.channels[c.service], Method: c.method, Request: c.request, Reply: c.reply, Streams: c.streams}
}

// startStandalone starts standalone on a new store. A gateway runs the services in its own process, on a
// copy of the store.
func startStandalone(ctx context.Context, w *workshop, landmarks int) (*deployment, error) {
	data, filled, err := w.filledStore(ctx, landmarks)
	if err != nil {
		return nil, err
	}
	copied, err := w.copied(data)
	if err != nil {
		return nil, err
	}
	d, err := standaloneOn(w, data, filled, nil)
	if err != nil {
		return nil, err
	}
	d.gatewayArgs = []string{"-data=" + copied}
	return d, nil
}

// standaloneOn starts standalone on a store that no process has open.
func standaloneOn(w *workshop, data string, filled content, environment []string, args ...string) (*deployment, error) {
	started, err := w.start("standalone", environment, append(onStore(data), args...)...)
	if err != nil {
		return nil, err
	}
	d := &deployment{
		name: "one process", content: filled, edge: started,
		services: map[string]*process.Process{}, channels: map[string][]*grpc.ClientConn{},
	}
	channels, err := w.dial(started.Addresses["grpc"], callChannels)
	for _, name := range serviceNames() {
		d.services[name], d.channels[name] = started, channels
	}
	return d, err
}

// startProcesses starts four services on embedded stores and an edge, each in its own process.
func startProcesses(ctx context.Context, w *workshop, landmarks int) (*deployment, error) {
	d := &deployment{name: "separate processes", services: map[string]*process.Process{}, channels: map[string][]*grpc.ClientConn{}}
	const anyAdmin = "-admin=127.0.0.1:0"
	var account string     // the flag with the address of its service
	var addresses []string // such flags of all services
	for _, name := range serviceNames() {
		data, err := w.newData()
		if err != nil {
			return nil, err
		}
		args := []string{"-grpc=127.0.0.1:0", anyAdmin, "-data=" + data}
		if account != "" {
			args = append(args, account)
		}
		if d.services[name], err = w.start(name, nil, args...); err != nil {
			return nil, err
		}
		address := d.services[name].Addresses["grpc"]
		addresses = append(addresses, "-"+name+"="+address)
		account = addresses[0]
		if d.channels[name], err = w.dial(address, callChannels); err != nil {
			return nil, err
		}
	}
	var err error
	if d.edge, err = w.start("edge", nil, append(addresses, "-http=127.0.0.1:0", anyAdmin)...); err != nil {
		return nil, err
	}
	d.gatewayArgs = addresses[1:] // it has no sessions
	d.content, err = fill(ctx, d.channels, landmarks)
	return d, err
}
