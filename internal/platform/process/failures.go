package process

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// FailuresPath is the path of the admin port that lists the last failed requests.
const FailuresPath = "/debug/failures"

// The limits of what a program keeps of failed requests: about 512 KiB.
const (
	maxFailures     = 256
	maxFailureBytes = 500
)

// FailedRequest is a request that failed, and why. It names operations, parameters and services, and nobody.
type FailedRequest struct {
	// RequestID is the X-Request-Id of the reply, and Func the operation; empty for an unknown one.
	RequestID string `json:"request_id"`
	Func      string `json:"func"`
	// Ended is when the request was answered, and Milliseconds how long that took.
	Ended        time.Time `json:"ended"`
	Milliseconds float64   `json:"ms"`
	// Status is the HTTP status; 0 if nothing was sent. Reason is stable, and Info the phrase that the client got.
	Status int    `json:"status"`
	Reason string `json:"reason"`
	Info   string `json:"info,omitempty"`
	// Call is the call to a service that failed; nil if none did.
	Call *FailedCall `json:"call,omitempty"`
}

// FailedCall is a call to a service that failed.
type FailedCall struct {
	Service string `json:"service"`
	Method  string `json:"method"`
	Target  string `json:"target"`
	// Code is the gRPC status, Reason that of the service, and Message its message for people.
	Code    string `json:"code"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Tried has the addresses, each with its status and how long it took.
	Tried string `json:"tried"`
	Tries int    `json:"tries"`
}

// FailuresReply is the reply of an admin port: the program, and the failed requests that it has kept, the
// latest first.
type FailuresReply struct {
	Program  string          `json:"program"`
	Requests []FailedRequest `json:"requests"`
}

// Failures keeps the last failed requests of a program. Nil keeps none. It is safe for concurrent use.
type Failures struct {
	program string

	mu   sync.Mutex
	kept []FailedRequest
}

// NewFailures returns the Failures of a program, without requests.
func NewFailures(program string) *Failures { return &Failures{program: program} }

// Keep keeps a request, in place of the oldest if there are too many.
func (f *Failures) Keep(request FailedRequest) {
	if f == nil {
		return
	}
	request.Info = clip(request.Info)
	if request.Call != nil {
		request.Call.Message, request.Call.Tried = clip(request.Call.Message), clip(request.Call.Tried)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) == maxFailures {
		f.kept = slices.Delete(f.kept, 0, 1)
	}
	f.kept = append(f.kept, request)
}

// All returns the kept requests.
func (f *Failures) All() FailuresReply {
	f.mu.Lock()
	defer f.mu.Unlock()
	latest := append([]FailedRequest{}, f.kept...)
	slices.Reverse(latest)
	return FailuresReply{f.program, latest}
}

// clip returns the beginning of a text. encoding/json replaces the part of a character at its end.
func clip(text string) string { return text[:min(len(text), maxFailureBytes)] }

// withFailures serves the kept requests as JSON in addition to a handler.
func withFailures(other http.Handler, failures *Failures) http.Handler {
	if failures == nil {
		return other
	}
	mux := http.NewServeMux()
	mux.Handle("/", other)
	mux.HandleFunc("GET "+FailuresPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(failures.All()) // the client is gone
	})
	return mux
}
