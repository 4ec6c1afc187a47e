package run

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
	"github.com/waybook/waybook/internal/longform"
)

// These tests do not measure time.

func TestAllContendersGiveTheSameReplies(t *testing.T) {
	longform.Only(t)
	// Linking programs is slow, so e2e/contract covers the five programs of a distributed
	// Waybook. This test covers a gateway with services in another process.
	w, err := newWorkshop(t.Context(), "", t.TempDir(), []string{standaloneProgram, rivalProgram})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	const landmarks = 1200 // over 64 KiB of XML, so that the reply comes in pieces
	d, err := startStandalone(t.Context(), w, landmarks)
	if err != nil {
		t.Fatal(err)
	}
	list := cases(d.content)
	answers, err := d.askAll(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	baselines, err := startBaselines(w, answers)
	if err != nil {
		t.Fatal(err)
	}
	within, err := w.start("rival", nil, d.gatewayArgs...)
	if err != nil {
		t.Fatal(err)
	}
	services := d.edge.Addresses["grpc"]
	apart, err := w.start("rival", nil, "-album="+services, "-blog="+services, "-poi="+services)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		checkBaselines(t, w, d, baselines, c, answers[i])
		if !c.writes { // each write creates another id
			checkGateway(t, within, c, answers[i])
			checkGateway(t, apart, c, answers[i])
		}
	}
	contenders, err := d.rivals(w, within, baselines)
	if err != nil {
		t.Fatal(err)
	}
	checkMeasurements(t, list, contenders)
	checkTail(t, w, d)
}

// checkMeasurements checks that each contender gets figures in each case.
func checkMeasurements(t *testing.T, list []testCase, contenders byCase) {
	t.Helper()
	for _, c := range list {
		all, err := contenders(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range all {
			row := report.New("").Row()
			if _, err := each.closed(t.Context(), 2, time.Millisecond, row); err != nil {
				t.Fatalf("%s, %s: %v", c.name, each.name, err)
			}
			if row.Median(repliesPerSecond) <= 0 || row.Median("allocs") <= 0 {
				t.Errorf("%s, %s: %+v", c.name, each.name, row)
			}
		}
	}
}

// checkTail checks that an edge is compared with a handler that computes as long.
func checkTail(t *testing.T, w *workshop, d *deployment) {
	t.Helper()
	var out strings.Builder
	b := &bench{settings: Settings{Rounds: 2, Duration: 10 * time.Millisecond}, out: &out}
	if err := b.tailOf(t.Context(), w, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| a handler that computes as long |") {
		t.Errorf("the tail is\n%s", out.String())
	}
}

// messageOf returns the message of an answer.
func messageOf(t *testing.T, c testCase, answer rival.Answer) proto.Message {
	t.Helper()
	message := c.reply.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(answer.Message, message); err != nil {
		t.Fatal(err)
	}
	return message
}

// checkGateway checks that a gateway, the edge and the service reply to a case with the same contents.
func checkGateway(t *testing.T, gateway *process.Process, c testCase, answer rival.Answer) {
	t.Helper()
	request, err := c.gatewayRequest()
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := fetch(gateway.Addresses["http"], request)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	fromGateway, message := c.reply.ProtoReflect().New().Interface(), messageOf(t, c, answer)
	if err := protojson.Unmarshal(reply, fromGateway); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if !proto.Equal(fromGateway, message) {
		t.Errorf("%s: the gateway sent\n%v\nthe service\n%v", c.name, fromGateway, message)
	}
	for _, text := range textsOf(t, message) {
		if !strings.Contains(string(answer.Body), ">"+text+"<") {
			t.Errorf("%s: the edge left out %q", c.name, text)
		}
	}
}

// textsOf returns all strings in a message that the edge shows: it leaves out etags.
func textsOf(t *testing.T, message proto.Message) (texts []string) {
	t.Helper()
	err := protorange.Range(message.ProtoReflect(), func(values protopath.Values) error {
		last := values.Index(-1)
		isEtag := last.Step.Kind() == protopath.FieldAccessStep && last.Step.FieldDescriptor().Name() == "etag"
		if text, ok := last.Value.Interface().(string); ok && !isEtag {
			texts = append(texts, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// checkBaselines checks that the baselines serve the recorded replies.
func checkBaselines(t *testing.T, w *workshop, d *deployment, baselines *process.Process, c testCase, answer rival.Answer) {
	t.Helper()
	for _, path := range []string{rival.Path(c.name), rival.BusyPath(c.name, time.Microsecond)} {
		body, header, err := fetch(baselines.Addresses["http"], get11(path))
		if err != nil || !bytes.Equal(body, answer.Body) || !maps.EqualFunc(header, answer.Header, slices.Equal) {
			t.Errorf("%s: the baseline replies %d bytes with headers %v, the edge %d with %v, %v",
				path, len(body), header, len(answer.Body), answer.Header, err)
		}
	}
	channels, err := w.dial(baselines.Addresses["grpc"], 1)
	if err != nil {
		t.Fatal(err)
	}
	echo := d.rpc(c)
	echo.Channels, echo.Method = channels, rival.Method(c.name)
	message, err := echo.Call(t.Context())
	if err != nil || !proto.Equal(message, messageOf(t, c, answer)) {
		t.Errorf("%s: the baseline sent %v, want %x; %v", c.name, message, answer.Message, err)
	}
}
