package programs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// site is the name that the examples of proxies have, and that the test's certificate is for.
const site = "waybook.example"

// patience bounds each wait. It only ends a test that would hang.
const patience = time.Minute

// proxy is a proxy that runs with its example.
type proxy struct {
	t *testing.T
	// http and https are its addresses.
	http, https string
	authorities *x509.CertPool
}

// kind is a kind of proxy, with the function that starts it in front of an edge.
type kind struct {
	name  string
	start func(t *testing.T, ports ports, upstream string) (program string, environment, args []string)
}

// ports are addresses for a proxy, the files of its certificate, and the folder of an old service.
type ports struct{ http, https, certificate, key, photos string }

func kinds() []kind { return []kind{{"nginx", nginx}, {"caddy", caddy}} }

// eachProxy runs a test with each proxy in front of an edge.
func eachProxy(t *testing.T, upstream string, test func(t *testing.T, p *proxy)) {
	for _, each := range kinds() {
		t.Run(each.name, func(t *testing.T) { test(t, startProxy(t, each, upstream)) })
	}
}

func startProxy(t *testing.T, k kind, upstream string) *proxy {
	t.Helper()
	if _, err := exec.LookPath(k.name); err != nil {
		t.Skipf("SKIPPED: %s is not installed, so its example is not tested", k.name)
	}
	authority := launch.NewAuthority(t)
	files := launch.WriteCertificate(t, t.TempDir(), site, time.Hour, authority, authority)
	p := &proxy{t: t, http: launch.Address(t), https: launch.Address(t), authorities: x509.NewCertPool()}
	trusted, err := os.ReadFile(files.Authorities)
	if err != nil || !p.authorities.AppendCertsFromPEM(trusted) {
		t.Fatalf("no authority: %v", err)
	}
	photos := t.TempDir()
	write(t, photos, "upload/photo/1.jpg", "of old")
	program, environment, args := k.start(t, ports{p.http, p.https, files.Certificate, files.Key, photos}, upstream)
	process := launch.Begin(t, program, environment, args...)
	t.Cleanup(func() { process.End(syscall.SIGTERM) }) // SIGKILL would leave nginx's workers behind
	// It opens its addresses one after the other.
	for _, address := range []string{p.http, p.https} {
		awaitListening(t, k.name, process, address)
	}
	return p
}

// awaitListening returns when a process accepts connections at an address.
func awaitListening(t *testing.T, name string, process *launch.Process, address string) {
	t.Helper()
	for limit := time.Now().Add(patience); ; {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
			return
		}
		if !process.Alive() || time.Now().After(limit) {
			t.Fatalf("%s does not listen: %v\n%s", name, err, process.Printed())
		}
	}
}

// replaced replaces parts of an example. Each must be in it once.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(text, pairs[i]) != 1 {
			t.Fatalf("%q is not once in the example:\n%s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// ofGuide returns what docs/moving-in.md adds to the example of a proxy for the photos of an old service.
func ofGuide(t *testing.T, language, photos string) string {
	t.Helper()
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if block.Language == language && strings.Contains(block.Text, "/srv/old") {
			return replaced(t, block.Text, "/srv/old", photos)
		}
	}
	t.Fatalf("the guide has nothing for %s", language)
	return ""
}

func nginx(t *testing.T, own ports, upstream string) (program string, environment, args []string) {
	return nginxWith(t, replaced(t, example(t, "proxy/nginx.conf"),
		"server 127.0.0.1:8080;", "server "+upstream+";", "proxy_read_timeout 75s;", "proxy_read_timeout 10s;", "    location / {", ofGuide(t, "nginx", own.photos)+"    location / {",
		"listen 80;", "listen "+own.http+";", "listen 443 ssl", "listen "+own.https+" ssl",
		"/etc/ssl/waybook/fullchain.pem", own.certificate, "/etc/ssl/waybook/privkey.pem", own.key))
}

// nginxWith returns how nginx runs with a site.
func nginxWith(t *testing.T, site string) (program string, environment, args []string) {
	t.Helper()
	directory := t.TempDir()
	write(t, directory, "waybook.conf", site)
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // others cannot enter the directories of a test
	}
	main := write(t, directory, "nginx.conf", user+"daemon off;\nworker_processes 1;\npid "+directory+"/pid;\nevents {}\n"+
		"http {\naccess_log off;\nclient_body_temp_path "+directory+"/body;\nproxy_temp_path "+directory+"/proxy;\n"+
		"fastcgi_temp_path "+directory+"/fastcgi;\nuwsgi_temp_path "+directory+"/uwsgi;\nscgi_temp_path "+directory+"/scgi;\n"+
		"include "+directory+"/waybook.conf;\n}\n")
	return "nginx", nil, []string{"-p", directory, "-c", main, "-e", "stderr"}
}

func caddy(t *testing.T, own ports, upstream string) (program string, environment, args []string) {
	directory := t.TempDir()
	_, http, _ := net.SplitHostPort(own.http)
	_, https, _ := net.SplitHostPort(own.https)
	settings := "{\nadmin off\nhttp_port " + http + "\nhttps_port " + https + "\ndefault_bind 127.0.0.1\n" +
		"skip_install_trust\nservers {\nprotocols h1 h2\n}\n}\n"
	file := write(t, directory, "Caddyfile", settings+replaced(t, example(t, "proxy/Caddyfile"), "response_header_timeout 75s", "response_header_timeout 10s",
		"	reverse_proxy 127.0.0.1:8080", ofGuide(t, "caddy", own.photos)+"	reverse_proxy "+upstream,
		"# tls /etc/ssl/waybook/fullchain.pem /etc/ssl/waybook/privkey.pem", "tls "+own.certificate+" "+own.key))
	return "caddy", []string{"HOME=" + directory, "XDG_DATA_HOME=" + filepath.Join(directory, "data"), "XDG_CONFIG_HOME=" + filepath.Join(directory, "config")},
		[]string{"run", "--config", file, "--adapter", "caddyfile"}
}

// client returns a client of the proxy that connects from an address of this machine, such as
// 127.0.0.2. It speaks HTTP/2.
func (p *proxy) client(from string) *waybooktest.Client {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: p.authorities, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			to := p.https
			if strings.HasSuffix(address, ":80") {
				to = p.http
			}
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			return dialer.DialContext(ctx, network, to)
		},
	}
	p.t.Cleanup(transport.CloseIdleConnections)
	return waybooktest.ClientOver(p.t, "https://"+site, transport)
}
