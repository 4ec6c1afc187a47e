package send

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/progress"
)

func TestTheStatusOfAnImportIsThatOfItsLastWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "journal")
	read := func() Status {
		t.Helper()
		found, err := ReadStatus(folder)
		if err != nil || found == nil {
			t.Fatalf("got %v, %v", found, err)
		}
		return *found
	}
	if found, err := ReadStatus(folder); found != nil || err != nil {
		t.Errorf("before the first import: %v, %v", found, err)
	}
	var lines strings.Builder
	k := keepStatus(folder, progress.New(&lines))
	k.Start("importing", progress.Records, 500)
	k.Reach(100) // of before it was resumed
	k.status.Updated = k.status.Updated.Add(-statusEvery)
	k.from = k.from.Add(-10 * time.Second)
	k.Reach(200)
	if now := read(); now.HasEnded || now.Stage != "importing" || now.Unit != "records" || now.Done != 200 || now.Total != 500 || now.PerSecond != 9 && now.PerSecond != 10 {
		t.Errorf("while it runs: %+v", now)
	}
	k.Note(strings.Repeat("x", 2*maxStatusText))
	if now := read(); len(now.Note) != maxStatusText {
		t.Errorf("a note of %d bytes", len(now.Note))
	}
	k.Reach(201)
	k.count(&Summary{
		Report:   &Report{Records: map[movefile.Kind]int64{movefile.KindUser: 3, movefile.KindAlbum: 2, movefile.KindPhoto: 9}},
		Outcomes: map[movefile.Kind]Outcomes{movefile.KindUser: {Created: 1, LeftOut: 1}}, RefusalCount: 4,
	})
	k.end(errors.New("the service is away"))
	now := read()
	if !now.HasEnded || now.Note != "" || now.Failure != "the service is away" || now.Refusals != 4 || len(now.Kinds) != 2 {
		t.Fatalf("at the end: %+v", now)
	}
	if users := now.Kinds[0]; users.Kind != movefile.KindUser || users.Total != 3 || users.Done != 2 || users.Outcomes["left_out"] != 1 || len(users.Outcomes) != 2 {
		t.Errorf("of users: %+v", users)
	}
}

func TestAStatusThatCannotBeKeptEndsNothing(t *testing.T) {
	var lines strings.Builder
	k := keepStatus(filepath.Join(t.TempDir(), "missing", "journal"), progress.New(&lines))
	k.Start("importing", progress.Records, 1)
	k.end(nil)
	if !strings.Contains(lines.String(), "was not kept") {
		t.Errorf("it says %q", lines.String())
	}
}

func TestWhatIsNoStatusIsNamed(t *testing.T) {
	folder := t.TempDir()
	for _, text := range []string{"", "x", strings.Repeat("[", maxStatusBytes+1)} {
		if err := os.WriteFile(statusPath(folder), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := ReadStatus(folder); found != nil || err == nil || !strings.Contains(err.Error(), statusPath(folder)) {
			t.Errorf("%.9q: %v, %v", text, found, err)
		}
	}
}
