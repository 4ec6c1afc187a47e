// Package dumpfile is the file in which a store's documents are kept outside of it: a line
// that says what it is; a BSON document that names the collections; for each of them its
// documents, in the order of their ids, and a zero length; a BSON document that counts
// them; the SHA-256 of everything before it. It holds no time and nothing else by
// chance, so that equal stores make equal files.
package dumpfile

import (
	"crypto/sha256"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// magic is the first line. Its number is that of the format.
const magic = "Waybook store dump 1\n"

// maxListBytes bounds the lists of collections.
const maxListBytes = 1 << 20

// A batch is at most so many documents and, unless it is a single one, so many bytes.
const (
	batchDocuments = 500
	batchBytes     = 4 << 20
)

// header is what the file begins with.
type header struct {
	Collections []string `bson:"collections"`
}

// Contents are what a file holds, and how it ends.
type Contents struct {
	Collections []Collection `bson:"collections"`
	// Sum is the SHA-256 of the file.
	Sum [sha256.Size]byte `bson:"-"`
}

// Collection is how many documents of a collection there are.
type Collection struct {
	Name      string `bson:"name" json:"name"`
	Documents int64  `bson:"documents" json:"documents"`
}

// Documents is how many there are in all.
func (c Contents) Documents() (sum int64) {
	for _, each := range c.Collections {
		sum += each.Documents
	}
	return sum
}

// Batch is some documents of a collection that follow each other.
type Batch struct {
	Collection string
	// First tells whether they are the collection's first ones.
	First     bool
	Documents []bson.Raw
}
