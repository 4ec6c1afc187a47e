package operation

import "github.com/google/uuid"

// newRequestID returns a random UUID (RFC 9562, version 4). A create carries one, so that a
// retry by the transport creates nothing twice.
func newRequestID() string { return uuid.NewString() }
