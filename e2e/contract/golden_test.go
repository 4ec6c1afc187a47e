// Package contract tests the edge against docs/contract.md.
//
// It replays the golden cases of testdata, which show the rules, against Waybook as it is deployed: in
// one process, in five as the manifests start them, and on MongoDB's wire protocol, where the short form
// replays every eighth. It sends strings that often break programs in every parameter of every operation:
// the reply must always be a well-formed document and never a server error.
package contract

import (
	"testing"

	_ "time/tzdata" // for the service's zone on machines without zone files

	"github.com/waybook/waybook/e2e/contract/casefile"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
)

const caseDirectory = "testdata"

func TestGoldenOnEachStore(t *testing.T) {
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
		{"replica set", startOnReplicaSet},
		{"mongos", on(mongowire.Config{Role: mongowire.Router, Shards: 2})},
		{"replica set of MongoDB 4.4", on(mongowire.Config{Plays: mongowire.Version44})},
		{"mongos of MongoDB 4.4", on(mongowire.Config{Plays: mongowire.Version44, Role: mongowire.Router, Shards: 2})},
		{"real server", startOnMongoDB},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			on := d.start(t, binaries)
			cases := cases
			if on.isSlow && !longform.Selected() { // the other deployments show every rule
				cases = everyEighth(cases)
			}
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

func everyEighth(cases []*casefile.Case) (some []*casefile.Case) {
	for i := 0; i < len(cases); i += 8 {
		some = append(some, cases[i])
	}
	return some
}
