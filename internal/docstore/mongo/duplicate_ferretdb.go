package mongo

import (
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// sqliteDuplicate returns the index in which a replacement was a duplicate, from an error
// of FerretDB v1, the server of the tests. That error has no specific code, only the text
// "… UNIQUE constraint failed: index 'things_1a2b3c4d_NAME' (2067)".
func (t *table) sqliteDuplicate(err error) (index string, found bool) {
	var command mongo.CommandError
	if !errors.As(err, &command) || command.Code != 1 {
		return "", false
	}
	_, rest, found := strings.Cut(command.Message, "UNIQUE constraint failed: index '"+t.spec.Name+"_")
	if !found {
		return "", false
	}
	quoted, _, _ := strings.Cut(rest, "'")
	_, name, _ := strings.Cut(quoted, "_")
	for _, declared := range t.spec.Indexes {
		if declared.Unique && isNameOf(declared, name) {
			return declared.Name, true
		}
	}
	return "", false
}
