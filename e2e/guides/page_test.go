package guides_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience bounds every wait for the browser. It is not a measurement; it only ends a test that
// would hang.
const patience = time.Minute

// page is an empty page in Chromium, with cookies of its own.
type page struct{ ctx context.Context }

// servePage serves an empty page until the test ends, and returns its origin.
func servePage(t *testing.T) (origin string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, "<!doctype html><title>page</title>") // a browser that has gone needs no page
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// openPage opens the page of an origin.
func openPage(t *testing.T, browser context.Context, origin string) *page {
	t.Helper()
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		end()
	})
	// The first call starts the tab, which lives as long as the context of that call.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := chromedp.Do(bounded, chromedp.Navigate(origin)); err != nil {
		t.Fatal(err)
	}
	return &page{ctx}
}

// call runs a script of the page that declares a function, and returns the text to which the call of
// that function resolves.
func (p *page) call(script, function string, args ...any) (string, error) {
	encoded, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[string](
		fmt.Sprintf("(() => { %s\nreturn %s(...%s) })()", script, function, encoded), chromedp.EvalAwaitPromise))
}
