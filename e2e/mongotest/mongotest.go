// Package mongotest runs a server of MongoDB's wire protocol for tests: FerretDB on SQLite, behind
// the face of package mongowire. Use it to test functions, never speed.
package mongotest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongowire"
)

// FerretDB is the package of the program that runs FerretDB.
const FerretDB = "github.com/waybook/waybook/e2e/mongotest/ferretdb"

// ferret is a running FerretDB.
type ferret struct {
	address string
	// input is its standard input. FerretDB ends when it closes, which happens when this process
	// ends, or when nothing refers to it any more.
	input io.Closer
}

// theFerret runs FerretDB as long as this process runs. All tests of the process share it, each
// with databases of its own.
var theFerret = sync.OnceValues(func() (ferret, error) { return startFerret() })

func startFerret(flags ...string) (ferret, error) {
	command := exec.Command("go", append([]string{"run", FerretDB}, flags...)...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return ferret{}, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return ferret{}, err
	}
	if err := command.Start(); err != nil {
		return ferret{}, err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if name, bound, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name == "grpc" {
			return ferret{address: strings.TrimSpace(bound), input: input}, nil
		}
	}
	return ferret{}, fmt.Errorf("FerretDB printed no address: %w", command.Wait())
}

// Database returns an unused database name.
func Database() string {
	return "test_" + strings.ToLower(rand.Text())
}

// InDatabase replaces the database in a URI and keeps the authentication database.
func InDatabase(uri, name string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	rest, options, _ := strings.Cut(rest, "?")
	hosts, database, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") && !strings.Contains(strings.ToLower(options), "authsource=") {
		if database == "" {
			database = "admin"
		}
		options = strings.TrimPrefix(options+"&authSource="+database, "&")
	}
	if options != "" {
		options = "?" + options
	}
	return scheme + "://" + hosts + "/" + name + options
}

// StartServer runs FerretDB behind the face of a MongoDB server until the test ends. Use it with
// as many connections as the program has. The backend of the config is set. The test fails if a
// command on a sharded collection asks all shards and does not say so.
func StartServer(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	server := StartUnmonitored(tb, config)
	tb.Cleanup(func() {
		for _, stray := range server.Strays() {
			tb.Error(stray)
		}
	})
	return server
}

// StartUnmonitored is StartServer for commands that may ask all shards.
func StartUnmonitored(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	return listen(tb, Listen, config)
}

// Listen runs FerretDB behind the face of a MongoDB server until that is closed, or this process ends.
func Listen(config mongowire.Config) (*mongowire.Server, error) {
	running, err := theFerret()
	if err != nil {
		return nil, err
	}
	config.Backend = running.address
	return mongowire.Listen(config)
}

// StartAlone is StartUnmonitored with a FerretDB of its own, for commands that FerretDB refuses: it may end after them.
func StartAlone(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	return startAlone(tb, config, "-lazy")
}

func startAlone(tb testing.TB, config mongowire.Config, flags ...string) *mongowire.Server {
	tb.Helper()
	running, err := startFerret(flags...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := running.input.Close(); err != nil {
			tb.Error(err)
		}
	})
	config.Backend = running.address
	return listen(tb, mongowire.Listen, config)
}

// listen runs the face until the test ends.
func listen(tb testing.TB, begin func(mongowire.Config) (*mongowire.Server, error), config mongowire.Config) *mongowire.Server {
	tb.Helper()
	server, err := begin(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
	})
	return server
}

// StartReplicaSet runs StartServer as a replica set and returns the URI of a new database.
func StartReplicaSet(tb testing.TB) (uri string) {
	tb.Helper()
	return StartServer(tb, mongowire.Config{}).URI(Database())
}

// AsUser returns the URI of a started server with a user, whom FerretDB takes without looking at the password.
func AsUser(uri string) string {
	hosts, options, _ := strings.Cut(uri, "?")
	return strings.Replace(hosts, "://", "://waybook:s3cr3t@", 1) + "?authMechanism=PLAIN&" + options
}

// RealServer is the environment variable with the URI of a MongoDB server on which tests also
// run. They create and drop databases with the prefix test_.
const RealServer = "WAYBOOK_TEST_MONGODB_URI"

// RealServerKill is the environment variable with a command that kills a member of the real server and starts it again.
// Its last argument is the address of the member.
const RealServerKill = "WAYBOOK_TEST_MONGODB_KILL"

// RealServerPackages returns the packages beside this one with tests on the real server.
func RealServerPackages() []string {
	return []string{"conformance", "sharding", "contract", "rpc", "operations", "programs"}
}

// dropTimeout bounds how long the drop of a database takes.
const dropTimeout = 20 * time.Second

// OnRealServerOnly is the pattern, as go test -run takes it, of the tests that run on the real server, and of no others:
// OnARealServer is in their name, or OnEachStore and they run in a subtest "real server".
const OnRealServerOnly = "OnARealServer|OnEachStore/^real_server$"

var onRealServer = regexp.MustCompile("^[^/]*OnARealServer|^[^/]*OnEachStore/real_server(/|$)")

// OnRealServer returns the URI of a new database on the real server. It drops the database at the
// end of the test. It skips the test if no server is given, and fails it if OnRealServerOnly does not select it.
func OnRealServer(tb testing.TB) (uri string) {
	tb.Helper()
	if !onRealServer.MatchString(tb.Name()) {
		tb.Fatalf("a test on a real server has OnARealServer in its name, or OnEachStore and a subtest real_server")
	}
	server := os.Getenv(RealServer)
	if server == "" {
		tb.Skipf("%s names no server", RealServer)
	}
	return InDatabase(server, NewDatabase(tb, server))
}

// NewDatabase returns the name of a new database on a server, and drops it at the end of the test.
func NewDatabase(tb testing.TB, server string) (name string) {
	tb.Helper()
	name = Database()
	tb.Cleanup(func() { drop(tb, server, name) })
	return name
}

// drop drops a database, over a connection of its own.
func drop(tb testing.TB, server, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), dropTimeout)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(server))
	if err != nil {
		tb.Fatal(err)
	}
	if err := client.Database(name).Drop(ctx); err != nil {
		tb.Error(err)
	}
	if err := client.Disconnect(ctx); err != nil {
		tb.Error(err)
	}
}

var hello = bson.D{{Key: "hello", Value: 1}}

// stepDown asks a primary to be none for a second, even if no other member can be the primary. See
// https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/.
var stepDown = bson.D{{Key: "replSetStepDown", Value: 1}, {Key: "secondaryCatchUpPeriodSecs", Value: 0}, {Key: "force", Value: true}}

// StepDown makes the primary of a replica set, or of the first shard of a cluster, step down. The members must
// accept the user of the URI.
func StepDown(ctx context.Context, uri string) error {
	primary, err := Primary(ctx, uri)
	if err != nil {
		return err
	}
	return runOn(ctx, uri, primary, stepDown, &struct{}{})
}

// Primary returns the address of the primary that StepDown would ask.
func Primary(ctx context.Context, uri string) (host string, err error) {
	hosts, err := hostsOf(ctx, uri)
	for _, host := range hosts {
		var is struct{ IsWritablePrimary bool }
		if err = runOn(ctx, uri, host, hello, &is); err == nil && is.IsWritablePrimary {
			return host, nil
		}
	}
	return "", fmt.Errorf("none of %v is a primary: %w", hosts, err)
}

// Describe returns the kind and the version of a server.
func Describe(ctx context.Context, uri string) (string, error) {
	if uri == "" {
		return "", fmt.Errorf("%s names no server", RealServer)
	}
	var build struct{ Version string }
	if err := runOn(ctx, uri, "", bson.D{{Key: "buildInfo", Value: 1}}, &build); err != nil {
		return "", err
	}
	var set struct{ Hosts []string }
	if err := runOn(ctx, uri, "", hello, &set); err != nil {
		return "", err
	}
	if len(set.Hosts) > 0 {
		return fmt.Sprintf("a replica set of %d members, MongoDB %s", len(set.Hosts), build.Version), nil
	}
	var cluster struct{ Shards []bson.Raw }
	err := runOn(ctx, uri, "", bson.D{{Key: "listShards", Value: 1}}, &cluster)
	return fmt.Sprintf("a cluster of %d shards, MongoDB %s", len(cluster.Shards), build.Version), err
}

// hostsOf returns the members of a replica set, or of the first shard.
func hostsOf(ctx context.Context, uri string) ([]string, error) {
	var set struct{ Hosts []string }
	if err := runOn(ctx, uri, "", hello, &set); err != nil || len(set.Hosts) > 0 {
		return set.Hosts, err
	}
	var cluster struct{ Shards []struct{ Host string } }
	if err := runOn(ctx, uri, "", bson.D{{Key: "listShards", Value: 1}}, &cluster); err != nil || len(cluster.Shards) == 0 {
		return nil, fmt.Errorf("list shards: %w", err)
	}
	_, hosts, _ := strings.Cut(cluster.Shards[0].Host, "/")
	return strings.Split(hosts, ","), nil
}

// runOn runs a command on one host, or on the server of the URI if host is empty.
func runOn(ctx context.Context, uri, host string, command bson.D, reply any) error {
	settings := options.Client().ApplyURI(uri)
	if host != "" {
		settings.SetHosts([]string{host}).SetDirect(true)
		settings.ReplicaSet = nil
	}
	client, err := mongo.Connect(settings)
	if err != nil {
		return err
	}
	err = client.Database("admin").RunCommand(ctx, command).Decode(reply)
	return errors.Join(err, client.Disconnect(ctx))
}
