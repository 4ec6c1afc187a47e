package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

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
		standaloneProgram, module + "edge/cmd/edge", module + "services/account/cmd/account", module + "services/album/cmd/album",
		module + "services/blog/cmd/blog", module + "services/poi/cmd/poi",
	}
}

// newWorkshop builds programs of a source tree in a new directory below parent. The disk of
// parent is the one that is measured.
func newWorkshop(ctx context.Context, tree, parent string, packages []string) (*workshop, error) {
	directory, err := os.MkdirTemp(parent, "waybook-bench")
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

func (w *workshop) binary(name string) string { return filepath.Join(w.directory, name) }

// newData creates an empty directory for a store. close removes it.
func (w *workshop) newData() (string, error) {
	data, err := os.MkdirTemp(w.directory, "data")
	w.onClose(func() error { return os.RemoveAll(data) })
	return data, err
}

// measurable lets one user write as fast as a measurement can, and anybody take profiles meanwhile. A program
// ignores variables that it does not know.
var measurable = []string{"WAYBOOK_USER_WRITES=0", "WAYBOOK_REWARDS_PER_DAY=0", "WAYBOOK_PPROF=true"}

// start starts a program. close stops it.
func (w *workshop) start(name string, environment []string, args ...string) (*process.Process, error) {
	started, err := process.Start(w.binary(name), slices.Concat(environment, measurable), args...)
	if err == nil {
		w.onClose(started.Stop)
	}
	return started, err
}

// onStore are flags that let standalone choose its ports and create no demo content.
func onStore(data string) []string {
	return []string{"-http=127.0.0.1:0", "-grpc=127.0.0.1:0", "-admin=127.0.0.1:0", "-demo=false", "-data=" + data}
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

// filledStore creates a store with the content of the cases, by running standalone on it, and
// returns its directory. No process has it open then.
func (w *workshop) filledStore(ctx context.Context, landmarks int) (data string, c content, err error) {
	if data, err = w.newData(); err != nil {
		return "", c, err
	}
	filling := w.within()
	defer func() { err = errors.Join(err, filling.close()) }()
	d, err := standaloneOn(filling, data, c, nil)
	if err != nil {
		return "", c, err
	}
	c, err = fill(ctx, d.channels, landmarks)
	return data, c, err
}

// copied copies a store that no process has open, and returns the directory of the copy.
func (w *workshop) copied(data string) (string, error) {
	directory, err := w.newData()
	if err != nil {
		return "", err
	}
	return directory, errors.Join(os.Remove(directory), os.CopyFS(directory, os.DirFS(data)))
}
