package contract

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/requestsig"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// binaries is the directory of the programs, which are built once for all tests.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		binaries = directory
		return launch.Build(directory, launch.AsTested, "github.com/waybook/waybook/standalone", "github.com/waybook/waybook/edge/cmd/edge")
	}))
}

// startStandalone starts standalone on an empty store.
func startStandalone(t *testing.T, args ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), append(args, "-demo=false")...)
}

// startEdge starts another edge in front of the services of a standalone.
func startEdge(t *testing.T, services *launch.Process, args ...string) *launch.Process {
	t.Helper()
	args = append(args, "-http", "127.0.0.1:0", "-admin", "127.0.0.1:0")
	for _, name := range []string{"account", "album", "blog", "poi"} {
		args = append(args, "-"+name, services.GRPC)
	}
	return launch.Begin(t, filepath.Join(binaries, "edge"), nil, args...).Ready()
}

// application is an application that signs requests.
type application struct{ key, secret string }

func createApplication(t *testing.T, services *launch.Process, request *accountv1.CreateApplicationRequest) application {
	t.Helper()
	created, err := accountv1.NewAccountServiceClient(launch.Dial(t, services.GRPC)).CreateApplication(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return application{created.GetApplication().GetKey(), created.GetSecret()}
}

// sign adds a signature with a time to a form.
func (a application) sign(method string, form url.Values, seconds int64) url.Values {
	form.Set("key", a.key)
	form.Set("ts", strconv.FormatInt(seconds, 10))
	var parameters []requestsig.Parameter
	for name := range form {
		parameters = append(parameters, requestsig.Parameter{Name: name, Value: form.Get(name)})
	}
	form.Set("sig", requestsig.Sign(a.secret, requestsig.Digest(requestsig.Canonical(method, "/API.php", parameters))))
	return form
}

// signLegacy adds a signature in the legacy form with the present time to a form.
func (a application) signLegacy(form url.Values) url.Values {
	form.Set("key", a.key)
	form.Set("ts", strconv.FormatInt(time.Now().Unix(), 10))
	var parameters []requestsig.Parameter
	for name := range form {
		parameters = append(parameters, requestsig.Parameter{Name: name, Value: form.Get(name)})
	}
	form.Set("sig", requestsig.SignLegacy(a.secret, requestsig.LegacyText(parameters)))
	return form
}

// send sends an encoded form and returns the failure reason, or "".
func send(t *testing.T, edge *launch.Process, method, form string) (reason string) {
	t.Helper()
	return sendAs(t, edge, "", method, form)
}

// sendAs sends an encoded form with a cookie.
func sendAs(t *testing.T, edge *launch.Process, cookie, method, form string) (reason string) {
	t.Helper()
	address, body := "http://"+edge.HTTP+"/API.php", io.Reader(nil)
	if method == http.MethodPost {
		body = strings.NewReader(form)
	} else {
		address += "?" + form
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", form, response.Status)
	}
	return response.Header.Get("X-Waybook-Reason")
}

// expect sends a form and checks the failure reason.
func expect(t *testing.T, edge *launch.Process, method, form, want string) {
	t.Helper()
	if reason := send(t, edge, method, form); reason != want {
		t.Errorf("%s %s: %q, want %q", method, form, reason, want)
	}
}
