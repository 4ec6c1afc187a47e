package cli

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"

	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// mover gives every record the same outcome.
type mover struct {
	moveinv1.UnimplementedMoveInServiceServer
	outcome moveinv1.Outcome
	records int
}

func (m *mover) MoveIn(_ context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	reply := &moveinv1.MoveInResponse{}
	for range request.GetRecords() {
		m.records++
		reply.Results = append(reply.Results, &moveinv1.Result{Outcome: m.outcome, Fields: []string{"name"}, Reason: "EMAIL_TAKEN", Message: "no"})
	}
	return reply, nil
}

func TestAMoveEndsWithAStatusThatSaysWhetherAllIsThere(t *testing.T) {
	const (
		user = `{"kind":"user","id":12,"name":"Ann"}` + "\n"
		long = `{"kind":"user","id":13,"name":"\u001b[31mred"}` + "\n"
		end  = `{"kind":"end","user":1}` + "\n"
	)
	service, server := &mover{}, grpc.NewServer()
	moveinv1.RegisterMoveInServiceServer(server, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	folder := t.TempDir()
	problems := filepath.Join(folder, "problems")
	for _, test := range []struct {
		line, file string
		outcome    moveinv1.Outcome
		status     int
		// sent is how many records the service gets. What is wrong has the class.
		sent  int
		class string
	}{
		{"check", user + end, 0, statusOK, 0, ""},
		{"check", user, 0, statusFailed, 0, "incomplete"},
		{"check", user + user + end + end, 0, statusRefused, 0, "duplicate"},
		{"check --repair", long + end, 0, statusOK, 0, "characters"},
		{"check --time-zone=Mars", user + end, 0, statusUsage, 0, ""},
		{"import", user + end, moveinv1.Outcome_OUTCOME_INSERTED, statusOK, 1, ""},
		{"import", user + end, moveinv1.Outcome_OUTCOME_UNCHANGED, statusOK, 1, ""},
		{"import", user + end, moveinv1.Outcome_OUTCOME_DIFFERENT, statusRefused, 1, "different"},
		{"import", user + end, moveinv1.Outcome_OUTCOME_DELETED, statusRefused, 1, "deleted"},
		{"import", user + end, moveinv1.Outcome_OUTCOME_REFUSED, statusRefused, 1, "refused"},
		{"import", user + end, moveinv1.Outcome_OUTCOME_UNSPECIFIED, statusFailed, 1, ""},
		{"import --verify", user + end, moveinv1.Outcome_OUTCOME_INSERTED, statusRefused, 1, "absent"},
		{"import", user, moveinv1.Outcome_OUTCOME_INSERTED, statusFailed, 0, "incomplete"},
		{"import --yes", user, moveinv1.Outcome_OUTCOME_INSERTED, statusOK, 1, "incomplete"},
		{"import --workers=0", user + end, 0, statusUsage, 0, ""},
	} {
		path := filepath.Join(folder, "old.ndjson")
		if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		service.outcome, service.records = test.outcome, 0
		args := append(strings.Fields("move "+test.line+" --force --address "+listener.Addr().String()), "--problems", problems, path)
		got := runWith(t.Context(), nil, "", append(args, "-o", "json")...)
		if got.status != test.status || service.records != test.sent {
			t.Errorf("%s of %q, %v: %d records sent, %+v", test.line, test.file, test.outcome, service.records, got)
		}
		if test.status == statusUsage || test.outcome == 0 && test.sent > 0 {
			continue
		}
		var report struct {
			Counts            map[string]map[string]int64
			Problems, Repairs map[string]any
		}
		if err := json.Unmarshal([]byte(got.out), &report); err != nil || report.Counts["user"]["read"] == 0 {
			t.Errorf("%s: %v in %s", test.line, err, got.out)
		}
		listed, err := os.ReadFile(problems)
		if err != nil || len(report.Problems)+len(report.Repairs) != strings.Count(string(listed), "\n") || !strings.Contains(string(listed), test.class) {
			t.Errorf("%s of %q: %s, and %s, %v", test.line, test.file, got.out, listed, err)
		}
		table := runWith(t.Context(), nil, "", args...)
		if !strings.Contains(table.out, test.class) || strings.Contains(table.out, "\x1b") || !strings.Contains(table.out, "KIND") {
			t.Errorf("%s: %s", test.line, table.out)
		}
	}
}
