package content_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// oneUser is an account service that knows user 1, until it is set to fail.
type oneUser struct {
	accountv1.AccountServiceClient
	away error
}

func (o *oneUser) BatchGetUsers(context.Context, *accountv1.BatchGetUsersRequest, ...grpc.CallOption) (*accountv1.BatchGetUsersResponse, error) {
	return &accountv1.BatchGetUsersResponse{Users: []*accountv1.User{{UserId: 1, Name: "a"}}}, o.away
}

// newHost returns a program without a store.
func newHost(t *testing.T) service.Host {
	t.Helper()
	host := service.Host{Env: process.Env{Stack: &process.Stack{}, Log: slog.New(slog.DiscardHandler)}, Metrics: process.NewMetrics()}
	t.Cleanup(func() {
		if err := host.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return host
}

func TestTheNameCacheHasMetrics(t *testing.T) {
	host, accounts := newHost(t), &oneUser{}
	deps := content.NewDeps(host, accounts)
	deps.Profiles.Show(t.Context(), 1)
	deps.Profiles.Show(t.Context(), 1, 1)
	accounts.away = errors.New("away")
	deps.Profiles.Show(t.Context(), 2)
	recorder := httptest.NewRecorder()
	process.AdminHandler(process.NewReadiness(), host.Metrics).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, beginning := range []string{
		`waybook_people_lookups_total{result="hit"} 1`, `waybook_people_lookups_total{result="miss"} 2`,
		"waybook_people_stale_total 1", "waybook_people_cached 1",
	} {
		if !strings.Contains(recorder.Body.String(), "\n"+beginning) {
			t.Errorf("no %s in\n%s", beginning, recorder.Body)
		}
	}
}
