package operations_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/v2/bson"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

// dump dumps a store and returns the path of the file.
func (s store) dump(services ...string) string {
	s.t.Helper()
	options := s.options()
	options.Services = services
	path := filepath.Join(s.t.TempDir(), "dump")
	_, err := storekeeping.Dump(s.t.Context(), options, path)
	s.must(err)
	return path
}

// load loads a file.
func load(ctx context.Context, options storekeeping.Options, path string) error {
	dump, err := storekeeping.OpenDump(ctx, options, path)
	if err != nil {
		return err
	}
	_, err = dump.Load(ctx, options)
	return errors.Join(err, dump.Close())
}

func (s store) read(path string) []byte {
	s.t.Helper()
	content, err := os.ReadFile(path)
	s.must(err)
	return content
}

// empty returns an embedded store that does not exist yet.
func empty(t *testing.T) store {
	return store{t, service.StoreFlags{Data: filepath.Join(t.TempDir(), "new")}}
}

func TestALoadedDumpIsDumpedTheSameFromEachStoreOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s store) {
		request := &albumv1.CreateAlbumRequest{
			OwnerId: s.fill().users[0], RequestId: uuid.NewString(), Title: "x", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: place(),
		}
		s.serve(func(w *waybooktest.Waybook) {
			created, err := w.Album.CreateAlbum(t.Context(), request)
			s.must(err)
			s.must(failed(w.Album.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: request.GetOwnerId(), AlbumId: created.GetAlbum().GetAlbumId()})))
		})
		path := s.dump()
		dumped := s.read(path)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("the file is %v (%v)", info.Mode(), err)
		}
		specs := s.specs()
		others := []store{empty(t)}
		if longform.Selected() {
			others = append(others, store{t, service.StoreFlags{MongoDBURI: mongotest.StartReplicaSet(t)}})
		}
		for _, to := range others {
			s.must(load(t.Context(), to.options(), path))
			if !maps.Equal(to.contents(specs), s.contents(specs)) {
				t.Error("the documents differ")
			}
			if !bytes.Equal(to.read(to.dump()), dumped) {
				t.Error("its own dump differs")
			}
			to.check(integrity.Look)
			// Loading it again changes nothing.
			s.must(load(t.Context(), to.options(), path))
			if !bytes.Equal(to.read(to.dump()), dumped) {
				t.Error("after a second load, its dump differs")
			}
			to.serve(func(w *waybooktest.Waybook) {
				created, err := w.Album.CreateAlbum(t.Context(), request)
				if status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "was deleted") {
					t.Errorf("a repeat of what was deleted before the dump made %v, %v", created, err)
				}
			})
		}
	})
}

func TestStoresOfSingleServicesAreLoadedIntoOne(t *testing.T) {
	t.Parallel()
	s, to := store{t, service.StoreFlags{Data: t.TempDir()}}, empty(t)
	s.fill()
	services := []string{"poi", "account", "blog", "album"}
	for _, name := range services {
		s.must(load(t.Context(), to.options(), s.dump(name)))
	}
	whole := s.dump()
	if !bytes.Equal(to.read(to.dump()), s.read(whole)) {
		t.Error("the stores differ")
	}
	// Load one service's part of a whole dump into the store of that service.
	part := empty(t)
	options := part.options()
	options.Services = []string{"blog"}
	s.must(load(t.Context(), options, whole))
	if !bytes.Equal(part.read(part.dump("blog")), s.read(s.dump("blog"))) {
		t.Error("the part differs")
	}
	if err := load(t.Context(), options, s.dump("poi")); err == nil || !strings.Contains(err.Error(), "no collections of these services") {
		t.Errorf("got error %v", err)
	}
}

func TestAnIncompleteFileLeavesNoTraceInTheStore(t *testing.T) {
	t.Parallel()
	s := store{t, service.StoreFlags{Data: t.TempDir()}}
	s.fill()
	whole := s.read(s.dump())
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	foreign := s.read(s.file())
	for what, content := range map[string][]byte{"cut": whole[:len(whole)-1], "damaged": damaged, "foreign": foreign, "empty": nil} {
		path := filepath.Join(t.TempDir(), "file")
		s.must(os.WriteFile(path, content, 0o600))
		to := empty(t)
		if err := load(t.Context(), to.options(), path); err == nil || !strings.Contains(err.Error(), "nothing was loaded") {
			t.Errorf("%s: got error %v", what, err)
		}
		if _, err := os.Stat(to.flags.Data); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a store was created: %v", what, err)
		}
	}
	if err := load(t.Context(), empty(t).options(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got error %v", err)
	}
}

func TestAStoreWithOtherDocumentsIsRefusedOnEachStore(t *testing.T) {
	t.Parallel()
	s := store{t, service.StoreFlags{Data: t.TempDir()}}
	made := s.fill()
	path := s.dump()
	onEachStore(t, func(t *testing.T, to store) {
		s.must(load(t.Context(), to.options(), path))
		specs := to.specs()
		to.tamper(func(ctx context.Context, r *recorder) {
			change(ctx, to, r.tables["albums"], made.albums[0], map[string]any{"title": "changed"})
			lose(ctx, to, r.tables["blogs"], made.blogs[0])
			to.must(r.tables["pois"].Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(made.pois[0])}))
		})
		to.addPhoto()
		before := to.contents(specs)
		err := load(t.Context(), to.options(), path)
		if err == nil || !strings.Contains(err.Error(), "in albums, pois, poi_photos;") {
			t.Errorf("got error %v", err)
		}
		if !maps.Equal(to.contents(specs), before) {
			t.Error("the store has changed")
		}
	})
}

// addPhoto adds a photo of a landmark directly in the store.
func (s store) addPhoto() {
	s.t.Helper()
	s.tamper(func(ctx context.Context, r *recorder) {
		documents, _, err := r.tables["poi_photos"].Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1})
		s.must(err)
		errs, err := r.tables["poi_photos"].Insert(ctx, []bson.Raw{withID(s, documents[0], 1)})
		s.must(err)
		s.must(errs[0])
	})
}

// withID returns a document with the nth id of its place and another request key.
func withID(s store, raw bson.Raw, n int64) bson.Raw {
	s.t.Helper()
	var document bson.D
	s.must(bson.Unmarshal(raw, &document))
	for i := range document {
		switch document[i].Key {
		case "_id":
			document[i].Value = n<<id.PlaceBits | raw.Lookup("_id").Int64()%id.Places
		case "request_key":
			document[i].Value = "another"
		}
	}
	raw, err := bson.Marshal(document)
	s.must(err)
	return raw
}

// The dump of a store in use may have two documents that violate a unique index together.
func TestDocumentsThatViolateAUniqueIndexAreReported(t *testing.T) {
	t.Parallel()
	s := store{t, service.StoreFlags{Data: t.TempDir()}}
	s.fill()
	path := filepath.Join(t.TempDir(), "dump")
	s.tamper(func(ctx context.Context, r *recorder) {
		users, _, err := r.tables["users"].Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 2})
		s.must(err)
		file, err := os.Create(path)
		s.must(err)
		w, err := dumpfile.NewWriter(file, []string{"users"})
		s.must(err)
		var twin bson.D
		s.must(bson.Unmarshal(users[0], &twin))
		twin[0].Value = int64(1)
		raw, err := bson.Marshal(twin)
		s.must(err)
		s.must(w.Write(slices.Insert(users, 0, bson.Raw(raw))))
		s.must(w.EndCollection())
		_, err = w.Close()
		s.must(errors.Join(err, file.Close()))
	})
	if err := load(t.Context(), empty(t).options(), path); err == nil || !strings.Contains(err.Error(), "the same ") || !strings.Contains(err.Error(), "is incomplete") {
		t.Errorf("got error %v", err)
	}
}
