package owned

import (
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// ContentRevision is the field of a document that counts how often its owner has changed its
// content; it is missing until the first time.
const ContentRevision = "content_revision"

// EtagOf returns the etag of a document (AIP-154): how often its content was changed, and when its
// owner changed it last. The count alone would not do, because a failover may undo a change and
// give its number to another.
func EtagOf(contentRevision int64, updated time.Time) string {
	return strconv.FormatInt(contentRevision, 36) + "-" + strconv.FormatInt(updated.UnixMilli(), 36)
}

// EtagOfTexts returns the etag of something that consists of texts: 64 bits, mixed from the XXH64
// of each.
func EtagOfTexts(texts ...string) string {
	const prime = 11400714785074694791
	sum := uint64(0)
	for _, text := range texts {
		sum = (sum ^ xxhash.Sum64String(text)) * prime
	}
	return strconv.FormatUint(sum, 36)
}

// Changed returns the error for something that has another etag than a request names.
func Changed() *apierror.Error {
	return apierror.New(codes.Aborted, "ETAG_MISMATCH", "it has changed since its etag was read; read it again")
}

// Still returns the conditions that a document belongs to a user and still has an etag, unless it
// is empty. It fails if no document has the etag.
func (c *Collection[T]) Still(actorID int64, etag string) ([]docstore.Condition, error) {
	conditions := []docstore.Condition{docstore.Is(c.OwnerField, actorID)}
	if etag == "" {
		return conditions, nil
	}
	count, at, _ := strings.Cut(etag, "-")
	revision, err := strconv.ParseInt(count, 36, 64)
	if err != nil {
		return nil, Changed()
	}
	moment, err := strconv.ParseInt(at, 36, 64)
	updated := time.UnixMilli(moment)
	if err != nil || EtagOf(revision, updated) != etag {
		return nil, Changed()
	}
	is := docstore.Lacks(ContentRevision)
	if revision > 0 {
		is = docstore.Is(ContentRevision, revision)
	}
	return append(conditions, is, docstore.At(updateTime, updated)), nil
}
