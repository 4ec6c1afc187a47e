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
	started := map[string]*Process{}
	edge := []string{"-http", "127.0.0.1:0", "-admin", "127.0.0.1:0"}
	for _, name := range []string{"account", "album", "blog", "poi"} {
		own := []string{"-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", filepath.Join(data, name)}
		if name != "account" {
			own = append(own, "-account", started["account"].GRPC)
		}
		started[name] = Begin(t, filepath.Join(binaries, name), nil, append(own, args...)...).Ready()
		edge = append(edge, "-"+name, started[name].GRPC)
	}
	started["edge"] = Begin(t, filepath.Join(binaries, "edge"), nil, append(edge, args...)...).Ready()
	return started
}
