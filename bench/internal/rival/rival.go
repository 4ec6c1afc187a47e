// Package rival has what bench compares Waybook with. One is the usual alternative: grpc-gateway in
// front of the same services, with the default JSON marshaler and one handler instead of generated
// ones, which takes the same steps. The others are baselines: recorded replies over net/http and over
// gRPC, without the work to compute them. No program on these libraries can be faster.
package rival

import (
	"context"
	"flag"
	"fmt"
	"net/http"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
)

// Config is the configuration of the program. With Answers it serves the baselines, otherwise the
// gateway.
type Config struct {
	// Answers is the path of a JSON file with the replies of the baselines.
	Answers string
	// Album, Blog and Poi are the addresses of the services behind the gateway. If all are empty, the
	// services run in its process.
	Album, Blog, Poi string
	// Data is the directory of the store of services in the gateway's process.
	Data string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.Answers, "answers", "", "JSON `file` with replies to serve over net/http and gRPC, instead of a gateway")
	flags.StringVar(&c.Album, "album", "", "`address` of the album service; if no service has an address, all run in this process")
	flags.StringVar(&c.Blog, "blog", "", "`address` of the blog service")
	flags.StringVar(&c.Poi, "poi", "", "`address` of the POI service")
	flags.StringVar(&c.Data, "data", "waybook-data", "`directory` of the embedded store of services in this process")
}

// anyPort is the address of all ports.
const anyPort = "127.0.0.1:0"

// Start starts the program. It pushes the shutdown of its parts on env.Stack.
func Start(ctx context.Context, config Config, env process.Env) error {
	metrics, readiness := process.NewMetrics(), process.NewReadiness()
	var handler http.Handler
	var err error
	if config.Answers != "" {
		handler, err = startBaselines(ctx, config.Answers, env)
	} else {
		handler, err = newGateway(ctx, config, env, metrics)
	}
	if err != nil {
		return err
	}
	admin, err := env.Admin(ctx, anyPort, readiness, metrics)
	if err != nil {
		return err
	}
	listener, err := process.Listen(ctx, "http", anyPort)
	if err != nil {
		return err
	}
	env.HTTP("rival", listener, handler, connlimit.New(connlimit.Limits{}))
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "rival\n  http   http://%s\n  admin  http://%s\n", listener.Addr(), admin)
	return nil
}
