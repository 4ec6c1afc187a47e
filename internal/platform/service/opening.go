package service

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/lease"
	"github.com/waybook/waybook/internal/platform/process"
)

// countTimeout bounds how long a start counts the documents of an index that it builds.
const countTimeout = 10 * time.Second

// opening is a store whose collections a starting program opens. It reports the steps that
// may take long.
type opening struct {
	docstore.Engine
	readiness *process.Readiness
	log       *slog.Logger
	// isShared reports whether other processes may have the store open too.
	isShared bool
}

// connect opens the store.
func (o opening) connect(ctx context.Context, flags StoreFlags) (docstore.Engine, error) {
	if flags.MongoDBURI == "" {
		o.readiness.Starting("opening " + flags.File())
		engine, err := flags.Open(ctx)
		o.readiness.Starting("opening the collections")
		return engine, err
	}
	waits := &waitLog{log: o.log}
	engine, err := flags.await(ctx, func(location string, err error) {
		o.readiness.Starting("waiting for MongoDB at " + location)
		waits.report(ctx, location, err)
	})
	o.readiness.Starting("opening the collections")
	return engine, err
}

// waitEvery is the least time between two log lines about one wait.
const waitEvery = time.Minute

// waitLog logs that a start waits for MongoDB: when it begins, after its first failed attempt, and
// then once every waitEvery.
type waitLog struct {
	log    *slog.Logger
	warned time.Time
}

// report logs a report of mongo.OpenAndReport.
func (w *waitLog) report(ctx context.Context, location string, err error) {
	if err == nil {
		w.log.InfoContext(ctx, "waiting for MongoDB", "location", location)
		return
	}
	if now := time.Now(); w.warned.IsZero() || now.Sub(w.warned) >= waitEvery {
		w.warned = now
		w.log.WarnContext(ctx, "still waiting for MongoDB", "location", location, "error", err)
	}
}

// Open opens a collection. It reports the indexes that are built for stored documents.
func (o opening) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	found, err := o.Inspect(ctx, spec)
	if err != nil {
		return nil, err
	}
	if !found.Exists || len(found.Missing) == 0 {
		return o.Engine.Open(ctx, spec)
	}
	indexes := strings.Join(found.Missing, ", ")
	documents := countOf(ctx, found.Table)
	log := o.log.With("collection", spec.Name, "indexes", indexes, documents)
	o.readiness.Starting("building the indexes " + indexes + " of collection " + spec.Name)
	defer o.readiness.Starting("opening the collections")
	began := time.Now()
	log.InfoContext(ctx, "building indexes")
	opened, err := o.build(ctx, spec)
	if err == nil {
		log.InfoContext(ctx, "built indexes", "duration_ms", time.Since(began).Milliseconds())
	}
	return opened, err
}

// build opens a collection whose indexes are incomplete. Of the processes that share a
// store, one builds, and the others wait.
func (o opening) build(ctx context.Context, spec docstore.Spec) (opened docstore.Table, err error) {
	if !o.isShared {
		return o.Engine.Open(ctx, spec)
	}
	err = lease.Do(ctx, o.Engine, "indexes of "+spec.Name, func(ctx context.Context) error {
		opened, err = o.Engine.Open(ctx, spec)
		return err
	})
	return opened, err
}

// countOf counts the documents of a collection for the log.
func countOf(ctx context.Context, table docstore.Table) slog.Attr {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	documents, err := table.Count(ctx, docstore.All(docstore.IDIndex).Everywhere())
	if err != nil {
		return slog.String("documents", "not counted")
	}
	return slog.Int64("documents", documents)
}
