package storekeeping_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// touch creates empty files in a directory.
func touch(t *testing.T, directory string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func namesIn(t *testing.T, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestARotationRemovesOnlyTheOldestOfItsOwnBackups(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "made")
	r := storekeeping.NewRotation(directory, "account", 2)
	path, err := r.Path(time.Date(2026, 11, 22, 11, 17, 0, 0, time.FixedZone("", 8*3600)))
	if err != nil || filepath.Base(path) != "waybook-20261122T031700Z.db" {
		t.Fatalf("the path is %s, %v", path, err)
	}
	foreign := []string{
		"20261101T031700Z.db", "waybook-2026.db", "waybook-20261101T031700Z.dump", "waybook-20261101T031700Z.db.gz",
		"waybook-poi-20261101T031700Z.db", "waybook.db",
	}
	later := "waybook-20261122T031701Z.db.0000000b.part"
	touch(t, directory, append(foreign,
		"waybook-20261119T031700Z.db", "waybook-20261120T031700Z.db", "waybook-20261121T031700Z.db", "waybook-20261122T031700Z.db",
		"waybook-20261121T031700Z.db.0000000a.part", later)...)
	removed, err := r.Prune(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"waybook-20261119T031700Z.db", "waybook-20261120T031700Z.db", "waybook-20261121T031700Z.db.0000000a.part"}; !slices.Equal(removed, want) {
		t.Errorf("removed are %v", removed)
	}
	want := append(foreign, "waybook-20261121T031700Z.db", "waybook-20261122T031700Z.db", later)
	slices.Sort(want)
	if names := namesIn(t, directory); !slices.Equal(names, want) {
		t.Errorf("there are\n%v, want\n%v", names, want)
	}
	if newest, err := r.Newest(); err != nil || newest != path {
		t.Errorf("the newest is %s, %v", newest, err)
	}
}

func TestARotationKeepsWhatItJustWroteIfTheClockWasSetBack(t *testing.T) {
	directory := t.TempDir()
	written := "waybook-20200101T000000Z.db"
	touch(t, directory, written, "waybook-20261120T031700Z.db", "waybook-20261121T031700Z.db")
	if _, err := storekeeping.NewRotation(directory, "account", 2).Prune(filepath.Join(directory, written)); err != nil {
		t.Fatal(err)
	}
	if names := namesIn(t, directory); !slices.Equal(names, []string{written, "waybook-20261121T031700Z.db"}) {
		t.Errorf("there are %v", names)
	}
}

func TestAnEmptyRotationHasNoNewest(t *testing.T) {
	if newest, err := storekeeping.NewRotation(t.TempDir(), "poi", 1).Newest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %s, %v", newest, err)
	}
}
