package embedded

import bolt "go.etcd.io/bbolt"

// releaseEvery is how many bytes scans may read before the process releases the mapped
// pages of the file to the kernel. bbolt maps the whole file, so without this all pages
// that a long list has read would stay in resident memory. The released pages stay in the
// kernel's cache. Mapping one again takes less than a microsecond.
const releaseEvery = 8 << 20

// entryCost is the approximate size of an index entry in bytes.
const entryCost = 64

// scanned counts the bytes that a scan has read and releases the mapped pages when
// releaseEvery is reached. The open transaction keeps the mapping valid.
func (e *Engine) scanned(tx *bolt.Tx, documents, bytes int) {
	if e.unreleased.Add(int64(bytes+entryCost*documents)) < releaseEvery {
		return
	}
	e.unreleased.Store(0)
	releasePages(tx.DB().Info().Data, tx.Size())
}
