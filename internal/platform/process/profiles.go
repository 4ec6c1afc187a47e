package process

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"
)

// maxProfileTime bounds the duration of CPU profiles and traces.
const maxProfileTime = time.Minute

// withProfiles serves profiles for go tool pprof and go tool trace in addition to a
// handler. It does not use net/http/pprof. That package adds itself to http.DefaultServeMux
// in every program that links it. It also exposes the command line, which may hold a
// password.
func withProfiles(other http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", other)
	mux.HandleFunc("GET /debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
		if err := pprof.StartCPUProfile(attachment(w, "profile")); err != nil {
			busy(w, err)
			return
		}
		defer pprof.StopCPUProfile()
		waitFor(w, r, 30*time.Second)
	})
	mux.HandleFunc("GET /debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		if err := trace.Start(attachment(w, "trace")); err != nil {
			busy(w, err)
			return
		}
		defer trace.Stop()
		waitFor(w, r, time.Second)
	})
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		profile := pprof.Lookup(r.PathValue("name"))
		if profile == nil {
			http.Error(w, "unknown profile; /debug/pprof/ lists the profiles", http.StatusNotFound)
			return
		}
		if profile.Name() == "heap" && r.FormValue("gc") != "" {
			runtime.GC()
		}
		_ = profile.WriteTo(attachment(w, profile.Name()), 0) // the client is gone
	})
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "profile?seconds=30\ntrace?seconds=1")
		for _, profile := range pprof.Profiles() {
			fmt.Fprintln(w, profile.Name())
		}
	})
	return mux
}

func attachment(w http.ResponseWriter, name string) http.ResponseWriter {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	return w
}

func busy(w http.ResponseWriter, err error) {
	w.Header().Del("Content-Disposition")
	http.Error(w, err.Error(), http.StatusConflict)
}

// waitFor waits for as many seconds as the request asks for, or until its client is gone. The
// client has pieceTime to read the reply after that.
func waitFor(w http.ResponseWriter, r *http.Request, byDefault time.Duration) {
	wait := byDefault
	if seconds, err := strconv.ParseFloat(r.FormValue("seconds"), 64); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, maxProfileTime.Seconds()) * float64(time.Second))
	}
	// A writer without deadlines has no time limit either.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + pieceTime))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
