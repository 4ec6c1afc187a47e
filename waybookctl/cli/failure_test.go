package cli

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
)

func TestAServiceFailureKeepsItsMessageAndHasAStatus(t *testing.T) {
	for _, test := range []struct {
		answer error
		want   failure
	}{
		{apierror.NotFound("ALBUM_NOT_FOUND", "there is no album 3"), failure{statusNotFound, "there is no album 3", nil}},
		{apierror.NotOwner("only 1 may"), failure{statusRefused, "only 1 may", nil}},
		{apierror.NotAllowed(), failure{statusRefused, "this client may not call this method",
			[]string{"present a certificate with the name operator, or one that -clients of the service names"}}},
		{apierror.New(codes.AlreadyExists, "EMAIL_TAKEN", "taken"), failure{statusRefused, "taken", nil}},
		{apierror.New(codes.FailedPrecondition, "EMAIL_REQUIRED", "no address"),
			failure{statusRefused, "no address", []string{"give the user an address first: waybookctl user update --email"}}},
		{apierror.New(codes.Unauthenticated, "LOGIN_REQUIRED", "not open"), failure{statusRefused, "not open", nil}},
		{apierror.Invalid("INVALID_PARAMETER", apierror.Violation{Field: "title", Message: "too long"}, apierror.Violation{Field: "location.lat", Message: "too far"}),
			failure{statusRefused, "the album service refuses the request", []string{"title: too long", "location.lat: too far"}}},
		{apierror.New(codes.Unavailable, "STORE_UNAVAILABLE", "no store"), failure{statusUnavailable, "no store", nil}},
		{apierror.New(codes.Aborted, "CONFLICT", "others"), failure{statusUnavailable, "others", nil}},
		{apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many"), failure{statusUnavailable, "too many", nil}},
		{apierror.New(codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "too long"), failure{statusUnavailable, "too long", nil}},
		{apierror.New(codes.Internal, "INTERNAL", "oops"), failure{statusFailed, "oops", []string{"see the service's log for the cause"}}},
		{status.Error(codes.Internal, "stream terminated by RST_STREAM"),
			failure{statusFailed, "the album service at a:1 failed (Internal)", []string{"see its log for the cause"}}},
		{status.Error(codes.PermissionDenied, "x509"), failure{statusRefused, "the album service at a:1 denies access to this program", nil}},
	} {
		got := describe(t.Context(), &callError{&link{service: "album", address: "a:1", timeout: time.Second}, asAnswered(test.answer)})
		if got.status != test.want.status || got.message != test.want.message || !slices.Equal(got.details, test.want.details) {
			t.Errorf("%v is described as %+v, want %+v", test.answer, got, test.want)
		}
	}
}

// asAnswered returns an error as a client receives it.
func asAnswered(err error) error {
	answer, _ := status.FromError(err)
	return answer.Err()
}

func TestAnyOtherErrorIsStatus1(t *testing.T) {
	if got := describe(t.Context(), errors.New("disk full")); got.status != statusFailed || got.message != "disk full" {
		t.Errorf("%+v", got)
	}
}

// identity writes a certificate for a name, and the authority that its owner trusts.
func identity(t *testing.T, by, trusted *devca.Authority, name string, lifetime time.Duration) mtls.Files {
	t.Helper()
	own, err := by.Issue([]string{name}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := trusted.Pair()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := mtls.Files{
		Certificate: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"), Authorities: filepath.Join(folder, "ca.crt"),
	}
	for path, content := range map[string][]byte{files.Certificate: own.Certificate, files.Key: own.Key, files.Authorities: authority.Certificate} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// serveEmpty serves gRPC without any service and returns its address.
func serveEmpty(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, done := grpc.NewServer(options...), make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // returns after Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return listener.Addr().String()
}

func TestACertificateThatIsNotAcceptedIsNamed(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	ours, err := devca.New("ours", time.Now(), day)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := devca.New("foreign", time.Now(), day)
	if err != nil {
		t.Fatal(err)
	}
	secured := func(lifetime time.Duration) string {
		own, err := mtls.Load(identity(t, ours, ours, "account", lifetime), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return serveEmpty(t, grpc.Creds(own.Server()))
	}
	server, operator := secured(day), identity(t, ours, ours, "operator", day)
	for _, test := range []struct {
		name, address string
		files         mtls.Files
		serverName    string
		tell          []string
	}{
		{"the services' authority is not trusted", server, identity(t, foreign, foreign, "operator", day), "account",
			[]string{"the certificate of the account service at " + server + " is from an authority that is not in --tls-ca", "waybook-operator-tls"}},
		{"the address is a tunnel", server, operator, "",
			[]string{"is for another name", "127.0.0.1", "--tls-server-name account"}},
		{"the name is another service's", server, operator, "album",
			[]string{"is for another name: certificate is valid for account, not album"}},
		{"the service's certificate has expired", secured(-time.Minute), operator, "account",
			[]string{"is not valid: certificate has expired"}},
		{"the service does not trust this program's authority", server, identity(t, foreign, ours, "operator", day), "account",
			[]string{"does not accept the certificate in --tls-cert: ", "--tls-key"}},
		{"the service does not use TLS", serveEmpty(t), operator, "account",
			[]string{"does not use TLS", "--tls-cert", "--account"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(t.Context(), map[string]string{"WAYBOOK_TLS_SERVER_NAME": test.serverName}, "", "user", "show", "1", "--account", test.address,
				"--tls-cert", test.files.Certificate, "--tls-key", test.files.Key, "--tls-ca", test.files.Authorities)
			got.expect(t, statusRefused, test.tell...)
		})
	}
	// The name is accepted; the process has no services.
	runWith(t.Context(), nil, "", "user", "show", "1", "--account", server, "--tls-server-name", "account",
		"--tls-cert", operator.Certificate, "--tls-key", operator.Key, "--tls-ca", operator.Authorities).
		expect(t, statusFailed, "does not have this operation of the account service")
}

// Status 1 of compare says that something differs, as that of diff does.
func TestWhatKeepsAComparisonFromBeingMadeIsTrouble(t *testing.T) {
	folder := t.TempDir()
	file, missing := filepath.Join(folder, "requests"), filepath.Join(folder, "missing")
	if err := os.WriteFile(file, []byte("func=updateAlbum\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	compare := []string{"compare", "http://127.0.0.1:1", "http://127.0.0.1:2"}
	for want, args := range map[string][]string{
		"0 requests were compared, 1 were not": append(compare[:3:3], file),
		missing:                                append(compare[:3:3], missing),
		"--timeout":                            append(compare[:3:3], file, "--timeout", "0s"),
		"--time-zone":                          append(compare[:3:3], file, "--time-zone", "Nowhere"),
		"want the address":                     {"compare", "old.example", "http://127.0.0.1:2", file},
	} {
		if got := runWith(t.Context(), nil, "", args...); got.status != statusTrouble || !strings.Contains(got.err, want) {
			t.Errorf("%v: status %d: %s", args, got.status, got.err)
		}
	}
}

// Neither a Go type nor a flag that was not given is named.
func TestAWrongConnectionIsNamedByTheFlagThatWasGiven(t *testing.T) {
	const far = "192.0.2.1:9092"
	for _, line := range []string{"album list --owner 1", "user show 1", "landmark export --owner 1 -", "store backup -", "move import x"} {
		for flag, value := range map[string]string{"address": far, "album": far, "tls-cert": "missing"} {
			want := "waybookctl: --" + flag + " " + value
			if flag == "tls-cert" {
				want = "waybookctl: --tls-"
			}
			got := runWith(t.Context(), nil, "", append(strings.Fields(line), "--"+flag, value)...)
			if got.status != statusUsage || !strings.HasPrefix(got.err, want) {
				t.Errorf("%s --%s: status %d: %s", line, flag, got.status, got.err)
			}
		}
		runWith(t.Context(), map[string]string{"WAYBOOK_ADDRESS": far}, "", strings.Fields(line)...).
			expect(t, statusUsage, "waybookctl: --address "+far, "--address is set by WAYBOOK_ADDRESS in the environment")
	}
}

// Retries do not help, so the status is not that of a service which is not running. Root may do what others may not.
func TestASocketWithoutPermissionIsRefused(t *testing.T) {
	refusing := &link{service: "account", address: "unix:/var/lib/waybook/grpc.sock"}
	for _, where := range []string{"/var/lib/waybook/grpc.sock", "grpc.sock"} {
		cause := status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial unix `+where+`: connect: permission denied"`)
		got := describe(t.Context(), &callError{refusing, cause})
		if got.status != statusRefused || got.message != "permission denied: "+refusing.address || len(got.details) != 1 || !strings.Contains(got.details[0], "run as root") {
			t.Errorf("%+v", got)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may connect to every socket")
	}
	path := filepath.Join(t.TempDir(), "grpc.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	runWith(t.Context(), nil, "", "user", "list", "--address", "unix:"+path).expect(t, statusRefused, "permission denied: unix:"+path, "run as root")
}

func TestTheFirstSocketThatExistsIsTheDefault(t *testing.T) {
	folder := t.TempDir()
	own, packaged := filepath.Join(folder, "own"), filepath.Join(folder, "packaged")
	expect := func(want string) {
		t.Helper()
		if got := firstThere(own, packaged); got != want {
			t.Errorf("the default is %s, want %s", got, want)
		}
	}
	expect(own)
	for _, path := range []string{packaged, own} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		expect(path)
	}
	// The unit of the package has the socket in its state directory.
	unit, err := os.ReadFile("../../deploy/systemd/waybook.service")
	if err != nil {
		t.Fatal(err)
	}
	if packagedSocket != "/var/lib/waybook/grpc.sock" || !strings.Contains(string(unit), "\nStateDirectory=waybook\nStateDirectoryMode=0700\nWorkingDirectory=%S/waybook\n") {
		t.Errorf("the package has no socket at %s", packagedSocket)
	}
}
