package moving_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
)

// TestTheGuideOfAnEveningWorks runs the commands of docs/moving-in.md as they are. Only addresses are
// others, mysql is a stand-in with SQLite, and the old server says what Waybook says, in other words.
func TestTheGuideOfAnEveningWorks(t *testing.T) {
	t.Parallel()
	examples.Need(t, "bash")
	examples.Need(t, "curl")
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := launch.Build(folder, launch.AsTested, "github.com/waybook/waybook/standalone",
		"github.com/waybook/waybook/waybookctl", "github.com/waybook/waybook/e2e/olddata/mysql"); err != nil {
		t.Fatal(err)
	}
	address := launch.Address(t)
	place := strings.NewReplacer("127.0.0.1:8080", address, "127.0.0.1:8081", launch.Address(t), "https://old.example", serve(t, wordy(address)))
	script := "set -eu\ntrap 'kill $(jobs -p)' EXIT\nmysql <" + testFile(t, "old.sql") + "\n"
	count := 0
	for _, block := range blocks {
		if block.Language != "sh" {
			continue
		}
		count++
		if strings.Contains(block.Text, "new.ndjson") && strings.Contains(block.Text, "mysql") {
			script += "mysql <" + testFile(t, "changed.sql") + "\n"
		}
		script += "echo \"line " + strconv.Itoa(block.Line) + "\"\n" + place.Replace(block.Text)
	}
	if count < 8 {
		t.Errorf("the guide has %d blocks of commands", count)
	}
	// Clients read what the guide promises.
	script += "curl -fsS 'http://" + address + "/API.php?func=getAlbum&albumID=5'\n" +
		"curl -fsS 'http://" + address + "/API.php?func=getPOI&POIID=3'\n" +
		"curl -fsS -d '" + url.Values{"func": {"login"}, "email": {"traveller@old.example"}, "password": {"password"}}.Encode() + "' http://" + address + "/API.php\n"
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir, shell.WaitDelay = folder, time.Minute
	shell.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "GORACE=atexit_sleep_ms=0",
		"OLD_DATABASE="+filepath.Join(folder, "old.sqlite"))
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"東北角兩日遊", "傍晚去最好。", "<idrand>", "3 the same, 5 allowed, 0 different, 0 trouble; times in 3; numbers in 5\n"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the output has no %s", want)
		}
	}
	if strings.Contains(string(output), "me too") {
		t.Error("a comment that the old service had deleted is still there")
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", output)
	}
}

// wordy returns a handler that passes requests to a Waybook, and gives its numbers more digits and its times fewer.
func wordy(address string) http.Handler {
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Header.Del("Accept-Encoding") // the transport unpacks what it asked for itself
	}}
	proxy.ModifyResponse = func(reply *http.Response) error {
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("</lat>"), []byte("000</lat>"))
		text = regexp.MustCompile(`:\d\d</time>`).ReplaceAll(text, []byte("</time>"))
		reply.Body, reply.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		reply.Header.Del("Content-Length")
		return nil
	}
	return proxy
}

// An export that fails leaves half of a file.
func TestTheGuideStopsWhenAnExportFails(t *testing.T) {
	t.Parallel()
	examples.Need(t, "bash")
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, script := range map[string]string{
		"mysql": "echo '{\"kind\":\"user\",\"id\":7,\"name\":\"Anna\"}'; exit 1", "waybookctl": "touch imported",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for _, block := range blocks {
		if block.Language == "sh" && (script.Len() == 0 || strings.Contains(block.Text, "> new.ndjson")) {
			script.WriteString(block.Text)
		}
	}
	shell := exec.CommandContext(t.Context(), "bash")
	shell.Dir, shell.Env, shell.Stdin = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH")), strings.NewReader(script.String())
	output, err := shell.CombinedOutput()
	if _, found := os.Stat(filepath.Join(folder, "imported")); err == nil || found == nil {
		t.Errorf("the guide goes on after an export that failed: %v\n%s", err, output)
	}
}

func testFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
