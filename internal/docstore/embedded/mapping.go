package embedded

import bolt "go.etcd.io/bbolt"

// releaseEvery is how much scans may read before the process gives the pages of the
// file that they have touched back to the kernel. bbolt maps the whole file; without
// this, one long list would leave all that it read in the process's resident memory.
// The pages stay in the kernel's cache, and a page is mapped again when it is next
// needed, which costs less than a microsecond.
const releaseEvery = 8 << 20

// entryCost is about what the index entry of a document takes.
const entryCost = 64

// scanned notes what a scan has read, and gives the mapped pages back when that has
// come to enough. The transaction keeps the mapping where it is.
func (e *Engine) scanned(tx *bolt.Tx, documents, bytes int) {
	if e.unreleased.Add(int64(bytes+entryCost*documents)) < releaseEvery {
		return
	}
	e.unreleased.Store(0)
	releasePages(tx.DB().Info().Data, tx.Size())
}
