package world

import (
	"context"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// clusterBackup is what an operator keeps of a cluster at rest: a snapshot, as the tools of a database make it,
// and a dump of waybookctl.
type clusterBackup struct {
	of       *storetest.Replica
	snapshot storetest.Snapshot
	dump     string
	files    shelves
	taken    time.Time
	model    model
}

// backUp keeps a backup of the cluster.
func (c *cluster) backUp() {
	c.settle()
	c.note("a backup is made")
	c.kept = &clusterBackup{
		of: c.store, snapshot: c.store.Snapshot(), dump: c.dumped(), files: c.files.copied(), taken: time.Now(), model: c.model.clone(),
	}
}

// dumped returns the file with a dump of the cluster.
func (c *cluster) dumped() string {
	path := filepath.Join(c.t.TempDir(), "dump")
	_, err := storekeeping.Options{}.DumpFrom(context.Background(), c.store.Process(), path)
	c.must(err)
	return path
}

func (c *cluster) restart() { c.whileStopped(func() {}) }

// whileStopped stops the programs at rest, calls f, and starts them.
func (c *cluster) whileStopped(f func()) {
	c.calm()
	for place := range c.members {
		c.end(place)
	}
	f()
	for place := range c.members {
		c.start(place)
	}
}

// goBack restores the backup, if there is one, perhaps again when it has just been used. Clocks go on. Users who
// have opened sessions since log in again.
func (c *cluster) goBack() {
	if c.kept == nil || c.isTooOld(c.kept.taken) {
		return
	}
	c.whileStopped(func() {
		c.lose()
		if c.kept.of == c.store && c.random.IntN(2) == 0 {
			c.note("the snapshot is restored")
			c.store.Restore(c.kept.snapshot)
			c.must(c.store.Renew(context.Background()))
		} else {
			c.note("the dump of the backup is loaded in another cluster")
			c.load(c.kept.dump)
		}
		c.files = c.kept.files.copied()
		c.model, c.mayUndo, c.mayMiscount = c.kept.model.clone(), false, true
	})
	for _, u := range c.users {
		c.must(c.programs[0].logIn(u))
	}
	if c.random.IntN(3) == 0 {
		c.createTogether()
		c.goBack()
	}
}

// moveOut moves the contents to another cluster.
func (c *cluster) moveOut() {
	c.settle()
	c.whileStopped(func() {
		c.note("a dump is loaded in another cluster")
		c.load(c.dumped())
	})
}

// load loads a dump in another cluster, perhaps with more shards or fewer, which takes the place of this one.
func (c *cluster) load(path string) {
	c.shards = 1 + c.random.IntN(2)
	c.store = storetest.NewReplica(c.t, storetest.ReplicaSettings{Shards: c.shards})
	dump, err := storekeeping.OpenDump(context.Background(), storekeeping.Options{}, path)
	c.must(err)
	_, err = dump.LoadInto(context.Background(), storekeeping.Options{}, c.store.Process())
	c.must(err)
	c.must(dump.Close())
}
