package mongo

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

func TestALocationHasNoCredentials(t *testing.T) {
	for uri, want := range map[string]string{
		"mongodb://db1":          "db1/waybook",
		"mongodb://[::1]:27017/": "[::1]:27017/waybook",
		"mongodb://amy:s3cr3t@db1:27017,db2:27018/travel?authSource=admin&replicaSet=rs0":                 "db1:27017,db2:27018/waybook",
		"mongodb://amy:s%2Fcr%403t@db1/?authMechanismProperties=SERVICE_NAME:s3cr3t&authMechanism=GSSAPI": "db1/waybook",
	} {
		parsed, err := connstring.ParseAndValidate(uri)
		must(t, err)
		if got := location(parsed, "waybook"); got != want {
			t.Errorf("%s: got %s, want %s", uri, got, want)
		}
	}
}

func TestTheURIDecidesHowLongAConnectionMayTakeButNotWhatAWritePromises(t *testing.T) {
	const uri = "mongodb://db1/?w=1&retryWrites=false&readPreference=secondary&readConcernLevel=available"
	for query, want := range map[string]time.Duration{"": connectTimeout, "&connectTimeoutMS=7000": 7 * time.Second} {
		got := settings(uri + query)
		if got.ConnectTimeout == nil || *got.ConnectTimeout != want {
			t.Errorf("%s: got %v", query, got.ConnectTimeout)
		}
		if got.WriteConcern.W != "majority" || !*got.RetryWrites || got.ReadPreference.Mode() != readpref.PrimaryMode || got.ReadConcern.Level != "local" {
			t.Errorf("%s: the URI overrides a promise of the engine", query)
		}
	}
}
