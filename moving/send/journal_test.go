package send

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/progress"
)

// claimed makes a folder that of an import which has ended.
func claimed(folder string) error {
	lock, err := claim(folder)
	if err != nil {
		return err
	}
	return errors.Join(empty(folder), lock.Close())
}

// A folder of the operator may have files with any names.
func TestNothingIsDeletedThatAnImportDidNotMake(t *testing.T) {
	for _, foreign := range []string{recordsName, journalName, sortedName, identitiesName, "notes.txt"} {
		folder := t.TempDir()
		own := filepath.Join(folder, foreign)
		if err := os.WriteFile(own, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func(string) error{"an import": claimed, "its end": remove} {
			if err := do(folder); err == nil || !strings.Contains(err.Error(), foreign) {
				t.Errorf("%s beside %s: got error %v, want one that names the file", name, foreign, err)
			}
		}
		if text, err := os.ReadFile(own); err != nil || string(text) != "precious" {
			t.Errorf("%s: %q, %v", foreign, text, err)
		}
	}
}

func TestAFolderOfAnImportIsUsedAgainAndRemoved(t *testing.T) {
	folder := t.TempDir()
	fill := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if err := claimed(folder); err != nil {
			t.Fatal(err)
		}
		fill(recordsName, journalName, sortedName, identitiesName)
	}
	// What is deleted is decided before anything is.
	fill("notes.txt")
	if err := remove(folder); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("beside notes.txt: got error %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, journalName)); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	if err := remove(folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestAnImportThatWasKilledWhileItKeptItsRecordsBeginsAnew(t *testing.T) {
	folder := t.TempDir()
	if err := claimed(folder); err != nil {
		t.Fatal(err)
	}
	var again error
	if err := atomicfile.Write(filepath.Join(folder, sortedName), 0o600, func(io.Writer) error {
		again = claimed(folder)
		return errors.New("killed")
	}); err == nil || again != nil {
		t.Errorf("%v; beside what it leaves: %v", err, again)
	}
}

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	written := &journal{folder: t.TempDir()}
	if err := written.open(); err != nil {
		t.Fatal(err)
	}
	refusal := func(id movefile.ID) Refusal {
		return Refusal{Root: movefile.Root{Kind: movefile.KindAlbum, ID: id}, Reason: "DELETED"}
	}
	many := make([]Refusal, maxRefusals+5)
	for n := range many {
		many[n] = refusal(movefile.ID(strconv.Itoa(n + 1)))
	}
	for bucket, refusals := range [][]Refusal{{refusal("12"), refusal("a b")}, many} {
		if err := written.finish(&finished{Pass: passRecords, Bucket: bucket, Refusals: refusals, RefusalCount: int64(len(refusals))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := written.close(); err != nil {
		t.Fatal(err)
	}
	read := &journal{folder: written.folder}
	if err := read.open(); err != nil || !reflect.DeepEqual(read.finished, written.finished) {
		t.Errorf("%v: got %v, want %v", err, read.finished, written.finished)
	}
	count := 0
	if err := read.refusals(func(Refusal) error { count++; return nil }); err != nil || count != len(many)+2 {
		t.Errorf("%d refusals of %d, %v", count, len(many)+2, err)
	}
	if err := read.close(); err != nil {
		t.Error(err)
	}
}

// Records that are lost are read from the files once more.
func TestAnImportGoesOnOnlyWithAllRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(file, []byte(`{"kind":"user","id":7,"name":"Anna"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	options := ImportOptions{Input: Input{Folder: t.TempDir(), Files: []string{file}, Zone: time.UTC}}
	bucket := filepath.Join(options.Input.Folder, recordsName, "*")
	for name, lose := range map[string]func(bucket string) error{
		"nothing": nil, "a bucket": os.Remove, "the end of one": func(bucket string) error { return os.Truncate(bucket, 20) },
	} {
		report := new(notes)
		j, _, err := begin(t.Context(), options, report)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(bucket)
		if err := errors.Join(err, j.close()); err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		if lose != nil {
			if err := lose(files[0]); err != nil {
				t.Fatal(err)
			}
		}
		again, _, err := begin(t.Context(), options, report)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.close(); err != nil {
			t.Error(err)
		}
		if wentOn := strings.Contains(string(*report), "going on"); wentOn == (lose != nil) {
			t.Errorf("%s is lost, noted %q", name, *report)
		}
		if err := os.Remove(filepath.Join(options.Input.Folder, sortedName)); err != nil {
			t.Fatal(err)
		}
	}
}

// notes are the notes of an import.
type notes string

func (n *notes) Note(text string)                 { *n += notes(text) }
func (*notes) Start(string, progress.Unit, int64) {}
func (*notes) Reach(int64)                        {}
func (*notes) Finish()                            {}
