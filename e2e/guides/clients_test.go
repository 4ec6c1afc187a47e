package guides_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/longform"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// client is a program of testdata that sends what a script asks for.
type client struct {
	name  string
	needs []library
	// command is the program with its arguments; ADDRESS and FOLDER stand for the address of the
	// edge and an empty directory.
	command string
	// writes is what the client writes, and arrives what Go writes to get the same.
	writes, arrives texts
	// refused are the operations that this client cannot send, with a part of the reply.
	refused map[string]string
	// inBrowser says that the client is a page in Chromium, and no program.
	inBrowser bool
}

var clients = []client{
	{name: "PHP curl, array (multipart)", needs: []library{phpCurl}, command: "php testdata/curl.php ADDRESS array", writes: chinese, arrives: chinese},
	{name: "PHP curl, string", needs: []library{phpCurl}, command: "php testdata/curl.php ADDRESS string", writes: chinese, arrives: chinese},
	{name: "PHP streams", needs: []library{phpOnly}, command: "php testdata/streams.php ADDRESS", writes: chinese, arrives: chinese},
	{name: "Java HttpURLConnection", needs: []library{java}, command: "java ConnectionDriver ADDRESS", writes: chinese, arrives: chinese},
	{name: "Java HttpClient 4, UTF-8", needs: []library{java, apache}, command: "java ApacheDriver ADDRESS UTF-8", writes: chinese, arrives: chinese},
	{
		name: "Java HttpClient 4, its default charset", needs: []library{java, apache}, command: "java ApacheDriver ADDRESS default", writes: ascii, arrives: ascii,
		refused: map[string]string{"postBlog": "INVALID PARAMETER: weather", "updateBlog": "INVALID PARAMETER: weather"},
	},
	{name: "Java HttpClient 4, StringEntity", needs: []library{java, apache}, command: "java ApacheDriver ADDRESS string", writes: chinese, arrives: chinese},
	{name: "Python urllib", needs: []library{python}, command: "python3 testdata/client.py ADDRESS", writes: chinese, arrives: chinese},
	{name: "Perl LWP", needs: []library{lwp}, command: "perl testdata/lwp.pl ADDRESS", writes: chinese, arrives: chineseFromForms},
	{name: "Perl HTTP::Tiny", needs: []library{tiny}, command: "perl testdata/tiny.pl ADDRESS", writes: chinese, arrives: chinese},
	{name: "Tcl http", needs: []library{tcl}, command: "tclsh testdata/client.tcl ADDRESS", writes: chinese, arrives: chineseFromForms},
	{name: "curl", needs: []library{bash, curl}, command: "bash testdata/curl.sh ADDRESS FOLDER/jar --data-urlencode", writes: chinese, arrives: chinese},
	{name: "curl, multipart", needs: []library{bash, curl}, command: "bash testdata/curl.sh ADDRESS FOLDER/jar --form-string", writes: chinese, arrives: chinese},
	{name: "fetch in Chromium, another origin", inBrowser: true, writes: chinese, arrives: chinese},
}

// start starts the client. A page has the origin.
func (c *client) start(t *testing.T, origin, address string) sender {
	t.Helper()
	if c.inBrowser {
		return openPage(t, origin).sender(address)
	}
	need(t, c.needs)
	args := strings.Fields(strings.NewReplacer("ADDRESS", address, "FOLDER", t.TempDir()).Replace(c.command))
	if args[0] == "java" {
		args = slices.Insert(args, 1, "-XX:TieredStopAtLevel=1", "-cp", classpath())
	}
	return drive(t, args[0], args[1:]...)
}

func TestEveryClientSendsEveryOperation(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	origin := servePage(t)
	p := start(t, "-trusted-origins", origin)
	address := "http://" + p.HTTP + "/API.php"
	read := goClient(t, address)
	want := map[texts][]step{}
	for _, written := range []texts{chinese, chineseFromForms, ascii} {
		s := script{t: t, send: goClient(t, address), read: read, rescue: read}
		want[written] = s.play(createAccount(t, p, fmt.Sprintf("go%d", len(want))), written)
	}
	columns := operations(t, want[chinese])
	table := []string{"client | " + strings.Join(columns, " | ")}
	for i, c := range clients {
		row := c.name + strings.Repeat(" | not run", len(columns))
		t.Run(c.name, func(t *testing.T) {
			user := createAccount(t, p, fmt.Sprintf("client%d", i))
			s := script{t: t, send: c.start(t, origin, address), read: read, rescue: loggedIn(t, address, user)}
			row = c.name + c.compare(t, columns, s.play(user, c.writes), want[c.arrives])
		})
		table = append(table, row)
	}
	t.Logf("clients and operations:\n%s", strings.Join(table, "\n"))
}

// compare compares the steps of a client with those of Go's, and returns the cells of its row.
func (c *client) compare(t *testing.T, columns []string, got, want []step) string {
	t.Helper()
	cells := map[string]string{}
	for i := range want {
		operation, cell := want[i].operation, "same"
		switch part := c.refused[operation]; {
		case part != "":
			cell = "refused"
			if !strings.Contains(got[i].reply, part) {
				t.Errorf("%s is not refused with %q: %s", operation, part, got[i].reply)
			}
		case got[i] != want[i]:
			cell = "DIFFERENT"
			t.Errorf("%s (-Go +%s):\n%s", operation, c.name, cmp.Diff(want[i], got[i], cmp.AllowUnexported(step{})))
		}
		if cells[operation] != "DIFFERENT" {
			cells[operation] = cell
		}
	}
	row := ""
	for _, column := range columns {
		row += " | " + cells[column]
	}
	return row
}

// operations returns the operations of a script, each once. The test fails unless all of the legacy
// contract are among them, and they succeed.
func operations(t *testing.T, played []step) (names []string) {
	t.Helper()
	for _, each := range played {
		if !slices.Contains(names, each.operation) {
			names = append(names, each.operation)
			if !strings.Contains(each.reply, "<status>SUCCESS</status>") {
				t.Errorf("%s by Go: %s", each.operation, each.reply)
			}
		}
	}
	for _, each := range edge.Operations() {
		name := each.Func
		if flag := each.Variant.Flag(); flag != nil {
			name += " with " + flag.Name
		}
		if !each.IsAddition && !slices.Contains(names, name) {
			t.Errorf("the script does not send %s", name)
		}
	}
	return names
}

// createAccount creates a user who can log in.
func createAccount(t *testing.T, p *launch.Process, name string) account {
	t.Helper()
	created := account{email: name + "@waybook.example", password: "pass+word & 100%"}
	user, err := accountv1.NewAccountServiceClient(launch.Dial(t, p.GRPC)).CreateUser(t.Context(), &accountv1.CreateUserRequest{
		Name: "小旅人", Email: created.email, Password: created.password,
	})
	if err != nil {
		t.Fatal(err)
	}
	created.id = strconv.FormatInt(user.GetUser().GetUserId(), 10)
	return created
}

// loggedIn returns a sender by Go that logs in as a user when it is first used.
func loggedIn(t *testing.T, address string, user account) sender {
	t.Helper()
	send, isOpen := goClient(t, address), false
	return func(t *testing.T, method string, fields ...string) string {
		t.Helper()
		if !isOpen {
			isOpen = true
			send(t, "POST", "func", "login", "email", user.email, "password", user.password)
		}
		return send(t, method, fields...)
	}
}

func TestHttpClientWithItsDefaultCharsetLosesChinese(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	at := slices.IndexFunc(clients, func(c client) bool { return c.refused != nil })
	p := start(t)
	address := "http://" + p.HTTP + "/API.php"
	user := createAccount(t, p, "java")
	send := clients[at].start(t, "", address)
	send(t, "POST", "func", "login", "email", user.email, "password", user.password)
	add := func(title string) string {
		return send(t, "POST", "func", "addAlbum", "albumTitle", title, "category", "5", "lat", "25.034", "lng", "121.5645")
	}
	id := element(add("台北一日"), "albumID")
	if stored := goClient(t, address)(t, "GET", "func", "getAlbum", "albumID", id); element(stored, "albumTitle") != "????" {
		t.Errorf("stored: %s", stored)
	}
	if reply := add("café"); element(reply, "info") != "INVALID ENCODING: albumTitle" { // it names no charset
		t.Errorf("a character of ISO-8859-1: %s", reply)
	}
}
