package run

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"

	"github.com/waybook/waybook/bench/internal/baseline"
)

// These tests do not measure time.

func TestAllContendersGiveTheSameReplies(t *testing.T) {
	// Linking programs is slow, so e2e/golden covers the five programs of a distributed
	// Waybook. This test covers a gateway with services in another process.
	w, err := newWorkshop(t.Context(), "", t.TempDir(), oneProcessPrograms())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	const landmarks = 1200 // over 64 KiB of XML, so that the reply comes in pieces
	within, err := startStandalone(t.Context(), w, landmarks)
	if err != nil {
		t.Fatal(err)
	}
	apart := *within
	apart.name = "gateway apart"
	services := within.edge.Addresses["grpc"]
	if apart.gateway, err = w.start("gateway", nil, "-album="+services, "-blog="+services, "-poi="+services); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*deployment{within, &apart} {
		t.Run(d.name, func(t *testing.T) { smoke(t, w, d) })
	}
}

func smoke(t *testing.T, w *workshop, d *deployment) {
	list := cases(d.content)
	replies := map[string]answered{}
	for _, c := range list {
		reply, err := d.ask(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		replies[c.name] = reply
		if !c.writes { // each write creates another id
			checkSame(t, c, reply)
		}
	}
	baselines, err := startBaselines(w, list, replies)
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Rounds: 1, Duration: 10 * time.Millisecond}
	for _, c := range list {
		contenders, err := d.contenders(w, c, replies[c.name], baselines)
		if err != nil {
			t.Fatal(err)
		}
		results, err := contest(t.Context(), s, contenders, 2)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, r := range results {
			if len(r.rate) != s.Rounds || r.rate.Median() <= 0 || r.allocations.Median() <= 0 {
				t.Errorf("%s, %s: %+v", c.name, r.name, r)
			}
		}
		if c.name == fullAlbum {
			table, err := (&bench{settings: s}).latencies(t.Context(), d, c, results, baselines)
			if err != nil || len(table.Rows) != 4 {
				t.Errorf("latencies: %v, %v", table.Rows, err)
			}
		}
		checkBaselines(t, w, d, c, replies[c.name], baselines.Addresses)
	}
}

// checkSame checks that the three replies to a case have the same contents.
func checkSame(t *testing.T, c testCase, reply answered) {
	t.Helper()
	var fromGateway []proto.Message
	for decoder := json.NewDecoder(bytes.NewReader(reply.gateway)); decoder.More(); {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.streams {
			var wrapped struct{ Result json.RawMessage }
			if err := json.Unmarshal(raw, &wrapped); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			raw = wrapped.Result
		}
		message := c.reply.ProtoReflect().New().Interface()
		if err := protojson.Unmarshal(raw, message); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		fromGateway = append(fromGateway, message)
	}
	if len(fromGateway) != len(reply.messages) {
		t.Fatalf("%s: the gateway sent %d messages, the service %d", c.name, len(fromGateway), len(reply.messages))
	}
	for i := range reply.messages {
		if !proto.Equal(fromGateway[i], reply.messages[i]) {
			t.Errorf("%s: the gateway sent\n%v\nthe service\n%v", c.name, fromGateway[i], reply.messages[i])
		}
		for _, text := range textsOf(t, reply.messages[i]) {
			if !strings.Contains(string(reply.edge), ">"+text+"<") {
				t.Errorf("%s: the edge left out %q", c.name, text)
			}
		}
	}
}

// textsOf returns all strings in a message.
func textsOf(t *testing.T, message proto.Message) (texts []string) {
	t.Helper()
	err := protorange.Range(message.ProtoReflect(), func(values protopath.Values) error {
		if text, ok := values.Index(-1).Value.Interface().(string); ok {
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
func checkBaselines(t *testing.T, w *workshop, d *deployment, c testCase, reply answered, addresses map[string]string) {
	t.Helper()
	for _, path := range []string{baseline.Path(c.name), baseline.BusyPath(c.name, time.Microsecond)} {
		body, header, err := fetch(t.Context(), get("http://"+addresses["http"]+path))
		if err != nil || !bytes.Equal(body, reply.edge) || !maps.EqualFunc(header, reply.header, slices.Equal) {
			t.Errorf("%s: the baseline replies %d bytes with headers %v, the edge %d with %v, %v", path, len(body), header, len(reply.edge), reply.header, err)
		}
	}
	channels, err := w.dial(addresses["grpc"], nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	echo := d.rpc(c)
	echo.Channels = channels
	echo.Method = baseline.Method(c.name)
	messages, err := echo.Replies(t.Context())
	if err != nil || len(messages) != len(reply.messages) {
		t.Fatalf("%s: the baseline sent %d messages, want %d, %v", c.name, len(messages), len(reply.messages), err)
	}
	for i := range messages {
		if !proto.Equal(messages[i], reply.messages[i]) {
			t.Errorf("%s: the baseline sent another message", c.name)
		}
	}
}
