package edge

import "fmt"

// Identifiers says which identifiers replies show of what was moved in from an old service. Requests
// may always have both.
type Identifiers int

const (
	// NewIdentifiers are those of Waybook.
	NewIdentifiers Identifiers = iota
	// OldIdentifiers are those of the old service.
	OldIdentifiers
)

// String returns the flag's value.
func (i Identifiers) String() string {
	return [...]string{NewIdentifiers: "new", OldIdentifiers: "old"}[i]
}

// Set parses the flag's value.
func (i *Identifiers) Set(value string) error {
	for _, each := range [...]Identifiers{NewIdentifiers, OldIdentifiers} {
		if value == each.String() {
			*i = each
			return nil
		}
	}
	return fmt.Errorf("%q is neither new nor old", value)
}
