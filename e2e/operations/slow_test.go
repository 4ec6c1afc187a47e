package operations_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/waybook/waybook/waybookctl/cli"
)

// slowGetAlbum are the programs and the first parts of a getAlbum, as waybookctl trace prints them.
var slowGetAlbum = map[string]string{
	"one process": `
standalone server getAlbum
standalone   server waybook.album.v1.AlbumService/GetAlbum
standalone     client get albums
`,
	"separate processes": `
edge server getAlbum
edge   client waybook.album.v1.AlbumService/GetAlbum
album     server waybook.album.v1.AlbumService/GetAlbum
album       client get albums
`,
}

// ctl runs waybookctl and returns what it printed, and its exit status.
func (s site) ctl(t *testing.T, args ...string) (printed string, status int) {
	t.Helper()
	for _, p := range s.processes {
		args = append(args, "--admin", p.Admin)
	}
	var output bytes.Buffer
	status = cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &output, Err: &output}, func(string) (string, bool) { return "", false })
	return output.String(), status
}

func TestASlowRequestIsShownByItsID(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			s := start(t, t.TempDir(), "-slow-requests", "1ns")
			album := newAlbum(t, s)
			header, _ := get(t, fmt.Sprintf("http://%s/API.php?func=getAlbum&albumID=%d", s.http, album))
			id := header.Get("X-Request-Id")
			// A program may keep its part after it has replied.
			var printed string
			for range 100 {
				printed, _ = s.ctl(t, "trace", id)
				if strings.Contains("\n"+tree(printed), slowGetAlbum[name]) {
					break
				}
			}
			if !strings.Contains("\n"+tree(printed), slowGetAlbum[name]) {
				t.Errorf("the tree is\n%s\nfrom\n%s", tree(printed), printed)
			}
			list, _ := s.ctl(t, "trace")
			if !strings.Contains(list, id) || !strings.Contains(list, "server getAlbum") && !strings.Contains(list, "getAlbum") {
				t.Errorf("the list is\n%s", list)
			}
			all, _ := s.ctl(t, "trace", "-o", "json")
			for _, private := range []string{"小旅人", "相簿", "127.0.0.1", fmt.Sprint(album)} {
				if strings.Contains(all, private) {
					t.Errorf("the requests show %s:\n%s", private, all)
				}
			}
			if printed, status := s.ctl(t, "trace", "none"); status != 3 || !strings.Contains(printed, "no program has kept") {
				t.Errorf("an unknown request: %d, %s", status, printed)
			}
			s.end(t)
		})
	}
	s := deployments["one process"](t, t.TempDir())
	if printed, status := s.ctl(t, "trace"); status != 1 || !strings.Contains(printed, "set -slow-requests") {
		t.Errorf("without the setting: %d, %s", status, printed)
	}
	s.end(t)
}

// tree returns the columns PROGRAM and WHAT of a table.
func tree(printed string) string {
	head, lines, _ := strings.Cut(printed, "WHAT\n")
	var tree strings.Builder
	for line := range strings.Lines(lines) {
		if program, _, _ := strings.Cut(line, " "); len(line) > len(head) {
			fmt.Fprintf(&tree, "%s %s", program, line[len(head):])
		}
	}
	return tree.String()
}
