package sharding_test

import (
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/waybooktest"
)

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
