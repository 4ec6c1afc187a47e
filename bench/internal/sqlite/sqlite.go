// Package sqlite stores the documents of one collection in SQLite, behind the write path of the storage port.
// It is what a good engineer would have taken instead of the embedded engine, so the distance between the two
// shows what that one costs. It has inserts and nothing else.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	_ "modernc.org/sqlite" // the driver

	"github.com/waybook/waybook/internal/docstore"
)

// Engine keeps one collection in SQLite, and every other in the engine under it.
type Engine struct {
	docstore.Engine
	// Collection is the name of that collection.
	Collection string
	// Path is its file, which Open creates.
	Path string

	table *table
}

// Open opens a collection.
func (e *Engine) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	below, err := e.Engine.Open(ctx, spec)
	if err != nil || spec.Name != e.Collection {
		return below, err
	}
	// Each commit syncs the log of writes, as each commit of the embedded engine syncs its file.
	db, err := sql.Open("sqlite", "file:"+e.Path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	e.table = &table{Table: below, spec: spec, db: db, writes: make(chan write), stopped: make(chan error, 1)}
	if err := e.table.create(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go func() { e.table.stopped <- e.table.run() }()
	return e.table, nil
}

// Close waits for the last commit.
func (e *Engine) Close() error {
	if e.table == nil {
		return e.Engine.Close()
	}
	close(e.table.writes)
	return errors.Join(<-e.table.stopped, e.table.db.Close(), e.Engine.Close())
}

// table inserts into SQLite. What else it is asked, the table under it answers, which has no documents.
type table struct {
	docstore.Table
	spec    docstore.Spec
	db      *sql.DB
	writes  chan write
	stopped chan error

	// insert stores a document, and feed its entry there.
	insert, feed *sql.Stmt
	indexes      []index
}

type index struct {
	docstore.Index
	// fields are those of a key. A unique index keeps its _id apart.
	fields []docstore.Field
	insert *sql.Stmt
}

// write is an insert that waits for its commit.
type write struct {
	documents []bson.Raw
	done      chan result
}

type result struct {
	errs []error
	err  error
}

// create makes the tables and prepares the statements. Each index is a table of keys, whose bytes are those of
// the embedded engine.
func (t *table) create(ctx context.Context) (err error) {
	t.db.SetMaxOpenConns(1)
	prepare := func(table, statement string) *sql.Stmt {
		if err != nil {
			return nil
		}
		if _, err = t.db.ExecContext(ctx, "CREATE TABLE "+table); err != nil {
			return nil
		}
		var made *sql.Stmt
		made, err = t.db.PrepareContext(ctx, statement)
		return made
	}
	t.insert = prepare("documents (id INTEGER PRIMARY KEY, document BLOB)", "INSERT INTO documents VALUES (?, ?)")
	t.feed = prepare("feed (at INTEGER, id INTEGER, PRIMARY KEY (at, id)) WITHOUT ROWID", "INSERT INTO feed VALUES (?, ?)")
	for _, declared := range t.spec.Indexes {
		fields, err := t.spec.FieldsOf(declared.Name)
		if err != nil {
			return err
		}
		ix := index{Index: declared, fields: fields}
		name := "by_" + strings.ReplaceAll(declared.Name, "-", "_")
		if declared.Unique {
			ix.fields = fields[:len(fields)-1]
			ix.insert = prepare(name+" (key BLOB PRIMARY KEY, id INTEGER) WITHOUT ROWID", "INSERT INTO "+name+" VALUES (?, ?) ON CONFLICT DO NOTHING")
		} else {
			ix.insert = prepare(name+" (key BLOB PRIMARY KEY) WITHOUT ROWID", "INSERT INTO "+name+" VALUES (?)")
		}
		t.indexes = append(t.indexes, ix)
	}
	// Those that may refuse a document come first.
	slices.SortStableFunc(t.indexes, func(a, b index) int { return order(a) - order(b) })
	return err
}

func order(ix index) int {
	if ix.Unique {
		return 0
	}
	return 1
}

// Insert stores documents in one of the next commits.
func (t *table) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	w := write{documents, make(chan result, 1)}
	select {
	case t.writes <- w:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case done := <-w.done:
		return done.errs, done.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run commits all writes that wait at a time, as the embedded engine does.
func (t *table) run() error {
	for first := range t.writes {
		batch := []write{first}
	gather:
		for {
			select {
			case next, isOpen := <-t.writes:
				if !isOpen {
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		results, err := t.commit(batch)
		for i, w := range batch {
			if err != nil {
				results[i] = result{err: err}
			}
			w.done <- results[i]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *table) commit(batch []write) (results []result, err error) {
	results = make([]result, len(batch))
	tx, err := t.db.Begin()
	if err != nil {
		return results, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it fails, and does nothing
	for i, w := range batch {
		results[i].errs = make([]error, len(w.documents))
		for n, document := range w.documents {
			if results[i].errs[n], err = t.put(tx, document); err != nil {
				return results, err
			}
		}
	}
	return results, tx.Commit()
}

// put stores a document and its entries, or refuses it.
func (t *table) put(tx *sql.Tx, document bson.Raw) (refusal, err error) {
	id := document.Lookup("_id").Int64()
	entries := make([][]byte, len(t.indexes))
	for i, ix := range t.indexes {
		if ix.Omits(document, false) {
			continue
		}
		if entries[i], err = docstore.AppendKey(nil, ix.fields, document); err != nil {
			return err, nil
		}
	}
	for i, ix := range t.indexes {
		switch {
		case entries[i] == nil:
		case !ix.Unique:
			_, err = tx.Stmt(ix.insert).Exec(entries[i])
		default:
			var done sql.Result
			if done, err = tx.Stmt(ix.insert).Exec(entries[i], id); err == nil {
				if n, _ := done.RowsAffected(); n == 0 {
					return &docstore.DuplicateError{Index: ix.Name}, nil
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err = tx.Stmt(t.insert).Exec(id, []byte(document)); err != nil {
		return nil, err
	}
	_, err = tx.Stmt(t.feed).Exec(time.Now().UnixNano(), id)
	return nil, err
}
