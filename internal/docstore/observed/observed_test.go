package observed_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/observed"
)

func open(t *testing.T) *embedded.Engine {
	t.Helper()
	engine, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

func newTracer() (trace.Tracer, *tracetest.InMemoryExporter) {
	spans := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("test"), spans
}

var spec = docstore.Spec{Name: "things", ID: docstore.Int64, Indexes: []docstore.Index{byName().Declare()}}

func byName() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "by_name", A: "name", Unique: true}
}

func thing(t *testing.T, id int64, name string) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "name", Value: name}, {Key: docstore.RevisionField, Value: int64(1)}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEachCallIsReportedWithItsVerbIndexAndOutcome(t *testing.T) {
	tracer, spans := newTracer()
	var told []observed.Call
	engine := observed.Wrap(open(t), tracer, func(c observed.Call) { told = append(told, c) })
	table, err := engine.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	nine := docstore.ValueOf(int64(9))
	for want, call := range map[string]func(context.Context){
		"insert _id ok":     func(ctx context.Context) { _, _ = table.Insert(ctx, []bson.Raw{thing(t, 1, "a")}) },
		"get _id not_found": func(ctx context.Context) { _, _ = docstore.GetFrom(ctx, table, nine, docstore.Present) },
		"get _id canceled":  func(context.Context) { _, _ = docstore.GetFrom(ended, table, nine, docstore.Present) },
		"get_many _id ok": func(ctx context.Context) {
			_, _, _ = table.Scan(ctx, docstore.Scan{Where: docstore.WithIDs(nine, docstore.ValueOf(int64(8))), Limit: 2})
		},
		"get_durable _id not_found": func(ctx context.Context) { _, _ = docstore.GetFrom(ctx, table, nine, docstore.Durable) },
		"get_recent _id not_found":  func(ctx context.Context) { _, _ = docstore.GetFrom(ctx, table, nine, docstore.Recent(time.Minute)) },
		"update _id not_found":      func(ctx context.Context) { _, _ = table.Update(ctx, docstore.Change{ID: nine, Revision: 1}) },
		"delete _id not_found":      func(ctx context.Context) { _ = table.Delete(ctx, docstore.Deletion{ID: nine}) },
		"scan by_name ok":           func(ctx context.Context) { _, _, _ = table.Scan(ctx, docstore.Scan{Where: byName().All(), Limit: 1}) },
		"count by_name ok":          func(ctx context.Context) { _, _ = table.Count(ctx, byName().All()) },
		"delete_all by_name ok":     func(ctx context.Context) { _, _ = table.DeleteAll(ctx, byName().Is("nobody")) },
		"scan _id ok": func(ctx context.Context) {
			_, _, _ = table.Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1})
		},
		"get_linearizable _id not_found": func(ctx context.Context) { _, _ = docstore.GetFrom(ctx, table, nine, docstore.Linearizable) },
		"update_many _id ok": func(ctx context.Context) {
			_, _ = table.UpdateMany(ctx, []docstore.Change{{ID: nine, Revision: 1}})
		},
		"insert _id duplicate":     func(ctx context.Context) { _, _ = table.Insert(ctx, []bson.Raw{thing(t, 2, "b"), thing(t, 2, "c")}) },
		"delete_all _nosuch error": func(ctx context.Context) { _, _ = table.DeleteAll(ctx, docstore.All("_nosuch")) },
	} {
		told = nil
		spans.Reset()
		ctx, parent := tracer.Start(t.Context(), "parent")
		call(ctx)
		parent.End()
		if len(told) != 1 {
			t.Fatalf("%s: reported %v", want, told)
		}
		c := told[0]
		if got := fmt.Sprintf("%s %s %s", c.Verb, c.Index, c.Outcome); got != want || c.Collection != "things" || c.Elapsed <= 0 {
			t.Errorf("got %+v, want %s", c, want)
		}
		made := spans.GetSpans()
		if c.Outcome == "canceled" {
			continue // its context has no trace
		}
		if len(made) != 2 || made[0].Name != c.Verb+" things" || made[0].Parent.SpanID() != made[1].SpanContext.SpanID() {
			t.Errorf("%s: spans %v", want, made)
		}
		if isError := made[0].Status.Code == codes.Error; isError != (c.Outcome == "error") {
			t.Errorf("%s: status %v", want, made[0].Status)
		}
	}
}

func TestACallOutsideATraceHasNoSpan(t *testing.T) {
	tracer, spans := newTracer()
	table, err := observed.Wrap(open(t), tracer, func(observed.Call) {}).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := table.Scan(t.Context(), docstore.Scan{Where: byName().All(), Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if made := spans.GetSpans(); len(made) != 0 {
		t.Errorf("got %v", made)
	}
}

// torn is a store whose errors contain stored data.
type torn struct{ docstore.Engine }

type tornTable struct{ docstore.Table }

func (torn) Open(context.Context, docstore.Spec) (docstore.Table, error) { return tornTable{}, nil }

func (tornTable) Scan(context.Context, docstore.Scan) ([]bson.Raw, bool, error) {
	return nil, false, errors.New("page 17 holds s3cr3t")
}

func (tornTable) Delete(context.Context, docstore.Deletion) error {
	return fmt.Errorf("%w: page 17 holds s3cr3t", docstore.ErrUnavailable)
}

func TestASpanHasTheKindOfAnErrorButNotItsText(t *testing.T) {
	tracer, spans := newTracer()
	var told []observed.Call
	table, err := observed.Wrap(torn{}, tracer, func(c observed.Call) { told = append(told, c) }).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	ctx, parent := tracer.Start(t.Context(), "parent")
	_, _ = docstore.GetFrom(ctx, table, docstore.ValueOf(int64(1)), docstore.Present)
	_ = table.Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(int64(1))})
	parent.End()
	if len(told) != 2 || told[0].Outcome != "error" || told[1].Outcome != "unavailable" {
		t.Errorf("reported %+v", told)
	}
	for _, span := range spans.GetSpans()[:2] {
		if text := fmt.Sprintf("%+v", span); span.Status.Code != codes.Error || strings.Contains(text, "s3cr3t") {
			t.Errorf("got %s", text)
		}
	}
}
