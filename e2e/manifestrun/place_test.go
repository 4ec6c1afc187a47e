package manifestrun

import (
	"slices"
	"strings"
	"testing"
)

func TestManifestValuesArePlacedOnOneMachineOrRefused(t *testing.T) {
	fleet := New(t, "", "mongodb://db/waybook")
	for name := range fleet.programs {
		fleet.pods[name] = []*Pod{{Name: name, fleet: fleet, address: "127.0.0.1:1"}, {Name: name, fleet: fleet, address: "127.0.0.1:2"}}
	}
	album := fleet.pods["album"][0]
	args, environment, err := fleet.place(album)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(args, []string{"-grpc=127.0.0.1:1", "-account=127.0.0.1:1,127.0.0.1:2"}) {
		t.Errorf("started with %v", args)
	}
	want := []string{
		"GOMAXPROCS=2", "GOMEMLIMIT=201326592", "WAYBOOK_ADMIN=127.0.0.1:0", "WAYBOOK_LOG_FORMAT=json", "WAYBOOK_MONGODB_URI=mongodb://db/waybook",
		"WAYBOOK_SHUTDOWN_DELAY=0s",
		"WAYBOOK_TLS_CA=" + fleet.Certificates.Directory("album") + "/ca.crt",
		"WAYBOOK_TLS_CERT=" + fleet.Certificates.Directory("album") + "/tls.crt",
		"WAYBOOK_TLS_KEY=" + fleet.Certificates.Directory("album") + "/tls.key",
	}
	if !slices.Equal(environment, want) {
		t.Errorf("started in %v", environment)
	}

	for wrong, change := range map[string]func(*Program){
		"no value of -x=1":               func(p *Program) { p.Args = []string{"-x=1"} },
		"own address":                    func(p *Program) { p.Args = []string{"-grpc=10.0.0.1:9092"} },
		"not the address of account":     func(p *Program) { p.Args = []string{"-account=dns:///account:9999"} },
		"no value of WAYBOOK_X=1":        func(p *Program) { p.Environment = map[string]string{"WAYBOOK_X": "1"} },
		"not have the certificate of al": func(p *Program) { p.Secrets = nil },
	} {
		program := fleet.programs["album"]
		changed := program
		change(&changed)
		fleet.programs["album"] = changed
		if _, _, err := fleet.place(album); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v, want %s", err, wrong)
		}
		fleet.programs["album"] = program
	}
}
