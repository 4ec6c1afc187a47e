package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
)

// workshop has a temporary directory with the built programs and the stores. close stops
// what was started and removes the directory.
type workshop struct {
	directory string
	// closers run in reverse order.
	closers []func() error
}

const (
	module            = "github.com/waybook/waybook/"
	standaloneProgram = module + "standalone"
	rivalProgram      = module + "bench/cmd/rival"
)

// shipped are the packages of Waybook's programs.
func shipped() []string {
	return []string{
		standaloneProgram, module + "edge/cmd/edge", module + "services/account/cmd/account",
		module + "services/album/cmd/album",
		module + "services/blog/cmd/blog", module + "services/poi/cmd/poi",
	}
}

// newWorkshop builds programs of a source tree in a new directory for temporary files.
func newWorkshop(ctx context.Context, tree string, packages ...string) (*workshop, error) {
	directory, err := os.MkdirTemp("", "waybook-bench")
	if err != nil {
		return nil, err
	}
	w := &workshop{directory: directory}
	w.onClose(func() error { return os.RemoveAll(directory) })
	if err := process.Build(ctx, tree, directory, packages...); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// within returns a workshop for one section that uses the same programs.
func (w *workshop) within() *workshop { return &workshop{directory: w.directory} }

func (w *workshop) onClose(close func() error) { w.closers = append(w.closers, close) }

func (w *workshop) close() error {
	var failed error
	for _, close := range slices.Backward(w.closers) {
		failed = errors.Join(failed, close())
	}
	w.closers = nil
	return failed
}

// newData creates an empty directory for a store. close removes it.
func (w *workshop) newData() (string, error) {
	data, err := os.MkdirTemp(w.directory, "data")
	w.onClose(func() error { return os.RemoveAll(data) })
	return data, err
}

// measurable lets one user write as fast as a measurement can, and anybody take profiles
// meanwhile. A program ignores variables that it does not know.
var measurable = []string{"WAYBOOK_USER_WRITES=0", "WAYBOOK_PPROF=true"}

// start starts a program. close stops it.
func (w *workshop) start(name string, args ...string) (*process.Process, error) {
	started, err := process.Start(filepath.Join(w.directory, name), measurable, args...)
	if err == nil {
		w.onClose(started.Stop)
	}
	return started, err
}

// dial opens connections to a gRPC port. close closes them.
func (w *workshop) dial(address string, times int) ([]*grpc.ClientConn, error) {
	var channels []*grpc.ClientConn
	for range times {
		channel, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, err
		}
		w.onClose(channel.Close)
		channels = append(channels, channel)
	}
	return channels, nil
}

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

// serving returns the processes that take part in serving a case, front first. A front of a
// deployment in one process runs the services itself.
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
	return load.RPC{Channels: d.channels[c.service], Method: c.method, Request: c.request, Reply: c.reply}
}

// startStandalone starts standalone on a new store. A gateway runs the services in its own
// process, on a copy of the store.
func startStandalone(ctx context.Context, w *workshop, landmarks int) (*deployment, error) {
	data, err := w.newData()
	if err != nil {
		return nil, err
	}
	filling := w.within()
	d, err := standaloneOn(filling, data)
	var filled content
	if err == nil {
		filled, err = fill(ctx, d.channels, landmarks)
	}
	if err := errors.Join(err, filling.close()); err != nil { // no process has the store open then
		return nil, err
	}
	copied, err := w.newData()
	if err := errors.Join(err, os.CopyFS(copied, os.DirFS(data))); err != nil {
		return nil, err
	}
	if d, err = standaloneOn(w, data); err != nil {
		return nil, err
	}
	d.content, d.gatewayArgs = filled, []string{"-data=" + copied}
	return d, nil
}

// anyPort lets a program choose its port.
const anyPort = "127.0.0.1:0"

// standaloneOn starts standalone on a store that no process has open.
func standaloneOn(w *workshop, data string) (*deployment, error) {
	started, err := w.start("standalone", "-http="+anyPort, "-grpc="+anyPort, "-admin="+anyPort, "-demo=false",
		"-data="+data)
	if err != nil {
		return nil, err
	}
	d := &deployment{
		name: "one process", edge: started,
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
	d := &deployment{name: "separate processes", services: map[string]*process.Process{},
		channels: map[string][]*grpc.ClientConn{}}
	var account string     // the flag with the address of its service
	var addresses []string // such flags of all services
	for _, name := range serviceNames() {
		data, err := w.newData()
		if err != nil {
			return nil, err
		}
		args := []string{"-grpc=" + anyPort, "-admin=" + anyPort, "-data=" + data}
		if account != "" {
			args = append(args, account)
		}
		if d.services[name], err = w.start(name, args...); err != nil {
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
	if d.edge, err = w.start("edge", append(addresses, "-http="+anyPort, "-admin="+anyPort)...); err != nil {
		return nil, err
	}
	d.gatewayArgs = addresses[1:] // it has no sessions
	d.content, err = fill(ctx, d.channels, landmarks)
	return d, err
}
