package run

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
	"github.com/waybook/waybook/internal/longform"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// These tests do not measure time.

func TestAllContendersGiveTheSameReplies(t *testing.T) {
	longform.Only(t)
	// Linking programs is slow, so e2e/contract covers the five programs of a distributed
	// Waybook. This test covers a gateway with services in another process.
	w, err := newWorkshop(t.Context(), "", standaloneProgram, rivalProgram)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	d, err := startStandalone(t.Context(), w, listedLandmarks)
	if err != nil {
		t.Fatal(err)
	}
	list := cases(d.content)
	baselines, answers, err := d.startBaselines(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	within, err := w.start("rival", d.gatewayArgs...)
	if err != nil {
		t.Fatal(err)
	}
	services := d.edge.Addresses["grpc"]
	apart, err := w.start("rival", "-album="+services, "-blog="+services, "-poi="+services)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range list {
		if page, ok := messageOf(t, c, answers[i]).(*poiv1.ListPoisResponse); ok && len(page.GetSummaries()) != listedLandmarks {
			t.Errorf("%s: the page has %d of %d landmarks, the reply of the edge all", c.name, len(page.GetSummaries()), listedLandmarks)
		}
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
	var tables strings.Builder
	b := &bench{settings: Settings{Rounds: 2, Duration: 10 * time.Millisecond, Documents: SmallStore}, out: &tables, told: t.Output()}
	if err := errors.Join(b.writers(t.Context(), w), b.growth(t.Context(), w)); err != nil {
		t.Fatal(err)
	}
	if table := tables.String(); !strings.Contains(table, "| 64 ") || !strings.Contains(table, "| calls to write ") {
		t.Errorf("the tables are\n%s", table)
	}
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
	request, err := c.gatewayRequest(gateway)
	if err != nil {
		t.Fatal(err)
	}
	reply, _, err := request.Fetch()
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

// textsOf returns all strings in a message that the edge shows: it leaves out etags and page tokens.
func textsOf(t *testing.T, message proto.Message) (texts []string) {
	t.Helper()
	err := protorange.Range(message.ProtoReflect(), func(values protopath.Values) error {
		last := values.Index(-1)
		isHidden := last.Step.Kind() == protopath.FieldAccessStep &&
			slices.Contains([]protoreflect.Name{"etag", "next_page_token"}, last.Step.FieldDescriptor().Name())
		if text, ok := last.Value.Interface().(string); ok && !isHidden {
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
	body, header, err := c.baselineRequest(baselines).Fetch()
	if err != nil || !bytes.Equal(body, answer.Body) || !maps.EqualFunc(header, answer.Header, slices.Equal) {
		t.Errorf("%s: the baseline replies %d bytes with headers %v, the edge %d with %v, %v",
			c.name, len(body), header, len(answer.Body), answer.Header, err)
	}
	channels, err := w.dial(baselines.Addresses["grpc"], 1)
	if err != nil {
		t.Fatal(err)
	}
	echo := d.rpc(c)
	echo.Channels, echo.Method = channels, rival.Method(c.name)
	message, err := echo.Call(t.Context(), 0)
	if err != nil || !proto.Equal(message, messageOf(t, c, answer)) {
		t.Errorf("%s: the baseline sent %v, want %x; %v", c.name, message, answer.Message, err)
	}
}
