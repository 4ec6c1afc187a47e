package service

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"log/slog"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/process"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

type page struct {
	ID   int64  `bson:"_id"`
	Text string `bson:"text"`
}

// newStore returns an embedded store with as many MiB of documents.
func newStore(t *testing.T, mebibytes int) embeddedSource {
	t.Helper()
	flags := StoreFlags{Data: t.TempDir()}
	engine, err := embedded.Open(t.Context(), flags.File())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	pages, err := docstore.Open[int64, page](t.Context(), engine, docstore.Spec{Name: "pages", ID: docstore.Int64})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for id := range int64(mebibytes) {
		if err := pages.Insert(t.Context(), page{id, text}); err != nil {
			t.Fatal(err)
		}
	}
	return embeddedSource{engine, flags.Data}
}

// serveStore serves a store over TCP and returns a client that receives at most 64 KiB ahead.
func serveStore(t *testing.T, store *storeServer) storev1.StoreServiceClient {
	t.Helper()
	interceptors := NewInterceptors(Load{}, nil, process.NewMetrics(), slog.New(slog.DiscardHandler))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ChainStreamInterceptor(interceptors.Stream))
	storev1.RegisterStoreServiceServer(server, store)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // returns after Stop
	}()
	const window = 64 << 10
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
		<-done
	})
	return storev1.NewStoreServiceClient(connection)
}

func begin(t *testing.T, client storev1.StoreServiceClient) grpc.ServerStreamingClient[storev1.BackupResponse] {
	t.Helper()
	stream, err := client.Backup(t.Context(), &storev1.BackupRequest{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil || first.GetSizeBytes() == 0 {
		t.Fatalf("the first message is %v, %v", first, err)
	}
	return stream
}

// rest reads a stream to its end and returns its last message.
func rest(stream grpc.ServerStreamingClient[storev1.BackupResponse]) (last *storev1.BackupResponse, err error) {
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		last = part
	}
}

func expect(t *testing.T, err error, code codes.Code, part string) {
	t.Helper()
	if got := status.Convert(err); got.Code() != code || !strings.Contains(got.Message(), part) {
		t.Errorf("got %v, want %v with %q", err, code, part)
	}
}

func TestAReaderThatStopsDoesNotHoldTheStore(t *testing.T) {
	engine := newStore(t, 8)
	server := newStoreServer(Copied{Source: engine})
	server.stall = 50 * time.Millisecond
	client := serveStore(t, server)
	stalled := begin(t, client)
	// The next backup can begin once the store is free again, while the first stream is still open.
	for {
		next, err := client.Backup(t.Context(), &storev1.BackupRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = next.Recv(); err == nil {
			break
		}
		expect(t, err, codes.ResourceExhausted, "another backup")
	}
	// Close waits for all reads of the store.
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	_, err := rest(stalled)
	expect(t, err, codes.DeadlineExceeded, "took no data for 50ms")
}

// reader is a stream whose reader takes a time for each message.
type reader struct {
	grpc.ServerStream

	ctx  context.Context
	each time.Duration
}

func (r reader) Context() context.Context { return r.ctx }

func (r reader) Send(*storev1.BackupResponse) error {
	time.Sleep(r.each)
	return nil
}

func TestOnlyAReaderThatTakesTooLongForAMessageIsStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorded := false
		server := newStoreServer(Copied{Source: failing{nil, func() { recorded = true }}})
		if err := server.Backup(nil, reader{ctx: t.Context(), each: stallTimeout - time.Second}); err != nil || !recorded {
			t.Errorf("a slow reader got %v", err)
		}
		expect(t, server.Backup(nil, reader{ctx: t.Context(), each: stallTimeout + time.Second}), codes.DeadlineExceeded, "took no data for 15s")
	})
}

func TestOneBackupRunsAtATimeAndAReaderThatGoesEndsIt(t *testing.T) {
	server := newStoreServer(Copied{Source: newStore(t, 8)})
	server.stall = time.Hour
	client := serveStore(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := client.Backup(ctx, &storev1.BackupRequest{})
	if err == nil {
		_, err = first.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	second, err := client.Backup(t.Context(), &storev1.BackupRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.Recv()
	expect(t, err, codes.ResourceExhausted, "another backup")
	cancel()
	server.running <- struct{}{} // returns once the first one has ended
	<-server.running
	last, err := rest(begin(t, client))
	if err != nil || len(last.GetSha256()) != 32 {
		t.Errorf("the last message is %v, %v", last, err)
	}
}

// failing is a store that fails after it has written some bytes.
type failing struct {
	cause    error
	recorded func()
}

func (f failing) Backup(_ context.Context, to io.Writer, begin func(int64) error) error {
	if err := begin(1 << 20); err != nil {
		return err
	}
	for range 3 {
		if _, err := to.Write(bytes.Repeat([]byte{1}, 1000)); err != nil {
			return err
		}
	}
	return f.cause
}

func (f failing) RecordBackup(time.Time) error {
	f.recorded()
	return nil
}

func TestAFailedBackupHasNoEndAndIsNotRecorded(t *testing.T) {
	for _, cause := range []error{errors.New("a page can't be read"), io.EOF} {
		client := serveStore(t, newStoreServer(Copied{Source: failing{cause, func() { t.Error("it is recorded") }}}))
		last, err := rest(begin(t, client))
		expect(t, err, codes.Internal, "internal error")
		if len(last.GetChunk()) != 1000 {
			t.Errorf("the last message is %v", last)
		}
	}
}

func TestABackupIsRecordedWhenItsEndWasSent(t *testing.T) {
	source := newStore(t, 8)
	server := newStoreServer(Copied{Source: source})
	began := time.Date(2026, 11, 22, 3, 17, 0, 0, time.UTC)
	server.now = func() time.Time { return began }
	client := serveStore(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	left, err := client.Backup(ctx, &storev1.BackupRequest{})
	if err == nil {
		_, err = left.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	server.running <- struct{}{} // returns once it has ended
	<-server.running
	if source.lastBackup() != 0 {
		t.Error("a backup counts whose reader left")
	}
	for range 2 { // the second time there is a file
		began = began.Add(time.Hour)
		if _, err := rest(begin(t, client)); err != nil {
			t.Fatal(err)
		}
		if got := source.lastBackup(); got != float64(began.Unix()) {
			t.Errorf("the last backup began at %v, want %v", got, began.Unix())
		}
	}
	if err := os.RemoveAll(source.directory); err != nil {
		t.Fatal(err)
	}
	last, err := rest(begin(t, client))
	expect(t, err, codes.Internal, "internal error")
	if last.GetSha256() == nil {
		t.Error("a backup that can't be recorded is incomplete")
	}
}
