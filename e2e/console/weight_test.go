package console_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// weighing observes a page from its start, as Lighthouse does. observed returns what it saw up to the first content.
const weighing = `(() => {
	const seen = window.weighed = { shift: 0, shifted: [], largest: 0, blocked: 0 }
	const observe = (type, note) => new PerformanceObserver(list => list.getEntries().forEach(note)).observe({ type, buffered: true })
	observe('layout-shift', each => {
		if (each.hadRecentInput) return
		seen.shift += each.value
		const at = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ')
		seen.shifted.push(...each.sources.map(({ node, previousRect, currentRect }) =>
			(node?.nodeName ?? 'gone') + ' ' + (node?.className ?? '') + ' from ' + at(previousRect) + ' to ' + at(currentRect)))
	})
	observe('largest-contentful-paint', each => { seen.largest = each.startTime })
	observe('longtask', each => { seen.blocked += Math.max(0, each.duration - 50) })
})()`

// weight is what a page took until its first content.
type weight struct {
	// Shift is the cumulative layout shift. Largest is the time of the largest contentful paint, and Blocked the total
	// blocking time, in milliseconds.
	Shift, Largest, Blocked float64
	// Shifted are the elements that were moved.
	Shifted []string
	// Bytes are those of the replies that began before the content was there, as they were sent. Requests is their
	// number, and Chain how many of them waited for one another.
	Bytes, Requests, Chain int
}

const weighed = `(content => {
	const sent = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
		.filter(each => each.startTime <= content && each.responseEnd > 0).sort((a, b) => a.startTime - b.startTime)
	const depths = []
	sent.forEach((each, i) => depths.push(1 + Math.max(0, ...depths.slice(0, i).filter((_, j) => sent[j].responseEnd <= each.startTime))))
	return {
		Shift: window.weighed.shift, Shifted: window.weighed.shifted, Largest: window.weighed.largest, Blocked: window.weighed.blocked,
		Bytes: sent.reduce((sum, each) => sum + each.encodedBodySize, 0), Requests: sent.length, Chain: Math.max(...depths),
	}
})(performance.getEntriesByName('content')[0].startTime)`

// The lines around the table of weights in docs/console.md.
const (
	weightsPage  = "../../docs/console.md"
	weightsBegin = "<!-- begin of the table of weights: go test ./console -run Weigh -update, in e2e -->\n"
	weightsEnd   = "<!-- end of the table of weights -->\n"
)

// maxShift is half of the layout shift that is good by the measure of Web Vitals.
const maxShift = 0.05

// Times are printed and not asserted: bytes, requests and shifts are what causes them.
func TestPagesWeighWhatTheirTableSays(t *testing.T) {
	process := start(t)
	made := fillTravels(t, process)
	places := map[string]string{
		"home": "#/", "new": "#/read", "near": "#/read?kind=album&near=25.034,121.5645&radius=20", "album": fmt.Sprintf("#/read/album/%d", made.album),
		"entry": fmt.Sprintf("#/read/blog/%d", made.entry), "diary": fmt.Sprintf("#/read/user/%d?diary=2026-04", made.author),
		"map": "#/map?at=25.03,121.56,12", "explorer": "#/explore/getRecentAlbumList", "health": "#/health",
	}
	p := open(t, process, "")
	p.call("observe", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: weighing})
		return err
	})
	limits := readWeights(t)
	var lines []string
	for name, place := range places {
		w := p.weigh(place, content(name))
		t.Logf("%s: %d bytes in %d requests, %d after one another; layout shift %.3f of %q, largest paint after %.0f ms, %.0f ms blocked",
			name, w.Bytes, w.Requests, w.Chain, w.Shift, w.Shifted, w.Largest, w.Blocked)
		if w.Shift > maxShift {
			t.Errorf("%s: the layout shifts by %.3f, limit %.2f: %q", name, w.Shift, maxShift, w.Shifted)
		}
		limit := limits[name] * 1000
		if (w.Bytes > limit || w.Bytes < limit*7/10) && !*update {
			t.Errorf("%s: %d bytes, limit %d; if that is meant, run go test ./console -run Weigh -update, in e2e", name, w.Bytes, limit)
		}
		lines = append(lines, fmt.Sprintf("| %s | %d |\n", name, (w.Bytes*11/10/5000+1)*5))
	}
	// The observer sees a shift.
	value[bool](p, `(window.weighed.shift = 0, document.body.prepend(Object.assign(document.createElement('p'), { textContent: 'ad', style: 'height: 400px' })), true)`)
	p.await("a shift of the layout", fmt.Sprintf(`window.weighed.shift > %v`, maxShift))
	if *update {
		slices.Sort(lines)
		writeWeights(t, strings.Join(lines, ""))
	}
}

// weights returns the page that has the table, in three parts.
func weights(t *testing.T) (before, table, after string) {
	t.Helper()
	text, err := os.ReadFile(weightsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasBegin := strings.Cut(string(text), weightsBegin)
	table, after, hasEnd := strings.Cut(rest, weightsEnd)
	if !hasBegin || !hasEnd {
		t.Fatalf("%s has no table of weights", weightsPage)
	}
	return before, table, after
}

// readWeights returns the limits of the table in kB, by the name of the page.
func readWeights(t *testing.T) map[string]int {
	t.Helper()
	_, table, _ := weights(t)
	limits := map[string]int{}
	for line := range strings.Lines(table) {
		var name string
		var limit int
		if _, err := fmt.Sscanf(line, "| %s | %d |", &name, &limit); err == nil {
			limits[name] = limit
		}
	}
	return limits
}

func writeWeights(t *testing.T, lines string) {
	t.Helper()
	before, _, after := weights(t)
	table := "\n| page | at most kB |\n| --- | --- |\n" + lines + "\n"
	if err := os.WriteFile(weightsPage, []byte(before+weightsBegin+table+weightsEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// weigh opens a place with an empty cache and waits for its content.
func (p *page) weigh(place, selector string) weight {
	p.t.Helper()
	p.do("leave", chromedp.Navigate("about:blank"))
	p.call("empty the cache", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, network.ClearBrowserCache, cdp.Empty{})
		return err
	})
	p.do("open "+place, chromedp.Navigate(p.base+place))
	p.await("the content of "+place, `(document.querySelector(`+quoted(selector)+`) !== null && performance.getEntriesByName('content').length > 0) ||
		(document.querySelector(`+quoted(selector)+`) !== null && performance.mark('content') && false)`)
	p.awaitQuiet()
	return value[weight](p, weighed)
}
