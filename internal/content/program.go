package content

import (
	"context"
	"flag"

	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/upload"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Program runs one service of content in its own process, which calls the account service
// in another.
type Program struct {
	// Name is the service's name. GRPC is its default address.
	Name, GRPC string
	// Flags declares the service's own flags; it may be nil.
	Flags func(*flag.FlagSet)
	// Check reports the faults of the service's own settings; it may be nil.
	Check func(*process.Checks)
	// TakesPhotos says that the service has photos. IsPublic says that they have absolute
	// addresses.
	TakesPhotos, IsPublic bool
	// New creates the service.
	New func(context.Context, Deps) (Service, error)
}

// Service is a service of content. A package that knows no other type of it compiles nothing again
// of what the service instantiates (docs/decisions/repository.md).
type Service interface {
	service.Service
	// Constraints returns the constraints between the service's collections.
	Constraints() []integrity.Constraint
}

// Main runs the service until SIGINT or SIGTERM.
func (p Program) Main() {
	var account string
	var limits comments.Limits
	var uploads upload.Flags
	var publicURL string
	service.Program{
		Name: p.Name,
		GRPC: p.GRPC,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&account, "account", "127.0.0.1:9091", "`address` of the account service")
			limits.Register(flags)
			if p.TakesPhotos {
				uploads.Register(flags)
			}
			if p.IsPublic {
				photos.RegisterPublicURL(flags, &publicURL)
			}
			if p.Flags != nil {
				p.Flags(flags)
			}
		},
		Check: func(checks *process.Checks) {
			checks.Dial("account", account)
			checks.Report(limits.Check())
			checks.Report(uploads.Check())
			checks.Report(photos.CheckPublicURL(publicURL))
			if p.Check != nil {
				p.Check(checks)
			}
		},
		New: func(ctx context.Context, host service.Host) (service.Service, error) {
			connection, err := host.Dial("account", account)
			if err != nil {
				return nil, err
			}
			deps := NewDeps(host, accountv1.NewAccountServiceClient(connection))
			deps.Comments, deps.PublicURL = limits, publicURL
			uploads.Folder = host.UploadFolder
			deps.Uploads = upload.New(uploads, host.Metrics)
			return p.New(ctx, deps)
		},
	}.Main()
}

// Deps are the dependencies of a service of content. They may be used concurrently.
type Deps struct {
	service.Deps
	// Account calls the account service. Profiles resolves user ids through it.
	Account  accountv1.AccountServiceClient
	Profiles *profiles.Directory
	// Hidden knows the hidden users.
	Hidden *profiles.Hidden
	// Comments are the limits of comments; there are none without them.
	Comments comments.Limits
	// PublicURL is the address of the site; see photos.Files.
	PublicURL string

	// name is the name of the service.
	name string
}

// NewDeps returns the dependencies of a program's services of content. They share one cache
// of profiles, which reports its lookups in the host's metrics.
func NewDeps(host service.Host, account accountv1.AccountServiceClient) Deps {
	directory := profiles.NewDirectory(account, host.Log)
	countLookups(host.Metrics, directory)
	return Deps{Deps: host.Deps, Account: account, Profiles: directory,
		Hidden: profiles.NewHidden(account, host.Log, host.Deps.Now)}
}

func countLookups(metrics *process.Metrics, directory *profiles.Directory) {
	const lookups = "waybook_people_lookups_total"
	const help = "User names looked up, by cache result (hit or miss)."
	metrics.CounterFunc(lookups, help, map[string]string{"result": "hit"},
		func() float64 { return float64(directory.Stats().Hits) })
	metrics.CounterFunc(lookups, help, map[string]string{"result": "miss"},
		func() float64 { return float64(directory.Stats().Misses) })
	metrics.CounterFunc("waybook_people_stale_total",
		"Replies with the last known user names because the account service did not answer.", nil,
		func() float64 { return float64(directory.Stats().Stale) })
	metrics.GaugeFunc("waybook_people_cached", "Users in the cache of names.", nil,
		func() float64 { return float64(directory.Stats().Size) })
}
