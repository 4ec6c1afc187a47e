package content

import (
	"context"
	"math"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/docstore"
)

// Summaries are the documents of a kind as long lists show them. S is the stored form and M
// the message of the contract. They may be used concurrently.
type Summaries[S, M any] struct {
	documents *docstore.Projection[S]
	show      func(message *M, summary *S)
	// id returns the identifier of a summary. oldIDs returns the old identifiers of documents, and
	// tell puts one into a message.
	id     func(*S) int64
	oldIDs func(ctx context.Context, ids []int64) (map[int64]string, error)
	tell   func(message *M, oldID string)
}

// Summarize returns the summaries of a kind. S must be a struct with bson tags. show fills
// a message. id returns the identifier of a summary, and tell puts an old one into a message.
func Summarize[S, M, P any](
	kind *Kind[P], show func(message *M, summary *S), id func(*S) int64, tell func(message *M, oldID string),
) *Summaries[S, M] {
	return &Summaries[S, M]{docstore.Project[S](kind.Documents), show, id, kind.oldIDs, tell}
}

// Send sends the summaries that query finds and keep accepts, in batches of the query's
// limit. It sends at most count, or all if count is 0. keep may be nil. Send reports
// whether the query found any document. It stops at the first error of send.
func (s *Summaries[S, M]) Send(
	ctx context.Context, query docstore.Query, count int64, keep func(*S) bool, send func([]*M) error,
) (found bool, err error) {
	left, read := count, count
	if count == 0 {
		left = math.MaxInt64
	}
	if keep != nil {
		read = 0 // the number of documents to read is unknown
	}
	for documents, err := range s.documents.BatchesUpTo(ctx, query, read) {
		if err != nil {
			return found, err
		}
		found = true
		messages := make([]M, len(documents)) // one allocation per batch: there may be millions
		batch := make([]*M, 0, len(documents))
		var untold []int64
		shown := map[int64]*M{}
		for i := range documents {
			if left > 0 && (keep == nil || keep(&documents[i])) {
				s.show(&messages[i], &documents[i])
				batch = append(batch, &messages[i])
				left--
				if newID := s.id(&documents[i]); aliases.IsText(newID) {
					untold, shown[newID] = append(untold, newID), &messages[i]
				}
			}
		}
		if len(untold) > 0 {
			oldIDs, err := s.oldIDs(ctx, untold)
			if err != nil {
				return found, err
			}
			for newID, oldID := range oldIDs {
				s.tell(shown[newID], oldID)
			}
		}
		if len(batch) > 0 {
			if err := send(batch); err != nil {
				return found, err
			}
		}
		if left == 0 {
			break
		}
	}
	return found, nil
}
