package mongo

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// A write confirms that the server of one shard is its primary, and says nothing about other shards.
func TestACallConfirmsThePrimaryOfItsOwnShardOnly(t *testing.T) {
	spread, album, user := docstore.Spec{Sharding: docstore.ByPlace, Scheme: id.Scheme{}}, docstore.Spec{}, docstore.Spec{}
	set := &Engine{}
	if set.confirmationOf(album) != set.confirmationOf(spread) {
		t.Error("the collections of a replica set have a confirmation each")
	}
	cluster := &Engine{isRouter: true}
	if cluster.confirmationOf(album) == cluster.confirmationOf(user) {
		t.Error("two collections of a cluster, which may be on two shards, share a confirmation")
	}
	if cluster.confirmationOf(spread) != nil {
		t.Error("a collection on several shards has a confirmation")
	}
}
