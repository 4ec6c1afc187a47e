package contract

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// deployment is a running Waybook whose store is empty at first.
type deployment struct {
	// edge is the edge's address, without a path.
	edge string
	// connections are the connections to the services, by the short name of their server.
	connections map[string]*grpc.ClientConn
	client      *waybooktest.Client
	// mayRewrite allows -update to take the replies of this deployment.
	mayRewrite bool
	// isSlow makes the cases run one after the other, so that they do not wait for each
	// other.
	isSlow bool
}

// newDeployment connects to a Waybook. grpcAddress returns the address of a service by its
// short name, such as album.
func newDeployment(t *testing.T, edge string, secured credentials.TransportCredentials, grpcAddress func(name string) string) *deployment {
	d := &deployment{
		edge:        edge,
		connections: map[string]*grpc.ClientConn{},
		client:      waybooktest.ClientAt(t, ""),
	}
	for _, name := range []string{"account", "album", "blog", "poi"} {
		connection, err := grpc.NewClient(grpcAddress(name), grpc.WithTransportCredentials(secured))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		d.connections[name] = connection
	}
	return d
}

// send sends a request and reads the whole reply.
func (d *deployment) send(request *http.Request, isHTTP10 bool) (answered, error) {
	do := d.client.Begin
	if isHTTP10 {
		do = sendHTTP10
	}
	response, err := do(request)
	if err != nil {
		return answered{}, err
	}
	defer response.Body.Close()
	body, err := readBody(response)
	return answered{response.StatusCode, response.Header, body}, err
}

// readBody reads a body and decompresses it.
func readBody(response *http.Response) (string, error) {
	body, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" || len(body) == 0 {
		return string(body), err
	}
	unzipper, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	body, err = io.ReadAll(unzipper)
	return string(body), err
}

// byInvitation lets cases register users, which the default lets nobody do.
const byInvitation = "-registration=invite"

// startOneProcess starts Waybook with its defaults.
func startOneProcess(t *testing.T, _ string) *deployment {
	d := startAssembly(t)
	d.mayRewrite = true
	return d
}

// startAssembly starts all of Waybook in this process.
func startAssembly(t *testing.T, args ...string) *deployment {
	diary := &diary{}
	t.Cleanup(func() { diary.check(t, "standalone") })
	w := waybooktest.Start(t, waybooktest.Shipped, waybooktest.Log(slog.New(slog.NewTextHandler(diary, nil))), waybooktest.Flags(append(args, byInvitation)...))
	return newDeployment(t, "http://"+w.HTTP, insecure.NewCredentials(), func(string) string { return w.GRPC })
}

// diary records the log of a program.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(b)
}

// check fails the test if the program logged an error, because no case causes one. A
// timeout is not the program's fault on a busy machine.
func (d *diary) check(t *testing.T, program string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	checkLog(t, program, d.text.String())
}

func checkLog(t *testing.T, program, log string) {
	for line := range strings.Lines(log) {
		line = strings.ReplaceAll(line, `"`, "") // the quotes of JSON
		isError := strings.Contains(line, "level=ERROR") || strings.Contains(line, "level:ERROR")
		isLate := strings.Contains(line, "code=DeadlineExceeded") || strings.Contains(line, "code:DeadlineExceeded")
		if isError && !isLate || strings.HasPrefix(line, "panic") {
			t.Errorf("%s logged: %s", program, line)
		}
	}
}

// startOnMongoDB starts Waybook on a real server, in a database that is dropped at the end.
func startOnMongoDB(t *testing.T, _ string) *deployment {
	return startAssembly(t, "-mongodb-uri", mongotest.OnRealServer(t))
}

// on returns a function that starts Waybook on a stand-in of a MongoDB server.
func on(config mongowire.Config) func(*testing.T, string) *deployment {
	return func(t *testing.T, _ string) *deployment {
		d := startAssembly(t, "-mongodb-uri", mongotest.StartServer(t, config).URI(mongotest.Database()))
		d.isSlow = true
		return d
	}
}

// buildPrograms builds the programs and returns their directory.
func buildPrograms(t *testing.T) string {
	binaries := t.TempDir()
	if err := launch.Build(binaries, launch.AsTested, launch.Programs()...); err != nil {
		t.Fatal(err)
	}
	return binaries
}

// startFiveProcesses starts the five programs as the manifests do, except that each service
// has its own store.
func startFiveProcesses(t *testing.T, binaries string) *deployment {
	return startPods(t, launch.NewFleet(t, binaries, launch.StoreEach))
}

// startOnReplicaSet starts the five programs as the manifests do, with a stand-in of a MongoDB server.
func startOnReplicaSet(t *testing.T, binaries string) *deployment {
	d := startPods(t, launch.NewFleet(t, binaries, mongotest.StartReplicaSet(t)))
	d.isSlow = true // each query is a scan
	return d
}

// startPods starts one pod of each program. At the end it stops them with SIGTERM and
// checks that they exit cleanly.
func startPods(t *testing.T, fleet *launch.Fleet) *deployment {
	fleet.Flags = map[string][]string{"account": {byInvitation}}
	fleet.StartAll(1)
	t.Cleanup(func() {
		for _, name := range append([]string{"edge"}, launch.Services()...) {
			pod := fleet.Of(name)[0]
			if status := pod.End(syscall.SIGTERM); status != 0 {
				t.Errorf("%s ended with status %d", name, status)
			}
			checkLog(t, name, pod.Printed())
		}
	})
	return newDeployment(t, "http://"+fleet.Of("edge")[0].Address(), fleet.Certificates.Client("operator"),
		func(name string) string { return fleet.Of(name)[0].Address() })
}
