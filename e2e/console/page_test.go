package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
)

// patience bounds every wait for the page. It is not a measurement; it only ends a test that would
// hang.
const patience = time.Minute

// page is a page of the console in a browser context of its own: no test sees the cookies or the
// storage of another.
type page struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu sync.Mutex
	// complaints are the errors of the browser: exceptions, violations of the policy, files that
	// do not load. expected are parts of those that a test causes.
	complaints, expected []string
}

// screen is what a user has set up: the width and the height in pixels, and the preferences.
type screen struct {
	width, height int64
	scheme        string // light or dark
	isStill       bool   // prefers reduced motion
}

var desktop = screen{width: 1280, height: 900, scheme: "light"}

// open opens the console of a process. At its end the test fails if the browser has complained.
func open(t *testing.T, p *launch.Process, place string) *page { return openOn(t, desktop, p, place) }

func openOn(t *testing.T, s screen, p *launch.Process, place string) *page {
	t.Helper()
	shown := newPage(t, s, "http://"+p.HTTP+"/")
	shown.visit(place)
	return shown
}

// newPage returns a page that has not visited a place.
func newPage(t *testing.T, s screen, base string) *page {
	t.Helper()
	if browser == nil {
		t.Skip("SKIPPED: there is no Chromium, so the console is not opened in a browser")
	}
	// The images of what tests move in are on no server.
	shown := &page{t: t, base: base, expected: []string{"/upload/"}}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(shown.listen))
	t.Cleanup(func() {
		shown.mu.Lock()
		for _, complaint := range shown.complaints {
			if !slices.ContainsFunc(shown.expected, func(part string) bool { return strings.Contains(complaint, part) }) {
				t.Errorf("the browser complains: %s", complaint)
			}
		}
		shown.mu.Unlock()
		_ = chromedp.Cancel(ctx)
		end()
	})
	shown.ctx = ctx
	shown.do("open", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Call(ctx, log.Enable, cdp.Empty{})
		return err
	}))
	shown.call("watch", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
		return err
	})
	shown.show(s)
	return shown
}

// watch reports violations of the policy, which reach the log of the browser too, but late.
const watch = `addEventListener('securitypolicyviolation', event =>
	console.error('VIOLATION', event.effectiveDirective, event.blockedURI, event.sourceFile))`

// listen collects the complaints of the browser.
func (p *page) listen(event any) {
	var complaint string
	switch event := event.(type) {
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError {
			complaint = fmt.Sprintf("%s: %s %s", event.Entry.Source, event.Entry.Text, event.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		complaint = event.ExceptionDetails.Text
		if thrown := event.ExceptionDetails.Exception; thrown != nil {
			complaint += " " + thrown.Description
		}
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError {
			complaint = "console.error"
			for _, argument := range event.Args {
				complaint += " " + string(argument.Value) + argument.Description
			}
		}
	}
	if complaint != "" {
		p.mu.Lock()
		p.complaints = append(p.complaints, complaint)
		p.mu.Unlock()
	}
}

// expect allows complaints that have a part.
func (p *page) expect(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, part)
}

func (p *page) call(what string, f func(context.Context) error) {
	p.t.Helper()
	p.do(what, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return f(ctx) }))
}

// replaced are the errors of the browser about an element that the page replaced after it was
// found. Nothing has happened to it then.
var replaced = []string{"Could not find node with given id", "No node with given id", "Node is detached"}

// do runs steps, within patience. It repeats a step whose element was replaced meanwhile.
func (p *page) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	end := time.Now().Add(patience)
	for _, step := range steps {
		for {
			err := p.try(step)
			if err == nil {
				break
			}
			wasReplaced := slices.ContainsFunc(replaced, func(text string) bool { return strings.Contains(err.Error(), text) })
			if !wasReplaced || time.Now().After(end) {
				p.t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

func (p *page) try(steps ...chromedp.Action[chromedp.Void]) error {
	// The first call starts the tab, which lives as long as the context of that call.
	if err := chromedp.Do(p.ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// show sets the size and the preferences of the screen.
func (p *page) show(s screen) {
	p.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}
	if s.isStill {
		features = append(features, &emulation.MediaFeature{Name: "prefers-reduced-motion", Value: "reduce"})
	}
	p.do("resize", chromedp.EmulateViewport(s.width, s.height))
	p.call("set preferences", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// visit opens a place of the console, such as #/map, and waits until its view is there.
func (p *page) visit(place string) {
	p.t.Helper()
	p.do("open "+place, chromedp.Navigate("about:blank"), chromedp.Navigate(p.base+place))
	p.await("the view of "+place, `document.querySelector('main :is(h1, [data-testid="failure"], .message:not([role="status"]))') !== null`)
}

// await waits until a JavaScript condition holds. It takes no chromedp.Poll, which needs the eval that
// the page forbids.
func (p *page) await(what, condition string) {
	p.t.Helper()
	waiting := `new Promise(resolve => {
		const end = Date.now() + ` + fmt.Sprint(patience.Milliseconds()/2) + `
		const look = () => (` + condition + `) ? resolve(true) : Date.now() > end ? resolve(false) : setTimeout(look, 20)
		look()
	})`
	isThere, err := evaluate[bool](p, waiting)
	if err != nil || !isThere {
		p.shot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Fatalf("waiting for %s: %v\n%s", what, err, p.text("body"))
	}
}

// evaluate returns the value of an expression, or that of the promise that it returns.
func evaluate[T any](p *page, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// value is evaluate for an expression that has a value.
func value[T any](p *page, expression string) T {
	p.t.Helper()
	found, err := evaluate[T](p, expression)
	if err != nil && !errors.Is(err, chromedp.ErrJSNull) && !errors.Is(err, chromedp.ErrJSUndefined) {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return found
}

// quoted returns a text as a literal of JavaScript.
func quoted(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // every string is JSON
	}
	return string(literal)
}

// id returns the selector of an element by its data-testid.
func id(name string) string { return `[data-testid="` + name + `"]` }

// has reports whether an element is there.
func (p *page) has(selector string) bool {
	p.t.Helper()
	return value[bool](p, `document.querySelector(`+quoted(selector)+`) !== null`)
}

// text returns the text of an element as people see it; "" if there is none.
func (p *page) text(selector string) string {
	p.t.Helper()
	return value[string](p, `document.querySelector(`+quoted(selector)+`)?.innerText ?? ''`)
}

// awaitElement waits until an element is there.
func (p *page) awaitElement(selector string) {
	p.t.Helper()
	p.await(selector, `document.querySelector(`+quoted(selector)+`) !== null`)
}

// awaitText waits until an element has a text.
func (p *page) awaitText(selector, part string) {
	p.t.Helper()
	p.await(selector+" with "+part, `(document.querySelector(`+quoted(selector)+`)?.innerText ?? '').includes(`+quoted(part)+`)`)
}

// click clicks an element with the mouse.
func (p *page) click(selector string) {
	p.t.Helper()
	p.awaitElement(selector)
	p.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// fill types a text into a field, in place of what it has.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.awaitElement(selector)
	p.do("fill "+selector, chromedp.ScrollIntoView(chromedp.CSS(selector)), chromedp.Focus(chromedp.CSS(selector)))
	value[bool](p, `(document.querySelector(`+quoted(selector)+`).select(), true)`)
	p.do("fill "+selector, chromedp.KeyEvent(text))
}

// choose selects an option, as a click on it does.
func (p *page) choose(selector, option string) {
	p.t.Helper()
	p.awaitElement(selector)
	value[bool](p, `(() => {
		const field = document.querySelector(`+quoted(selector)+`)
		field.value = `+quoted(option)+`
		field.dispatchEvent(new Event('input', { bubbles: true }))
		field.dispatchEvent(new Event('change', { bubbles: true }))
		return true
	})()`)
}

// press presses keys wherever the focus is.
func (p *page) press(keys string) {
	p.t.Helper()
	p.do("press", chromedp.KeyEvent(keys))
}

// shot keeps a picture of the page in the directory of WAYBOOK_SCREENSHOTS, if it is set.
func (p *page) shot(name string) {
	directory := os.Getenv("WAYBOOK_SCREENSHOTS")
	if directory == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(directory, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Errorf("the picture %s: %v", name, err)
	}
}
