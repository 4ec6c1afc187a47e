package console_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

func TestWordsAreSearchedOnAServerOfTheirOwn(t *testing.T) {
	longform.Only(t)
	address := launch.Address(t)
	process := start(t, "-console-search", "http://"+address+"/search")
	fillTravels(t, process)
	p := open(t, process, "#/read")
	// Without the server the page says so.
	p.expect(address)
	p.fill(id("search-words"), "夜景")
	p.clickWords("Search")
	p.awaitText(id("search-results"), "Failed to fetch")
	launch.Begin(t, filepath.Join(binaries, "search"), nil, "-http", address, "-index", filepath.Join(t.TempDir(), "index"),
		"-album", process.GRPC, "-blog", process.GRPC, "-poi", process.GRPC, "-origin", strings.TrimSuffix(p.base, "/"))
	for end := time.Now().Add(patience); !p.has(id("search-results") + " .read-cards a"); { // a new text is found some seconds after it was written
		if time.Now().After(end) {
			t.Fatalf("nothing is found: %s", p.text("body"))
		}
		p.visit("#/read?words=" + "夜景")
		p.awaitQuiet()
	}
	p.shot("search")
	if source, err := os.ReadFile(axe); err == nil {
		p.load(string(source))
		for _, found := range value[[]string](p, check) {
			t.Error(found)
		}
	}
	p.clickWords("信義區的夜景")
	p.awaitElement(id("album-page"))
	p.visit("#/read?words=zzzz")
	p.awaitText(id("search-results"), "Nothing has these words")
	p.choose(id("language"), "zh-Hant")
	p.clickWords("搜尋")
	p.awaitText(id("search-results"), "沒有含有")
}

func TestARefusedOrEndlessSearchIsShownAndEnds(t *testing.T) {
	longform.Only(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.FormValue("q") == "refused" {
			http.Error(w, "q: not this one", http.StatusBadRequest)
			return
		}
		for range 100 {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
				return // the page has left
			}
		}
	}))
	defer server.Close()
	p := open(t, start(t, "-console-search", server.URL+"/search"), "#/read?words=refused")
	p.expect("400")
	p.awaitText(id("failure"), "q: not this one")
	p.visit("#/read?words=endless")
	p.awaitText(id("failure"), "longer than")
	// Without the setting there is no field.
	p = open(t, start(t), "#/read?words=x")
	p.cards(1)
	if p.has(id("search-words")) {
		t.Error("there is a field for words")
	}
}
