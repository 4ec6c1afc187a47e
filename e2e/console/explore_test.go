package console_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// operation is what /console/operations.json says of an operation, as far as the tests need it.
type operation struct {
	Func, Variant, Effect string
	Login                 bool
	Parameters            []struct {
		Name, Type string
		Required   bool
		Min        *float64
		Values     []struct{ Value string }
	}
}

// name is the name of the operation's form.
func (o operation) name() string {
	if o.Variant != "" {
		return o.Func + "." + o.Variant
	}
	return o.Func
}

func operations(t *testing.T, p *launch.Process) []operation {
	t.Helper()
	var described struct{ Operations []operation }
	if err := json.Unmarshal([]byte(ask(t, p, http.MethodGet, "/console/operations.json", "").Body), &described); err != nil {
		t.Fatal(err)
	}
	return described.Operations
}

// known are identifiers that replies have shown, by the names of parameters. Those of photos and
// comments have the kind of content before the name, as in "album photoID".
type known map[string]string

// key returns the key of a parameter of an operation.
func key(o operation, name string) string {
	if name == "photoID" || name == "commentID" {
		return o.Variant + " " + name
	}
	return name
}

var identifier = regexp.MustCompile(`<(\w+ID)>(\d+)</`)

// note keeps the identifiers of a reply.
func (k known) note(o operation, reply string) {
	for _, found := range identifier.FindAllStringSubmatch(reply, -1) {
		k[key(o, found[1])] = found[2]
	}
}

// form returns the address of an operation's form with valid values in it. It reports whether all
// identifiers are known.
func (k known) form(o operation) (place string, isComplete bool) {
	values := url.Values{}
	isComplete = true
	for _, p := range o.Parameters {
		id, isKnown := k[key(o, p.Name)]
		switch {
		case len(p.Values) > 0:
			values.Set(p.Name, p.Values[0].Value)
		case p.Name == "requestID": // a UUID, which a form need not have
		case p.Type == "id" && isKnown:
			values.Set(p.Name, id)
		case !p.Required && (p.Type != "text" || o.Effect == "read"): // but the texts of a vote
		case p.Type == "id":
			isComplete = false
			values.Set(p.Name, "1")
		case p.Type == "decimal":
			values.Set(p.Name, "25.03")
		case p.Type == "integer":
			values.Set(p.Name, "2")
		default:
			values.Set(p.Name, "台北 & <b>101</b>")
		}
	}
	return "#/explore/" + o.name() + "?" + values.Encode(), isComplete
}

// send sends the form that is shown and returns the reply as it came.
func (p *page) send() (outcome, raw string) {
	p.t.Helper()
	p.click(id("send"))
	p.await("a reply", `document.querySelector('[data-testid="reply"]').dataset.state === 'done' && document.querySelector('[data-testid="outcome"]') !== null`)
	p.click(id("reply-tab-raw"))
	p.awaitElement(id("raw"))
	return p.text(id("outcome")), p.text(id("raw"))
}

func TestEveryOperationIsSentAndItsReplyShown(t *testing.T) {
	longform.Only(t)
	process := start(t, "-registration", "open")
	// A reply that glides into view is hard to click on.
	p := openOn(t, screen{width: desktop.width, height: desktop.height, scheme: desktop.scheme, isStill: true}, process, "")
	user, token := demoSession(t, process)
	p.paste(user, token)
	all := operations(t, process)
	if len(all) < 14 {
		t.Fatalf("there are only %d operations", len(all))
	}
	// Content is made first, and removed last.
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(order(a), order(b)) })
	seen := known{"userID": user}
	for _, each := range all {
		place, isComplete := seen.form(each)
		p.visit(place)
		switch each.Func { // secrets are in no address
		case "login":
			p.fill(id("param-email"), "demo@waybook.example")
			p.fill(id("param-password"), demoPassword(t, process))
		case "register":
			p.fill(id("param-email"), "new@waybook.example")
			p.fill(id("param-password"), "a new password")
			p.fill(id("param-invitation"), "")
		case "changePassword":
			p.fill(id("param-oldPassword"), demoPassword(t, process))
			p.fill(id("param-newPassword"), "another password")
		}
		outcome, raw := p.send()
		seen.note(each, raw)
		if !strings.Contains(raw, "<response><status>") {
			t.Errorf("%s: the raw reply is %s", each.name(), raw)
		}
		if isComplete && !strings.Contains(outcome, "SUCCESS") {
			t.Errorf("%s: %s: %s", place, outcome, raw)
		}
		p.click(id("reply-tab-tree"))
		p.awaitText(id("tree"), "status")
		p.shot("explore-" + each.name())
	}
}

// order sorts what makes content before what shows it, and that before what removes it.
func order(o operation) int {
	switch {
	case o.Func == "logout":
		return 4
	case o.Variant == "delete":
		return 3
	case strings.HasPrefix(o.Func, "remove") || strings.HasPrefix(o.Func, "withdraw"):
		return 2
	case o.Effect == "read":
		return 1
	}
	return 0
}

func TestAFailedCallShowsItsReasonAndWhatToDo(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "#/explore/getAlbum?albumID=1&.format=JSON")
	outcome, raw := p.send()
	if !strings.Contains(outcome, "FAILED") || raw != `{"status":"FAILED","info":"ALBUM NOT FOUND"}` {
		t.Errorf("got %s: %s", outcome, raw)
	}
	for element, want := range map[string]string{
		"failure-info": "ALBUM NOT FOUND", "failure-reason": "ALBUM_NOT_FOUND", "failure-meaning": "album", "failure-action": "albumID",
	} {
		if got := p.text(id(element)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", element, got)
		}
	}
	p.click(id("reply-tab-headers"))
	p.awaitText(id("headers"), "ALBUM_NOT_FOUND")
	p.shot("explore-failure")

	p.visit("#/explore/addAlbum?albumTitle=x&category=1&lat=95&lng=0")
	if _, raw := p.send(); !strings.Contains(raw, "LOGIN REQUIRED") || p.text(id("failure-reason")) != "LOGIN_REQUIRED" {
		t.Errorf("without a session: %s", raw)
	}
}

func TestAFormIsFilledInAndSentByKeyboardAlone(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "")
	p.tabTo(id("nav-developers"))
	p.press("\r")
	p.tabTo(id("operation-getCategoryPOIList"))
	p.press("\r")
	p.awaitElement(id("param-category"))
	p.tabTo(id("param-category"))
	p.press("2")
	p.tabTo(id("send"))
	p.press("\r")
	p.await("a reply", `document.querySelector('[data-testid="outcome"]') !== null`)
	if got := p.text(id("outcome")); !strings.Contains(got, "SUCCESS") {
		t.Errorf("got %s:\n%s", got, p.text(id("reply")))
	}
	p.shot("explore-keyboard")
}

// tabTo moves the focus with the Tab key until an element has it, and checks that each stop is visible.
func (p *page) tabTo(selector string) {
	p.t.Helper()
	for range 200 {
		p.press("\t")
		if value[bool](p, `document.activeElement.matches(`+quoted(selector)+`)`) {
			if outline := value[string](p, `(s => s.outlineStyle + s.boxShadow)(getComputedStyle(document.activeElement))`); outline == "nonenone" {
				p.t.Errorf("nothing shows that %s has the focus", selector)
			}
			return
		}
	}
	p.t.Fatalf("the Tab key does not reach %s", selector)
}
