package rpc_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// votes returns the votes for the choices of an entry.
func (w *waybook) votes(blog int64) (numbers []int64) {
	w.t.Helper()
	for _, c := range w.getBlog(blog).GetBlog().GetVote().GetChoices() {
		numbers = append(numbers, c.GetVotes())
	}
	return numbers
}

func TestASweepRemovesOnlyTheRemainsOfDeletedContent(t *testing.T) {
	t.Parallel()
	onEachEngine(t, sweepsOnlyRemains)
}

func sweepsOnlyRemains(t *testing.T, p *parts) {
	owner := p.newUser("a")
	deleted, spared := map[string]int64{}, map[string]int64{}
	for _, k := range p.kinds() {
		for _, ids := range []map[string]int64{deleted, spared} {
			id := k.create(owner, "x")
			ids[k.name] = id
			must(k.send(t.Context(), "AddComment", fields{"author_id": owner, "id": id, "text": "x"}))(t)
			if k.hasPhotos() {
				must(k.send(t.Context(), "AddPhoto", fields{"actor_id": owner, "id": id, "url": "x"}))(t)
			} else {
				must(k.send(t.Context(), "CastBallot", fields{"voter_id": owner, "id": id, "choice": int32(1)}))(t)
			}
		}
	}
	children := []string{"album_photos", "album_comments", "blog_comments", "blog_ballots", "poi_photos", "poi_comments"}
	expect := func(when string, wantChildren, wantTombstones int64) {
		t.Helper()
		for _, collection := range children {
			if n := p.store.count(t, collection); n != wantChildren {
				t.Errorf("%s: %d documents in %s, want %d", when, n, collection, wantChildren)
			}
		}
		for _, collection := range []string{"albums", "blogs", "pois"} {
			if n := p.store.countTombstones(t, collection); n != wantTombstones {
				t.Errorf("%s: %d tombstones in %s, want %d", when, n, collection, wantTombstones)
			}
		}
	}
	expect("before", 2, 0)
	for _, k := range p.kinds() {
		must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": deleted[k.name]}))(t)
	}
	p.Sweep()
	expect("after a sweep", 1, 1)
	// A source whose clock is behind may still draw the identifiers.
	p.store.clock.advance(23 * time.Hour)
	p.Sweep()
	expect("23 hours later", 1, 1)
	p.store.clock.advance(2 * time.Hour)
	p.Sweep()
	expect("25 hours later", 1, 0)
	for _, k := range p.kinds() {
		left := k.get(spared[k.name])
		if len(readAll[proto.Message](left, "comments")) != 1 || k.hasPhotos() && len(readAll[proto.Message](left, "photos")) != 1 {
			t.Errorf("what was not deleted is %v", left)
		}
	}
	if votes := p.votes(spared["Blog"]); !slices.Equal(votes, []int64{1, 0, 0}) {
		t.Errorf("the other entry has votes %v", votes)
	}
}

func TestASessionExpiresAndASweepRemovesIt(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newUser("a")
	request := &accountv1.VerifySessionRequest{UserId: user, Token: must(p.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(t).GetToken()}
	p.Clock.Advance(sessionTTL - time.Millisecond)
	if _, err := p.Account.VerifySession(t.Context(), request); err != nil {
		t.Errorf("a millisecond before the end: %v", err)
	}
	p.Sweep()
	if n := p.store.count(t, "sessions"); n != 1 {
		t.Errorf("the sweep left %d sessions, one is open", n)
	}
	p.Clock.Advance(time.Millisecond)
	expectFault(t, failed(p.Account.VerifySession(t.Context(), request)), codes.Unauthenticated, "LOGIN_REQUIRED")
	p.Sweep()
	if n := p.store.count(t, "sessions"); n != 0 {
		t.Errorf("the sweep left %d sessions", n)
	}
}

func TestARestoredBackupHasThePhotos(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner, file := w.newUser("owner"), jpegOf(t, 400, 300, 1)
	album := w.newAlbum(owner, "山")
	photo := must(w.upload(ofAlbum(owner, album), file))(t)
	var backup bytes.Buffer
	made, unrecorded, err := storekeeping.Backup(t.Context(), storev1.NewStoreServiceClient(w.Connection), &backup, time.Now(), progress.New(io.Discard))
	if err != nil || unrecorded != nil || made.Photos.Files != 3 {
		t.Fatalf("got %+v, %v, %v", made, unrecorded, err)
	}
	packed := backup.Bytes()
	data := filepath.Join(t.TempDir(), "new")
	options := storekeeping.Options{Store: service.StoreFlags{Data: data}}
	restore := func(from []byte) error {
		_, err := storekeeping.Restore(t.Context(), options, storekeeping.Source{Name: "backup", Reader: bytes.NewReader(from)}, time.Now(), progress.New(io.Discard))
		return err
	}
	damaged := bytes.Clone(packed)
	damaged[bytes.Index(damaged, file)+len(file)/2]++
	if err := restore(damaged); err == nil {
		t.Fatal("a photo was damaged, and the backup is restored")
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := restore(packed); err != nil {
			t.Fatal(err)
		}
	}
	restored := start(t, waybooktest.Flags("-data", data))
	original := inAlbum(album, photo.GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_ORIGINAL)
	original.ActorId = owner
	if _, content, err := restored.download(original); err != nil || !bytes.Equal(content, file) {
		t.Errorf("the photo has %d bytes: %v", len(content), err)
	}
}

func TestAMongoDBIsNotBackedUp(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	w := start(t, waybooktest.OnMongoDB(mongotest.StartReplicaSet(t)))
	expectFault(t, failed(collect(storev1.NewStoreServiceClient(w.Connection).Backup(t.Context(), &storev1.BackupRequest{}))),
		codes.FailedPrecondition, "STORE_NOT_EMBEDDED")
}

// Whoever repeats a call learns only once a majority has it that it is done, also when the primary did it the first time.
func TestARepeatedCallIsAsDurableAsTheFirst(t *testing.T) {
	t.Parallel()
	store := storetest.NewReplica(t, storetest.ReplicaSettings{})
	p := startPartsOn(t, newBrittleOf(t, store))
	owner, user := p.newUser("a"), p.newUser("b")
	blog, token := p.newBlog(owner), p.openSession(user)
	calls := map[string]func(context.Context) error{
		"CastBallot": calling(p.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: user, BlogId: blog, Choice: 1}),
		"GrantRewards": calling(p.Account.GrantRewards, &accountv1.GrantRewardsRequest{
			Grants: []*accountv1.Grant{{UserId: user, Source: "test/1", Amount: 1}},
		}),
		"ImportPois":   calling(p.Poi.ImportPois, batchOf(user, importedPoi("k", "x"))),
		"CloseSession": calling(p.Account.CloseSession, &accountv1.CloseSessionRequest{UserId: user, Token: token}),
	}
	for _, each := range p.items(owner) {
		calls[each.service+" Recommend"] = func(ctx context.Context) error { return failed(each.recommend(ctx, user, each.id)) }
	}
	for name, create := range p.creates(owner) {
		calls[name] = func(ctx context.Context) error { return failed(create(ctx, owner, requestID(1), "x")) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			store.Hold(0)
			for _, when := range []string{"the first call", "its repeat"} {
				if err := call(t.Context()); status.Code(err) != codes.Unavailable {
					t.Errorf("%s: got %v while no majority has the write", when, err)
				}
			}
			store.Settle()
			if err := call(t.Context()); err != nil {
				t.Errorf("with a majority: got %v", err)
			}
		})
	}
}

func TestStoreReadsEndWhenTheCallerCancels(t *testing.T) {
	t.Parallel()
	const plenty = 1 << 40
	// After left more reads, each blocks until its context ends.
	left, begun, ended := atomic.Int64{}, make(chan struct{}), make(chan error)
	left.Store(plenty)
	p := startPartsOn(t, newBrittleOf(t, &storetest.Hooked{
		Engine: must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t),
		Read: func(ctx context.Context, _ storetest.Call, do func() error) error {
			if left.Add(-1) >= 0 {
				return do()
			}
			begun <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		},
	}))
	owner := p.newUser("a")
	album := p.newAlbum(owner, "x")
	p.getAlbum(album) // which asks for the hidden users
	for name, call := range map[string]func(context.Context) error{
		"a document": func(ctx context.Context) error {
			return failed(p.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album}))
		},
		"a page": func(ctx context.Context) error {
			return failed(p.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: owner}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			left.Store(0)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			done := make(chan error, 1)
			go func() { done <- call(ctx) }()
			within(t, begun)
			leave()
			if err := within(t, ended); err != context.Canceled {
				t.Errorf("the read ended with %v", err)
			}
			if err := within(t, done); err == nil {
				t.Error("the call succeeded")
			}
		})
	}
	left.Store(plenty)
}

// within receives a value, or fails the test after a minute.
func within[T any](t *testing.T, from <-chan T) (received T) {
	t.Helper()
	select {
	case received = <-from:
	case <-time.After(time.Minute):
		t.Fatal("nothing was received")
	}
	return received
}

// The identifier names the place of the owner, so content stays that owner's from its alias on.
func TestContentWhoseStoringFailedStaysThatOfItsOwner(t *testing.T) {
	t.Parallel()
	store, isBroken := newBrittle(t), true
	store.Engine = &storetest.Hooked{Engine: store.Engine, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if isBroken && call.Verb == "insert" && (call.Collection == "albums" || call.Collection == "pois") {
			return docstore.ErrUnavailable
		}
		return do()
	}}
	p := startPartsOn(t, store)
	a, b := p.newUser("a"), p.newUser("b")
	for _, kind := range []string{"album", "landmark"} {
		isBroken = true
		if _, err := p.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: whole(kind, "7", a, 1)}); err == nil {
			t.Fatal("no error")
		}
		isBroken = false
		if got := p.moveRecords(whole(kind, "7", b, 1)[0])[0]; got.GetReason() != "ID_TAKEN" {
			t.Errorf("%s of another owner: %v", kind, got)
		}
		expectAll(t, p.moveRecords(whole(kind, "7", a, 1)...), inserted)
	}
}
