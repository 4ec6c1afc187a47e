// Package program assembles what is around the edge's handler: traces, metrics, the access log
// and a page for people. It also runs the edge as its own process.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
)

// Config holds the settings of the process.
type Config struct {
	// HTTP is the address that serves /API.php. Admin is the address of health and metrics.
	HTTP, Admin string
	// Account, Album, Blog and Poi are the addresses of the services.
	Account, Album, Blog, Poi string
	TimeZone                  string
	Interface                 edge.Flags
	Front                     Front
}

// Front are the settings of what is around the edge's handler.
type Front struct {
	// Page is the page for people; nil if the program has none.
	Page Page
	// HasAccessLog logs one line per request.
	HasAccessLog bool
}

// Page returns a handler that serves a page for people and passes every other request to next,
// which is the handler of an edge with this Config. The page gets the readiness and the metrics of
// the program.
type Page func(
	of *edge.Config, ready func(context.Context) error, metrics prometheus.Gatherer, next http.Handler,
) (http.Handler, error)

// Register declares the flags, with their defaults.
func (f *Front) Register(flags *flag.FlagSet, hasAccessLog bool) {
	flags.BoolVar(&f.HasAccessLog, "access-log", hasAccessLog, "log one line per request to /API.php and /upload/")
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
	flags.Int64Var(&c.Interface.MaxPhotoBytes, "max-photo-bytes", 20<<20,
		"largest size of an uploaded photo in `bytes`; 0 refuses uploads")
	c.Front.Register(flags, true)
}

// Check reports the faults of the settings.
func (c *Config) Check(checks *process.Checks) {
	checks.Listen("http", c.HTTP)
	checks.Listen("admin", c.Admin)
	checks.Dial("account", c.Account)
	checks.Dial("album", c.Album)
	checks.Dial("blog", c.Blog)
	checks.Dial("poi", c.Poi)
	_, err := process.Zone(c.TimeZone)
	checks.Report(err)
	if c.Interface.MaxPhotoBytes < 0 {
		checks.Report(errors.New("-max-photo-bytes must not be negative"))
	}
}

// Start starts the edge and pushes its parts on env's stack.
func Start(ctx context.Context, config Config, env process.Env) error {
	zone, err := process.Zone(config.TimeZone)
	if err != nil {
		return err
	}
	metrics, readiness := process.NewMetrics(), process.NewReadiness()
	admin, err := env.Admin(ctx, config.Admin, readiness, metrics)
	if err != nil {
		return err
	}
	served := config.Interface.Config()
	served.Zone = zone
	if err := dial(env, config, &served); err != nil {
		return err
	}
	handler, err := NewHandler(env, Reports{metrics, readiness}, config.Front, served)
	if err != nil {
		return err
	}
	listener, err := process.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return err
	}
	Serve(env, metrics, listener, handler, config.Interface.Connections())
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "waybook edge\n  edge   http://%s/API.php\n  admin  http://%s\n", listener.Addr(), admin)
	return nil
}

// Reports are what a program reports of itself.
type Reports struct {
	Metrics   *process.Metrics
	Readiness *process.Readiness
}

// NewHandler returns the edge's handler. It gives each request an id, traces and counts it, and
// logs it if the access log is on. The page for people is in front of the edge; requests for its
// files are not counted as the edge's.
func NewHandler(env process.Env, reports Reports, front Front, config edge.Config) (http.Handler, error) {
	requests := newRequests(env, reports.Metrics, front.HasAccessLog)
	reports.Metrics.CountGate("edge requests", config.Load.Requests)
	reports.Metrics.CountGate("edge reply bytes", config.Load.ReplyBytes)
	reports.Metrics.CountGate("edge long reply bytes", config.Load.LongReplyBytes)
	reports.Metrics.CountGate("edge form pieces", config.Load.FormPieces)
	reports.Metrics.CountGate("edge uploads", config.Load.Uploads)
	config.Log = env.Log
	config.Observe = requests.observe
	config.HasConsole = front.Page != nil
	handler := requests.follow(edge.New(config))
	if !config.HasConsole {
		return handler, nil
	}
	return front.Page(&config, reports.Readiness.Err, reports.Metrics.Registry, handler)
}

// Serve serves the edge's handler on its HTTP port, within the limits of connections.
func Serve(env process.Env, metrics *process.Metrics, listener net.Listener, handler http.Handler,
	limits connlimit.Limits) {
	connections := connlimit.New(limits)
	metrics.CountConnections("http", connections)
	env.HTTP("edge", listener, handler, connections)
}

// dial connects the edge to the services.
func dial(env process.Env, config Config, served *edge.Config) error {
	links := map[string]grpc.ClientConnInterface{}
	for name, address := range map[string]string{"account": config.Account, "album": config.Album, "blog": config.Blog,
		"poi": config.Poi} {
		var err error
		if links[name], err = env.Dial(name, address); err != nil {
			return err
		}
	}
	call(served, func(name string) grpc.ClientConnInterface { return links[name] })
	return nil
}

// CallWithin makes the edge call services in its own process.
func CallWithin(served *edge.Config, services grpc.ClientConnInterface) {
	call(served, func(string) grpc.ClientConnInterface { return services })
}

// call makes the edge call services over connections.
func call(served *edge.Config, to func(name string) grpc.ClientConnInterface) {
	named := func(name string) grpc.ClientConnInterface { return edge.NamedCalls(to(name)) }
	served.Clients = clients.Of(named("account"), named("album"), named("blog"), named("poi"))
}
