package rival

import (
	"context"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
)

// StartServices starts Waybook's services over a store in this process, as standalone does: over the same
// kind of channel, with the same interceptors. It pushes their shutdown on env.Stack; the store stays open.
func StartServices(ctx context.Context, env process.Env, metrics *process.Metrics, store docstore.Engine) (*app.Channel, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, err
	}
	channel := app.NewChannel(service.NewInterceptors(validator, service.Load{}, nil, metrics, env.Log), env.Tracing)
	host := service.Host{Env: env, Metrics: metrics, Deps: service.NewDeps(store, validator, env.Log)}
	accounts, err := account.New(ctx, host.Deps, account.Config{Sessions: account.SessionLife{Total: account.DefaultSessionTTL}})
	if err != nil {
		return nil, err
	}
	deps := content.NewDeps(host, accountv1.NewAccountServiceClient(channel))
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: blog.DefaultReward, Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	for _, each := range []service.Service{accounts, albums, blogs, pois} {
		each.Register(channel)
	}
	return channel, nil
}
