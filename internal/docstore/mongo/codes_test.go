package mongo

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// The codes are those of MongoDB's src/mongo/base/error_codes.yml.
func TestAFailureThatPassesIsUnavailableAndARefusalIsNot(t *testing.T) {
	for passes, codes := range map[bool][]int{
		// The server says that these may be retried, or that it stopped half way.
		true: {
			24, 46, 50, 70, 145, 175, 187, 194, 199, 200, 202, 211, 217, 246, 249, 272, 279, 285, 290, 314, 355, 365, 402, 406, 407, 412, 414, 433, 449,
			462, 10107, 13388, 91331, 10045600,
		},
		// BadValue, FailedToParse, Unauthorized, AuthenticationFailed, NamespaceNotFound, ImmutableField, IndexOptionsConflict,
		// IndexKeySpecsConflict, DocumentValidationFailure, BSONObjectTooLarge, DuplicateKey. A repetition ends the same way.
		false: {2, 9, 13, 18, 26, 66, 85, 86, 121, 10334, 11000},
	} {
		for _, code := range codes {
			for place, err := range map[string]error{
				"command":   mongo.CommandError{Code: int32(code)},
				"one write": mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code}}},
			} {
				if got := portError(t.Context(), err); errors.Is(got, docstore.ErrUnavailable) != passes {
					t.Errorf("%d of a %s: got %v", code, place, got)
				}
			}
			if passes != isPassing(code) {
				t.Errorf("%d of one of several writes: got %v", code, !passes)
			}
		}
	}
}
