package embedded

import (
	"encoding/binary"
	"io"

	bolt "go.etcd.io/bbolt"
)

// bbolt writes its whole list of free pages with each commit, 8 bytes for each free page.
// After a mass deletion that is megabytes for each small write. So the engine leaves a long
// list out of most commits: listShare bounds what the list adds to a commit on average. A
// list of up to listShare is in every commit.
//
// A start without the list has to find the free pages by a walk over all others. Close
// therefore writes the list. Only a start after a crash may have to walk.
const listShare = 32 << 10

// Reading the size of the list costs three reads of the file. A list of up to shortList is
// read again after shortFor commits. So a mass deletion may write its long list that often.
const (
	shortList = 8 << 10
	shortFor  = 7
)

// freeList decides which commits write the list. Only the committer uses it.
type freeList struct {
	db   *bolt.DB
	file io.ReaderAt
	// owed is how much of the last list that was written has not been spread over commits yet.
	owed int64
	// unread is how many more commits may assume that the list is short.
	unread int
	// isMissing reports that the last commit left the list out.
	isMissing bool
}

func newFreeList(db *bolt.DB, file io.ReaderAt) freeList {
	last, found, err := readMeta(file)
	return freeList{db: db, file: file, isMissing: err == nil && found && last.list == noList}
}

// choose tells bbolt whether the next commit writes the list.
func (l *freeList) choose() { l.db.NoFreelistSync = l.owed > listShare }

// committed notes a successful commit.
func (l *freeList) committed() {
	l.isMissing = l.db.NoFreelistSync
	switch {
	case l.isMissing:
		l.owed -= listShare
	case l.unread > 0:
		l.unread--
	default:
		l.owed = l.bytes()
		if l.owed <= shortList {
			l.unread = shortFor
		}
	}
}

// bytes returns the size of the list that the last commit wrote. If it cannot be read, the
// next commit writes the list again, which is correct but may be slow.
func (l *freeList) bytes() int64 {
	last, found, err := readMeta(l.file)
	if err != nil || !found || last.list == noList {
		return 0
	}
	var header [pageHeaderBytes]byte
	if _, err := l.file.ReadAt(header[:], int64(last.list)*last.pageBytes); err != nil { // #nosec G115 -- it is below pages
		return 0
	}
	return (1 + int64(binary.NativeEndian.Uint32(header[overflowAt:]))) * last.pageBytes
}

// leaveFreeList writes the list if the last commit left it out. Without it the next start
// is slower, so a failure is no error.
func (c *committer) leaveFreeList() {
	if !c.list.isMissing || c.db.IsReadOnly() || c.failure() != nil {
		return
	}
	tx, err := c.db.Begin(true)
	if err != nil {
		return
	}
	c.db.NoFreelistSync = false
	if c.finish(tx) != nil {
		_ = tx.Rollback()
	}
}
