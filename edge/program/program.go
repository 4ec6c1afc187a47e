// Package program runs the edge as its own process.
package program

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/console"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/observe"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/serve"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Config holds the settings of the process.
type Config struct {
	// HTTP is the address that serves /API.php. Admin is the address of health and metrics.
	HTTP, Admin string
	// Account, Album, Blog and Poi are the addresses of the services.
	Account, Album, Blog, Poi string
	TimeZone                  string
	Interface                 edge.Flags
	Console                   console.Flags
	// HasAccessLog logs one line per request.
	HasAccessLog bool
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:8080", "`address` that serves /API.php")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:8081", "`address` of health and metrics")
	flags.StringVar(&c.Account, "account", "127.0.0.1:9091", "`address` of the account service")
	flags.StringVar(&c.Album, "album", "127.0.0.1:9092", "`address` of the album service")
	flags.StringVar(&c.Blog, "blog", "127.0.0.1:9093", "`address` of the blog service")
	flags.StringVar(&c.Poi, "poi", "127.0.0.1:9094", "`address` of the POI service")
	flags.StringVar(&c.TimeZone, "time-zone", "Asia/Taipei", "`zone` of the dates and times in XML replies")
	c.Interface.Register(flags)
	c.Console.Register(flags, false)
	observe.RegisterAccessLog(flags, &c.HasAccessLog, true)
}

// Check reports the faults of the settings.
func (c *Config) Check(checks *serve.Checks) {
	checks.Listen("http", c.HTTP)
	checks.Listen("admin", c.Admin)
	checks.Dial("account", c.Account)
	checks.Dial("album", c.Album)
	checks.Dial("blog", c.Blog)
	checks.Dial("poi", c.Poi)
	_, err := serve.Zone(c.TimeZone)
	checks.Report(err)
}

// Start starts the edge and pushes its parts on env's stack.
func Start(ctx context.Context, config Config, env serve.Env) error {
	zone, err := serve.Zone(config.TimeZone)
	if err != nil {
		return err
	}
	validator, err := protovalidate.New()
	if err != nil {
		return fmt.Errorf("validator: %w", err)
	}
	metrics, readiness := serve.NewMetrics(), serve.NewReadiness()
	admin, err := env.Admin(ctx, config.Admin, readiness, metrics)
	if err != nil {
		return err
	}
	served := config.Interface.Config()
	served.Zone, served.Validator = zone, validator
	if err := dial(env, config, &served); err != nil {
		return err
	}
	handler, err := NewHandler(env, Process{metrics, readiness}, config.HasAccessLog, config.Console, served)
	if err != nil {
		return err
	}
	listener, err := serve.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return err
	}
	Serve(env, metrics, listener, handler, config.Interface.Connections())
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "waybook edge\n  edge   http://%s/API.php\n  admin  http://%s\n", listener.Addr(), admin)
	return nil
}

// Process is what a program knows of itself.
type Process struct {
	Metrics   *serve.Metrics
	Readiness *serve.Readiness
}

// NewHandler returns the edge's handler. It gives each request an id, traces and counts it, and
// logs it if hasAccessLog is set. If the console is on, it is in front of the edge. Requests for
// its files are not counted as the edge's.
func NewHandler(
	env serve.Env, process Process, hasAccessLog bool, page console.Flags, config edge.Config,
) (http.Handler, error) {
	requests := observe.New(env, process.Metrics, hasAccessLog)
	process.Metrics.CountGate("edge requests", config.Load.Requests)
	process.Metrics.CountGate("edge long replies", config.Load.LongReplies)
	process.Metrics.CountGate("edge form pieces", config.Load.FormPieces)
	config.Log = env.Log
	config.Observe = requests.Observe
	config.HasConsole = page.IsOn
	handler := requests.Follow(edge.New(config))
	if !page.IsOn {
		return handler, nil
	}
	return console.New(console.Config{
		Edge: &config, Tiles: page.Tiles, Ready: process.Readiness.Err, Metrics: process.Metrics.Registry,
	}, handler)
}

// Serve serves the edge's handler on its HTTP port, within the limits of connections.
func Serve(env serve.Env, metrics *serve.Metrics, listener net.Listener, handler http.Handler, limits connlimit.Limits) {
	connections := connlimit.New(limits)
	metrics.CountConnections("http", connections)
	env.HTTP("edge", listener, handler, connections)
}

// dial connects the edge to the services.
func dial(env serve.Env, config Config, served *edge.Config) error {
	account, err := env.Dial("account", config.Account)
	if err != nil {
		return err
	}
	album, err := env.Dial("album", config.Album)
	if err != nil {
		return err
	}
	blog, err := env.Dial("blog", config.Blog)
	if err != nil {
		return err
	}
	poi, err := env.Dial("poi", config.Poi)
	if err != nil {
		return err
	}
	served.Account = accountv1.NewAccountServiceClient(account)
	served.Album = albumv1.NewAlbumServiceClient(album)
	served.Blog = blogv1.NewBlogServiceClient(blog)
	served.Poi = poiv1.NewPoiServiceClient(poi)
	return nil
}
