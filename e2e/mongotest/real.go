package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// RealServer is the environment variable with the URI of a MongoDB server on which tests also
// run. They create and drop databases with the prefix test_.
const RealServer = "WAYBOOK_TEST_MONGODB_URI"

// dropTimeout bounds how long the drop of a database takes.
const dropTimeout = 20 * time.Second

// OnRealServer returns the URI of a new database on the real server. It drops the database at the
// end of the test. It skips the test if no server is given.
func OnRealServer(tb testing.TB) (uri string) {
	tb.Helper()
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
