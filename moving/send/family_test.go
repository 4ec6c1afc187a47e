package send

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/progress"
)

const anna = `{"kind":"user","id":1,"name":"Anna"}` + "\n"

// partsIn returns the parts of a family of the number 1 in the lines of a file.
func partsIn(t *testing.T, kind movefile.Kind, lines string, allowed ...movefile.Allowance) []*part {
	t.Helper()
	folder, file := t.TempDir(), filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := read(t.Context(), Input{Files: []string{file}, Zone: time.UTC, Folder: folder, Allowed: allowed}, keepRecords, progress.New(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	items, err := in.roots.read(rootBucket(movefile.Root{Kind: kind, ID: "1"}))
	if err != nil {
		t.Fatal(err)
	}
	f := families(items)[0]
	in.decode(f)
	return f.parts()
}

// tokens returns the sessions of a part, and whether it says which ones the user has.
func tokens(p *part) (all []string, areKnown bool) {
	moved := userOf(p, true)
	for _, each := range moved.GetSessions().GetSessions() {
		all = append(all, each.GetToken())
	}
	return all, moved.GetSessions() != nil
}

func TestAUserWithManyRewardsKeepsTheSessions(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(anna)
	for n := range maxPartChildren {
		fmt.Fprintf(&lines, `{"kind":"reward","id":%d,"user_id":1,"amount":10}`+"\n", n+1)
	}
	for n := range 2 {
		fmt.Fprintf(&lines, `{"kind":"session","user_id":1,"idrand":"%032x"}`+"\n", n)
	}
	lines.WriteString(`{"kind":"reward","id":9999,"user_id":1,"amount":10}`)
	parts := partsIn(t, movefile.KindUser, lines.String())
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for n, want := range []int{2, 0} {
		if got, areKnown := tokens(parts[n]); len(got) != want || areKnown != (n == 0) {
			t.Errorf("part %d has the sessions %v, known: %t", n, got, areKnown)
		}
	}
}

func TestOpenSessionsComeBeforeThoseThatHaveEnded(t *testing.T) {
	var lines strings.Builder
	lines.WriteString(anna)
	session := func(token int, times string) {
		fmt.Fprintf(&lines, `{"kind":"session","user_id":1,"idrand":"%032x"%s}`+"\n", token, times)
	}
	session(1, `,"expire_time":"2999-01-31T00:00:00Z"`)
	session(2, "")
	session(3, `,"expire_time":"2999-01-30T00:00:00Z"`)
	session(4, `,"expire_time":"2999-01-29T00:00:00Z","create_time":"2020-01-01T00:00:00Z"`)
	for n := range maxSessions {
		session(100+n, `,"expire_time":"2010-01-31T00:00:00Z","create_time":"2009-01-01T00:00:00Z"`)
	}
	got, _ := tokens(partsIn(t, movefile.KindUser, lines.String())[0])
	if len(got) != maxSessions {
		t.Fatalf("%d sessions", len(got))
	}
	for n, want := range []int{2, 3, 1, 4} {
		if got[maxSessions-4+n] != fmt.Sprintf("%032x", want) {
			t.Errorf("the last ones are %v", got[maxSessions-4:])
			break
		}
	}
}

func TestBallotsAndRecommendationsOfMissingUsersOnlyCount(t *testing.T) {
	entry := entryOf(partsIn(t, movefile.KindEntry, anna+`{"kind":"entry","id":1,"author_id":1,"type":"0_8","lat":1,"lng":2,"title":"x","content":"x","post_date":"2008-03-05","weather":"有彩虹","score":2,"vote":{"description":"q","choices":[{"description":"a","votes":2}, {"description":"b"}]},"create_time":1}
{"kind":"ballot","entry_id":1,"user_id":1,"choice":1}
{"kind":"ballot","entry_id":1,"user_id":9,"choice":1}
{"kind":"recommendation","entry_id":1,"user_id":1}
{"kind":"recommendation","entry_id":1,"user_id":9}
`, movefile.DanglingRecords)[0])
	if ballots := entry.GetBallots(); len(ballots) != 1 || ballots[0].GetVoterId() != 1 || entry.GetVote().GetChoices()[0].GetUnnamedVotes() != 1 {
		t.Errorf("the ballots are %v beside %v", ballots, entry.GetVote())
	}
	if ids := entry.GetRecommenderIds(); len(ids) != 1 || ids[0] != 1 || entry.GetUnnamedScore() != 1 {
		t.Errorf("%v recommend it, and %d others", ids, entry.GetUnnamedScore())
	}
}
