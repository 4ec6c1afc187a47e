package console

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of built files in docs/console.md")

// The lines around the table.
const (
	tableBegin = "<!-- begin of the table of files: go test ./console -run TableOfFiles -update -->\n"
	tableEnd   = "<!-- end of the table of files -->\n"
)

// contentHash is what the build puts between a name and its ending.
var contentHash = regexp.MustCompile(`-[\w-]{8}\.`)

// loadedBy says when a browser loads a file, by the beginning of its name.
var loadedBy = []struct{ name, when string }{
	{"index.html", "first"}, {"index", "first"}, {"Failure", "first"}, {"icon", "first"}, {"format", "first"},
	{"ContentView", "reading, map"}, {"ReadView", "reading"}, {"AddPhotos", "an album of one's own"}, {"Lightbox", "a photo in large"}, {"ExploreView", "explorer"}, {"HealthView", "health"},
	{"MapView", "map"}, {"landmarks.worker", "map"}, {"layers", "never: images of Leaflet"}, {"marker", "never: images of Leaflet"},
	{"base.worker", "a map, behind the content"}, {"countries", "a map zoomed out or small, behind the content"},
	{"places", "map, behind the content"},
}

// coastPart is the name of a part of the finer coast. The table has one line for all of them.
var coastPart = regexp.MustCompile(`^coast-\d+-\d+\.json$`)

// A file that grows shows in a change of this table.
func TestTheTableOfFilesIsCurrent(t *testing.T) {
	var lines []string
	var total, zippedTotal int
	var parts struct{ count, largest, largestSent int }
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		shown := contentHash.ReplaceAllString(path.Base(name), ".")
		sent := len(body)
		if zipped := compress(body); zipped != nil {
			sent = len(zipped)
		}
		total, zippedTotal = total+len(body), zippedTotal+sent
		if coastPart.MatchString(shown) {
			parts.count++
			parts.largest, parts.largestSent = max(parts.largest, len(body)), max(parts.largestSent, sent)
			return nil
		}
		when := ""
		for _, each := range loadedBy {
			if strings.HasPrefix(shown, each.name) {
				when = each.when
				break
			}
		}
		if when == "" {
			t.Errorf("loadedBy does not say when %s is loaded", shown)
		}
		lines = append(lines, fmt.Sprintf("| %s | `%s` | %s | %s |\n", when, shown, kilobytes(len(body)), kilobytes(sent)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lines = append(lines, fmt.Sprintf("| map zoomed in, behind the content | one or a few of %d `coast-*.json`; the largest: | %s | %s |\n",
		parts.count, kilobytes(parts.largest), kilobytes(parts.largestSent)))
	slices.Sort(lines)
	table := "\n| loaded for | file | kB | kB on the way |\n| --- | --- | --- | --- |\n" + strings.Join(lines, "") +
		fmt.Sprintf("| | all | %s | %s |\n\n", kilobytes(total), kilobytes(zippedTotal))
	const page = "../docs/console.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(text), tableBegin)
	found, after, hasEnd := strings.Cut(rest, tableEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s has no table of files", page)
	}
	if found == table {
		return
	}
	if !*update {
		t.Fatalf("the table of files in %s is stale: run go test ./console -run TableOfFiles -update", page)
	}
	if err := os.WriteFile(page, []byte(before+tableBegin+table+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func kilobytes(n int) string { return fmt.Sprintf("%.1f", float64(n)/1000) }
