package process_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestTheAdminPortListsTheLastFailedRequests(t *testing.T) {
	env := newEnv(t)
	env.Failures = process.NewFailures("edge")
	address, err := env.Admin(t.Context(), "127.0.0.1:0", process.NewReadiness(), process.NewMetrics())
	if err != nil {
		t.Fatal(err)
	}
	read := func() (reply process.FailuresReply) {
		t.Helper()
		response, body := fetch(t, "http://"+address.String()+process.FailuresPath)
		if err := json.Unmarshal([]byte(body), &reply); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %v", response.Status, body, err)
		}
		return reply
	}
	if reply := read(); reply.Program != "edge" || reply.Requests == nil || len(reply.Requests) != 0 {
		t.Errorf("at first: %+v", reply)
	}
	for i := range 300 {
		env.Failures.Keep(process.FailedRequest{RequestID: strconv.Itoa(i), Reason: "INTERNAL_ERROR", Info: strings.Repeat("山", 1000), Call: &process.FailedCall{
			Service: "waybook.album.v1.AlbumService", Message: strings.Repeat("m", 1000), Tried: strings.Repeat("t", 1000),
		}})
	}
	reply := read()
	if len(reply.Requests) != 256 || reply.Requests[0].RequestID != "299" || reply.Requests[255].RequestID != "44" {
		t.Errorf("%d requests, from %+v", len(reply.Requests), reply.Requests[0])
	}
	if kept := reply.Requests[0]; len(kept.Info) > 510 || len(kept.Call.Message) != 500 || len(kept.Call.Tried) != 500 {
		t.Errorf("the texts have %d, %d and %d bytes", len(kept.Info), len(kept.Call.Message), len(kept.Call.Tried))
	}
	if err := env.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	var none *process.Failures
	none.Keep(process.FailedRequest{})
}
