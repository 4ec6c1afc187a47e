// Package manifestrun runs Waybook's programs as the pods of deploy/k8s do. They get the flags and
// the environment of the overlay prod, and the Secrets that its operators create. Only place.go
// replaces values that differ on one machine without a cluster.
package manifestrun

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybook/waybook/deploy/rendered"
	"github.com/waybook/waybook/e2e/launch"
)

// manifests is the path of deploy/k8s from a package of e2e.
const manifests = "../../deploy/k8s"

// StoreEach, in place of a MongoDB URI, gives each pod its own embedded store.
const StoreEach = ""

// Services returns the programs that the edge calls, in a valid order of starts.
func Services() []string { return []string{"account", "album", "blog", "poi"} }

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
	programs map[string]rendered.Program
	pods     map[string][]*Pod
}

// New reads the manifests. binaries is the directory of the programs. mongoDB is the URI in the
// Secret waybook-mongodb, or StoreEach.
func New(t testing.TB, binaries, mongoDB string) *Fleet {
	t.Helper()
	documents, err := rendered.Overlay(manifests, "prod")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := rendered.Programs(documents, rendered.Settings{"waybook-mongodb": {"uri": mongoDB}})
	if err != nil {
		t.Fatal(err)
	}
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
