package embedded

import (
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// moments stamps the writes of a file. Each stamp is higher than all before, also those of earlier
// processes, whatever the clock does. Only the committer stamps, so the order of the stamps is that
// of the commits.
type moments struct {
	now  func() time.Time
	last docstore.Moment
	// durable is the last stamp of the commits that have succeeded.
	durable atomic.Uint64
}

func (m *moments) next() docstore.Moment {
	m.last = max(m.last+1, docstore.MomentOf(m.now()))
	return m.last
}

// raise makes later stamps higher than a stored one.
func (m *moments) raise(stored docstore.Moment) {
	m.last = max(m.last, stored)
	m.durable.Store(max(m.durable.Load(), uint64(stored)))
}

func (m *moments) committed() { m.durable.Store(uint64(m.last)) }
