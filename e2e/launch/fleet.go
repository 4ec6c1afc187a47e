package launch

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// StoreEach, in place of a MongoDB URI, gives each pod its own embedded store.
const StoreEach = ""

// Services returns the programs that the edge calls, in a valid order of starts.
func Services() []string { return []string{"account", "album", "blog", "poi"} }

// Fleet is a set of pods on this machine: the five programs with certificates, and with the memory that the pods
// of deploy/k8s request.
type Fleet struct {
	Certificates *Certificates
	// ShutdownDelay is how long a pod that ends serves on.
	ShutdownDelay time.Duration
	// Flags are further flags of the programs, by name.
	Flags map[string][]string

	t        testing.TB
	binaries string
	mongoDB  string
	pods     map[string][]*Pod
}

// NewFleet returns a fleet without pods. binaries is the directory of the programs. mongoDB is a URI, or
// StoreEach.
func NewFleet(t testing.TB, binaries, mongoDB string) *Fleet {
	t.Helper()
	f := &Fleet{Certificates: NewCertificates(t), t: t, binaries: binaries, mongoDB: mongoDB, pods: map[string][]*Pod{}}
	for _, name := range append(Services(), "edge") {
		f.Certificates.Files(name)
	}
	return f
}

// StartAll starts a number of pods of each program, the edge last.
func (f *Fleet) StartAll(replicas int) *Fleet {
	f.t.Helper()
	for _, name := range append(Services(), "edge") {
		for range replicas {
			f.pods[name] = append(f.pods[name], f.start(name, Address(f.t)))
		}
	}
	return f
}

// Of returns the pods of a program.
func (f *Fleet) Of(name string) []*Pod { return f.pods[name] }

// Pod is a program that runs as in a pod.
type Pod struct {
	*Process
	Name string

	fleet *Fleet
	// address is the address to listen on, at each start.
	address string
	// Store is the directory of the pod's own store, with StoreEach.
	Store string
}

// start starts a pod, at an address of this machine, and waits until it is ready.
func (f *Fleet) start(name, address string) *Pod {
	f.t.Helper()
	pod := &Pod{Name: name, fleet: f, address: address}
	if f.mongoDB == StoreEach {
		pod.Store = f.t.TempDir()
	}
	pod.Start()
	return pod
}

// Start starts the program, at the same address each time, and waits until it is ready.
func (p *Pod) Start() {
	f := p.fleet
	f.t.Helper()
	files := f.Certificates.Directory(p.Name)
	args := []string{
		"-admin=127.0.0.1:0", "-log-format=json", "-shutdown-delay=" + f.ShutdownDelay.String(),
		"-tls-cert=" + filepath.Join(files, "tls.crt"), "-tls-key=" + filepath.Join(files, "tls.key"),
		"-tls-ca=" + filepath.Join(files, "ca.crt"),
	}
	calls, memory := []string{"account"}, "192MiB"
	switch p.Name {
	case "edge":
		calls, memory = Services(), "160MiB"
		args = append(args, "-http="+p.address, "-trusted-proxies=1")
	case "account":
		calls = nil
	}
	switch {
	case p.Name == "edge":
	case f.mongoDB == StoreEach:
		args = append(args, "-grpc="+p.address, "-data="+p.Store)
	default:
		args = append(args, "-grpc="+p.address, "-mongodb-uri="+f.mongoDB)
	}
	for _, name := range calls {
		args = append(args, "-"+name+"="+f.target(name))
	}
	args = append(args, f.Flags[p.Name]...)
	p.Process = Begin(f.t, filepath.Join(f.binaries, p.Name), []string{"GOMEMLIMIT=" + memory, "GOMAXPROCS=2"},
		args...).Ready()
}

// target returns the address of a service for its callers.
func (f *Fleet) target(service string) string {
	// These are the addresses that DNS would return.
	var addresses []string
	for _, called := range f.pods[service] {
		addresses = append(addresses, called.address)
	}
	if len(addresses) == 1 {
		return "dns:///" + addresses[0]
	}
	return strings.Join(addresses, ",")
}

// Address returns the address for calls to the program.
func (p *Pod) Address() string { return p.address }
