package spoil

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Part returns the bucket of a store's data, and the first and the last key of a part of a
// collection: an index, or "documents" or "feed". It panics if there is none.
func Part(tx *bolt.Tx, collection, name string) (data *bolt.Bucket, first, last []byte) {
	var declared struct {
		Number  int `bson:"number"`
		Indexes []struct {
			Name string `bson:"name"`
			Part int    `bson:"part"`
		} `bson:"indexes"`
	}
	if err := bson.Unmarshal(tx.Bucket([]byte("catalog")).Get([]byte("collection/"+collection)),
		&declared); err != nil {
		panic(err)
	}
	parts := map[string]int{"documents": 0, "feed": 1}
	for _, index := range declared.Indexes {
		parts[index.Name] = index.Part
	}
	number, isThere := parts[name]
	data = tx.Bucket([]byte("data"))
	prefix := []byte{byte(declared.Number), byte(number)}
	cursor := data.Cursor()
	first, _ = cursor.Seek(prefix)
	for key := first; bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
		last = key
	}
	if !isThere || last == nil {
		panic("the store has no " + name + " of " + collection)
	}
	return data, first, last
}

// RemoveFirst removes the first key of a part.
func RemoveFirst(tx *bolt.Tx, collection, name string) error {
	data, first, _ := Part(tx, collection, name)
	return data.Delete(first)
}
