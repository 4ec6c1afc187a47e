package assembly

import (
	"flag"
	"time"

	"github.com/waybook/waybook/internal/serve/service"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/blog"
)

// Config is how standalone is run (DESIGN §5).
type Config struct {
	// HTTP, GRPC and Admin are the addresses of the edge, of all four services,
	// and of health and metrics.
	HTTP, GRPC, Admin string
	Store             service.StoreFlags
	// HasDemo says that an empty store is filled with demo content.
	HasDemo    bool
	TimeZone   string
	SessionTTL time.Duration
	// Reward is what an author gets for posting an entry.
	Reward int64
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:8080", "`address` of the edge, which serves /API.php")
	flags.StringVar(&c.GRPC, "grpc", "127.0.0.1:9090", "`address` of the gRPC port, which serves all four services")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:8081", "`address` of health and metrics")
	c.Store.Register(flags, "waybook-data")
	flags.BoolVar(&c.HasDemo, "demo", true, "fill an empty store with demo content")
	flags.StringVar(&c.TimeZone, "time-zone", "Asia/Taipei", "`zone` of the dates and times in XML replies")
	flags.DurationVar(&c.SessionTTL, "session-ttl", account.DefaultSessionTTL, "how long a session lasts")
	flags.Int64Var(&c.Reward, "reward", blog.DefaultReward, "what an author gets for posting an entry, in the virtual currency")
}
