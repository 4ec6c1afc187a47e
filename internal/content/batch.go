package content

import "context"

// Batch is the result of a call that names many documents.
type Batch[P any] struct {
	// Found are the documents that exist, each once, in the order in which they were named first.
	Found []P
	// Missing are the ids of documents that do not exist. Unread are those that did not fit into
	// docstore.MaxPageBytes. Both are in the same order.
	Missing, Unread []int64
}

// Batch returns the documents with the given ids.
func (k *Kind[P]) Batch(ctx context.Context, ids []int64) (b Batch[P], err error) {
	ids = distinct(ids)
	documents, unread, err := k.Documents.GetFitting(ctx, ids)
	if err != nil {
		return b, err
	}
	found := make(map[int64]*P, len(documents))
	for i := range documents {
		found[k.ID(&documents[i])] = &documents[i]
	}
	b.Found, b.Unread = make([]P, 0, len(documents)), unread
	for _, id := range ids {
		document := found[id]
		switch {
		case document != nil:
			b.Found = append(b.Found, *document)
		case len(unread) > 0 && unread[0] == id:
			unread = unread[1:]
		default:
			b.Missing = append(b.Missing, id)
		}
	}
	return b, nil
}

// distinct returns the ids without those that were named before.
func distinct(ids []int64) []int64 {
	seen, first := make(map[int64]bool, len(ids)), make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id], first = true, append(first, id)
		}
	}
	return first
}

// OwnersOf returns the owner of each document.
func (k *Kind[P]) OwnersOf(documents []P) []int64 {
	owners := make([]int64, len(documents))
	for i := range documents {
		owners[i] = k.Owner(&documents[i])
	}
	return owners
}
