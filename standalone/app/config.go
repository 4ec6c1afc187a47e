package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/waybook/waybook/console"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/program"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/upload"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/standalone/demo"
)

// Config holds the settings of standalone (rule 15.1).
type Config struct {
	// HTTP, GRPC and Admin are the addresses of the edge, of the gRPC port of all four
	// services, and of health and metrics. If GRPC is empty, it is a Unix socket in the data
	// directory.
	HTTP, GRPC, Admin string
	// Flags are the settings of the services.
	service.Flags
	Interface edge.Flags
	Front     program.Front
	Console   console.Flags
	// HasDemo fills an empty store with demo content.
	HasDemo  bool
	TimeZone string
	Account  account.Config
	// Reward is an author's reward for posting an entry; see blog.Config.
	Reward int64
	// Comments are the limits of comments.
	Comments comments.Limits
	// Uploads are the limits of uploads. PublicURL is the address of the site; see photos.Files.
	Uploads   upload.Flags
	PublicURL string
}

// socketName is the name of the gRPC port's default socket in the data directory.
const socketName = "grpc.sock"

// grpcAddress returns the address of the gRPC port.
func (c *Config) grpcAddress() string {
	if c.GRPC == "" {
		return "unix:" + filepath.Join(c.Store.Data, socketName)
	}
	return c.GRPC
}

func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:8080", "`address` of the edge, which serves /API.php")
	flags.StringVar(&c.GRPC, "grpc", "", "`address` of the gRPC port, which serves all four services; "+
		"by default unix:DATA/"+socketName+", a Unix socket in the -data directory that only this user can use")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:8081", "`address` of health and metrics")
	c.Interface.Register(flags)
	c.Front.Register(flags, false)
	c.Console.Register(flags, true)
	c.Flags.Register(flags, "waybook-data")
	flags.BoolVar(&c.HasDemo, "demo", true, "fill an empty store with demo content")
	flags.StringVar(&c.TimeZone, "time-zone", "Asia/Taipei",
		"time `zone` of the dates and times in XML replies; its current day is the last day of published entries")
	c.Account.Register(flags)
	flags.Int64Var(&c.Reward, "reward", blog.DefaultReward,
		"reward of an author for posting an entry, in the virtual currency")
	c.Comments.Register(flags)
	c.Uploads.Register(flags)
	photos.RegisterPublicURL(flags, &c.PublicURL)
}

// publicURL returns the address of the site, by default that of an edge which only this machine
// reaches.
func (c *Config) publicURL() string {
	host, port, err := net.SplitHostPort(c.HTTP)
	isOwn := err == nil && port != "0" && (host == "localhost" || net.ParseIP(host).IsLoopback())
	if c.PublicURL == "" && isOwn {
		return "http://" + c.HTTP
	}
	return c.PublicURL
}

func (c *Config) Check(checks *process.Checks) {
	checks.Listen("http", c.HTTP)
	checks.ListenGRPC("grpc", c.grpcAddress())
	checks.Listen("admin", c.Admin)
	c.Flags.Check(checks)
	zone, err := process.Zone(c.TimeZone)
	checks.Report(err)
	if c.Store.SmallIDsFrom != 0 && c.Interface.Identifiers != edge.OldIdentifiers {
		checks.Report(fmt.Errorf("-%s needs -ids old: other replies have identifiers of 53 bits", smallids.Flag))
	}
	checks.Report(c.Comments.Check())
	checks.Report(c.Uploads.Check())
	checks.Report(photos.CheckPublicURL(c.PublicURL))
	checks.Report(blog.Config{Reward: c.Reward, Zone: zone}.Check())
}

// Greet prints the addresses of Waybook. If there is demo content, it also prints three
// curl commands that work as pasted.
func (a *App) Greet(ctx context.Context, out io.Writer) error {
	var shown *demo.Shown
	if a.hasDemo {
		var err error
		if shown, err = demo.Find(ctx, a.clients, a.dataDir); err != nil {
			return fmt.Errorf("demo content: %w", err)
		}
	}
	fmt.Fprint(out, "Waybook is ready.\n\n")
	if a.hasConsole {
		fmt.Fprintf(out, "  page   http://%s/\n", a.HTTP)
	}
	fmt.Fprintf(out, "  edge   http://%s/API.php\n  grpc   %s\n  admin  http://%s\n",
		a.HTTP, process.Target(a.GRPC), a.Admin)
	if shown != nil {
		a.suggest(out, shown)
	}
	fmt.Fprint(out, "\nCtrl-C ends it.\n")
	return nil
}

// suggest prints commands to paste.
func (a *App) suggest(out io.Writer, shown *demo.Shown) {
	url := "http://" + a.HTTP.String() + "/API.php"
	read := fmt.Sprintf("func=getAlbum&albumID=%d", shown.AlbumID)
	if shown.AlbumID == 0 {
		read = fmt.Sprintf("func=getUserAlbumList&userID=%d", shown.UserID)
	}
	fmt.Fprintf(out, "\nTry it:\n\n  curl '%s?%s'\n  curl '%s?func=getCategoryPOIList&category=2'\n"+
		"  curl -b \"$(cat %s)\" -d func=addAlbum -d category=5 -d lat=25.0340 -d lng=121.5645 --data-urlencode "+
		"albumTitle=我的相簿 %s\n",
		url, read, url, shellQuoted(shown.CookieFile), url)
	if a.hasLogin && shown.PasswordFile != "" {
		fmt.Fprintf(out, "\nfunc=login takes the email %s and the password in %s\n", demo.Email, shown.PasswordFile)
	}
}

// shellQuoted quotes a path for a POSIX shell if it needs that.
func shellQuoted(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+,:@", r))
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
