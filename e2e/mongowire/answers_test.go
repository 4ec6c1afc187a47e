package mongowire_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// recorded are probes and what real servers of MongoDB 4.4.0, a replica set of three and a cluster of two shards,
// answered to them. testdata/README.md describes the format.
//
//go:embed testdata/answers.ndjson
var recorded []byte

// differences has, in a line each, the probes that the face answers in another way, and why. The list may only shrink.
//
//go:embed testdata/differences.txt
var differences string

var answersFile = flag.String("answers", "", "replay the probes of this `file`, and print the share of them that the face answers as the servers did")

// probe is some commands and the answers to them, by kind of server.
type probe struct {
	Name     string
	Setup    []json.RawMessage
	Commands []json.RawMessage
	Answers  map[string][]answer
}

// answer is what the face has to answer alike.
type answer struct {
	OK                float64
	Code              int32
	WriteErrors       []writeError
	WriteConcernError struct{ Code int32 }
	ErrorLabels       []string
	// Connection is how the connection ended, if there was no reply.
	Connection string
}

type writeError struct{ Index, Code int32 }

func TestRecordedAnswers(t *testing.T) {
	content, reasons := recorded, map[string]string{}
	if *answersFile != "" {
		var err error
		content, err = os.ReadFile(*answersFile)
		waybooktest.OK(t, err)
	} else {
		for line := range strings.Lines(differences) {
			name, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
			reasons[name] = reason
		}
	}
	players := map[string]*player{
		"replica_set": newPlayer(t, mongowire.Config{Plays: mongowire.Version44}),
		"mongos":      newPlayer(t, mongowire.Config{Plays: mongowire.Version44, Role: mongowire.Router, Shards: 2}),
	}
	type share struct{ right, all int }
	groups, total := map[string]share{}, share{}
	for line := range bytes.Lines(content) {
		var p probe
		waybooktest.OK(t, json.Unmarshal(line, &p))
		var wrong []string
		for kind, want := range p.Answers {
			for _, difference := range players[kind].play(t, p, want) {
				wrong = append(wrong, kind+": "+difference)
			}
		}
		group, _, _ := strings.Cut(p.Name, "/")
		sum := groups[group]
		sum.all, total.all = sum.all+1, total.all+1
		reason := reasons[p.Name]
		delete(reasons, p.Name)
		switch {
		case len(wrong) == 0:
			sum.right, total.right = sum.right+1, total.right+1
			if reason != "" {
				t.Errorf("%s is answered as a server does; testdata/differences.txt says that it is not", p.Name)
			}
		case *answersFile != "":
			t.Logf("%s: %s", p.Name, strings.Join(wrong, "; "))
		case reason == "":
			t.Errorf("%s: %s", p.Name, strings.Join(wrong, "; "))
		}
		groups[group] = sum
	}
	for name := range reasons {
		t.Errorf("testdata/differences.txt names %s, which is no probe", name)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		t.Logf("%-24s %3d of %3d", name, groups[name].right, groups[name].all)
	}
	t.Logf("%d of %d probes", total.right, total.all)
}

// differs says how a reply differs, or is empty.
func (a answer) differs(t *testing.T, got bson.Raw) string {
	t.Helper()
	var is struct {
		OK                float64
		Code              int32
		Errmsg            string
		WriteErrors       []writeError         `bson:"writeErrors"`
		WriteConcernError struct{ Code int32 } `bson:"writeConcernError"`
		ErrorLabels       []string             `bson:"errorLabels"`
	}
	waybooktest.OK(t, bson.Unmarshal(got, &is))
	switch {
	case is.OK != a.OK || is.Code != a.Code:
		return fmt.Sprintf("ok %v, code %d (%.100s), want ok %v, code %d", is.OK, is.Code, is.Errmsg, a.OK, a.Code)
	case !slices.Equal(is.WriteErrors, a.WriteErrors):
		return fmt.Sprintf("write errors %v, want %v", is.WriteErrors, a.WriteErrors)
	case is.WriteConcernError != a.WriteConcernError:
		return fmt.Sprintf("write concern error %d, want %d", is.WriteConcernError.Code, a.WriteConcernError.Code)
	case !slices.Equal(is.ErrorLabels, a.ErrorLabels):
		return fmt.Sprintf("labels %v, want %v", is.ErrorLabels, a.ErrorLabels)
	}
	return ""
}
