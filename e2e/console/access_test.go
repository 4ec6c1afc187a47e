package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// axe is the checker of accessibility among the console's development packages.
var axe = filepath.Join("..", "..", "console", "node_modules", "axe-core", "axe.min.js")

// check returns what axe-core finds.
const check = `axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations
	.map(each => each.id + ': ' + each.nodes.map(node => node.target.join(' ') + ' ' + node.failureSummary).join('\n')))`

func TestAxeFindsNothingOnAnyPage(t *testing.T) {
	longform.Only(t)
	source, err := os.ReadFile(axe)
	if err != nil {
		t.Skipf("SKIPPED: axe-core is not installed (npm ci in console), so accessibility is not checked: %v", err)
	}
	process := start(t)
	p := open(t, process, "")
	for _, s := range []screen{
		{width: 1280, height: 900, scheme: "dark", isStill: true}, {width: 320, height: 640, scheme: "light", isStill: true},
	} {
		p.show(s)
		places := views(t, process)
		places["failure"] = "#/explore/getAlbum?albumID=1"
		places["session"] = "#/explore/addAlbum"
		for name, place := range places {
			p.visit(place)
			p.awaitQuiet()
			switch name {
			case "failure":
				p.send()
			case "session":
				p.openSession()
			}
			p.load(string(source))
			for _, found := range value[[]string](p, check) {
				t.Errorf("%s, %s: %s", name, fmt.Sprint(s), strings.TrimSpace(found))
			}
		}
	}
	// The checker sees a mistake. The page is opened anew: behind an open dialog nothing counts.
	p.visit("#/read")
	p.awaitQuiet()
	p.load(string(source))
	value[bool](p, `(document.querySelector('main').append(document.createElement('button')), true)`)
	if found := value[[]string](p, check); len(found) != 1 || !strings.HasPrefix(found[0], "button-name") {
		t.Errorf("of a button without a name it finds %q", found)
	}
}

// load runs a script in the page.
func (p *page) load(script string) {
	p.t.Helper()
	if _, err := evaluate[[]byte](p, script); err != nil {
		p.t.Fatal(err)
	}
}
