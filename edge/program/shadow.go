package program

import (
	"context"
	"net/http"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/moving/shadow"
)

// newShadow returns the handler of an edge whose replies are compared with those of an old server.
// If that one answers the clients, only its answers are observed.
func newShadow(
	ctx context.Context, env process.Env, reports Reports, flags shadow.Flags, config edge.Config, requests *requests,
) (http.Handler, error) {
	if err := flags.Check(); err != nil {
		return nil, err
	}
	if old := flags.Old(); old.IsReadable() {
		env.Log.WarnContext(ctx, "the old server is asked without TLS, so others on the network can read session cookies", "server", old.String())
	}
	if flags.IsPrimary() {
		config.Observe = nil
	}
	made := shadow.New(shadow.Config{
		Flags: flags, Edge: edge.New(config), Proxies: config.TrustedProxies, Prefix: config.PathPrefix, Charset: config.LegacyCharset,
		Zone: config.Zone, Load: config.Load, Observe: requests.observe, Log: env.Log, Metrics: reports.Metrics.Registry,
	})
	env.Stack.Go(ctx, "comparison with the old server", made.Run)
	return made, nil
}
