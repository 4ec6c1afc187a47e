package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

const (
	crashWriters = 8
	crashIDs     = 40
	// shortCycles is the number of cycles of an ordinary run. WAYBOOK_CRASH_CYCLES changes it.
	shortCycles = 20
	// crashFileEnv, if set, makes this binary the writer process that the test kills.
	crashFileEnv = "WAYBOOK_CRASH_FILE"
)

// ballot is a document of the crash test. Each writer has its own ids.
type ballot struct {
	ID      int64  `bson:"_id"`
	Writer  int64  `bson:"writer"`
	Code    string `bson:"code"`
	Version int64  `bson:"version"`
	Body    string `bson:"body"`
	// Draft is 1 in the first version.
	Draft int64 `bson:"draft,omitempty"`
}

// ballots is a collection of ballots.
type ballots = docstore.Collection[int64, ballot]

func ballotSpec() docstore.Spec {
	return docstore.Spec{Name: "ballots", ID: docstore.Int64, Indexes: []docstore.Index{byWriterVersion().Declare(), byCode().Declare(), byDraft().Declare()}}
}

func byWriterVersion() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "by_writer_version", A: "writer", B: "version"}
}

func byDraft() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "draft", A: "draft", Sparse: true}
}

func byCode() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "code", A: "code", Unique: true}
}

// TestMain runs the writer instead of the tests in a child process of the crash test.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashFileEnv); path != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeUntilKilled writes until the process is killed. It prints each write before it
// starts ("begin <id> <version>") and after it is acknowledged ("done <id> <version>").
// Version 0 is a deletion.
func writeUntilKilled(path string) error {
	ctx := context.Background()
	engine, err := embedded.Open(context.Background(), path)
	if err != nil {
		return err
	}
	c, err := docstore.Open[int64, ballot](ctx, engine, ballotSpec())
	if err != nil {
		return err
	}
	failed := make(chan error, crashWriters)
	var tell sync.Mutex
	for writer := range int64(crashWriters) {
		go func() { failed <- write(ctx, c, writer, &tell) }()
	}
	return <-failed
}

func write(ctx context.Context, c *ballots, writer int64, tell *sync.Mutex) error {
	say := func(what string, id, version int64) {
		tell.Lock()
		defer tell.Unlock()
		fmt.Println(what, id, version)
	}
	for {
		id := writer + crashWriters*rand.Int64N(crashIDs)
		was, err := c.Get(ctx, id)
		next := was.Version + 1 + rand.Int64N(3)
		switch {
		case errors.Is(err, docstore.ErrNotFound):
			say("begin", id, next)
			err = c.Insert(ctx, ballotOf(id, next))
		case err != nil:
		case rand.IntN(3) == 0:
			next = 0
			say("begin", id, next)
			err = c.Delete(ctx, id)
		default:
			say("begin", id, next)
			_, err = c.Update(ctx, id, func(b *ballot) error { *b = ballotOf(id, next); return nil })
		}
		if err != nil {
			return err
		}
		say("done", id, next)
	}
}

// ballotOf returns documents of very different sizes, some larger than a page.
func ballotOf(id, version int64) ballot {
	body := make([]byte, (id*version)%97*101)
	for i := range body {
		body[i] = 'a' + byte((id+version)%26)
	}
	b := ballot{ID: id, Writer: id % crashWriters, Code: fmt.Sprintf("%d/%d", version, id), Version: version, Body: string(body)}
	if version == 1 {
		b.Draft = 1
	}
	return b
}

func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	cycles := shortCycles
	if text := os.Getenv("WAYBOOK_CRASH_CYCLES"); text != "" {
		var err error
		if cycles, err = strconv.Atoi(text); err != nil {
			t.Fatalf("WAYBOOK_CRASH_CYCLES: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "store.db")
	acknowledged, writes := make(map[int64]int64), 0
	for range cycles {
		done, begun := runAndKill(t, path)
		writes += len(done)
		for _, a := range done {
			acknowledged[a.id] = a.version
		}
		acknowledged = verifyAfterKill(t, path, acknowledged, begun)
	}
	t.Logf("%d writes acknowledged in %d cycles, %d documents at the end", writes, cycles, len(acknowledged))
}

type act struct{ id, version int64 }

// runAndKill runs a writer and kills it shortly after some acknowledgements. It returns
// the acknowledged writes in order, and the last write that was begun for each document.
func runAndKill(t *testing.T, path string) (done []act, begun map[int64]int64) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program)
	child.Env = append(os.Environ(), crashFileEnv+"="+path)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	killAfter := writesBeforeKill()
	begun = make(map[int64]int64)
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var what string
		var a act
		if _, err := fmt.Sscan(lines.Text(), &what, &a.id, &a.version); err != nil {
			// The writer was killed in the middle of a line.
			continue
		}
		if what == "begin" {
			begun[a.id] = a.version
			continue
		}
		done = append(done, a)
		if len(done) == killAfter {
			// Kill at a random moment of a commit. The test does not wait for that moment.
			time.AfterFunc(rand.N(5*time.Millisecond), func() { _ = child.Process.Kill() })
		}
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the writer exited before it was killed: %v", err)
	}
	if len(done) < killAfter {
		t.Fatalf("the writer exited after %d of %d writes", len(done), killAfter)
	}
	return done, begun
}

// writesBeforeKill returns how many writes to wait for before the kill. The number is
// usually small, because a kill can interrupt one commit only and more cycles find more.
// One cycle in twenty has many writes, which grow the file and its freelist.
func writesBeforeKill() int {
	if rand.IntN(20) == 0 {
		return 1 + rand.IntN(1500)
	}
	return 1 + rand.IntN(60)
}

// verifyAfterKill checks that each document has its last acknowledged version or the last
// version that was begun. It returns the versions found.
func verifyAfterKill(t *testing.T, path string, acknowledged, begun map[int64]int64) map[int64]int64 {
	t.Helper()
	engine := open(t, path)
	defer shut(t, engine)
	if err := engine.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := docstore.Open[int64, ballot](t.Context(), engine, ballotSpec())
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int64]int64)
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: byCode().All(), Limit: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range batch {
			if b != ballotOf(b.ID, b.Version) {
				t.Fatalf("document %d is damaged: %+v", b.ID, b)
			}
			found[b.ID] = b.Version
		}
	}
	for id := range int64(crashWriters * crashIDs) {
		last, isOpen := begun[id]
		if found[id] != acknowledged[id] && !(isOpen && found[id] == last) {
			t.Errorf("document %d: found version %d, acknowledged was %d", id, found[id], acknowledged[id])
		}
	}
	return maps.Clone(found)
}
