// Package golden replays the golden cases of testdata, which show the rules of
// docs/contract.md, against Waybook as it is deployed: in one process, in five as
// the manifests start them, and on MongoDB's wire protocol.
package golden

import (
	"testing"

	_ "time/tzdata" // for the service's zone on machines without zone files

	"github.com/waybook/waybook/e2e/golden/casefile"
)

const caseDirectory = "testdata"

func TestGolden(t *testing.T) {
	cases, err := casefile.Load(caseDirectory)
	if err != nil {
		t.Fatal(err)
	}
	binaries := buildPrograms(t)
	for _, d := range []struct {
		name  string
		start func(t *testing.T, binaries string) *deployment
	}{
		{"one process", startOneProcess},
		{"five processes", startFiveProcesses},
		{"FerretDB", startOnFerretDB},
		{"MongoDB", startOnMongoDB},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			on := d.start(t, binaries)
			for _, c := range cases {
				if c.IsAlone {
					t.Run(c.Name, func(t *testing.T) { replay(t, on, c) })
				}
			}
			for _, c := range cases {
				if !c.IsAlone {
					t.Run(c.Name, func(t *testing.T) {
						if !on.isSlow {
							t.Parallel()
						}
						replay(t, on, c)
					})
				}
			}
		})
	}
}
