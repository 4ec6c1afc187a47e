package mongowire

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// everywhere is the comment with which a command says that it asks all shards on purpose.
const everywhere = "everywhere"

// maxShown bounds how many bytes of a command the monitor keeps.
const maxShown = 2000

// monitor looks for commands on sharded collections that a router would send to all shards,
// though they do not say so. A collection counts as sharded by its place if any index begins with
// _place, whether the server is a router or not, and sharded by _id if its shard key or an index
// is a hash of _id. It may become known after its first commands.
//
// The monitor is here and not in the driver, because the server sees the commands of all
// processes and of operators too, and learns what is sharded from the same commands.
type monitor struct {
	mu     sync.Mutex
	fields map[string]string // the shard key by database and collection
	// strays has the first such command of each collection, for each field that could be its
	// shard key.
	strays map[stray]string
}

type stray struct{ namespace, field string }

// shardFields are the fields that can be shard keys.
func shardFields() []string { return []string{"_place", "_id"} }

func newMonitor() monitor {
	return monitor{fields: map[string]string{}, strays: map[stray]string{}}
}

// see judges a command.
func (m *monitor) see(command Command) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch command.Name {
	case "createIndexes":
		for _, index := range documentsOf(command.Body, "indexes") {
			if first := firstField(field(index, "key")); first == "_place" || isHashed(index) {
				m.fields[command.namespace()] = first
			}
		}
	case "shardCollection":
		m.fields[command.Collection] = firstField(field(command.Body, "key"))
	}
	if comment, _ := command.Body.Lookup("comment").StringValueOK(); comment == everywhere {
		return
	}
	for _, field := range shardFields() {
		if _, isTargeted, isData := command.ShardKeys(field); !isData || isTargeted {
			continue
		}
		at := stray{command.namespace(), field}
		if m.strays[at] == "" {
			m.strays[at] = shown(command)
		}
	}
}

// shown returns the beginning of a command as text.
func shown(command Command) string {
	text := fmt.Sprint(without(command.Body, "lsid", "$clusterTime"))
	for _, statement := range command.Statements {
		if text += " " + fmt.Sprint(statement); len(text) > maxShown {
			return text[:maxShown] + " ..."
		}
	}
	return text
}

// Strays returns the first command on each sharded collection that a router would send to all
// shards and that does not say so with the comment "everywhere".
func (s *Server) Strays() (strays []string) {
	s.monitor.mu.Lock()
	defer s.monitor.mu.Unlock()
	for _, namespace := range slices.Sorted(maps.Keys(s.monitor.fields)) {
		field := s.monitor.fields[namespace]
		if text := s.monitor.strays[stray{namespace, field}]; text != "" {
			strays = append(strays, fmt.Sprintf("a command on %s, which is sharded by %s, asks all shards and does not say so: %s", namespace, field, text))
		}
	}
	return strays
}

// ShardKey returns the first field of the shard key of a collection, or "" if it is not sharded.
func (s *Server) ShardKey(namespace string) string {
	s.monitor.mu.Lock()
	defer s.monitor.mu.Unlock()
	return s.monitor.fields[namespace]
}
