package program

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/moving/shadow"
)

// Check reports the faults of the settings.
func (f *Front) Check() error {
	faults := f.Shadow.Check()
	if f.Photos != "" {
		if info, err := os.Stat(f.Photos); err != nil || !info.IsDir() {
			faults = errors.Join(faults, fmt.Errorf("-photos is %s, which is no folder that can be read", f.Photos))
		}
	}
	return faults
}

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
