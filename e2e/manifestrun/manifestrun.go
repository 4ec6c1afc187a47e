// Package manifestrun runs Waybook's programs as the pods of deploy/k8s do. They get the flags and
// the environment of the overlay prod, and the Secrets that its operators create. Only place.go
// replaces values that differ on one machine without a cluster.
package manifestrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// manifests is the path of deploy/k8s from a package of e2e.
const manifests = "../../deploy/k8s"

// StoreEach, in place of a MongoDB URI, gives each pod its own embedded store.
const StoreEach = ""

// Services returns the programs that the edge calls, in a valid order of starts.
func Services() []string { return []string{"account", "album", "blog", "poi"} }

// Program is what deploy/cmd/pods prints of a program.
type Program struct {
	Args                         []string
	Environment, Secrets, Claims map[string]string
}

// Programs returns the programs of an overlay, by the name of the workload. mongoDB is the URI in the
// Secret waybook-mongodb.
func Programs(t testing.TB, overlay, mongoDB string) map[string]Program {
	t.Helper()
	folder := t.TempDir()
	if err := launch.Build(folder, launch.AsShipped, "github.com/waybook/waybook/deploy/cmd/pods"); err != nil {
		t.Fatal(err)
	}
	secrets, err := json.Marshal(map[string]map[string]string{"waybook-mongodb": {"uri": mongoDB}})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(folder, "pods"), manifests, overlay)
	command.Stdin = bytes.NewReader(secrets)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var programs map[string]Program
	if err := json.Unmarshal(output, &programs); err != nil {
		t.Fatal(err)
	}
	return programs
}

// Fleet is a set of pods on this machine.
type Fleet struct {
	Certificates *launch.Certificates
	// DNS is the host:port of the DNS server that the programs ask for each other's addresses. They
	// get the addresses of the pods as a list if it is empty.
	DNS string
	// Ports are the ports of the services behind DNS, by name. All pods of a service have the same.
	Ports map[string]string
	// ShutdownDelay replaces the delay of the manifests, which is as long as the caches of DNS
	// servers.
	ShutdownDelay time.Duration
	// Stores are the directories that, with StoreEach, a pod starts with a copy of, by name.
	Stores map[string]string

	t        testing.TB
	binaries string
	mongoDB  string
	programs map[string]Program
	pods     map[string][]*Pod
}

// New reads the manifests. binaries is the directory of the programs. mongoDB is the URI in the
// Secret waybook-mongodb, or StoreEach.
func New(t testing.TB, binaries, mongoDB string) *Fleet {
	t.Helper()
	programs := Programs(t, "prod", mongoDB)
	certificates := launch.NewCertificates(t)
	for name := range programs {
		certificates.Files(name)
	}
	return &Fleet{Certificates: certificates, t: t, binaries: binaries, mongoDB: mongoDB, programs: programs, pods: map[string][]*Pod{}}
}

// StartAll starts a number of pods of each program, the edge last.
func (f *Fleet) StartAll(replicas int) *Fleet {
	f.t.Helper()
	for _, name := range append(Services(), "edge") {
		for range replicas {
			f.pods[name] = append(f.pods[name], f.Start(name, launch.Address(f.t)))
		}
	}
	return f
}

// Of returns the pods of a program.
func (f *Fleet) Of(name string) []*Pod { return f.pods[name] }

// Pod is a program that runs as in a pod.
type Pod struct {
	*launch.Process
	Name string

	fleet *Fleet
	// address is the address to listen on, at each start.
	address string
	// Store is the directory of the pod's own store, with StoreEach.
	Store string
}

// Start starts one more pod, at an address of this machine, and waits until it is ready. Of does not
// return it.
func (f *Fleet) Start(name, address string) *Pod {
	f.t.Helper()
	pod := &Pod{Name: name, fleet: f, address: address}
	if f.mongoDB == StoreEach {
		pod.Store = f.t.TempDir()
		if stored, has := f.Stores[name]; has {
			if err := os.CopyFS(pod.Store, os.DirFS(stored)); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	pod.Start()
	return pod
}

// Start starts the program, at its earlier address if it had one, and waits until it is ready.
func (p *Pod) Start() {
	p.fleet.t.Helper()
	args, environment, err := p.fleet.place(p)
	if err != nil {
		p.fleet.t.Fatalf("%s: %v", p.Name, err)
	}
	p.Process = launch.Begin(p.fleet.t, filepath.Join(p.fleet.binaries, p.Name), environment, args...).Ready()
	p.address = p.Address()
}

// Address returns the address for calls to the program.
func (p *Pod) Address() string {
	if p.Name == "edge" {
		return p.HTTP
	}
	return p.GRPC
}

// place returns how to start a pod's program on this machine. It replaces values that differ from a
// cluster: ports and addresses, the directories of Secrets and, with StoreEach, the store. An
// unknown flag or variable is an error.
func (f *Fleet) place(pod *Pod) (args, environment []string, err error) {
	program := f.programs[pod.Name]
	for _, argument := range program.Args {
		placed, err := f.placeArgument(pod, argument)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, placed)
	}
	for name, value := range program.Environment {
		placed, err := f.placeVariable(pod, name, value)
		if err != nil {
			return nil, nil, err
		}
		environment = append(environment, placed)
	}
	slices.Sort(environment)
	return args, environment, nil
}

func (f *Fleet) placeArgument(pod *Pod, argument string) (string, error) {
	flag, value, _ := strings.Cut(argument, "=")
	switch name := strings.TrimPrefix(flag, "-"); name {
	case "http", "grpc":
		if !strings.HasPrefix(value, ":") {
			return "", fmt.Errorf("%s is not a port on the pod's own address", argument)
		}
		return flag + "=" + pod.address, nil
	case "account", "album", "blog", "poi":
		if value != "dns:///"+name+f.port(name) {
			return "", fmt.Errorf("%s is not the address of %s, which listens on port %s", argument, name, f.port(name))
		}
		if f.DNS != "" {
			return flag + "=dns://" + f.DNS + "/" + name + ":" + f.Ports[name], nil
		}
		if len(f.pods[name]) == 1 {
			return flag + "=dns:///" + f.pods[name][0].address, nil
		}
		// These are the addresses that DNS would return.
		var addresses []string
		for _, called := range f.pods[name] {
			addresses = append(addresses, called.address)
		}
		return flag + "=" + strings.Join(addresses, ","), nil
	}
	return "", fmt.Errorf("no value of %s for one machine is known", argument)
}

// port returns the port of a service's pods in a cluster, such as :9091.
func (f *Fleet) port(name string) string {
	for _, argument := range f.programs[name].Args {
		if port, ok := strings.CutPrefix(argument, "-grpc="); ok {
			return port
		}
	}
	return ""
}

func (f *Fleet) placeVariable(pod *Pod, name, value string) (string, error) {
	switch name {
	case "GOMEMLIMIT", "GOMAXPROCS", "WAYBOOK_LOG_FORMAT", "WAYBOOK_TIME_ZONE", "WAYBOOK_TRUSTED_PROXIES",
		"WAYBOOK_USER_WRITES", "WAYBOOK_CLIENT_LONG_REPLIES",
		"WAYBOOK_SESSION_TTL", "WAYBOOK_REWARD":
		// The value is the same on one machine.
	case "WAYBOOK_COOKIE_SECURE":
		value = "auto" // no ingress terminates TLS here
	case "WAYBOOK_SHUTDOWN_DELAY":
		value = f.ShutdownDelay.String()
	case "WAYBOOK_ADMIN":
		if !strings.HasPrefix(value, ":") {
			return "", fmt.Errorf("%s=%s is not a port on the pod's own address", name, value)
		}
		value = "127.0.0.1:0"
	case "WAYBOOK_MONGODB_URI":
		if f.mongoDB == StoreEach {
			name, value = "WAYBOOK_DATA", pod.Store
		}
	case "WAYBOOK_TLS_CERT", "WAYBOOK_TLS_KEY", "WAYBOOK_TLS_CA":
		if secret := f.programs[pod.Name].Secrets[path.Dir(value)]; secret != "waybook-"+pod.Name+"-tls" {
			return "", fmt.Errorf("%s is in the Secret %q, which does not have the certificate of %s", value, secret, pod.Name)
		}
		value = filepath.Join(f.Certificates.Directory(pod.Name), path.Base(value))
	default:
		return "", fmt.Errorf("no value of %s=%s for one machine is known", name, value)
	}
	return name + "=" + value, nil
}
