package contract

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/rules"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// filledForm is an operation with a valid form and all its parameters.
type filledForm struct {
	// function is its func. name also says which variant it is.
	function, name, form string
	parameters           []string
}

// operations returns the whole table, with a form that each takes on content that exists. The
// variant that a flag selects is not one of its own: the flag is a parameter. A parameter that is
// new needs a value here; an operation needs nothing.
func operations(t *testing.T, w *waybook) (all []filledForm) {
	t.Helper()
	values := map[string]string{
		"albumID": w.album, "blogID": w.blog, "userID": w.user, "POIID": "1",
		"albumTitle": "a", "category": "2", "lat": "25.03", "lng": "121.56",
		"thumbnail": "a.jpg", "photo": "a.jpg", "photoID": "1", "comment": "a", "commentID": "1", "reply": "a", "choice": "1",
		"radius": "50000", "latMin": "20", "latMax": "30", "lngMin": "120", "lngMax": "130",
		"type": "0_1", "blogTitle": "a", "blogContent": "b", "year": "2026", "month": "2", "day": "28", "weather": "有彩虹",
		"email": "a@waybook.example", "password": "password of a",
		"nickname": "a", "icon": "a.jpg", "invitation": "a", "oldPassword": "x", "newPassword": "password of a",
	}
	index := map[string]int{}
	for _, row := range edge.Operations() {
		name := row.Func
		if row.Variant.Flag() == nil && row.Variant.Selector() != "" {
			name += " with " + row.Variant.Selector()
		}
		at, known := index[name]
		if !known {
			at = len(all)
			index[name] = at
			all = append(all, filledForm{function: row.Func, name: name, form: "func=" + row.Func})
		}
		each := &all[at]
		for _, p := range row.Parameters {
			if slices.Contains(each.parameters, p.Name) {
				continue
			}
			each.parameters = append(each.parameters, p.Name)
			value, has := values[p.Name]
			if has {
				each.form += "&" + p.Name + "=" + url.QueryEscape(value)
			} else if p.IsRequired && (row.Variant.Flag() == nil || p.Name != row.Variant.Selector()) {
				t.Errorf("%s requires %s, which has no value here", row.Func, p.Name)
			}
		}
	}
	for i := range all {
		for _, p := range edge.SharedParameters() {
			all[i].parameters = append(all[i].parameters, p.Name)
		}
		all[i].parameters = append(all[i].parameters, "nobody-knows-this")
	}
	return all
}

func TestNaughtyStringsInEveryParameterOfEveryOperation(t *testing.T) {
	w := start(t)
	all := naughtyStrings(t)
	// Each parameter gets every stride-th string, shifted by one for each parameter, so that every string
	// is sent. So do names of parameters, shifted by one for each operation.
	stride, strideOfNames := longform.Number(64, 8), longform.Number(16, 1)
	if os.Getenv("WAYBOOK_NAUGHTY") == "all" {
		stride, strideOfNames = 1, 1
	}
	var group sync.WaitGroup
	for o, each := range operations(t, w) {
		group.Go(func() {
			form, err := url.ParseQuery(each.form)
			if err != nil {
				t.Error(err)
				return
			}
			for n, name := range each.parameters {
				for i, value := range all {
					if (i+n)%stride != 0 {
						continue
					}
					sent := url.Values{"responseFormat": {[]string{"XML", "JSON"}[i%2]}}
					for other := range form {
						sent.Set(other, form.Get(other))
					}
					sent.Set(name, value)
					w.post(sent.Encode(), cookieOf(w, each.name)).check(t, fmt.Sprintf("%s with %s=%.100q", each.name, name, value))
				}
			}
			// Each string is also the name of a parameter, and unencoded text in the query.
			for i, value := range all {
				if (i+o)%strideOfNames != 0 {
					continue
				}
				w.post("func="+each.function+"&"+url.QueryEscape(value)+"=x", "").check(t, fmt.Sprintf("a parameter %.100q", value))
				w.post("func="+each.function+"&"+value, "").check(t, fmt.Sprintf("the form %.100q", value))
			}
		})
	}
	group.Wait()
	w.checkLog(t)
}

// cookieOf returns no cookie for logout, so that the session stays open for the other operations.
func cookieOf(w *waybook, operation string) string {
	if operation == "logout" {
		return ""
	}
	return w.cookie
}

// waybook is a running Waybook with a user, an album and an entry.
type waybook struct {
	*waybooktest.Waybook
	t                 *testing.T
	cookie            string
	user, album, blog string
	client            *waybooktest.Client
	logged            *diary
}

func start(t *testing.T) *waybook {
	t.Helper()
	logged := &diary{}
	w := &waybook{t: t, logged: logged, Waybook: waybooktest.Start(t,
		waybooktest.Flags("-access-log"), waybooktest.Log(slog.New(slog.NewTextHandler(logged, nil))))}
	user := launch.CreateUser(t, w.Connection, "小旅人")
	w.user, w.client = strconv.FormatInt(user, 10), w.Client()
	w.cookie = w.As(user).Cookie()
	for _, each := range []struct {
		id   *string
		name string
		form string
	}{
		{&w.album, "albumID", "func=addAlbum&albumTitle=a&category=5&lat=1&lng=2"},
		{&w.blog, "blogID", "func=postBlog&type=0_1&blogTitle=a&blogContent=b&year=2026&month=2&day=28&lat=1&lng=2&weather=" + url.QueryEscape("有彩虹")},
	} {
		made := w.post(each.form, w.cookie)
		found := regexp.MustCompile("<" + each.name + `>(\d+)<`).FindStringSubmatch(made.body)
		if found == nil {
			t.Fatalf("%s: %s", each.form, made.body)
		}
		*each.id = found[1]
	}
	return w
}

func (w *waybook) newRequest(method, form string) *http.Request {
	w.t.Helper()
	r := w.client.Request(method, "", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// post sends a form and returns the reply.
func (w *waybook) post(form, cookie string) answered {
	w.t.Helper()
	r := w.newRequest(http.MethodPost, form)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	return w.send(r)
}

func (w *waybook) send(r *http.Request) answered {
	w.t.Helper()
	reply := w.client.Send(r)
	return answered{reply.Code, reply.Header, reply.Body}
}

// checkLog checks that no request forged a log line.
func (w *waybook) checkLog(t *testing.T) {
	t.Helper()
	w.logged.mu.Lock()
	defer w.logged.mu.Unlock()
	ours := regexp.MustCompile(`^time=\S+ level=(DEBUG|INFO|WARN) msg=("[^"]*"|\S+) `)
	for line := range strings.Lines(w.logged.text.String()) {
		if !ours.MatchString(line) || strings.Contains(line, "msg=forged") {
			t.Errorf("logged %.500q", line)
		}
	}
}

// check checks that the reply is a success, or a failure that is not the server's fault.
func (a answered) check(t *testing.T, what string) {
	t.Helper()
	reason := a.header.Get(reasonHeader)
	hasSucceeded := strings.Contains(a.body, "<status>SUCCESS</status>") || strings.HasPrefix(a.body, `{"status":"SUCCESS"`)
	if err := wellFormed(a); err != nil || a.status < 200 || a.status >= 500 || reason == "INTERNAL_ERROR" || hasSucceeded != (reason == "") {
		t.Errorf("%s: %d %v %.300q, %v", what, a.status, a.header, a.body, err)
	}
}

// naughtyStrings returns the strings of the list.
func naughtyStrings(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/naughty/strings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		value, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, value)
	}
	return all
}

// requests returns the name of every request of the contracts, and of the items that an import
// validates one by one.
func requests() []protoreflect.FullName {
	names := []protoreflect.FullName{"waybook.poi.v1.ImportedPoi"}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for n := range methods.Len() {
				if name := methods.Get(n).Input().FullName(); strings.HasPrefix(string(name), "waybook.") {
					names = append(names, name)
				}
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// setters returns a function for each string of a message. It sets the string.
func setters(of protoreflect.MessageDescriptor) (all []func(protoreflect.Message, string)) {
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		switch {
		case field.Kind() == protoreflect.StringKind && field.IsList():
			all = append(all, func(m protoreflect.Message, s string) { m.Mutable(field).List().Append(protoreflect.ValueOfString(s)) })
		case field.Kind() == protoreflect.StringKind:
			all = append(all, func(m protoreflect.Message, s string) { m.Set(field, protoreflect.ValueOfString(s)) })
		case field.Kind() == protoreflect.MessageKind && !field.IsList() && strings.HasPrefix(string(field.Message().FullName()), "waybook."):
			for _, set := range setters(field.Message()) {
				all = append(all, func(m protoreflect.Message, s string) { set(m.Mutable(field).Message(), s) })
			}
		}
	}
	return all
}

// texts returns the naughty strings, and each character that some rule of texts could be about.
func texts(t *testing.T) []string {
	t.Helper()
	all := naughtyStrings(t)
	for r := range rune(0x180) {
		all = append(all, "a"+string(r)+"b")
	}
	for _, r := range "\u1680\u2000\u200b\u200e\u2028\u2029\u202e\u2060\u3000\ud7ff\ue000\ufdd0\ufeff\ufffd\ufffe\uffff\U00010000\U0001fffe\U0010ffff" {
		all = append(all, string(r), "a"+string(r))
	}
	return append(all, "\xff", "a\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "晴\xe6\x99")
}

// An edge and the contracts take the same texts, in every parameter and in every field.
func TestAnEdgeAndTheContractsTakeTheSameTexts(t *testing.T) {
	taken, refused, fields := 0, 0, 0
	for _, s := range texts(t) {
		var sent form.Form
		sent.ParseBody("a="+url.QueryEscape(s), form.UTF8)
		_, found := sent.Get("a")
		isTaken := found == form.Readable
		if isTaken {
			taken++
		} else {
			refused++
		}
		for _, name := range requests() {
			kind, err := protoregistry.GlobalTypes.FindMessageByName(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range setters(kind.Descriptor()) {
				fields++
				request := kind.New()
				set(request, s)
				violations := rules.Violations(request.Interface())
				isRefused := false
				for _, violation := range violations {
					isRefused = isRefused || strings.Contains(violation.Message, "XML 1.0")
				}
				if isRefused == isTaken {
					t.Errorf("%.100q: the edge takes it: %v; %s: %v", s, isTaken, name, violations)
				}
			}
		}
	}
	if taken == 0 || refused == 0 || fields/(taken+refused) < 50 {
		t.Errorf("%d texts taken, %d refused, %d fields", taken, refused, fields)
	}
}

func TestABlankNameIsRefused(t *testing.T) {
	refuses := func(request proto.Message, field string) bool {
		violations := rules.Violations(request)
		for _, violation := range violations {
			if violation.Field == field {
				return true
			}
		}
		return false
	}
	for name, isRefused := range map[string]bool{
		" ": true, "\t\r\n": true, "\u3000": true, "\u200b\ufeff": true, "\u3164": true, "\u2800\u2800": true, "a": false, " a ": false, "😀": false, "晴": false,
	} {
		for _, request := range []proto.Message{
			&accountv1.CreateUserRequest{Name: name}, &accountv1.UpdateUserRequest{Name: &name},
			&poiv1.CreatePoiRequest{Name: name}, &poiv1.UpdatePoiRequest{Name: &name}, &poiv1.ImportedPoi{Name: name},
		} {
			if got := refuses(request, "name"); got != isRefused {
				t.Errorf("%q in %T is refused: %v", name, request, got)
			}
		}
		// A title comes back as it was sent, blank or not (rule 2.8).
		if refuses(&albumv1.CreateAlbumRequest{Title: name}, "title") {
			t.Errorf("the title %q is refused", name)
		}
	}
}
