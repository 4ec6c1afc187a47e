package programs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// What is acknowledged is on the disk: the program syncs its file before it replies, and the directories of a new file.
// Only the calls of the kernel show it. A process that is killed loses nothing that it has written, synced or not.
func TestAReplyIsSentAfterTheSyncsOfItsCommit(t *testing.T) {
	t.Parallel()
	if output, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace cannot trace here, so no sync of the program is seen: %v %s", err, output)
	}
	parent, record := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	data := filepath.Join(parent, "new", "newer")
	args := []string{
		"-D", "-f", "-y", "--seccomp-bpf", "-s", "40", "-o", record, "-e", "signal=none",
		"-e", "trace=/^(mkdir|link|rename|write$|pwrite64|fsync|fdatasync)", binary,
	}
	p := launch.Begin(t, "strace", nil, append(args, launch.FreePorts(data)...)...).Ready()
	greeted := len(callsOf(t, record))
	reply := post(t, p, demoCookie(t, data), "func", "addAlbum", "albumTitle", "durable", "category", "3", "lat", "23.5", "lng", "121")
	if reply.Code != 200 || !strings.Contains(reply.Body, "<albumID>") {
		t.Fatalf("got %d %s", reply.Code, reply.Body)
	}
	p.End(syscall.SIGTERM)
	calls := callsOf(t, record)

	store := filepath.Join(data, "waybook.db")
	created := index(t, calls[:greeted], "the file gets its name", func(c string) bool {
		return strings.HasPrefix(c, "link") && strings.Contains(c, `"`+store+`"`)
	})
	for directory, since := range map[string]int{
		data:                         created,
		filepath.Join(parent, "new"): index(t, calls, "the directory", func(c string) bool { return strings.HasPrefix(c, "mkdir") && strings.Contains(c, `"`+data+`"`) }),
		parent: index(t, calls, "the directory above", func(c string) bool {
			return strings.HasPrefix(c, "mkdir") && strings.Contains(c, `"`+filepath.Join(parent, "new")+`"`)
		}),
	} {
		index(t, calls[since:greeted], "a sync of "+directory, func(c string) bool { return isSync(c, directory) })
	}

	end := greeted + index(t, calls[greeted:], "the reply", func(c string) bool {
		return strings.HasPrefix(c, "write") && strings.Contains(c, "HTTP/1.1 200")
	})
	var commit []string
	for _, c := range calls[greeted:end] {
		switch {
		case isSync(c, store):
			commit = append(commit, "sync")
		case strings.HasPrefix(c, "pwrite64") && strings.Contains(c, "<"+store+">") && isMeta.MatchString(c):
			commit = append(commit, "meta")
		case strings.HasPrefix(c, "pwrite64") && strings.Contains(c, "<"+store+">"):
			commit = append(commit, "data")
		}
	}
	if got, want := slices.Compact(commit), []string{"data", "sync", "meta", "sync"}; len(got) < 4 || !slices.Equal(got[len(got)-4:], want) {
		t.Errorf("before the reply: %v, want %v at the end", got, want)
	}
}

// isMeta matches a write of one of the first two pages.
var isMeta = regexp.MustCompile(`, (0|4096)$`)

func isSync(call, path string) bool {
	return regexp.MustCompile(`^(fsync|fdatasync)\(\d+<` + regexp.QuoteMeta(path) + `>`).MatchString(call)
}

// index returns the first call that is meant.
func index(t *testing.T, calls []string, what string, isMeant func(string) bool) int {
	t.Helper()
	at := slices.IndexFunc(calls, isMeant)
	if at < 0 {
		t.Fatalf("there is no call for %s in:\n%s", what, strings.Join(calls, "\n"))
	}
	return at
}

// These are the two lines of a call in the output of strace, if another thread does something in the meantime.
var unfinished, resumed = regexp.MustCompile(`^(\d+) +(.*?) <unfinished \.\.\.>$`), regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>`)

// callsOf returns the calls of a record: writes in the order in which they began, and syncs in that in which they ended.
func callsOf(t *testing.T, record string) (calls []string) {
	t.Helper()
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	begun := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if parts := unfinished.FindStringSubmatch(line); parts != nil {
			if strings.HasPrefix(parts[2], "f") {
				begun[parts[1]] = parts[2]
			} else {
				calls = append(calls, parts[2])
			}
			continue
		}
		if parts := resumed.FindStringSubmatch(line); parts != nil {
			if sync := begun[parts[1]]; sync != "" && strings.HasSuffix(line, "= 0") {
				calls = append(calls, sync)
			}
			delete(begun, parts[1])
			continue
		}
		_, c, _ := strings.Cut(line, " ")
		c, result, _ := strings.Cut(strings.TrimSpace(c), ") ")
		if !strings.HasPrefix(c, "f") || strings.HasSuffix(result, "= 0") {
			calls = append(calls, c)
		}
	}
	return calls
}
