package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/embedded/forgetful"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// machine runs one program on an embedded store.
type machine struct {
	*world
	disk            *forgetful.Disk
	directory, path string
	engine          *embedded.Engine
	// skew is how far the clock of the machine is ahead of the time in the bubble.
	skew time.Duration
	// kept is the last backup; nil if there is none.
	kept *backup
	// isDying: the process may be killed at any write from now on. isFull: the disk is.
	isDying, isFull bool
}

// newMachine starts a program on an empty store.
func newMachine(w *world, empty []byte) *machine {
	m := &machine{world: w, directory: storetest.FastDirectory(w.t)}
	m.path = fileIn(m.directory)
	m.must(os.WriteFile(m.path, empty, 0o600))
	m.isOneClock = true
	m.replaced()
	m.start()
	return m
}

// emptyStore returns the file of a store with all collections and no documents. Making them takes longer
// than a history.
func emptyStore(t *testing.T) (contents []byte) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{world: &world{t: t, random: rand.New(rand.NewPCG(0, 0)), files: shelves{}}, directory: storetest.FastDirectory(t)}
		m.path = fileIn(m.directory)
		m.replaced()
		m.start()
		m.end()
		var err error
		contents, err = os.ReadFile(m.path)
		m.must(err)
	})
	return contents
}

// now is the time of the machine.
func (m *machine) now() time.Time { return time.Now().Add(m.skew).UTC().Truncate(time.Millisecond) }

func (m *machine) start() {
	m.awaitClock(m.skew)
	engine, err := m.disk.OpenWithClock(m.now)
	if err != nil {
		m.violated("start: %v", err)
		panic(cannotStart{})
	}
	m.engine = engine
	m.programs = []*program{m.run(&program{
		store: engine, now: m.now, newIDs: func() *id.Source { return id.NewSoleSource(m.now) }, isGone: m.disk.IsKilled,
		clock: m.now, read: m.read, write: m.write,
	})}
}

// read and write are the steps of calls of files.
func (m *machine) read(_ context.Context, _ storetest.Call, do func() error) error {
	if m.disk.IsKilled() {
		return forgetful.ErrKilled
	}
	return do()
}

func (m *machine) write(_ context.Context, _ storetest.Call, do func() error) error {
	if err := m.disk.Step(); err != nil {
		return err
	}
	if m.isFull && m.random.IntN(2) == 0 {
		return syscall.ENOSPC
	}
	return do()
}

func (m *machine) end() {
	m.note("end")
	for _, p := range m.programs {
		p.end(m.world)
	}
	_ = m.engine.Close() // it fails after a kill
	m.programs = nil
}

func (m *machine) stop() {
	m.disk.Kill()
	m.end()
}

// backup is a copy of the store, with the model at its moment.
type backup struct {
	path  string
	files shelves
	taken time.Time
	model model
}

// operate does what operators do, and what happens to machines.
func (m *machine) operate() {
	switch m.random.IntN(13) {
	case 0:
		m.note("stop and start")
		m.restart()
	case 1, 2:
		after := m.random.IntN(30)
		m.note("killed after %d steps of the disk", after)
		m.disk.KillAfter(after)
		m.isDying = true
	case 3:
		former := m.skew
		m.skew = m.stepped(former)
		m.note("the clock steps by %v", m.skew-former)
	case 4:
		m.pass(m.upTo(3 * time.Hour))
	case 5:
		m.pass(m.upTo(10 * 24 * time.Hour))
	case 6:
		m.backUp()
	case 7:
		m.putBack()
	case 8:
		m.restore()
	case 9:
		m.note("the disk fails to sync")
		m.disk.FailSync(m.random.IntN(4))
		m.isDying, m.mayUndo = true, true
	case 10:
		m.compact()
	case 11:
		m.dumpAndLoad()
	case 12:
		m.note("the disk is full")
		m.must(m.disk.Fill())
		m.isFull = true
	}
	m.mayFail = m.isDying || m.isFull
	m.mayMiscount = m.mayMiscount || m.mayFail
}

func (m *machine) revive() {
	isNow := m.random.IntN(8) == 0
	if m.disk.IsKilled() || m.isDying && isNow {
		m.die()
	} else if m.isFull && isNow {
		m.makeSpace()
	}
}

func (m *machine) whileWell(f func() error) error {
	m.makeSpace()
	return f()
}

func (m *machine) calm() {
	m.makeSpace()
	if m.isDying {
		m.die()
	}
}

func (m *machine) tend(time.Duration) {}

func (m *machine) makeSpace() {
	if m.isFull {
		m.note("the disk has space again")
	}
	m.disk.Empty()
	m.isFull, m.mayFail = false, m.isDying
}

// die ends a program that was killed or is killed now, perhaps with the machine, and starts the next.
func (m *machine) die() {
	m.disk.Kill()
	m.disk.FailSync(-1) // the disk is repaired
	m.makeSpace()
	m.end()
	if m.random.IntN(2) == 0 {
		m.note("the power is cut")
		m.must(m.disk.CutPower())
		m.files.cutPower(func() bool { return m.random.IntN(2) == 0 })
	}
	m.isDying, m.mayFail, m.mayUndo = false, false, false
	m.start()
	if m.random.IntN(4) == 0 {
		m.readAll()
		m.die()
	}
}

func (m *machine) restart() {
	m.calm()
	m.end()
	m.start()
}

// whileStopped stops the program at rest, calls f, and starts it.
func (m *machine) whileStopped(f func()) {
	m.restart()
	m.end()
	f()
	m.start()
}

func optionsIn(directory string) storekeeping.Options {
	return storekeeping.Options{Store: service.StoreFlags{Data: directory}}
}

// fileIn returns the path of the store in a directory.
func fileIn(directory string) string {
	options := optionsIn(directory)
	return options.Store.File()
}

// backUp makes a backup while the program serves.
func (m *machine) backUp() {
	m.settle()
	m.note("a backup is made")
	path := filepath.Join(m.directory, "backup")
	file, err := os.Create(path)
	m.must(err)
	m.kept = &backup{path: path, taken: time.Now(), model: m.model.clone()}
	end := m.programs[0].backups.Begin()
	m.must(m.engine.Backup(context.Background(), file, func(int64) error { return nil }))
	m.must(file.Close())
	if m.random.IntN(3) == 0 { // the files follow, and take long
		m.sweepDuringUploads()
		m.pass(sweptWithin)
	}
	m.kept.files = m.files.copied()
	end()
}

// putBack puts the backup in the place of the store, as an operator does with cp and waybookctl store renew.
func (m *machine) putBack() {
	m.goBack("put back", func() error {
		contents, err := os.ReadFile(m.kept.path)
		m.must(err)
		return errors.Join(os.WriteFile(m.path, contents, 0o600), embedded.RenewFile(m.path))
	})
}

// restore puts the backup in the place of the store by waybookctl.
func (m *machine) restore() {
	m.goBack("restored", func() error {
		time.Sleep(time.Second) // the name of the former store has the second
		contents, err := os.ReadFile(m.kept.path)
		m.must(err)
		var packed bytes.Buffer
		_, err = storekeeping.Pack(&packed, m.kept.taken, int64(len(contents)), func(to io.Writer) ([]byte, error) {
			sum := sha256.Sum256(contents)
			_, err := to.Write(contents)
			return sum[:], err
		})
		m.must(err)
		_, err = storekeeping.Restore(context.Background(), optionsIn(m.directory), storekeeping.Source{Reader: &packed}, time.Now(), progress.New(io.Discard))
		return err
	})
}

// goBack puts the backup, if there is one, in the place of the store, perhaps again when it has just been used.
// Users who have opened sessions since log in again.
func (m *machine) goBack(how string, replace func() error) {
	if m.kept == nil || m.isTooOld(m.kept.taken) {
		return
	}
	m.whileStopped(func() {
		m.note("the backup is %s", how)
		m.lose()
		m.must(replace())
		m.files = m.kept.files.copied()
		m.replaced()
		m.model, m.mayMiscount = m.kept.model.clone(), true
	})
	for _, u := range m.users {
		m.must(m.programs[0].logIn(u))
	}
	if m.random.IntN(3) == 0 {
		m.createTogether()
		m.goBack(how, replace)
	}
}

func (m *machine) compact() {
	m.whileStopped(func() {
		m.note("the file is compacted")
		_, err := storekeeping.Compact(context.Background(), optionsIn(m.directory))
		m.must(err)
		m.replaced()
	})
}

// dumpAndLoad moves the contents to another file, which takes the place of the store.
func (m *machine) dumpAndLoad() {
	m.whileStopped(func() {
		m.note("a dump is loaded in another store")
		other := optionsIn(storetest.FastDirectory(m.t))
		path := filepath.Join(other.Store.Data, "dump")
		_, err := storekeeping.Dump(context.Background(), optionsIn(m.directory), path)
		m.must(err)
		dump, err := storekeeping.OpenDump(context.Background(), other, path)
		m.must(err)
		_, err = dump.Load(context.Background(), other)
		m.must(err)
		m.must(dump.Close())
		m.must(os.Rename(fileIn(other.Store.Data), m.path))
		m.replaced()
	})
}

// replaced says that another file is there, all of which is durable.
func (m *machine) replaced() { m.disk = forgetful.New(m.path, m.random) }

// check looks at the store as waybookctl does.
func (m *machine) check() {
	m.whileStopped(func() {
		m.note("the store is checked")
		report, err := storekeeping.Check(context.Background(), optionsIn(m.directory), integrity.Look)
		m.isClean(report, err)
	})
}
