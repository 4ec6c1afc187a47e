package world

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// cluster runs two programs on a store that fails as MongoDB does.
type cluster struct {
	*world
	shards int
	store  *storetest.Replica
	// members are the programs, each in its place.
	members [2]*member
	// kept is the last backup; nil if there is none.
	kept *clusterBackup
	// isTroubled: the store is in trouble.
	isTroubled bool
	// certificates are nil if calls stay in their programs. isLate: some have expired.
	certificates *certificates
	isLate       bool
}

// member is a program of a cluster.
type member struct {
	*program
	// skew is how far the clock of its machine is ahead of the time in the bubble.
	skew time.Duration
	// isLater: it is of a later version, whose store is later.
	isLater bool
	later   *later
	// isDying: it dies at the write after so many more. What is left of a call in the background writes, too.
	mu              sync.Mutex
	isDying, isDead bool
	writesLeft      int
}

func newCluster(w *world) system {
	c := &cluster{world: w, shards: 1 + w.random.IntN(2)}
	c.isOneClock = c.isSmall // numbers come from one counter
	c.hasVersions = c.random.IntN(worldsForVersions) == 0
	if c.random.IntN(worldsForCertificates) == 0 {
		c.certificates = newCertificates(c)
	}
	c.store = storetest.NewReplica(w.t, storetest.ReplicaSettings{Shards: c.shards})
	for place := range c.members {
		c.start(place)
	}
	return c
}

// start starts a program in a place, whose clock goes on.
func (c *cluster) start(place int) {
	m := &member{}
	if former := c.members[place]; former != nil {
		m.skew, m.isLater = former.skew, former.isLater
	}
	c.awaitClock(m.skew)
	now := func() time.Time { return time.Now().Add(m.skew).UTC().Truncate(time.Millisecond) }
	store := docstore.Engine(&storetest.Hooked{Engine: &remote{Engine: c.store.Process()}, Read: m.read, Write: m.write})
	if m.isLater {
		m.later = &later{Engine: store, world: c.world}
		store = m.later
	}
	m.program = &program{
		store: store, now: now,
		newIDs: func() *id.Source { return id.NewSource(now) }, isGone: m.isGone,
		clock: time.Now, read: c.troubled(m.read), write: c.troubled(m.write),
	}
	if c.certificates != nil {
		m.wire = c.certificates.wireIn(place)
	}
	c.members[place] = m
	c.run(m.program)
	c.programs = append(c.programs, m.program)
	c.judge()
}

// troubled returns a hook whose calls may fail while the store is in trouble, done or not.
func (c *cluster) troubled(hook storetest.Hook) storetest.Hook {
	return func(ctx context.Context, call storetest.Call, do func() error) error {
		n := c.random.IntN(16)
		if !c.isTroubled || n > 1 {
			return hook(ctx, call, do)
		}
		if n == 0 {
			return docstore.ErrUnavailable
		}
		return errors.Join(hook(ctx, call, do), docstore.ErrUnavailable)
	}
}

// end ends the program in a place.
func (c *cluster) end(place int) {
	c.note("end of the program in place %d", place)
	gone := c.members[place].program
	gone.end(c.world)
	c.programs = slices.DeleteFunc(c.programs, func(p *program) bool { return p == gone })
}

// judge decides what may happen to operations from now on.
func (c *cluster) judge() {
	c.mayUndo = c.mayUndo || c.isTroubled
	c.mayFail = c.isTroubled || c.isLate
	c.mayBeOld = c.isTroubled
	defer func() { c.mayMiscount = c.mayMiscount || c.mayFail }()
	c.isBlind = c.mayUndo && c.shards > 1
	for _, m := range c.members {
		c.mayFail = c.mayFail || m != nil && m.isDying
	}
}

func (m *member) isGone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDead
}

func (m *member) read(_ context.Context, _ storetest.Call, do func() error) error {
	if m.isGone() {
		return storetest.ErrBroken
	}
	return do()
}

func (m *member) write(_ context.Context, _ storetest.Call, do func() error) error {
	isLast, isGone := m.count()
	switch {
	case isGone:
		return storetest.ErrBroken
	case isLast:
		return errors.Join(do(), storetest.ErrBroken)
	}
	return do()
}

// count counts a write of a dying program. isGone: it is dead already.
func (m *member) count() (isLast, isGone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isDying || m.isDead {
		return false, m.isDead
	}
	m.writesLeft--
	m.isDead = m.writesLeft == 0
	return m.isDead, false
}

// dieAfter makes the program die at a write.
func (m *member) dieAfter(writes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isDying, m.writesLeft = true, writes
}

func (c *cluster) operate() {
	place := c.random.IntN(len(c.members))
	if c.hasVersions && c.random.IntN(3) == 0 {
		c.changeVersion(place)
		return
	}
	if c.certificates != nil && c.random.IntN(4) == 0 {
		c.certificates.operate()
		return
	}
	switch c.random.IntN(12) {
	case 0:
		c.note("stop and start")
		c.end(place)
		c.start(place)
	case 1, 2:
		writes := 1 + c.random.IntN(10)
		c.members[place].dieAfter(writes)
		c.note("the program in place %d dies at its write %d", place, writes)
		c.judge()
	case 3:
		if c.isSmall {
			return // the clocks agree: otherwise calls wait for the time of a number
		}
		m := c.members[place]
		former := m.skew
		m.skew = c.stepped(former)
		c.note("the clock in place %d steps by %v", place, m.skew-former)
	case 4:
		c.pass(c.upTo(3 * time.Hour))
	case 5:
		c.pass(c.upTo(10 * 24 * time.Hour))
	case 6:
		c.note("the store is in trouble")
		c.store.Trouble(c.random.Uint64())
		c.isTroubled = true
		c.judge()
		if c.random.IntN(2) == 0 {
			c.struggle()
		}
	case 7:
		c.settle()
	case 8:
		c.settle()
		c.isolate()
	case 9:
		c.backUp()
	case 10:
		c.goBack()
	case 11:
		c.moveOut()
	}
}

// isolate lets clients act while no majority hears the primaries, which then lose all that they were told.
// Nothing that was acknowledged is among it.
func (c *cluster) isolate() {
	c.note("the primaries are alone")
	c.isTroubled = true
	c.judge()
	for shard := range c.shards {
		c.store.Hold(shard)
	}
	for range 1 + c.random.IntN(3) {
		if hot := c.hottest(); hot != nil && c.random.IntN(2) == 0 {
			c.renameTogether(hot)
		} else {
			c.createTogether()
		}
		c.world.system.revive()
	}
	for shard := range c.shards {
		c.store.Fail(storetest.Failover{Shard: shard})
	}
	c.settle()
}

// struggle lets all users change one content at the same time, again and again, and then looks at it. What
// a failover undoes shows where others build on it at once.
func (c *cluster) struggle() {
	hot := c.hottest()
	if c.random.IntN(3) == 0 {
		c.sweepDuringUploads()
	}
	for range 2 + c.random.IntN(6) {
		switch n := c.random.IntN(4); {
		case n == 0:
			c.createTogether()
		case hot == nil:
		case n == 1:
			c.renameTogether(hot)
		default:
			c.insistTogether(hot)
		}
		c.world.system.revive()
	}
	c.settle()
}

// insistTogether lets each user do something with content.
func (c *cluster) insistTogether(hot *item) {
	var all []func()
	for _, u := range c.users {
		all = append(all, func() { c.insist(hot, u) })
	}
	c.turns.run(c.random, all)
}

// renameTogether lets the owner send one new title several times at once. If one of these is acknowledged, it
// is the title.
func (c *cluster) renameTogether(hot *item) {
	title, isDone := c.unique("renamed"), false
	hot.titles = append(hot.titles, title)
	send := func() {
		op := begin(hot, true)
		defer op.end()
		isDone = c.isThere(op, c.retitled(hot, hot.owner, title)) || isDone
	}
	c.turns.run(c.random, []func(){send, send, send})
	if isDone {
		hot.titles = []string{title}
	}
}

// hottest returns the first content that is there; nil if none is.
func (c *cluster) hottest() *item {
	for _, each := range c.model.contents {
		if each.id != 0 && each.exists == yes && !each.owner.isGone {
			return each
		}
	}
	return nil
}

// insist does something that others may build on.
func (c *cluster) insist(hot *item, u *user) {
	switch c.random.IntN(8) {
	case 0, 1:
		c.choose(hot, u, "recommend", yes)
	case 2:
		c.choose(hot, u, "withdrawRecommendation", no)
	case 3:
		c.vote(hot, u, c.random.IntN(2))
	case 4:
		c.rename(hot)
	case 5:
		c.addPart(hot, u, true)
	case 6:
		c.uploadSomething(hot)
	case 7:
		c.removePart(hot, "photo", hot.photos)
	}
}

func (c *cluster) revive() {
	for place, m := range c.members {
		if m.isGone() {
			c.end(place)
			c.start(place)
		}
	}
}

func (c *cluster) tend(span time.Duration) {
	if c.certificates != nil {
		c.certificates.renewSoon(span)
		c.scrape()
	}
}

func (c *cluster) whileWell(f func() error) error {
	c.store.Settle()
	err := f()
	if c.isTroubled {
		c.store.Trouble(c.random.Uint64())
	}
	return err
}

func (c *cluster) calm() {
	c.store.Settle()
	c.isTroubled = false
	for place, m := range c.members {
		if m.isDying {
			c.end(place)
			c.start(place)
		}
	}
	c.judge()
}

func (c *cluster) check() {
	c.note("the store is checked")
	var report storekeeping.Report
	err := storekeeping.Options{}.Examine(context.Background(), c.store.Process(), integrity.Look, &report)
	c.isClean(report, err)
	c.hasLater()
}

func (c *cluster) stop() {
	for place := range c.members {
		c.end(place)
	}
}
