package serve

import (
	"encoding/json"
	"net/http"

	"github.com/waybook/waybook/internal/platform/tracing"
)

// SlowPath is the path of the admin port that lists the kept slow requests. Below it, each has
// its request id.
const SlowPath = "/debug/requests"

// withSlowRequests serves the kept slow requests as JSON in addition to a handler. slow is nil
// if none are kept.
func withSlowRequests(other http.Handler, slow *tracing.Slow) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", other)
	serve := func(requests func(*http.Request) tracing.SlowReply) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if slow == nil {
				http.Error(w, "this program keeps no slow requests; set -slow-requests", http.StatusNotImplemented)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(requests(r)) // the client is gone
		}
	}
	mux.HandleFunc("GET "+SlowPath, serve(func(*http.Request) tracing.SlowReply { return slow.All() }))
	mux.HandleFunc("GET "+SlowPath+"/{id}", serve(func(r *http.Request) tracing.SlowReply { return slow.Of(r.PathValue("id")) }))
	return mux
}
