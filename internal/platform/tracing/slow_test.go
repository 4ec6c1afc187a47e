package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/tracing"
	_ "github.com/waybook/waybook/proto/gen/waybook/album/v1" // a method that is traced is one of the contracts
)

// keeping returns a tracing that keeps requests of a second and longer.
func keeping(t *testing.T) tracing.Tracing {
	t.Helper()
	spans, stop, err := tracing.Flags{Slow: time.Second}.Start(t.Context(), "edge", lookup(nil), slog.New(slog.DiscardHandler))
	if err != nil || stop(t.Context()) != nil {
		t.Fatal(err)
	}
	return spans
}

// serve creates the span of a request with an id, and the spans of some calls in it.
func serve(spans tracing.Tracing, id string, calls int, takes time.Duration) {
	ctx, end := spans.StartRequest(requestid.With(context.Background(), id), httptest.NewRequest(http.MethodGet, "/API.php", nil))
	for range calls {
		_, ended := spans.StartCall(ctx, "/waybook.album.v1.AlbumService/GetAlbum")
		ended(nil)
	}
	time.Sleep(takes) // of the bubble's clock
	end()
}

func TestOnlySlowRequestsAreKeptWithTheirSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := keeping(t)
		serve(spans, "fast", 1, time.Second-1)
		serve(spans, "slow", 2, time.Second)
		all := spans.Slow().All()
		if all.Program != "edge" || len(all.Requests) != 1 {
			t.Fatalf("kept are %+v", all)
		}
		kept := all.Requests[0]
		if kept.RequestID != "slow" || kept.Milliseconds != 1000 || len(kept.Spans) != 3 || kept.LeftOut != 0 {
			t.Errorf("kept is %+v", kept)
		}
		for _, id := range []string{"slow", kept.TraceID} {
			if found := spans.Slow().Of(id); len(found.Requests) != 1 {
				t.Errorf("by %s: %+v", id, found)
			}
		}
		if found := spans.Slow().Of("fast"); len(found.Requests) != 0 {
			t.Errorf("a fast one: %+v", found)
		}
	})
}

func TestWhatIsKeptOfSlowRequestsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := keeping(t)
		for n := range 70 {
			serve(spans, fmt.Sprint("id-", n), 150, time.Second)
		}
		all := spans.Slow().All().Requests
		if len(all) != 64 || all[0].RequestID != "id-69" || all[63].RequestID != "id-6" {
			t.Errorf("%d requests are kept, from %s to %s", len(all), all[len(all)-1].RequestID, all[0].RequestID)
		}
		if kept := all[0]; len(kept.Spans) != 101 || kept.LeftOut != 50 {
			t.Errorf("%d spans are kept, and %d left out", len(kept.Spans), kept.LeftOut)
		}
	})
}

func TestSpansThatNeverEndTakeBoundedMemoryAndHideNoOthersForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := keeping(t)
		var ends []func()
		for range 20_000 {
			_, end := spans.StartRequest(context.Background(), httptest.NewRequest(http.MethodGet, "/API.php", nil))
			ends = append(ends, end)
		}
		time.Sleep(time.Second)
		serve(spans, "in the crowd", 1, time.Second)
		for _, end := range ends {
			end()
		}
		serve(spans, "after it", 1, time.Second)
		if len(spans.Slow().Of("in the crowd").Requests) != 0 || len(spans.Slow().Of("after it").Requests) != 1 {
			t.Error("the limit of live spans is not kept, or stays")
		}
	})
}

func TestAKeptSpanSaysHowItFailedAndNamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := keeping(t)
		ctx, end := spans.StartRequest(context.Background(), httptest.NewRequest(http.MethodGet, "/API.php?userID=4711", nil))
		_, ended := spans.StartCall(ctx, "/waybook.album.v1.AlbumService/GetAlbum")
		ended(errors.New("s3cr3t"))
		root := trace.SpanFromContext(ctx)
		root.SetAttributes(attribute.String("waybook.reason", "SERVICE_TIMEOUT"), attribute.String("client.address", "192.0.2.7"))
		root.SetStatus(codes.Error, "s3cr3t")
		time.Sleep(time.Second)
		end()
		kept := spans.Slow().All().Requests[0]
		outcomes := map[string]string{}
		for _, span := range kept.Spans {
			outcomes[span.Kind+" "+span.Name] = span.Outcome
		}
		want := map[string]string{"server request": "SERVICE_TIMEOUT", "server waybook.album.v1.AlbumService/GetAlbum": "Unknown"}
		if fmt.Sprint(outcomes) != fmt.Sprint(want) {
			t.Errorf("the outcomes are %v", outcomes)
		}
	})
}

func TestAnInvalidThresholdIsRefused(t *testing.T) {
	if _, _, err := (tracing.Flags{Slow: -1}).Start(t.Context(), "edge", lookup(nil), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a negative threshold was accepted")
	}
}
