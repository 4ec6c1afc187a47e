package storekeeping_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/waybookctl/backupplace"
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

// place returns a directory as a place of backups.
func place(t *testing.T, directory string) backupplace.Place {
	t.Helper()
	opened, err := backupplace.Open(directory, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return opened
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
	r := storekeeping.NewRotation(place(t, directory), "account")
	now := time.Date(2026, 11, 22, 11, 17, 0, 0, time.FixedZone("", 8*3600))
	name := r.Name(now, false)
	if name != "waybook-20261122T031700Z.db" || r.Name(now, true) != name+".age" {
		t.Fatalf("the name is %s", name)
	}
	foreign := []string{
		"20261101T031700Z.db", "waybook-2026.db", "waybook-20261101T031700Z.dump", "waybook-20261101T031700Z.db.gz",
		"waybook-poi-20261101T031700Z.db", "waybook.db",
	}
	later := "waybook-20261122T031701Z.db.0000000b.part"
	touch(t, directory, append(foreign,
		"waybook-20261119T031700Z.db", "waybook-20261120T031700Z.db", "waybook-20261121T031700Z.db", "waybook-20261122T031700Z.db",
		"waybook-20261121T031700Z.db.0000000a.part", later)...)
	removed, err := r.Prune(t.Context(), name, storekeeping.Retention{Count: 2}, now)
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
	if newest, err := r.Newest(t.Context()); err != nil || newest != name {
		t.Errorf("the newest is %s, %v", newest, err)
	}
}

func TestARotationKeepsWhatItJustWroteIfTheClockWasSetBack(t *testing.T) {
	directory := t.TempDir()
	written := "waybook-20200101T000000Z.db"
	touch(t, directory, written, "waybook-20261120T031700Z.db", "waybook-20261121T031700Z.db")
	if _, err := storekeeping.NewRotation(place(t, directory), "account").Prune(t.Context(), written, storekeeping.Retention{Count: 2},
		time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if names := namesIn(t, directory); !slices.Equal(names, []string{written, "waybook-20261121T031700Z.db"}) {
		t.Errorf("there are %v", names)
	}
}

func TestAnEmptyRotationHasNoNewest(t *testing.T) {
	if newest, err := storekeeping.NewRotation(place(t, t.TempDir()), "poi").Newest(t.Context()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "poi-TIME.db") {
		t.Errorf("got %s, %v", newest, err)
	}
}

func TestARotationKeepsByCountOrByAge(t *testing.T) {
	now := time.Date(2026, 11, 22, 3, 17, 0, 0, time.UTC)
	const written = "waybook-20261122T031700Z.db.age"
	old := []string{"waybook-20261115T031700Z.db.age", "waybook-20261119T031700Z.db", "waybook-20261121T031700Z.db.age"}
	const day = 24 * time.Hour
	for _, c := range []struct {
		keep    storekeeping.Retention
		removed []string
	}{
		{storekeeping.Retention{}, nil},
		{storekeeping.Retention{Age: time.Hour}, old},
		{storekeeping.Retention{Age: 4 * day}, old[:1]},
		{storekeeping.Retention{Count: 3, Age: time.Hour}, old[:1]},
		{storekeeping.Retention{Count: 1, Age: 30 * day}, nil},
	} {
		directory := t.TempDir()
		touch(t, directory, append(old, written)...)
		removed, err := storekeeping.NewRotation(place(t, directory), "account").Prune(t.Context(), written, c.keep, now)
		if err != nil || !slices.Equal(removed, c.removed) {
			t.Errorf("%+v: removed %v, want %v (%v)", c.keep, removed, c.removed, err)
		}
	}
}
