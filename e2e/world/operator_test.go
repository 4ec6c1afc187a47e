package world

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore/embedded/forgetful"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// backup is a copy of the store, with the model at its moment.
type backup struct {
	path  string
	model model
}

// operate does what operators do, and what happens to machines.
func (w *world) operate() {
	switch w.random.IntN(12) {
	case 0:
		w.note("stop and start")
		w.restart()
	case 1, 2:
		after := w.random.IntN(30)
		w.note("killed after %d steps of the disk", after)
		w.disk.KillAfter(after)
		w.isDying = true
	case 3:
		by := w.upTo(20*time.Minute) - 10*time.Minute
		w.note("the clock steps by %v", by)
		w.skew += by
	case 4:
		w.pass(w.upTo(3 * time.Hour))
	case 5:
		w.pass(w.upTo(10 * 24 * time.Hour))
	case 6:
		w.backUp()
	case 7:
		w.putBack()
	case 8:
		w.restore()
	case 9:
		w.note("the disk fails to sync")
		w.disk.FailSync(w.random.IntN(4))
		w.isDying, w.isFailing = true, true
	case 10:
		w.compact()
	case 11:
		w.dumpAndLoad()
	}
}

// pass lets time pass, with sweeps as often as two hundred times.
func (w *world) pass(long time.Duration) {
	w.note("%v pass", long)
	for left := long; left > 0; left -= max(time.Minute, long/200) {
		time.Sleep(min(left, max(time.Minute, long/200)))
		w.running.sweep(w)
	}
}

// die ends a process that was killed or is killed now, perhaps with the machine, and starts the next.
func (w *world) die() {
	w.disk.Kill()
	w.disk.FailSync(-1) // the disk is repaired
	w.end()
	if w.random.IntN(2) == 0 {
		w.note("the power is cut")
		w.must(w.disk.CutPower())
	}
	w.isDying, w.isFailing = false, false
	w.start()
	if w.random.IntN(4) == 0 {
		w.readAll()
		w.die()
	}
}

func (w *world) restart() {
	if w.isDying {
		w.die()
		return
	}
	w.end()
	w.start()
}

// whileStopped stops the program at rest, calls f, and starts it.
func (w *world) whileStopped(f func()) {
	w.restart()
	w.end()
	f()
	w.start()
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
func (w *world) backUp() {
	w.settle()
	w.note("a backup is made")
	path := filepath.Join(w.directory, "backup")
	file, err := os.Create(path)
	w.must(err)
	w.must(w.running.engine.Backup(context.Background(), file, func(int64) error { return nil }))
	w.must(file.Close())
	w.kept = &backup{path, w.model.clone()}
}

// putBack puts the backup in the place of the store, as an operator does with cp.
func (w *world) putBack() {
	if w.kept == nil {
		return
	}
	w.whileStopped(func() {
		w.note("the backup is put back")
		contents, err := os.ReadFile(w.kept.path)
		w.must(err)
		w.must(os.WriteFile(w.path, contents, 0o600))
		w.replaced()
		w.model = w.kept.model.clone()
	})
}

// restore puts the backup in the place of the store by waybookctl.
func (w *world) restore() {
	if w.kept == nil {
		return
	}
	w.whileStopped(func() {
		w.note("the backup is restored")
		time.Sleep(time.Second) // the name of the former store has the second
		_, err := storekeeping.Restore(context.Background(), optionsIn(w.directory), w.kept.path, time.Now(), func(int64, int64) {})
		w.must(err)
		w.replaced()
		w.model = w.kept.model.clone()
	})
}

func (w *world) compact() {
	w.whileStopped(func() {
		w.note("the file is compacted")
		_, err := storekeeping.Compact(context.Background(), optionsIn(w.directory))
		w.must(err)
		w.replaced()
	})
}

// dumpAndLoad moves the contents to another file, which takes the place of the store.
func (w *world) dumpAndLoad() {
	w.whileStopped(func() {
		w.note("a dump is loaded in another store")
		other := optionsIn(w.t.TempDir())
		path := filepath.Join(other.Store.Data, "dump")
		_, err := storekeeping.Dump(context.Background(), optionsIn(w.directory), path)
		w.must(err)
		dump, err := storekeeping.OpenDump(context.Background(), other, path)
		w.must(err)
		_, err = dump.Load(context.Background(), other)
		w.must(err)
		w.must(dump.Close())
		w.must(os.Rename(fileIn(other.Store.Data), w.path))
		w.replaced()
	})
}

// replaced says that another file is there, all of which is durable.
func (w *world) replaced() { w.disk = forgetful.New(w.path, w.random) }

// check looks at the store as waybookctl does.
func (w *world) check() {
	w.whileStopped(func() {
		w.note("the store is checked")
		report, err := storekeeping.Check(context.Background(), optionsIn(w.directory), integrity.Look)
		w.must(err)
		for _, finding := range report.Findings {
			w.violated("the check finds %+v", finding)
		}
	})
}

// settle checks everything at rest: each content, each list, the rewards, and the copies of the followers.
func (w *world) settle() {
	if w.isDying {
		w.die()
	}
	w.note("settle")
	w.pass(5 * time.Minute)
	w.readAll()
	for _, u := range w.users {
		w.hasRewards(u)
	}
	for _, k := range kinds {
		w.hasCopy(k)
	}
}
