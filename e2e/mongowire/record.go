package mongowire

import (
	"slices"
	"sync"
)

// maxRecorded and maxRecordedBytes bound the recorded commands. The oldest are forgotten
// first. The counts include them.
const (
	maxRecorded      = 20_000
	maxRecordedBytes = 64 << 20
)

// Mark is a position in the record of commands.
type Mark int

// record has the commands in the order of their arrival.
type record struct {
	mu sync.Mutex
	// first is the position of the oldest command in commands.
	first    Mark
	commands []Command
	bytes    int
	counts   map[string]int
}

func (r *record) add(c Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[c.Name]++
	r.commands = append(r.commands, c)
	r.bytes += c.Size
	forgotten := 0
	for len(r.commands)-forgotten > maxRecorded || r.bytes > maxRecordedBytes {
		r.bytes -= r.commands[forgotten].Size
		forgotten++
	}
	r.commands = r.commands[forgotten:]
	r.first += Mark(forgotten)
}

// Mark returns the position behind the commands that have arrived.
func (s *Server) Mark() Mark {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return s.record.first + Mark(len(s.record.commands))
}

// Since returns the commands that have arrived since a mark, without hello. complete is
// false if the face has forgotten the first of them.
func (s *Server) Since(mark Mark) (commands []Command, complete bool) {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	from := max(0, min(int(mark-s.record.first), len(s.record.commands)))
	return slices.Clone(s.record.commands[from:]), mark >= s.record.first
}

// Count returns how many commands of a name have arrived since the start.
func (s *Server) Count(name string) int {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return s.record.counts[name]
}
