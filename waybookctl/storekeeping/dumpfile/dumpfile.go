// Package dumpfile defines the file format of a store dump. A file has these parts:
//
//   - a line that names the format
//   - a BSON document that names the collections
//   - for each collection, its documents in the order of their ids, then a zero length
//   - a BSON document with the number of documents of each collection
//   - the SHA-256 of everything before it
//
// Equal stores produce equal files, because a file holds no time and nothing random.
package dumpfile

import (
	"crypto/sha256"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// magic is the first line. Its number is the version of the format.
const magic = "Waybook store dump 1\n"

// maxListBytes bounds the lists of collections.
const maxListBytes = 1 << 20

// A batch has at most batchDocuments documents and, unless it is a single document, batchBytes
// bytes.
const (
	batchDocuments = 500
	batchBytes     = 4 << 20
)

// header begins the file, after the first line.
type header struct {
	Collections []string `bson:"collections"`
}

// Contents describe the contents of a file, and end it.
type Contents struct {
	Collections []Collection `bson:"collections"`
	// Sum is the SHA-256 of the file.
	Sum [sha256.Size]byte `bson:"-"`
}

// Collection is the number of documents of a collection.
type Collection struct {
	Name      string `bson:"name" json:"name"`
	Documents int64  `bson:"documents" json:"documents"`
}

// Documents returns the total number of documents.
func (c Contents) Documents() (sum int64) {
	for _, each := range c.Collections {
		sum += each.Documents
	}
	return sum
}

// Batch is a run of consecutive documents of one collection.
type Batch struct {
	Collection string
	// First reports whether they are the first documents of the collection.
	First     bool
	Documents []bson.Raw
}
