package manifests_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// server is a service of deploy/compose.yaml.
type server struct {
	Profiles    []string                     `json:"profiles"`
	Command     []string                     `json:"command"`
	Environment map[string]string            `json:"environment"`
	DependsOn   map[string]map[string]string `json:"depends_on"`
}

func composed(t *testing.T) map[string]server {
	t.Helper()
	text, err := os.ReadFile("../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]server `json:"services"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Services
}

// hosts returns the addresses of the servers whose names begin with a prefix, in order.
func hosts(services map[string]server, prefix string) (addresses []string) {
	for _, name := range slices.Sorted(maps.Keys(services)) {
		if port := services[name].Environment["PORT"]; port != "" && strings.HasPrefix(name, prefix) {
			addresses = append(addresses, "127.0.0.1:"+port)
		}
	}
	return addresses
}

// No container runs here, so this checks that the addresses and the names of the sets agree.
func TestTheServersOfComposeAreThoseOfItsScriptsAndURIs(t *testing.T) {
	services := composed(t)
	for name, each := range services {
		if port := each.Environment["PORT"]; port != "" && !strings.HasSuffix(name, "-"+port) {
			t.Errorf("%s has the port %s", name, port)
		}
		for other, on := range each.DependsOn {
			if !slices.Equal(services[other].Profiles, each.Profiles) || (on["condition"] == "service_healthy") != (services[other].Environment["PORT"] != "") {
				t.Errorf("%s depends on %s with %v", name, other, on)
			}
		}
	}
	expectSets(t, services, "replica-set", "member-")
	expectSets(t, services, "cluster-sets", "config-", "shard-")
	members, routers := hosts(services, "member-"), hosts(services, "router-")
	if want := "mongodb://" + strings.Join(members, ",") + "/?replicaSet=rs0"; len(members) != 3 || services["replica-set"].Environment["URI"] != want {
		t.Errorf("the replica set %v has the URI %s", members, services["replica-set"].Environment["URI"])
	}
	cluster := services["cluster"].Environment
	if want := "mongodb://" + strings.Join(routers, ",") + "/"; len(routers) != 2 || cluster["URI"] != want || cluster["ROUTER"] != "mongodb://"+routers[0] {
		t.Errorf("the cluster of %v has the URI %s and the router %s", routers, cluster["URI"], cluster["ROUTER"])
	}
	var shards []string
	for i, host := range hosts(services, "shard-") {
		shards = append(shards, fmt.Sprintf("shard%d/%s", i+1, host))
	}
	if want, err := json.Marshal(shards); err != nil || strings.ReplaceAll(cluster["SHARDS"], ", ", ",") != string(want) {
		t.Errorf("the cluster has the shards %s, want %s", cluster["SHARDS"], want)
	}
	for name, each := range services {
		if configdb := "--configdb config/" + hosts(services, "config-")[0]; strings.HasPrefix(name, "router-") && !strings.HasSuffix(each.Command[2], configdb) {
			t.Errorf("%s runs %s", name, each.Command[2])
		}
	}
}

// expectSets checks that a script makes the replica sets of the servers whose names have the prefixes, and waits
// for each of them.
func expectSets(t *testing.T, services map[string]server, script string, prefixes ...string) {
	t.Helper()
	var sets [][]any
	if err := json.Unmarshal([]byte(services[script].Environment["SETS"]), &sets); err != nil {
		t.Fatal(err)
	}
	made := map[string]string{} // the set by port
	for _, set := range sets {
		for _, port := range set[1:] {
			made[fmt.Sprint(port)] = set[0].(string)
		}
	}
	for name, each := range services {
		port := each.Environment["PORT"]
		if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		if _, isAwaited := services[script].DependsOn[name]; !isAwaited || made[port] != each.Environment["SET"] {
			t.Errorf("%s makes the sets %v; %s is of %s", script, made, name, each.Environment["SET"])
		}
		delete(made, port)
	}
	if len(made) > 0 {
		t.Errorf("%s makes sets of servers that do not exist: %v", script, made)
	}
}
