package service_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func scrape(metrics *process.Metrics) string {
	recorder := httptest.NewRecorder()
	process.AdminHandler(process.NewReadiness(), metrics).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return recorder.Body.String()
}

// expectLines checks that the metrics have lines with these beginnings.
func expectLines(t *testing.T, metrics *process.Metrics, beginnings ...string) {
	t.Helper()
	text := scrape(metrics)
	for _, beginning := range beginnings {
		if !strings.Contains(text, "\n"+beginning) {
			t.Errorf("no %s in\n%s", beginning, text)
		}
	}
}

func newEnv(t *testing.T) process.Env {
	t.Helper()
	env := process.Env{
		Stack: &process.Stack{}, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}
	t.Cleanup(func() {
		if err := env.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return env
}

func TestStoreCallsAndCommitsAreCounted(t *testing.T) {
	metrics := process.NewMetrics()
	engine, err := service.OpenStore(t.Context(), newEnv(t), service.StoreFlags{Data: t.TempDir()}, metrics, process.NewReadiness())
	if err != nil {
		t.Fatal(err)
	}
	type thing struct {
		ID int64 `bson:"_id"`
	}
	things, err := docstore.Open[int64, thing](t.Context(), engine, docstore.Spec{Name: "things", ID: docstore.Int64})
	if err != nil {
		t.Fatal(err)
	}
	if err := things.Insert(t.Context(), thing{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := things.Get(t.Context(), 2); !errors.Is(err, docstore.ErrNotFound) {
		t.Fatal(err)
	}
	expectLines(t, metrics,
		`waybook_store_call_duration_seconds_count{collection="things",index="_id",outcome="ok",verb="insert"} 1`,
		`waybook_store_call_duration_seconds_count{collection="things",index="_id",outcome="not_found",verb="get"} 1`,
		"waybook_store_commits_total 2", "waybook_store_commit_writes_total 2", // one of them declared the collection
	)
	if strings.Contains(scrape(metrics), "\nwaybook_store_file_bytes 0") {
		t.Error("the file is empty")
	}
}

// sweeping is a service whose sweeps return err.
type sweeping struct {
	service.Service
	name string
	err  error
}

func (s sweeping) Name() string { return s.name }

func (s sweeping) Sweep(context.Context) error { return s.err }

// hanging is a service whose first sweep never ends.
type hanging struct{ sweeping }

func (hanging) Sweep(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestSweepsAreCountedAndShowTheirLastSuccessOrTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, metrics := newEnv(t), process.NewMetrics()
		sweeps, began := service.NewSweeps(metrics), time.Now()
		service.Sweep(t.Context(), env, sweeps, sweeping{name: "album"})
		service.Sweep(t.Context(), env, sweeps, sweeping{name: "blog", err: errors.New("no luck")})
		service.Sweep(t.Context(), env, sweeps, hanging{sweeping{name: "poi"}})
		synctest.Wait()
		expectLines(t, metrics,
			`waybook_sweeps_total{outcome="ok",service="album"} 1`, `waybook_sweeps_total{outcome="error",service="album"} 0`,
			`waybook_sweeps_total{outcome="ok",service="blog"} 0`, `waybook_sweeps_total{outcome="error",service="blog"} 1`)
		time.Sleep(time.Hour) // simulated
		synctest.Wait()
		const last = "waybook_sweep_last_success_timestamp_seconds"
		start := strconv.FormatFloat(float64(began.Unix()), 'g', -1, 64)
		expectLines(t, metrics, last+`{service="blog"} `+start, last+`{service="poi"} `+start)
		if strings.Contains(scrape(metrics), last+`{service="album"} `+start) {
			t.Error("a sweep that succeeds shows the start")
		}
	})
}

func TestACallKeepsItsRequestIDAndCountsAsInFlight(t *testing.T) {
	c := newChain(t)
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-request-id", "abc123"))
	check := func(ctx context.Context, line string) {
		t.Helper()
		if id := requestid.From(ctx); id != "abc123" {
			t.Errorf("the request id is %q", id)
		}
		expectLines(t, c.metrics, line)
	}
	_ = c.unary(ctx, valid, func(ctx context.Context, _ any) (any, error) {
		check(ctx, "waybook_rpc_calls_in_flight 1")
		panic("x")
	})
	if err := c.stream(ctx, []*albumv1.GetAlbumRequest{valid}, func(_ any, stream grpc.ServerStream) error {
		check(stream.Context(), "waybook_rpc_streams_open 1")
		return nil
	}); err != nil {
		t.Error(err)
	}
	expectLines(t, c.metrics, "waybook_rpc_calls_in_flight 0", "waybook_rpc_streams_open 0")
}

// timed is a service that records when it sweeps.
type timed struct {
	sweeping
	times *[]time.Time
}

func (s timed) Sweep(context.Context) error {
	*s.times = append(*s.times, time.Now())
	return nil
}

func TestReplicasThatStartTogetherSpreadTheirSweepsOverTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, began := newEnv(t), time.Now()
		replicas := make([][]time.Time, 20)
		for i := range replicas {
			service.Sweep(t.Context(), env, service.NewSweeps(process.NewMetrics()), timed{times: &replicas[i]})
		}
		time.Sleep(10 * time.Minute) // simulated
		synctest.Wait()
		offsets := map[time.Duration]bool{}
		for _, times := range replicas {
			if len(times) < 10 || !times[0].Equal(began) {
				t.Fatalf("sweeps at %v", times)
			}
			offset := times[1].Sub(began)
			offsets[offset] = true
			if offset <= 0 || offset > time.Minute {
				t.Errorf("the second sweep is %v after the first", offset)
			}
			for i := range times[2:] {
				if gap := times[i+2].Sub(times[i+1]); gap != time.Minute {
					t.Errorf("%v between two sweeps", gap)
				}
			}
		}
		if len(offsets) < len(replicas)/2 {
			t.Errorf("20 replicas sweep at only %d different moments", len(offsets))
		}
	})
}
