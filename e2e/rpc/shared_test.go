package rpc_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
)

// separately serves a service of the parts alone, as its own program does.
func (p *parts) separately(t *testing.T, one service.Service) *waybook {
	t.Helper()
	env := process.Env{Stack: &process.Stack{}, Out: io.Discard, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { t.Error(err) }}
	t.Cleanup(func() {
		if err := env.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	interceptors := service.NewInterceptors(protovalidate.GlobalValidator, service.Load{}, nil, process.NewMetrics(), env.Log)
	listener := must(process.Listen(t.Context(), "grpc", "127.0.0.1:0"))(t)
	service.Serve(env, "grpc port", listener, nil, interceptors, p.store, one)
	return &waybook{waybooktest.Connect(t, listener.Addr().String()), t}
}

func TestASeparateServerRefusesTheContentOfOthers(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	ids := map[string]int64{"album": p.newAlbum(user, "x"), "blog": p.newBlog(user), "poi": p.newPoi(user, "x")}
	p.moveAll(1, user)
	for _, one := range p.Services {
		w, of := p.separately(t, one), one.Parts().Kind
		for name, to := range everyTarget() {
			if to.parent == "" {
				continue
			}
			t.Run(of.String()+" gets "+name, func(t *testing.T) {
				err := w.call(t.Context(), to.MethodDescriptor, to.validRequest(user, ids["album"], ids["blog"], ids["poi"]))
				method, hasNoPhotos := string(to.Name()), of == aUser || of == anEntry
				switch {
				case of == aUser && !strings.HasPrefix(name, "movein.") || hasNoPhotos && strings.HasPrefix(name, "photo."):
					if status.Code(err) != codes.Unimplemented {
						t.Errorf("got %v", err)
					}
				case to.kind() == of:
					if code := status.Code(err); code != codes.OK && code != codes.NotFound { // there is no photo 1
						t.Errorf("got %v", err)
					}
				default:
					field := to.parent + "_id"
					switch method {
					case "ListCommentsByAuthor", "ListChanges":
						field = "kind"
					case "ResolveOldIds":
						field = "old_ids[0]"
					case "MoveIn":
						field = "records[0]"
					}
					expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", field)
				}
			})
		}
	}
}
