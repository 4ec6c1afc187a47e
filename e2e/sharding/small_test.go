package sharding_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/waybooktest"
)

// small returns a material as a client with 32 bits names it.
func (m material) small() material {
	for _, each := range []*int64{
		&m.album, &m.blog, &m.poi, &m.albumPhoto, &m.poiPhoto, &m.albumComment, &m.blogComment, &m.poiComment, &m.recommendedAlbum, &m.recommendedBlog, &m.poi2,
	} {
		*each, _ = id.Old(*each)
	}
	return m
}

// TestTheTableOfSmallIdentifiersIsCurrent counts the commands of each operation of the edge, and of an import of
// landmarks, with and without small identifiers.
func TestTheTableOfSmallIdentifiersIsCurrent(t *testing.T) {
	t.Parallel()
	counts := func(small *smallids.Setting) map[string]int {
		c := startCluster(t)
		c.small = small
		about := c.fill(c.start(c.engine))
		if small.IsOn() {
			about = about.small()
		}
		counted := map[string]int{}
		for _, each := range operations() {
			if each.call != nil && !strings.HasPrefix(each.name, "ImportPois") || strings.Contains(each.name, "old identifier") {
				continue
			}
			serving := c.start(c.engine) // its caches are empty
			counted[each.name] = len(c.commandsOf(serving, func() { each.run(t, serving, about) }))
		}
		return counted
	}
	var usual, small map[string]int
	var both sync.WaitGroup
	both.Go(func() { usual = counts(nil) })
	both.Go(func() { small = counts(smallids.New(1000, time.Now, func(string, float64) {})) })
	both.Wait()
	names := map[string][]string{}
	for name, count := range usual {
		function, with, _ := strings.Cut(name, " with ")
		if with == "delete" {
			function = name
		}
		cells := fmt.Sprintf("| %d | %d |", count, small[name])
		if !slices.Contains(names[cells], function) {
			names[cells] = append(names[cells], function)
		}
	}
	want := "| operation | commands | with small identifiers |\n| --- | --- | --- |\n"
	for _, cells := range sorted(names) {
		slices.Sort(names[cells])
		want += "| " + strings.Join(names[cells], ", ") + " " + cells + "\n"
	}
	expectTable(t, "testdata/small.md", want)
}

// fillSmall makes content with small identifiers, in a database of its own, and lets a second process start.
func (c *cluster) fillSmall() {
	c.t.Helper()
	database := mongotest.Database()
	of := &cluster{t: c.t, server: c.server, database: database, uri: c.server.URI(database), clock: c.clock, small: smallids.New(1000, time.Now, func(string, float64) {})}
	var err error
	of.engine, err = mongo.Open(c.t.Context(), of.uri, "")
	waybooktest.OK(c.t, err)
	c.t.Cleanup(func() { waybooktest.OK(c.t, of.engine.Close()) })
	of.fill(of.start(of.engine))
	of.start(of.engine)
	waybooktest.OK(c.t, of.small.Sweep(c.t.Context()))
}
