package sharding_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/gridfs"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

const (
	// commandsFile lists the shapes of all commands. wordsFile has the version and the page of each of their
	// words, by hand.
	commandsFile, wordsFile = "testdata/commands.txt", "testdata/words.txt"
	// oldestServer is the oldest server that Waybook supports.
	oldestServer = "6.0"
)

// TestTheTableOfCommandsIsCurrent runs the services and what their operators do. A command of a new shape
// fails it, and so does a shape that is never sent.
func TestTheTableOfCommandsIsCurrent(t *testing.T) {
	t.Parallel()
	table := commandTable{words: readWords(t), used: map[string]bool{}, lines: map[string]line{}}
	const smallBatch = 300 // some replies leave a cursor open
	for server, config := range []mongowire.Config{{MaxBatch: smallBatch}, {Role: mongowire.Router, Shards: shards, MaxBatch: smallBatch}} {
		c := startOn(t, config)
		p := c.start(c.engine)
		c.runEverything(p, c.fill(p))
		c.maintain()
		c.askMore()
		c.storeFiles()
		c.fillSmall()
		commands, isComplete := c.server.Since(0)
		if !isComplete {
			t.Fatal("the face has forgotten the first of the commands")
		}
		for _, command := range commands {
			table.add(t, []string{"replica set", "cluster"}[server], c.kindOf(command), command)
		}
	}
	for _, word := range sorted(table.words) {
		switch since := table.words[word].since; {
		case !table.used[word]:
			t.Errorf("%s has %s, which no command has", wordsFile, word)
		case since > oldestServer:
			t.Errorf("MongoDB %s has no %s", oldestServer, word)
		}
	}
	want := table.String()
	if *update {
		waybooktest.OK(t, os.WriteFile(commandsFile, []byte(want), 0o644))
		return
	}
	listed, err := os.ReadFile(commandsFile)
	waybooktest.OK(t, err)
	before, after := strings.Split(string(listed), "\n"), strings.Split(want, "\n")
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("%s lacks: %s", commandsFile, line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("no command is: %s", line)
		}
	}
	if t.Failed() {
		t.Log("run go test ./sharding -run TableOfCommands -update, in e2e, if the manual allows the commands on every server")
	}
}

func TestEveryOperationRunsOnARealServer(t *testing.T) {
	t.Parallel()
	c := startAt(t, mongotest.OnRealServer(t))
	for _, spec := range c.specs {
		placement, err := c.engine.Placement(t.Context(), spec)
		waybooktest.OK(t, err)
		if placement != mongo.NoCluster && string(placement) != placementOf(spec) {
			t.Errorf("%s is placed %s", spec.Name, placement)
		}
	}
	p := c.start(c.engine)
	c.runEverything(p, c.fill(p))
	c.maintain()
}

// placementOf returns how a cluster places a collection.
func placementOf(spec docstore.Spec) string {
	return map[docstore.Sharding]string{docstore.OneShard: "one shard", docstore.ByID: "by _id", docstore.ByPlace: "by place"}[spec.Sharding]
}

// word is what the manual says of a word.
type word struct{ since, page string }

func readWords(t *testing.T) map[string]word {
	t.Helper()
	text, err := os.ReadFile(wordsFile)
	waybooktest.OK(t, err)
	words := map[string]word{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, "#") {
			for _, each := range fields[2:] {
				words[each] = word{fields[0], fields[1]}
			}
		}
	}
	return words
}

// commandTable has the commands that were sent, by name, collection and options.
type commandTable struct {
	words map[string]word
	used  map[string]bool
	lines map[string]line
}

// line is the end of a line: the servers, and the first version that has all words of its commands.
type line struct{ servers, since string }

func (c commandTable) add(t *testing.T, server, collection string, command mongowire.Command) {
	t.Helper()
	shape := command.Name + " | " + collection + " | " + strings.Join(command.Options(), " ")
	is := c.lines[shape]
	if !strings.Contains(is.servers, server) {
		is.servers = strings.TrimPrefix(is.servers+", "+server, ", ")
	}
	words := slices.Concat([]string{command.Name}, command.Options(), command.Operators())
	if command.Database == "config" {
		words = append(words, collection)
	}
	for _, each := range words {
		name := command.Name + "." + each
		if _, isOwn := c.words[name]; !isOwn {
			name = each
		}
		found, isKnown := c.words[name]
		if !isKnown {
			t.Fatalf("%s lacks %s of %s: add it with its first server and its page of the manual", wordsFile, each, command.Name)
		}
		c.used[name] = true
		is.since = max(is.since, found.since)
	}
	c.lines[shape] = is
}

func (c commandTable) String() string {
	var b strings.Builder
	b.WriteString("command | collection | options | server | since | page of the manual\n")
	for _, shape := range sorted(c.lines) {
		name, _, _ := strings.Cut(shape, " ")
		fmt.Fprintf(&b, "%s | %s | %s | %s\n", shape, c.lines[shape].servers, c.lines[shape].since, c.words[name].page)
	}
	return b.String()
}

// kindOf returns how a cluster spreads the collection of a command, the name of a collection that no service
// declares, or a dash.
func (c *cluster) kindOf(command mongowire.Command) string {
	_, name, isFull := strings.Cut(command.Collection, ".")
	if !isFull {
		name = command.Collection
	}
	known := append(slices.Clone(c.specs), rated(), alone())
	for _, each := range []string{"account", "album", "blog", "poi"} {
		known = append(known, smallids.Spec(each))
	}
	for _, spec := range known {
		if spec.Name == name {
			return placementOf(spec)
		}
	}
	for _, each := range []string{gridfs.Files, gridfs.Chunks} {
		if strings.HasSuffix(command.Collection, each) {
			return strings.TrimPrefix(each, ".")
		}
	}
	if command.Database == "config" {
		name = "config." + name
	}
	return cmp.Or(name, "-")
}

// maintain does to a store what its operators do, and starts a newer version of a program on it.
func (c *cluster) maintain() {
	t := c.t
	t.Helper()
	report, err := storekeeping.Check(t.Context(), c.options(), integrity.Repair)
	waybooktest.OK(t, err)
	if len(report.Findings) > 0 {
		t.Errorf("the store is not clean: %+v", report)
	}
	_, err = storekeeping.Dump(t.Context(), c.options(), filepath.Join(t.TempDir(), "dump"))
	waybooktest.OK(t, err)
	_, err = storekeeping.Prepare(t.Context(), c.options())
	waybooktest.OK(t, err)
	waybooktest.OK(t, storekeeping.Renew(t.Context(), c.options()))
}

// storeFiles does to a store of files what services do.
func (c *cluster) storeFiles() {
	t := c.t
	t.Helper()
	files, err := gridfs.Open(t.Context(), c.engine, "album_photos")
	waybooktest.OK(t, err)
	key := blob.Key{File: 1, Kind: blob.Original}
	waybooktest.OK(t, files.Put(t.Context(), key, strings.NewReader("a picture")))
	if err := files.Put(t.Context(), key, strings.NewReader("another one")); !errors.Is(err, blob.ErrExists) {
		t.Errorf("a second file has the same key: %v", err)
	}
	opened, err := files.Open(t.Context(), key)
	waybooktest.OK(t, err)
	_, err = io.ReadAll(opened)
	waybooktest.OK(t, err)
	waybooktest.OK(t, files.DeleteUnfinished(t.Context(), key))
	if _, err := blob.Sweep(t.Context(), files, 0, func(blob.Key) bool { return false }); err != nil {
		t.Error(err)
	}
}

// askMore asks what the storage port can be asked and no service asks.
func (c *cluster) askMore() {
	t := c.t
	t.Helper()
	table, err := c.engine.Open(t.Context(), alone())
	waybooktest.OK(t, err)
	_, err = table.Changes(t.Context(), docstore.ChangeScan{Limit: 1})
	waybooktest.OK(t, err)
	for _, where := range []docstore.Where{docstore.WithIDs(docstore.ValueOf(int64(1))), docstore.All(docstore.IDIndex)} {
		_, _, err = table.Scan(t.Context(), docstore.Scan{Where: where, Limit: 1, As: docstore.Listed})
		waybooktest.OK(t, err)
	}
	table, err = c.engine.Open(t.Context(), rated())
	waybooktest.OK(t, err)
	_, err = table.Count(t.Context(), docstore.All("order").At(1))
	waybooktest.OK(t, err)
	byID := docstore.WithIDs(docstore.ValueOf(int64(1)))
	_, _, err = table.Scan(t.Context(), docstore.Scan{Where: byID, Limit: 1, Fields: []string{"name"}, As: docstore.Durable})
	waybooktest.OK(t, err)
}

func alone() docstore.Spec {
	return docstore.Spec{Name: "alone", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: time.Millisecond}}
}

func rated() docstore.Spec {
	return docstore.Spec{Name: "rated", ID: docstore.Int64, Sharding: docstore.ByPlace, Scheme: id.Scheme{}, Indexes: []docstore.Index{
		{Name: "order", Fields: []docstore.Field{{Name: "name", Kind: docstore.String}}},
	}}
}
