package operation

import "github.com/google/uuid"

// newRequestID returns a random UUID (RFC 9562, version 4). A create carries one so that
// a transport that sends it twice has it done once.
func newRequestID() string { return uuid.NewString() }
