package run

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/process"
)

// callChannels is the number of connections for direct gRPC calls. With one connection, the
// client's single writer would limit the throughput.
const callChannels = 4

// deployment is a running Waybook with a gateway.
type deployment struct {
	name    string
	content content.Content
	// edge and gateway are the processes to which HTTP clients connect. services are the
	// processes of the services; if all run in one process, that is edge.
	edge, gateway *process.Process
	services      map[service]*process.Process
	// account is the process of the account service; nil if that runs in edge.
	account *process.Process
	// channels are connections to the services.
	channels map[service][]*grpc.ClientConn
}

// serving returns the processes that take part in serving a case, front first.
func (d *deployment) serving(c testCase, front *process.Process) (all []*process.Process) {
	for _, each := range []*process.Process{front, d.services[c.service], d.account} {
		isAside := d.account == nil && each != front // front runs the services itself
		if each != nil && !isAside && !slices.Contains(all, each) {
			all = append(all, each)
		}
	}
	return all
}

// startStandalone starts standalone and a gateway. The gateway also runs the services in its
// own process, on a copy of the store.
func startStandalone(ctx context.Context, w *workshop, landmarks int) (*deployment, error) {
	d := &deployment{name: "one process", services: map[service]*process.Process{}, channels: map[service][]*grpc.ClientConn{}}
	data, filled, err := w.filledStore(ctx, landmarks)
	if err != nil {
		return nil, err
	}
	d.content = filled
	copied, err := w.copied(data)
	if err != nil {
		return nil, err
	}
	if d.edge, err = w.start("standalone", nil, standaloneArgs(data)...); err != nil {
		return nil, err
	}
	if d.gateway, err = w.start("gateway", nil, "-data="+copied); err != nil {
		return nil, err
	}
	channels, err := w.dial(d.edge.Addresses["grpc"], nil, callChannels)
	for _, each := range []service{albumService, blogService, poiService} {
		d.services[each], d.channels[each] = d.edge, channels
	}
	return d, err
}

// startProcesses starts four services, an edge and a gateway, each in its own process. With
// certificates they use mutual TLS.
func startProcesses(ctx context.Context, w *workshop, certificates *certificates, landmarks int) (*deployment, error) {
	return startProcessesOn(ctx, w, certificates, landmarks, func() (string, error) {
		data, err := w.newData()
		return "-data=" + data, err
	})
}

// startProcessesOn is startProcesses with the flag that chooses the store of a service.
func startProcessesOn(
	ctx context.Context, w *workshop, certificates *certificates, landmarks int, store func() (string, error),
) (*deployment, error) {
	d := &deployment{name: "processes", services: map[service]*process.Process{}, channels: map[service][]*grpc.ClientConn{}}
	var secured credentials.TransportCredentials
	if certificates != nil {
		d.name = "processes, TLS"
		var err error
		if secured, err = certificates.client("operator"); err != nil {
			return nil, err
		}
	}
	start := func(name, identity string, args ...string) (*process.Process, error) {
		environment, err := certificates.environment(identity)
		if err != nil {
			return nil, err
		}
		return w.start(name, environment, append(args, "-admin=127.0.0.1:0")...)
	}
	to := map[string]string{} // flags with the addresses of the services
	for _, name := range []string{"account", "album", "blog", "poi"} {
		on, err := store()
		if err != nil {
			return nil, err
		}
		args := []string{"-grpc=127.0.0.1:0", on}
		if name != "account" {
			args = append(args, to["account"])
		}
		started, err := start(name, name, args...)
		if err != nil {
			return nil, err
		}
		to[name] = "-" + name + "=" + started.Addresses["grpc"]
		if name == "account" {
			d.account = started
			continue
		}
		kind := map[string]service{"album": albumService, "blog": blogService, "poi": poiService}[name]
		d.services[kind] = started
		if d.channels[kind], err = w.dial(started.Addresses["grpc"], secured, callChannels); err != nil {
			return nil, err
		}
	}
	account, err := w.dial(d.account.Addresses["grpc"], secured, 1)
	if err != nil {
		return nil, err
	}
	if d.edge, err = start("edge", "edge", "-http=127.0.0.1:0", to["account"], to["album"], to["blog"], to["poi"]); err != nil {
		return nil, err
	}
	if d.gateway, err = start("gateway", "edge", to["album"], to["blog"], to["poi"]); err != nil {
		return nil, err
	}
	d.content, err = content.Fill(ctx, content.Services{
		Account: account[0], Album: d.channels[albumService][0], Blog: d.channels[blogService][0], Poi: d.channels[poiService][0],
	}, landmarks)
	return d, err
}
