package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/internal/platform/tracing/tracingtest"
)

func lookup(env map[string]string) tracing.LookupEnv {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

// start starts the tracing of a program named edge. It also returns the program's log.
func start(t *testing.T, endpoint string, env map[string]string) (tracing.Tracing, func(context.Context) error, *bytes.Buffer, error) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value) // OpenTelemetry itself reads the environment
	}
	var log bytes.Buffer
	spans, stop, err := tracing.Flags{Endpoint: endpoint}.Start(t.Context(), "edge", lookup(env), slog.New(slog.NewTextHandler(&log, nil)))
	return spans, stop, &log, err
}

// request creates the span of a request.
func request(t *testing.T, spans tracing.Tracing) {
	t.Helper()
	_, end := spans.StartRequest(t.Context())
	end()
}

func TestTracingIsOffWithoutACollector(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no setting":  nil,
		"disabled":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			spans, stop, _, err := start(t, "", env)
			if err != nil || spans != (tracing.Tracing{}) || stop(t.Context()) != nil {
				t.Errorf("got %v, %v", spans, err)
			}
			if len(spans.ServerOptions())+len(spans.DialOptions()) != 0 {
				t.Error("gRPC calls are traced")
			}
			request(t, spans)
		})
	}
}

func TestTheLastSpansAreSentWhenTheProgramStops(t *testing.T) {
	for name, by := range map[string]func(string) (string, map[string]string){
		"the flag": func(url string) (string, map[string]string) { return url, nil },
		"the general variable": func(url string) (string, map[string]string) {
			return "", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": url}
		},
		"the variable of traces": func(url string) (string, map[string]string) {
			return "", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url}
		},
		"the flag before the variables": func(url string) (string, map[string]string) {
			return url, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			collector := tracingtest.Start(t)
			endpoint, env := by(collector.URL)
			spans, stop, log, err := start(t, endpoint, env)
			if err != nil {
				t.Fatal(err)
			}
			request(t, spans)
			if err := stop(t.Context()); err != nil || log.Len() > 0 {
				t.Errorf("stopped with %v, logged %s", err, log)
			}
			if tree := collector.Tree("request"); tree != "waybook-edge server request\n" {
				t.Errorf("the collector received %q", tree)
			}
		})
	}
}

func TestTheStandardVariablesSetTheSamplerAndTheServiceName(t *testing.T) {
	collector := tracingtest.Start(t)
	spans, stop, _, err := start(t, collector.URL, map[string]string{
		"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0",
	})
	if err != nil {
		t.Fatal(err)
	}
	request(t, spans)
	if err := stop(t.Context()); err != nil || len(collector.Spans()) != 0 {
		t.Errorf("with a ratio of 0: got spans %v, %v", collector.Spans(), err)
	}
	spans, stop, _, err = start(t, collector.URL, map[string]string{"OTEL_TRACES_SAMPLER": "always_on", "OTEL_SERVICE_NAME": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	request(t, spans)
	if err := stop(t.Context()); err != nil || collector.Tree("request") != "mine server request\n" {
		t.Errorf("with a service name: got spans %v, %v", collector.Spans(), err)
	}
}

func TestAnUnreachableCollectorIsLoggedAndIsNotAFailure(t *testing.T) {
	spans, stop, log, err := start(t, "http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request(t, spans)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time left: stop must not wait
	if err := stop(ctx); err != nil {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "spans") {
		t.Errorf("logged %q", log)
	}
}

func TestSettingsThatCannotReachACollectorAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		endpoint string
		env      map[string]string
		tell     string
	}{
		"no scheme":         {"collector:4317", nil, "-otlp-endpoint"},
		"another scheme":    {"grpc://collector:4317", nil, "-otlp-endpoint"},
		"no host":           {"http://", nil, "-otlp-endpoint"},
		"a password":        {"http://me:s3cr3t@collector:4317", nil, "-otlp-endpoint"},
		"OTLP over HTTP":    {"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "http/protobuf"},
		"traces over HTTP":  {"", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x:4318", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "http/json"},
		"a broken resource": {"http://127.0.0.1:1", map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "nonsense"}, "traces"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := start(t, test.endpoint, test.env)
			if err == nil {
				err = errors.New("nothing")
			}
			if !strings.Contains(err.Error(), test.tell) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v", err)
			}
		})
	}
}
