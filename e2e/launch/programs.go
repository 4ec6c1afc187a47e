package launch

import (
	"path/filepath"
	"testing"
)

const module = "github.com/waybook/waybook/"

// Programs returns the packages of Waybook's programs, for a deployment as separate processes.
func Programs() []string {
	return []string{
		module + "services/account/cmd/account", module + "services/album/cmd/album",
		module + "services/blog/cmd/blog", module + "services/poi/cmd/poi", module + "edge/cmd/edge",
	}
}

// StartPrograms starts Waybook as separate processes on free ports, and waits until all are ready.
// Each service has its own store in a directory below data. Each program gets args.
func StartPrograms(t testing.TB, binaries, data string, args ...string) map[string]*Process {
	t.Helper()
	started := StartServices(t, binaries, data, args...)
	started["edge"] = StartEdge(t, binaries, started, nil, args...)
	return started
}

// StartServices starts the four services in the same way.
func StartServices(t testing.TB, binaries, data string, args ...string) map[string]*Process {
	t.Helper()
	started := map[string]*Process{}
	for _, name := range []string{"account", "album", "blog", "poi"} {
		own := []string{"-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", filepath.Join(data, name)}
		if name != "account" {
			own = append(own, "-account", started["account"].GRPC)
		}
		started[name] = Begin(t, filepath.Join(binaries, name), nil, append(own, args...)...).Ready()
	}
	return started
}

// StartEdge starts an edge in front of services, with variables in its environment.
func StartEdge(t testing.TB, binaries string, services map[string]*Process, environment []string, args ...string) *Process {
	t.Helper()
	own := []string{"-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-shutdown-delay", "0s"} // no proxy has to notice its end
	for _, name := range []string{"account", "album", "blog", "poi"} {
		own = append(own, "-"+name, services[name].GRPC)
	}
	return Begin(t, filepath.Join(binaries, "edge"), environment, append(own, args...)...).Ready()
}
