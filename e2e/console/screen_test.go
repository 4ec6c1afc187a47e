package console_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// views are a place of each view, with a name for its picture.
func views(t *testing.T, p *launch.Process) map[string]string {
	t.Helper()
	user, _ := demoSession(t, p)
	seen := known{}
	for _, list := range []string{"getUserAlbumList", "getUserBlogList"} {
		seen.note(operation{}, ask(t, p, http.MethodGet, "/API.php?func="+list+"&userID="+user, "").Body)
	}
	seen.note(operation{}, ask(t, p, http.MethodGet, "/API.php?func=getCategoryPOIList&category=2", "").Body)
	return map[string]string{
		"read-blogs": "#/read?kind=blog", "read-landmarks": "#/read?kind=landmark", "read-near": "#/read?kind=album&near=25.1,121.8&radius=20",
		"read-month": "#/read?kind=blog&date=2026-11", "read-diary": "#/read/user/" + user + "?diary=2026-11",
		"read-landmark": "#/read/landmark/" + seen["POIID"], "map-album": "#/map?at=25.1,121.8,12&album=" + seen["albumID"],
		"explore": "#/explore/postBlog", "map": "#/map?at=23.7,120.95,7", "health": "#/health", "home": "#/", "account": "#/account", "read": "#/read", "unknown": "#/nothing",
		"read-user": "#/read/user/" + user, "read-nobody": "#/read/user/1", "read-album": "#/read/album/" + seen["albumID"], "read-blog": "#/read/blog/" + seen["blogID"],
	}
}

// awaitQuiet waits until a view has loaded what it shows.
func (p *page) awaitQuiet() {
	p.t.Helper()
	p.await("the end of loading", `document.querySelector('[data-loading="true"], [aria-busy="true"], .message[role="status"]') === null && document.fonts.status === 'loaded'`)
}

// cutWords are the parts of the bar that are cut, or below its first row.
const cutWords = `[...document.querySelectorAll('.bar a, .bar button, .bar select')].filter(each => each.checkVisibility())
	.filter((each, _, all) => each.scrollWidth > each.clientWidth + 1 && each.tagName !== 'SELECT' ||
		each.getBoundingClientRect().top > all[0].getBoundingClientRect().bottom || each.getBoundingClientRect().right > innerWidth)
	.map(each => each.innerText)`

func TestEveryViewFitsEveryScreenInBothSchemes(t *testing.T) {
	longform.Only(t)
	process := start(t)
	p := open(t, process, "")
	isLong := os.Getenv("WAYBOOK_SCREENSHOTS") != ""
	for size, width := range map[string][2]int64{
		"320": {320, 640}, "390": {390, 844}, "768": {768, 1024}, "1280": {1280, 900}, "4k": {3840, 2160},
	} {
		for _, scheme := range []string{"light", "dark"} {
			if isShort := (size == "320" || size == "768") && scheme == "light" || size == "1280" && scheme == "dark"; !isShort && !isLong {
				continue
			}
			p.show(screen{width: width[0], height: width[1], scheme: scheme, isStill: true})
			for name, place := range views(t, process) {
				p.visit(place)
				p.awaitQuiet()
				if wide := value[int64](p, `document.scrollingElement.scrollWidth`); wide > width[0] {
					t.Errorf("%s at %s: %d pixels wide", name, size, wide)
				}
				if cut := value[[]string](p, cutWords); len(cut) > 0 {
					t.Errorf("%s at %s: the bar has more than a row, or cuts %q", name, size, cut)
				}
				p.shot(strings.Join([]string{"screen", name, size, scheme}, "-"))
			}
			if isDark := p.brightness() < 128; isDark != (scheme == "dark") {
				t.Errorf("the page has the brightness %d in the scheme %s", p.brightness(), scheme)
			}
		}
	}
}

func TestThePageSpeaksBothLanguages(t *testing.T) {
	longform.Only(t)
	process := start(t)
	p := open(t, process, "")
	for language, words := range map[string][]string{
		"zh-Hant": {"最新內容", "地圖"}, "en": {"What is new", "Map"},
	} {
		p.choose(id("language"), language)
		p.await(language, `document.documentElement.lang === `+quoted(language))
		for name, place := range views(t, process) {
			p.visit(place) // the choice lasts
			p.awaitQuiet()
			if lang := value[string](p, `document.documentElement.lang`); lang != language {
				t.Errorf("%s: the language is %s", name, lang)
			}
			p.shot("language-" + name + "-" + language)
		}
		p.visit("")
		for _, word := range words {
			p.awaitText("body", word)
		}
	}
}

// brightness returns that of the page's background, from 0 to 255.
func (p *page) brightness() int {
	p.t.Helper()
	var red, green, blue int
	colour := value[string](p, `[document.body, document.documentElement].map(each => getComputedStyle(each).backgroundColor).find(each => each.startsWith('rgb('))`)
	if _, err := fmt.Sscanf(colour, "rgb(%d, %d, %d)", &red, &green, &blue); err != nil {
		p.t.Fatalf("the colour %s: %v", colour, err)
	}
	return (red + green + blue) / 3
}

func TestTheSchemeIsChosenAndKept(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "")
	for _, theme := range []string{"dark", "light"} {
		p.choose(id("theme"), theme)
		for _, place := range []string{"", "#/health"} {
			p.visit(place)
			if isDark := p.brightness() < 128; isDark != (theme == "dark") {
				t.Errorf("%s at %s: the brightness is %d", theme, place, p.brightness())
			}
		}
	}
}

// open fails the test when the browser reports a violation; here every view is opened and used.
func TestNothingOfThePageViolatesItsPolicy(t *testing.T) {
	longform.Only(t)
	process := start(t)
	p := open(t, process, "")
	user, token := demoSession(t, process)
	p.paste(user, token)
	for name, place := range views(t, process) {
		p.visit(place)
		p.awaitQuiet()
		if name == "explore" {
			p.send()
		}
	}
	// The policy is in force: it refuses what the page does not do.
	p.expect("VIOLATION")
	p.expect("Content Security Policy")
	if ran := value[bool](p, `(() => {
		const script = document.createElement('script')
		script.textContent = 'window.ran = true'
		document.body.append(script)
		return window.ran === true
	})()`); ran {
		t.Error("an inline script ran")
	}
}

// maxShift is half of the layout shift that is good by the measure of Web Vitals.
const maxShift = 0.05

func TestPagesAreSmallAndDoNotShift(t *testing.T) {
	process := start(t)
	made := fillTravels(t, process)
	for name, c := range map[string]struct {
		place string
		most  float64
	}{
		"home": {"#/", 100_000}, "album": {fmt.Sprintf("#/read/album/%d", made.album), 100_000}, "map": {"#/map?at=25.03,121.56,12", 250_000},
	} {
		p := open(t, process, c.place)
		p.awaitElement(content(name))
		p.awaitQuiet()
		loaded := value[float64](p, `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
			.filter(each => !each.name.includes('.php') && !each.name.includes('/upload/')).reduce((sum, each) => sum + each.encodedBodySize, 0)`)
		shift := value[float64](p, `new Promise(done => {
			new PerformanceObserver(list => done(list.getEntries().reduce((sum, each) => sum + (each.hadRecentInput ? 0 : each.value), 0)))
				.observe({ type: 'layout-shift', buffered: true })
			setTimeout(() => done(0), 500)
		})`)
		t.Logf("%s: %.0f kB, layout shift %.3f", name, loaded/1000, shift)
		if loaded < 10_000 || loaded > c.most || shift > maxShift {
			t.Errorf("%s loads %.0f bytes, limit %.0f, and shifts by %.3f", name, loaded, c.most, shift)
		}
	}
}
