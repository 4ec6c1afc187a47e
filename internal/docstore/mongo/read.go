package mongo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// idsPerQuery bounds the ids of one query, to stay far below the maximum message size.
	idsPerQuery = 1000
	// maxFind bounds the documents of one query.
	maxFind = 10_000
	// longestFind bounds a query on the server if its caller has no deadline.
	longestFind = 5 * time.Minute
	// longestCheck is the longest time limit that a server takes, for a query that reads a whole
	// collection. Without any, MongoDB 8 ends it at the cluster's defaultMaxTimeMS.
	longestCheck = math.MaxInt32 * time.Millisecond
)

// local is the read concern of a read that wants no other. A find that names none has the default
// of the cluster, which an administrator may change.
const local = "local"

// The read concerns of what no failover undoes. Before the primary replies to a linearizable read,
// it has a majority acknowledge everything that the read has seen. A snapshot shows what a
// majority has at one time, on all shards.
const majority, linearizable, snapshot = "majority", "linearizable", "snapshot"

// listed stands for majority, at the time of the latest snapshot of changes that this process has
// read.
const listed = "listed"

// concernOf returns the read concern of a read. Present and Recent read from the primary. If no
// majority has confirmed for the staleness of Recent that the server is the primary, by
// acknowledging a write or a linearizable read of this process, Recent is Linearizable. A primary
// that was cut off from the majority cannot serve that. On a collection that is spread over
// shards, Recent is Present.
func (t *table) concernOf(as docstore.Consistency) string {
	switch staleness := as.Staleness(); {
	case as == docstore.Listed:
		return listed
	case as == docstore.Durable:
		return majority
	case as == docstore.Present, staleness > 0 &&
		(t.confirmed == nil || t.confirmed.isWithin(staleness, t.engine.clock())):
		return ""
	}
	return linearizable
}

// Scan reads a page of an index. The index serves each of its filters and sorts, starting with the
// first field, but the server sorts in memory what it finds by a sparse one. Each query asks for
// as many documents as are likely to fit into the budget; the next one continues after them.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	selected, err := t.resolve(scan)
	if err != nil {
		return nil, false, err
	}
	rest := selected.rest()
	concern, began := t.concernOf(scan.As), t.engine.clock()
	size := t.sizes.of(scan.Fields)
	wanted := min(scan.Limit, math.MaxInt-1) + 1 // one more tells whether more follow
	if len(rest) == 0 {
		wanted = 1
	}
	used := 0
	err = t.engine.call(ctx, func() error {
		var at docstore.Moment
		if _, isOne := scan.OneID(); concern == linearizable && !isOne {
			if at, _, err = t.tick(ctx); err != nil {
				return err
			}
		}
		for !selected.bounds.Empty {
			next := query{
				filter: t.filter(selected), order: orderOf(rest, scan.Descending),
				fields: projection(scan.Fields, selected.bounds.Rest),
				limit:  size.likelyToFit(wanted-len(documents), scan.MaxBytes, used), comment: selected.comment,
				concern: concern, at: at,
			}
			found, follow, err := t.find(ctx, next)
			if err != nil {
				return err
			}
			if scan.MaxBytes > 0 {
				size.learn(found)
			}
			for _, document := range found {
				used += len(document)
				if len(documents) == scan.Limit || scan.MaxBytes > 0 && len(documents) > 0 && used > scan.MaxBytes {
					more = true
					return nil
				}
				documents = append(documents, document)
			}
			switch isDone := !follow && len(found) < next.limit || len(found) == 0; {
			case isDone && len(selected.bounds.Spans) > idsPerQuery && selected.isIDs:
				selected.bounds.Spans = selected.bounds.Spans[idsPerQuery:]
			case isDone || len(rest) == 0:
				return nil
			default:
				if err := selected.continueAfter(found[len(found)-1]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	if concern == linearizable {
		t.confirmed.note(began)
	}
	return documents, more, nil
}

// positionOf returns the values of a document in the given fields.
func positionOf(document bson.Raw, fields []docstore.Field) ([]docstore.Value, error) {
	position := make([]docstore.Value, len(fields))
	for i, field := range fields {
		var err error
		if position[i], err = field.Value(document); err != nil {
			return nil, err
		}
	}
	return position, nil
}

// Count counts in the index.
func (t *table) Count(ctx context.Context, where docstore.Where) (int64, error) {
	selected, err := t.resolve(docstore.Scan{Where: where, Limit: 1})
	if err != nil || selected.bounds.Empty {
		return 0, err
	}
	options := options.Count()
	if selected.comment != "" {
		options.SetComment(selected.comment)
	}
	var n int64
	err = t.engine.call(ctx, func() (err error) {
		ctx, cancel := bounded(ctx)
		defer cancel()
		n, err = t.collection.CountDocuments(ctx, t.filter(selected), options)
		return err
	})
	return n, err
}

// query is a find command.
type query struct {
	filter, order, fields bson.D
	skip, limit           int
	// concern is the read concern; empty for local. comment is the comment; empty for none.
	concern, comment string
	// at, unless 0, is the cluster time that the read has reached, in what a majority has.
	// snapshot, unless 0, is that of the snapshot to read.
	at, snapshot docstore.Moment
	// isWhole keeps the fields that no read returns.
	isWhole bool
	// isUnlimited lets the server read for as long as it takes.
	isUnlimited bool
}

// find runs a query. more reports that the server ended its reply before the limit, because
// of the reply's size. The batch is one larger than the limit, since a server that could
// fill a batch exactly would leave a cursor open. Each query has a time limit on the
// server. The driver's own Find would omit the limit.
func (t *table) find(ctx context.Context, q query) (documents []bson.Raw, more bool, err error) {
	limit := bounded
	if q.isUnlimited {
		limit = withoutDeadline
	}
	ctx, cancel := limit(ctx)
	defer cancel()
	command := bson.D{{Key: "find", Value: t.collection.Name()}, {Key: "filter", Value: q.filter}}
	if q.isUnlimited {
		command = append(command, bson.E{Key: "maxTimeMS", Value: longestCheck.Milliseconds()})
	}
	if len(q.order) > 0 {
		command = append(command, bson.E{Key: "sort", Value: q.order})
	}
	if len(q.fields) > 0 {
		command = append(command, bson.E{Key: "projection", Value: q.fields})
	}
	if q.skip > 0 {
		command = append(command, bson.E{Key: "skip", Value: int64(q.skip)})
	}
	command = append(command, bson.E{Key: "readConcern", Value: t.concern(q)})
	if q.comment != "" {
		command = append(command, bson.E{Key: "comment", Value: q.comment})
	}
	command = append(command, bson.E{Key: "limit", Value: int64(q.limit)},
		bson.E{Key: "batchSize", Value: int32(q.limit + 1)})
	cursor, err := t.engine.read(ctx, command)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = cursor.Close(ctx) }() // the server closes it in the end
	for cursor.RemainingBatchLength() > 0 && cursor.Next(ctx) {
		if q.isWhole {
			documents = append(documents, bytes.Clone(cursor.Current))
		} else {
			documents = append(documents, t.shown(cursor.Current))
		}
	}
	return documents, cursor.ID() != 0, cursor.Err()
}

// concern returns the read concern of a query. A read of a follower has reached the time of what
// this process has listed: a primary that has just been elected may not know yet that a majority
// has all of that, and a former one lacks it.
func (t *table) concern(q query) bson.D {
	if q.snapshot != 0 {
		return bson.D{{Key: "level", Value: snapshot}, {Key: "atClusterTime", Value: timestampOf(q.snapshot)}}
	}
	at, level := q.at, cmp.Or(q.concern, local)
	if level == listed {
		at, level = t.engine.listed.latest(), majority
	}
	if at != 0 {
		return bson.D{{Key: "level", Value: majority}, {Key: "afterClusterTime", Value: timestampOf(at)}}
	}
	return bson.D{{Key: "level", Value: level}}
}

// latest is the highest moment that it was raised to.
type latest struct{ moment atomic.Uint64 }

func (l *latest) latest() docstore.Moment { return docstore.Moment(l.moment.Load()) }

func (l *latest) raise(to docstore.Moment) {
	for last := l.moment.Load(); last < uint64(to) && !l.moment.CompareAndSwap(last, uint64(to)); {
		last = l.moment.Load()
	}
}

// read runs a command that only reads, and repeats it once after a failure that may pass, as the
// driver does with its own reads. The cursor closes itself on the server that opened it, which may
// be one of several routers.
func (e *Engine) read(ctx context.Context, command bson.D) (*mongo.Cursor, error) {
	primary := options.RunCmd().SetReadPreference(readpref.Primary())
	cursor, err := e.database.RunCommandCursor(ctx, command, primary)
	if err != nil && mayPass(err) && ctx.Err() == nil {
		cursor, err = e.database.RunCommandCursor(ctx, command, primary)
	}
	return cursor, err
}

// mayPass reports whether a read that failed may succeed at once on the same or on a new
// primary.
func mayPass(err error) bool {
	var server mongo.ServerError
	return mongo.IsNetworkError(err) || errors.As(err, &server) && !mongo.IsTimeout(err) && !isRefusal(err)
}

// bounded gives a call that has no deadline one, from which the driver derives the time
// limit on the server.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if hasDeadline(ctx) {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, longestFind)
}

// withoutDeadline returns a context that ends with ctx, and from which the driver derives no time
// limit on the server.
func withoutDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	unlimited, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	return unlimited, func() {
		stop()
		cancel()
	}
}

// unknownWhole is the assumed size of a document before the first scan, in bytes, and
// unknownPart that of some of its fields.
const unknownWhole, unknownPart = 8 << 10, 128

// sizes are the average sizes of the documents of the last scans, in bytes; 0 before the
// first.
type sizes struct{ whole, parts atomic.Int64 }

// averageSize is one of the sizes of a table.
type averageSize struct {
	known   *atomic.Int64
	assumed int
}

// of returns the size of the documents of scans that ask for the given fields; nil are all.
func (s *sizes) of(fields []string) averageSize {
	if fields == nil {
		return averageSize{&s.whole, unknownWhole}
	}
	return averageSize{&s.parts, unknownPart}
}

// likelyToFit returns how many of the wanted documents are likely to fit into the rest of a
// budget, and one more. A budget of 0 has no limit.
func (s averageSize) likelyToFit(wanted, budget, used int) int {
	wanted = min(wanted, maxFind)
	if budget == 0 {
		return wanted
	}
	return min(wanted, max(budget-used, 0)/cmp.Or(int(s.known.Load()), s.assumed)+1)
}

// learn notes the average size of the documents found. A collection with large documents
// is remembered for some scans.
func (s averageSize) learn(found []bson.Raw) {
	if len(found) == 0 {
		return
	}
	total := int64(0)
	for _, document := range found {
		total += int64(len(document))
	}
	s.known.Store(max(total/int64(len(found)), s.known.Load()/2, 1))
}
