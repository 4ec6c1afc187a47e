// Package console_test opens the console of a real standalone in Chromium, and uses it as people do.
package console_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
)

// binaries is the directory of the programs, and chromium a running browser without a page; it is nil
// if there is no Chromium. Both serve all tests.
var (
	binaries string
	chromium context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "waybook-console")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(directory) }()
	binaries = directory
	err = launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/edge/cmd/edge")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	end, err := startChromium(filepath.Join(directory, "profile"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer end()
	return m.Run()
}

// startChromium starts the browser of all tests, if there is one. It opens no network connection of
// its own. It runs without its sandbox, which root cannot use; the only pages are Waybook's.
func startChromium(profile string) (end func(), err error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return func() {}, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 900))
	allocated, endProcess := chromedp.NewExecAllocator(context.Background(), options...)
	running, endBrowser := chromedp.NewContext(allocated)
	if err := chromedp.Do(running); err != nil {
		endProcess()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	chromium = running
	return func() {
		_ = chromedp.Cancel(running) // a browser that does not close is killed
		endBrowser()
		endProcess()
	}, nil
}

// start starts standalone with demo content.
func start(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), args...)
}
