// Package observed wraps a store and reports each call to it, to a function and as a span of the
// call's trace. The function usually counts the calls in metrics. Calls by which a sweep handles
// tombstones, and a start finds the highest id, are not reported.
package observed

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	// Verb is the method of docstore.Table, such as update_many, or that of Scan.Verb. Index is
	// the index that the call used.
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

// report calls a method and reports the call: of an error only the kind, because its text may
// contain stored data.
func report[Q, R any](
	ctx context.Context, t *table, verb, index string, method func(context.Context, Q) (R, error), of Q,
) (R, error) {
	var span trace.Span
	if t.engine.tracer != nil && trace.SpanContextFromContext(ctx).IsValid() {
		ctx, span = t.engine.tracer.Start(ctx, verb+" "+t.name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(
				attribute.String("db.collection.name", t.name), attribute.String("db.operation.name", verb),
				attribute.String("waybook.index", index)))
	}
	began := time.Now()
	result, err := method(ctx, of)
	outcome := outcomeOf(err)
	t.engine.tell(Call{t.name, verb, index, outcome, time.Since(began)})
	if span == nil {
		return result, err
	}
	span.SetAttributes(attribute.String("waybook.outcome", outcome))
	if slices.Contains([]string{"unavailable", "timeout", "error"}, outcome) {
		span.SetStatus(codes.Error, outcome)
	}
	span.End()
	return result, err
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
func (t *table) Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error) {
	_, _ = report(ctx, t, "insert", docstore.IDIndex,
		func(ctx context.Context, documents []bson.Raw) (none struct{}, _ error) {
			errs, err = t.Table.Insert(ctx, documents)
			return none, cmp.Or(err, cmp.Or(errs...))
		}, documents)
	return errs, err
}

// Update changes a document.
func (t *table) Update(ctx context.Context, change docstore.Change) (bson.Raw, error) {
	return report(ctx, t, "update", docstore.IDIndex, t.Table.Update, change)
}

// UpdateMany changes documents.
func (t *table) UpdateMany(ctx context.Context, changes []docstore.Change) (int64, error) {
	return report(ctx, t, "update_many", docstore.IDIndex, t.Table.UpdateMany, changes)
}

// Delete removes a document.
func (t *table) Delete(ctx context.Context, deletion docstore.Deletion) error {
	_, err := report(ctx, t, "delete", docstore.IDIndex,
		func(ctx context.Context, of docstore.Deletion) (none struct{}, _ error) {
			return none, t.Table.Delete(ctx, of)
		}, deletion)
	return err
}

// Scan returns documents. If it looks for one by its id and there is none, the outcome is
// not_found.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	_, _ = report(ctx, t, scan.Verb(), scan.Index(),
		func(ctx context.Context, scan docstore.Scan) (none struct{}, _ error) {
			documents, more, err = t.Table.Scan(ctx, scan)
			if _, isOne := scan.OneID(); isOne && err == nil && len(documents) == 0 {
				return none, docstore.ErrNotFound
			}
			return none, err
		}, scan)
	return documents, more, err
}

// Count counts documents.
func (t *table) Count(ctx context.Context, where docstore.Where) (int64, error) {
	return report(ctx, t, "count", where.Index(), t.Table.Count, where)
}

// DeleteAll deletes documents.
func (t *table) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	return report(ctx, t, "delete_all", where.Index(), t.Table.DeleteAll, where)
}

// Changes returns changes.
func (t *table) Changes(ctx context.Context, scan docstore.ChangeScan) (docstore.ChangeBatch, error) {
	return report(ctx, t, "changes", docstore.ChangedField, t.Table.Changes, scan)
}
