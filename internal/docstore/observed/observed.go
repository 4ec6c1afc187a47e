// Package observed wraps a store and reports each call to it, to a function and as a span
// of the call's trace. The function usually counts the calls in metrics. Calls by which a sweep handles
// tombstones, and a start finds the highest id, are not reported.
package observed

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/docstore"
)

// Call is a completed call to a store. Each of its strings has few possible values, so it
// can be a label of a metric.
type Call struct {
	Collection string
	// Verb is the method of docstore.Table, such as update_many, or that of Scan.Verb. Index is the index
	// that the call used.
	Verb, Index string
	// Outcome is ok, not_found, duplicate, conflict, unavailable, canceled, timeout or
	// error.
	Outcome string
	Elapsed time.Duration
}

// Wrap returns a store that reports the calls to its collections to tell. If tracer is
// nil, there are no spans. A call outside a trace, such as one of a sweep, has no span.
func Wrap(store docstore.Engine, tracer trace.Tracer, tell func(Call)) docstore.Engine {
	return engine{store, tracer, tell}
}

type engine struct {
	docstore.Engine
	tracer trace.Tracer
	tell   func(Call)
}

// Open opens a collection.
func (e engine) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	opened, err := e.Engine.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &table{opened, spec.Name, e}, nil
}

type table struct {
	docstore.Table
	name   string
	engine engine
}

// probe is a call in flight.
type probe struct {
	table       *table
	verb, index string
	began       time.Time
	span        trace.Span
}

func (t *table) begin(ctx context.Context, verb, index string) (context.Context, probe) {
	p := probe{table: t, verb: verb, index: index, began: time.Now()}
	if t.engine.tracer != nil && trace.SpanContextFromContext(ctx).IsValid() {
		ctx, p.span = t.engine.tracer.Start(ctx, verb+" "+t.name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("db.collection.name", t.name), attribute.String("db.operation.name", verb), attribute.String("waybook.index", index)))
	}
	return ctx, p
}

// end reports the call. It reports only the kind of an error, because the text of the
// error may contain stored data.
func (p probe) end(err error) {
	outcome := outcomeOf(err)
	p.table.engine.tell(Call{p.table.name, p.verb, p.index, outcome, time.Since(p.began)})
	if p.span == nil {
		return
	}
	p.span.SetAttributes(attribute.String("waybook.outcome", outcome))
	switch outcome {
	case "unavailable", "timeout", "error":
		p.span.SetStatus(codes.Error, outcome)
	}
	p.span.End()
}

func outcomeOf(err error) string {
	if err == nil {
		return "ok" // first, to avoid allocations
	}
	var duplicate *docstore.DuplicateError
	switch {
	case errors.Is(err, docstore.ErrNotFound):
		return "not_found"
	case errors.As(err, &duplicate):
		return "duplicate"
	case errors.Is(err, docstore.ErrConflict):
		return "conflict"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, docstore.ErrUnavailable):
		return "unavailable"
	}
	return "error"
}

// Insert stores documents. If some are refused, the outcome is that of the first refusal.
func (t *table) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	ctx, call := t.begin(ctx, "insert", docstore.IDIndex)
	errs, err := t.Table.Insert(ctx, documents)
	first := err
	for i := 0; first == nil && i < len(errs); i++ {
		first = errs[i]
	}
	call.end(first)
	return errs, err
}

// Update changes a document.
func (t *table) Update(ctx context.Context, change docstore.Change) (bson.Raw, error) {
	ctx, call := t.begin(ctx, "update", docstore.IDIndex)
	before, err := t.Table.Update(ctx, change)
	call.end(err)
	return before, err
}

// UpdateMany changes documents.
func (t *table) UpdateMany(ctx context.Context, changes []docstore.Change) (int64, error) {
	ctx, call := t.begin(ctx, "update_many", docstore.IDIndex)
	made, err := t.Table.UpdateMany(ctx, changes)
	call.end(err)
	return made, err
}

// Delete removes a document.
func (t *table) Delete(ctx context.Context, deletion docstore.Deletion) error {
	ctx, call := t.begin(ctx, "delete", docstore.IDIndex)
	err := t.Table.Delete(ctx, deletion)
	call.end(err)
	return err
}

// Scan returns documents. If it looks for one by its id and there is none, the outcome is not_found.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, bool, error) {
	ctx, call := t.begin(ctx, scan.Verb(), scan.Index())
	documents, more, err := t.Table.Scan(ctx, scan)
	if _, isOne := scan.OneID(); isOne && err == nil && len(documents) == 0 {
		call.end(docstore.ErrNotFound)
	} else {
		call.end(err)
	}
	return documents, more, err
}

// Count counts documents.
func (t *table) Count(ctx context.Context, where docstore.Where) (int64, error) {
	ctx, call := t.begin(ctx, "count", where.Index())
	n, err := t.Table.Count(ctx, where)
	call.end(err)
	return n, err
}

// DeleteAll deletes documents.
func (t *table) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	ctx, call := t.begin(ctx, "delete_all", where.Index())
	n, err := t.Table.DeleteAll(ctx, where)
	call.end(err)
	return n, err
}

// Changes returns changes.
func (t *table) Changes(ctx context.Context, scan docstore.ChangeScan) (docstore.ChangeBatch, error) {
	ctx, call := t.begin(ctx, "changes", docstore.ChangedField)
	batch, err := t.Table.Changes(ctx, scan)
	call.end(err)
	return batch, err
}
