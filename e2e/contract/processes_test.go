package contract

import (
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
)

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
