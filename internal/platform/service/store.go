package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/directory"
	"github.com/waybook/waybook/internal/blob/gridfs"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/lease"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/docstore/restoring"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/settings"
	"github.com/waybook/waybook/internal/platform/smallids"
)

// openTimeout bounds how long Open waits for MongoDB.
const openTimeout = 30 * time.Second

// StoreFlags select a program's store.
type StoreFlags struct {
	// Data is the directory of the embedded store.
	Data string
	// MongoDBURI, unless empty, is the URI of a MongoDB to use instead.
	MongoDBURI string
	// SmallIDsFrom is the first small identifier; 0 for none.
	SmallIDsFrom int64
	// Log, unless nil, gets the waits of Open for a MongoDB, and a warning if that is too old.
	Log *slog.Logger
}

// Register declares the flags. data is the default directory.
func (f *StoreFlags) Register(flags *flag.FlagSet, data string) {
	flags.StringVar(&f.Data, "data", data, "`directory` of the embedded store, created if missing")
	flags.Var((*mongoDBURI)(&f.MongoDBURI), mongoDBFlag,
		"`URI` of the MongoDB (6 or newer) to use instead of the embedded store, such as "+
			"mongodb://host/waybook?replicaSet=rs0")
	settings.FromFile(flags, mongoDBFlag, "the URI of the MongoDB, for a URI with a password")
	flags.Int64Var(&f.SmallIDsFrom, smallids.Flag, 0,
		"first `number` of what is made here, for clients with 32-bit integers, which also need -ids old; above "+
			"every identifier that is moved in; 0 for none")
}

const mongoDBFlag = "mongodb-uri"

// mongoDBURI is the value of -mongodb-uri.
type mongoDBURI string

func (u *mongoDBURI) String() string { return string(*u) }

// Set sets the URI. Check and Open report a malformed one, without its password.
func (u *mongoDBURI) Set(value string) error {
	*u = mongoDBURI(value)
	return nil
}

// HasSecret reports whether the URI may hold a password.
func (u *mongoDBURI) HasSecret() bool { return mongo.MayHavePassword(string(*u)) }

// Check reports why the store cannot be opened, without opening it: a malformed URI, no directory,
// or a directory or a file that this user cannot write.
func (f *StoreFlags) Check() error {
	if err := smallids.Check(f.SmallIDsFrom); err != nil {
		return err
	}
	if f.MongoDBURI == "" {
		if f.Data == "" {
			return errors.New("-data: the name of a directory is missing")
		}
		if err := checkWritable(f.File()); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		return nil
	}
	if err := mongo.CheckURI(f.MongoDBURI); err != nil {
		return fmt.Errorf("-%s: %w", mongoDBFlag, err)
	}
	return nil
}

// Open opens the store. It waits for MongoDB for up to openTimeout.
func (f *StoreFlags) Open(ctx context.Context) (docstore.Engine, error) {
	if f.MongoDBURI == "" {
		return embedded.Open(ctx, f.File())
	}
	return f.connect(ctx)
}

// OpenReadOnly opens an existing store to inspect it. The embedded store rejects writes;
// several processes may open it this way while no service has it open.
func (f *StoreFlags) OpenReadOnly(ctx context.Context) (docstore.Engine, error) {
	if f.MongoDBURI == "" {
		return embedded.OpenReadOnly(ctx, f.File())
	}
	return f.connect(ctx)
}

// File is the file of the embedded store.
func (f *StoreFlags) File() string { return filepath.Join(f.Data, "waybook.db") }

func (f *StoreFlags) connect(ctx context.Context) (docstore.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	log := f.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return f.await(ctx, log, func(string) {})
}

// await waits for MongoDB until ctx ends and reports that to waits and to the log.
func (f *StoreFlags) await(ctx context.Context, log *slog.Logger,
	waits func(location string)) (docstore.Engine, error) {
	logged := &waitLog{log: log}
	engine, err := mongo.OpenAndReport(ctx, f.MongoDBURI, "", func(location string, err error) {
		waits(location)
		logged.report(ctx, location, err)
	})
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", mongoDBFlag, err)
	}
	if version, isSupported := engine.Version(); !isSupported {
		log.WarnContext(ctx, "this MongoDB is older than the versions that Waybook supports", "version", version,
			"oldest", mongo.OldestVersion)
	}
	return engine, nil
}

// Store is the store of a program.
type Store struct {
	// Engine counts and traces each call.
	docstore.Engine
	// Source copies the store; nil for a MongoDB.
	Source Source
	// Files opens the store of files with a name.
	Files func(ctx context.Context, name string) (blob.Store, error)

	// opened are the stores of files, by name. The services open them before they are served.
	opened map[string]blob.Store
}

// PhotosDirectory is the name of the directory of stores of files, beside the embedded store.
const PhotosDirectory = "photos"

// uploadsDirectory is the name of the directory of photos on their way, beside the embedded store.
const uploadsDirectory = "uploads"

// OpenFiles opens the store of files with a name: a directory beside an embedded store, or a
// bucket in a MongoDB. The caller calls end when it needs them no longer.
func (f *StoreFlags) OpenFiles(ctx context.Context, engine docstore.Engine,
	name string) (files blob.Store, end func() error, err error) {
	if engine, isShared := engine.(*mongo.Engine); isShared {
		files, err = gridfs.Open(ctx, engine, name)
		return files, func() error { return nil }, err
	}
	opened, err := directory.Open(filepath.Join(f.Data, PhotosDirectory, name))
	if err != nil {
		return nil, nil, err
	}
	return opened, opened.Close, nil
}

// OpenStore opens a program's store and pushes its closing. It waits for MongoDB until ctx
// ends. It reports long steps of the start, such as building an index, to readiness and to
// the log. It refuses a store that was not loaded completely; see package restoring.
func OpenStore(
	ctx context.Context, env process.Env, flags StoreFlags, metrics *process.Metrics, readiness *process.Readiness,
) (*Store, error) {
	opening := opening{readiness: readiness, log: env.Log, isShared: flags.MongoDBURI != ""}
	engine, err := opening.connect(ctx, flags)
	if err != nil {
		return nil, err
	}
	env.Stack.Push("store", func(context.Context) error { return engine.Close() })
	if err := restoring.Refuse(ctx, engine); err != nil {
		return nil, err
	}
	opened := &Store{opened: map[string]blob.Store{}}
	opened.Files = func(ctx context.Context, name string) (blob.Store, error) {
		files, end, err := flags.OpenFiles(ctx, engine, name)
		if err == nil {
			opened.opened[name] = files
			env.Stack.Push("files of "+name, func(context.Context) error { return end() })
		}
		return files, err
	}
	switch engine := engine.(type) {
	case *embedded.Engine:
		source := embeddedSource{engine, flags.Data}
		metrics.GaugeFunc("waybook_store_last_backup_timestamp_seconds",
			"Begin of the last complete backup of the embedded store as a Unix time; 0 if there is none.", nil,
			source.lastBackup)
		opened.Source = source
		env.Announce(slog.String("store", "embedded "+flags.File()))
		countFile(metrics, engine)
	case *mongo.Engine:
		version, _ := engine.Version()
		env.Announce(slog.String("store", "mongodb "+engine.Location()))
		env.Announce(slog.String("mongodb", version))
	}
	calls := process.NewDurations("waybook_store_call_duration_seconds",
		"Duration of calls to the store in seconds, by collection, verb, index and outcome.", "collection", "verb",
		"index", "outcome")
	metrics.Registry.MustRegister(calls)
	opening.Engine = engine
	opened.Engine = observed.Wrap(opening, env.Tracing.Tracer(), func(c observed.Call) {
		calls.WithLabelValues(c.Collection, c.Verb, c.Index, c.Outcome).Observe(c.Elapsed.Seconds())
	})
	return opened, nil
}

// newSmall returns the setting of small identifiers.
func newSmall(flags StoreFlags, metrics *process.Metrics) *smallids.Setting {
	used := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "waybook_small_ids_used_ratio", Help: "Share of the numbers of 31 bits that are used, by collection.",
	}, []string{"collection"})
	if flags.SmallIDsFrom != 0 {
		metrics.Registry.MustRegister(used)
	}
	return smallids.New(flags.SmallIDsFrom, time.Now,
		func(collection string, share float64) { used.WithLabelValues(collection).Set(share) })
}

func countFile(metrics *process.Metrics, file *embedded.Engine) {
	metrics.GaugeFunc("waybook_store_file_bytes", "Size of the embedded store's file in bytes.", nil,
		func() float64 { return float64(file.FileBytes()) })
	metrics.CounterFunc("waybook_store_commits_total",
		"Commits of the embedded store, each with one sync of its file.", nil,
		func() float64 { return float64(file.Commits()) })
	metrics.CounterFunc("waybook_store_commit_writes_total", "Writes in the commits of the embedded store.", nil,
		func() float64 { return float64(file.CommittedWrites()) })
}

// checkWritable reports why this user cannot write a file, or create it and its missing
// directories. It changes nothing.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkCreatable(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return mayWrite(path, info)
}

// checkCreatable reports why this user cannot create a file in a directory, or the directory.
func checkCreatable(directory string) error {
	info, err := os.Stat(directory)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(directory) != directory {
		return checkCreatable(filepath.Dir(directory))
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", directory)
	}
	return mayWrite(directory, info)
}

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
	engine, err := flags.await(ctx, o.log,
		func(location string) { o.readiness.Starting("waiting for MongoDB at " + location) })
	o.readiness.Starting("opening the collections")
	return engine, err
}

// waitEvery is the least time between two log lines about one wait.
const waitEvery = time.Minute

// waitLog logs that a start waits for MongoDB: when it begins, after its first failed attempt, and
// then once every waitEvery, and when MongoDB begins or ceases to refuse the user.
type waitLog struct {
	log    *slog.Logger
	warned time.Time
	// isRefused reports whether MongoDB refused the user at the last attempt.
	isRefused bool
}

// report logs a report of mongo.OpenAndReport.
func (w *waitLog) report(ctx context.Context, location string, err error) {
	if err == nil {
		w.log.InfoContext(ctx, "waiting for MongoDB", "location", location)
		return
	}
	isRefused := errors.Is(err, mongo.ErrUserRefused)
	if now := time.Now(); w.warned.IsZero() || now.Sub(w.warned) >= waitEvery || isRefused != w.isRefused {
		w.warned, w.isRefused = now, isRefused
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
