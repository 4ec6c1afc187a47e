// Package gridfs keeps blobs in MongoDB, in the format of GridFS, so that tools such as mongofiles
// read them. See
// https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md.
//
// It does not use the bucket of the driver. That takes 16 MiB for each upload, dates files by the
// clock of the client, reads a range from the beginning of the file, and, when an upload of a name
// that is in use fails, deletes the chunks of the file that is there.
package gridfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/docstore"
	enginemongo "github.com/waybook/waybook/internal/docstore/mongo"
)

const (
	chunkBytes = 255 << 10 // the default of GridFS: a chunk and its names fit into 256 KiB
	// insertedChunks is how many chunks a Put sends at once, and so keeps in memory.
	insertedChunks = 4
	// cleanupTimeout bounds how long a Put that has failed takes to delete its parts.
	cleanupTimeout = 5 * time.Second
	indexName      = "files_id_1_n_1"
	// everywhere is the comment of a command that asks all shards on purpose.
	everywhere = "everywhere"
)

// The names of the collections of a bucket end with these.
const Files, Chunks = ".files", ".chunks"

// Store is a blob.Store in two collections. Both are sharded by file: files by _id, and chunks by
// files_id.
//
// A file begins with its document in files, whose _id is the name of the key and so belongs to one
// Put. The document has the field unfinished until the Put sets the length. Open does not see it
// before, nor while it is deleted.
type Store struct {
	engine        *enginemongo.Engine
	files, chunks string
}

var _ blob.Store = (*Store)(nil)

// file is a document of files. Its uploadDate is by the clock of the server.
type file struct {
	Name       string         `bson:"_id"`
	Length     int64          `bson:"length"`
	ChunkSize  int64          `bson:"chunkSize"`
	Time       time.Time      `bson:"uploadDate"`
	Unfinished *bson.ObjectID `bson:"unfinished"`
}

// Open opens the bucket with a name in the database of an engine, and makes the index of its
// chunks.
func Open(ctx context.Context, engine *enginemongo.Engine, bucket string) (*Store, error) {
	s := &Store{engine: engine, files: bucket + Files, chunks: bucket + Chunks}
	return s, engine.Do(ctx, func(database *mongo.Database) error {
		_, err := database.Collection(s.chunks).Indexes().CreateOne(ctx, mongo.IndexModel{
			Keys:    bson.D{{Key: "files_id", Value: 1}, {Key: "n", Value: 1}},
			Options: options.Index().SetUnique(true).SetName(indexName),
		})
		return err
	})
}

// Exists reports whether a bucket was opened before.
func Exists(ctx context.Context, engine *enginemongo.Engine, bucket string) (exists bool, err error) {
	err = engine.Do(ctx, func(database *mongo.Database) error {
		names, err := database.ListCollectionNames(ctx, bson.D{field("name", bucket+Chunks)})
		exists = len(names) > 0
		return err
	})
	return exists, err
}

// Shard spreads the files over the shards of a cluster, each whole on one. It may be repeated.
// Names begin with the end of an identifier, so that new files go to all ranges of names, and the
// index of chunks serves their key. It reports whether there is a cluster.
func (s *Store) Shard(ctx context.Context) (isSharded bool, err error) {
	placement, err := s.engine.Placement(ctx, docstore.Spec{Name: s.files})
	if err != nil || placement == enginemongo.NoCluster {
		return false, err
	}
	for _, each := range [][2]string{{s.files, "_id"}, {s.chunks, "files_id"}} {
		if err := s.engine.Do(ctx, func(database *mongo.Database) error {
			return database.Client().Database("admin").RunCommand(ctx, bson.D{
				field("shardCollection", database.Name()+"."+each[0]), field("key", bson.D{field(each[1], 1)}),
			}).Err()
		}); err != nil {
			return false, fmt.Errorf("shard collection %s: %w", each[0], err)
		}
	}
	return true, nil
}

// set returns an update with one operator.
func set(operator string, fields ...bson.E) bson.E {
	return bson.E{Key: operator, Value: bson.D(fields)}
}

func field(name string, value any) bson.E { return bson.E{Key: name, Value: value} }

// Put claims the name, inserts chunks, and sets the length.
func (s *Store) Put(ctx context.Context, key blob.Key, r io.Reader) error {
	if err := key.Validate(); err != nil {
		return err
	}
	name, mine := key.Name(), bson.NewObjectID()
	claim := bson.D{field("_id", name), field("unfinished", mine)}
	isTaken := false
	err := s.engine.Do(ctx, func(database *mongo.Database) error {
		// This is an update, so that the server dates the document.
		_, err := database.Collection(s.files).UpdateOne(ctx, claim, bson.D{
			set("$setOnInsert", field("filename", name), field("chunkSize", int64(chunkBytes))),
			set("$currentDate", field("uploadDate", true)),
		}, options.UpdateOne().SetUpsert(true))
		if isTaken = mongo.IsDuplicateKeyError(err); isTaken {
			return nil
		}
		return err
	})
	if isTaken {
		return fmt.Errorf("%w: %s", blob.ErrExists, name)
	}
	if err == nil {
		err = s.write(ctx, claim, r)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		// After a sweep has deleted the file, chunks of this Put may have followed.
		chunks := bson.D{field("files_id", name), field("put", mine)}
		err = errors.Join(err, s.remove(ctx, name, claim), s.deleteChunks(ctx, chunks))
	}
	return err
}

// write inserts the chunks of a file, and makes it visible.
func (s *Store) write(ctx context.Context, claim bson.D, r io.Reader) error {
	name, mine := claim[0].Value, claim[1].Value
	length, n := int64(0), 0
	for isRead := false; !isRead; {
		var documents []bson.D
		for len(documents) < insertedChunks && !isRead {
			if err := ctx.Err(); err != nil {
				return err
			}
			data := make([]byte, chunkBytes)
			size, err := io.ReadFull(r, data)
			if isRead = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !isRead {
				return err
			}
			if size > 0 {
				documents = append(documents, bson.D{
					field("_id", bson.NewObjectID()), field("files_id", name), field("n", n),
					field("data", data[:size]),
					field("put", mine),
				})
				length, n = length+int64(size), n+1
			}
		}
		if len(documents) == 0 {
			break
		}
		if err := s.engine.Do(ctx, func(database *mongo.Database) error {
			_, err := database.Collection(s.chunks).InsertMany(ctx, documents)
			return err
		}); err != nil {
			return err
		}
	}
	isGone := false
	err := s.engine.Do(ctx, func(database *mongo.Database) error {
		result, err := database.Collection(s.files).UpdateOne(ctx, claim, bson.D{
			set("$set", field("length", length)), set("$unset", field("unfinished", "")),
			set("$currentDate", field("uploadDate", true)),
		})
		isGone = err == nil && result.MatchedCount == 0
		return err
	})
	if isGone {
		return fmt.Errorf("%w: it was deleted while it was stored: %v", blob.ErrNotFound, name)
	}
	return err
}

// Delete hides the file, so that no reader meets half of it, and deletes its chunks and its
// document.
func (s *Store) Delete(ctx context.Context, key blob.Key) error {
	return s.delete(ctx, key, bson.D{field("_id", key.Name())})
}

// DeleteUnfinished is Delete for a file that a Put has not finished, or a Delete.
func (s *Store) DeleteUnfinished(ctx context.Context, key blob.Key) error {
	return s.delete(ctx, key, bson.D{field("_id", key.Name()), field("unfinished", bson.D{field("$exists", true)})})
}

func (s *Store) delete(ctx context.Context, key blob.Key, filter bson.D) error {
	if err := key.Validate(); err != nil {
		return err
	}
	return s.remove(ctx, key.Name(), filter)
}

// remove removes the file that a filter matches, if there is one. A Put that is writing it fails.
func (s *Store) remove(ctx context.Context, name string, filter bson.D) error {
	deletion, isFound := bson.NewObjectID(), false
	err := s.engine.Do(ctx, func(database *mongo.Database) error {
		result, err := database.Collection(s.files).UpdateOne(ctx, filter,
			bson.D{set("$set", field("unfinished", deletion))})
		isFound = err == nil && result.MatchedCount > 0
		return err
	})
	if err != nil || !isFound {
		return err
	}
	if err := s.deleteChunks(ctx, bson.D{field("files_id", name)}); err != nil {
		return err
	}
	return s.engine.Do(ctx, func(database *mongo.Database) error {
		_, err := database.Collection(s.files).DeleteOne(ctx,
			bson.D{field("_id", name), field("unfinished", deletion)})
		return err
	})
}

func (s *Store) deleteChunks(ctx context.Context, filter bson.D) error {
	return s.engine.Do(ctx, func(database *mongo.Database) error {
		_, err := database.Collection(s.chunks).DeleteMany(ctx, filter)
		return err
	})
}

// Open reads the document of a file. Its chunks are read when they are needed.
func (s *Store) Open(ctx context.Context, key blob.Key) (blob.Blob, error) {
	if err := key.Validate(); err != nil {
		return nil, err
	}
	var found file
	isFound, err := s.findOne(ctx, s.files, bson.D{field("_id", key.Name())}, &found)
	if err != nil {
		return nil, err
	}
	if !isFound || found.Unfinished != nil {
		return nil, fmt.Errorf("%w: %s", blob.ErrNotFound, key.Name())
	}
	b := &opened{store: s, ctx: ctx, file: found}
	b.SectionReader = io.NewSectionReader(b, 0, found.Length)
	return b, nil
}

// findOne reads a document into a value.
func (s *Store) findOne(ctx context.Context, collection string, filter bson.D, into any) (isFound bool, err error) {
	err = s.engine.Do(ctx, func(database *mongo.Database) error {
		err := database.Collection(collection).FindOne(ctx, filter).Decode(into)
		if isFound = err == nil; errors.Is(err, mongo.ErrNoDocuments) {
			return nil
		}
		return err
	})
	return isFound, err
}

// opened is an open blob.
type opened struct {
	*io.SectionReader
	store *Store
	ctx   context.Context // of Open, since readers have none
	file  file
	// data is the chunk with a number.
	data   []byte
	number int64
}

// ReadAt reads one chunk at a time, and keeps the last one.
func (o *opened) ReadAt(p []byte, offset int64) (int, error) {
	done := 0
	for done < len(p) && offset < o.file.Length {
		if err := o.load(offset / o.file.ChunkSize); err != nil {
			return done, err
		}
		n := copy(p[done:], o.data[offset%o.file.ChunkSize:])
		done, offset = done+n, offset+int64(n)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// load reads a chunk. Chunks are missing only while the file is deleted.
func (o *opened) load(number int64) error {
	if o.data != nil && o.number == number {
		return nil
	}
	var chunk struct {
		Data []byte `bson:"data"`
	}
	filter := bson.D{field("files_id", o.file.Name), field("n", number)}
	isFound, err := o.store.findOne(o.ctx, o.store.chunks, filter, &chunk)
	if err != nil {
		return err
	}
	if want := min(o.file.ChunkSize, o.file.Length-number*o.file.ChunkSize); !isFound ||
		int64(len(chunk.Data)) != want {
		return fmt.Errorf("%w: %s was deleted", blob.ErrNotFound, o.file.Name)
	}
	o.data, o.number = bytes.Clone(chunk.Data), number
	return nil
}

func (o *opened) Size() int64 { return o.file.Length }

// Close does nothing: nothing is open between two reads.
func (o *opened) Close() error { return nil }

// List lists documents of files.
func (s *Store) List(ctx context.Context, after blob.Key, limit int) ([]blob.Entry, error) {
	var files []file
	err := s.engine.Do(ctx, func(database *mongo.Database) error {
		following := bson.D{field("_id", bson.D{field("$gt", after.Name())})}
		ordered := options.Find().SetSort(bson.D{field("_id", 1)}).SetLimit(int64(limit)).SetComment(everywhere)
		cursor, err := database.Collection(s.files).Find(ctx, following, ordered)
		if err != nil {
			return err
		}
		return cursor.All(ctx, &files)
	})
	entries := make([]blob.Entry, 0, len(files))
	for _, each := range files {
		if key, isName := blob.ParseName(each.Name); isName {
			entry := blob.Entry{Key: key, IsUnfinished: each.Unfinished != nil, Size: each.Length, Time: each.Time}
			entries = append(entries, entry)
		}
	}
	return entries, err
}

// Now returns the time of the server, which also dates files.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var server struct {
		Time time.Time `bson:"localTime"`
	}
	err := s.engine.Do(ctx, func(database *mongo.Database) error {
		return database.RunCommand(ctx, bson.D{field("hello", 1)}).Decode(&server)
	})
	return server.Time, err
}
