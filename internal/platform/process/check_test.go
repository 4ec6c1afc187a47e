package process_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/process"
)

// checked runs -check of a program that listens on three ports and calls two services.
func checked(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	var http, grpc, admin, account, blog, zone string
	var out, failed bytes.Buffer
	status := process.Run(t.Context(), process.Program{
		Name: "example",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&http, "http", "127.0.0.1:1", "")
			flags.StringVar(&grpc, "grpc", "unix:"+filepath.Join(t.TempDir(), "grpc.sock"), "")
			flags.StringVar(&admin, "admin", "127.0.0.1:0", "")
			flags.StringVar(&account, "account", "127.0.0.1:9091", "")
			flags.StringVar(&blog, "blog", "127.0.0.1:9093,[::1]:9093", "")
			flags.StringVar(&zone, "time-zone", "UTC", "")
		},
		Check: func(checks *process.Checks) {
			checks.Listen("http", http)
			checks.ListenGRPC("grpc", grpc)
			checks.Listen("admin", admin)
			checks.Dial("account", account)
			checks.Dial("blog", blog)
			_, err := process.Zone(zone)
			checks.Report(err)
		},
		Start: func(context.Context, process.Env) error {
			t.Error("the program started")
			return nil
		},
	}, append([]string{"-check"}, args...), func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}, &out, &failed)
	return outcome{status, out.String(), failed.String()}
}

func TestACheckOfValidSettingsPrintsOneLine(t *testing.T) {
	if end := checked(t, nil); end.status != 0 || end.out != "example: the settings are valid\n" || end.errors != "" {
		t.Errorf("status %d, %q%q", end.status, end.out, end.errors)
	}
}

// identity writes the files of an identity whose certificate lasts for lifetime, and returns their
// flags.
func identity(t *testing.T, lifetime time.Duration) (certificate, key, authorities string) {
	t.Helper()
	authority, err := devca.New("test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	own, err := authority.Pair()
	if err != nil {
		t.Fatal(err)
	}
	issued, err := authority.Issue([]string{"edge"}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	path := func(name string, text []byte) string {
		whole := filepath.Join(directory, name)
		if err := os.WriteFile(whole, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return whole
	}
	return path("tls.crt", issued.Certificate), path("tls.key", issued.Key), path("ca.crt", own.Certificate)
}

func TestACheckReportsEveryInvalidSetting(t *testing.T) {
	certificate, key, authorities := identity(t, time.Hour)
	expired, expiredKey, _ := identity(t, -time.Minute)
	notSocket := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notSocket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		tell []string
	}{
		"addresses": {
			[]string{"-http", "127.0.0.1", "-admin=:many", "-account", "album", "-blog", "127.0.0.1:1,127.0.0.1:99999"}, nil,
			[]string{`-http: "127.0.0.1" is not an address`, `-admin: ":many" has no port`, `-account album would use plain text`, "-blog "},
		},
		"no address":         {[]string{"-account="}, nil, []string{"-account "}},
		"one port twice":     {[]string{"-http=:1", "-admin=:1"}, nil, []string{"-http :1 and -admin :1 collide"}},
		"a port of all":      {[]string{"-http=:1", "-admin=127.0.0.1:1"}, nil, []string{"-http :1 and -admin 127.0.0.1:1 collide"}},
		"a port of all IPv4": {[]string{"-http=[::1]:1", "-admin=0.0.0.0:1"}, nil, []string{"-http [::1]:1 and -admin 0.0.0.0:1 collide"}},
		"a port by a name":   {[]string{"-http=localhost:1", "-admin=127.0.0.1:1"}, nil, []string{"-http localhost:1 and -admin 127.0.0.1:1 collide"}},
		"a port in two ways": {[]string{"-http=[::1]:1", "-admin=[0:0::1]:1"}, nil, []string{"-http [::1]:1 and -admin [0:0::1]:1 collide"}},
		"a port for gRPC":    {[]string{"-http=LocalHost:1", "-grpc=[::1]:1"}, nil, []string{"-http LocalHost:1 and -grpc [::1]:1 collide"}},
		"plain text":         {[]string{"-grpc", "192.0.2.1:9090"}, nil, []string{"-grpc 192.0.2.1:9090 would use plain text"}},
		"a file of another":  {[]string{"-grpc", "unix:" + notSocket}, nil, []string{"-grpc: the file exists and is not a socket"}},
		"a long path":        {[]string{"-grpc", "unix:/" + strings.Repeat("x", 200)}, nil, []string{"-grpc: its path has 201 bytes"}},
		"a zone":             {nil, map[string]string{"WAYBOOK_TIME_ZONE": "Asia/Nowhere"}, []string{"-time-zone: unknown time zone Asia/Nowhere"}},
		"flags and values":   {[]string{"-log-level", "loud", "-http", "x"}, nil, []string{`"loud" for -log-level`, "-http: "}},
		"a collector":        {[]string{"-otlp-endpoint", "localhost:4317"}, nil, []string{"-otlp-endpoint: want a URL"}},
		"a part of TLS":      {[]string{"-tls-cert", certificate}, nil, []string{"-tls-cert, -tls-key and -tls-ca go together"}},
		"a missing key":      {[]string{"-tls-cert", certificate, "-tls-key", "/nonexistent", "-tls-ca", authorities}, nil, []string{"-tls-key: open /nonexistent"}},
		"the key of another": {[]string{"-tls-cert", certificate, "-tls-key", expiredKey, "-tls-ca", authorities}, nil, []string{"-tls-cert " + certificate, "does not match"}},
		"no authority":       {[]string{"-tls-cert", certificate, "-tls-key", key, "-tls-ca", key}, nil, []string{"-tls-ca " + key + ": no certificate"}},
		"an old certificate": {[]string{"-tls-cert", expired, "-tls-key", expiredKey, "-tls-ca", authorities}, nil, []string{"-tls-cert: the certificate expired at"}},
	} {
		t.Run(name, func(t *testing.T) {
			end := checked(t, test.env, test.args...)
			if end.status != 78 || end.out != "" {
				t.Errorf("status %d, printed %q", end.status, end.out)
			}
			for _, part := range test.tell {
				if strings.Count(end.errors, part) != 1 {
					t.Errorf("%q is not reported once in %q", part, end.errors)
				}
			}
		})
	}
}

func TestAddressesThatDoNotCollideAreValid(t *testing.T) {
	for name, args := range map[string][]string{
		"ports":      {"-http=:1", "-admin=:2"},
		"loopbacks":  {"-http=127.0.0.1:1", "-admin=127.0.0.2:1"},
		"families":   {"-http=127.0.0.1:1", "-admin=[::1]:1"},
		"names":      {"-http=a.example:1", "-admin=b.example:1"},
		"free ports": {"-http=:0", "-admin=:0"},
	} {
		if end := checked(t, nil, args...); end.status != 0 {
			t.Errorf("%s: status %d, %s", name, end.status, end.errors)
		}
	}
}

func TestFaultyTLSFilesAreNotReportedAsPlainText(t *testing.T) {
	end := checked(t, nil, "-tls-cert", "/nonexistent", "-tls-key", "/nonexistent", "-tls-ca", "/nonexistent", "-account", "account:9091")
	if end.status != 78 || strings.Contains(end.errors, "plain text") {
		t.Errorf("status %d, %q", end.status, end.errors)
	}
}
