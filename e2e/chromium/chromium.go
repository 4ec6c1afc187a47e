// Package chromium starts a browser for tests.
package chromium

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Start starts a browser with a profile of its own and no page, and returns its context; nil if no
// Chromium is installed. It opens no network connection of its own. It runs without its sandbox,
// which root cannot use; open only pages of tests in it. The caller calls end.
func Start(profile string) (running context.Context, end func(), err error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, func() {}, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("lang", "en-US"), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 900))
	allocated, endProcess := chromedp.NewExecAllocator(context.Background(), options...)
	running, endBrowser := chromedp.NewContext(allocated)
	if err := chromedp.Do(running); err != nil {
		endProcess()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return running, func() {
		_ = chromedp.Cancel(running) // a browser that does not close is killed
		endBrowser()
		endProcess()
	}, nil
}
