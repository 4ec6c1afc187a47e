package conformance

import (
	"bytes"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/blobtest"
	"github.com/waybook/waybook/internal/blob/gridfs"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/longform"
)

// openBlobs opens an empty bucket in a new database of a server.
func openBlobs(t *testing.T, uri string) (store *gridfs.Store, database string) {
	t.Helper()
	database = mongotest.NewDatabase(t, uri)
	store, err := gridfs.Open(t.Context(), open(t, uri, database).(*enginemongo.Engine), "photos")
	for range 2 { // Shard is repeatable
		if err == nil {
			_, err = store.Shard(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return store, database
}

func TestGridFSKeepsThePromisesOfTheStoreOnEachStore(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) string{
		"replica set": mongotest.StartReplicaSet,
		"router": func(tb testing.TB) string {
			longform.Only(tb)
			return mongotest.StartServer(tb, mongowire.Config{Role: mongowire.Router}).URI(mongotest.Database())
		},
		"real server": mongotest.OnRealServer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uri := start(t)
			blobtest.Run(t, func(t *testing.T) blob.Store {
				store, _ := openBlobs(t, uri)
				return store
			})
		})
	}
}

// The driver's bucket stands for other tools that read GridFS.
func TestOtherToolsReadTheFilesOfGridFS(t *testing.T) {
	t.Parallel()
	uri := mongotest.StartReplicaSet(t)
	store, database := openBlobs(t, uri)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	})
	bucket := client.Database(database).GridFSBucket(options.GridFSBucket().SetName("photos"))
	for i, size := range []int{0, 1, 255 << 10, 3 << 20} {
		key := blob.Key{File: int64(i + 1), Kind: blob.View}
		content := blobtest.Content(key, size)
		if err := store.Put(t.Context(), key, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		file, err := bucket.OpenDownloadStreamByName(t.Context(), key.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, content) {
			t.Errorf("it reads %d bytes of %d, %v", len(got), size, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}
