// Package baseline serves recorded replies: the same bytes over net/http and the same
// messages over gRPC, without the work to compute them. No program on these libraries can be
// faster.
package baseline

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
)

// Answer is the recorded reply of one case.
type Answer struct {
	// Name is the name of the case. Its path is /<name> and its method /baseline/<name>.
	Name string
	// Header and Body are the HTTP reply, without the headers that any server adds.
	Header http.Header
	Body   []byte
	// Request and Reply are the full names of the message types.
	Request, Reply string
	// Messages are the encoded replies: one, or all of a stream.
	Messages [][]byte
	Streams  bool
}

// serviceName is the name of the gRPC service.
const serviceName = "baseline"

// Method returns the full name of the RPC of a case.
func Method(name string) string { return "/" + serviceName + "/" + name }

// Path returns the HTTP path of a case.
func Path(name string) string { return "/" + name }

// BusyPath returns the HTTP path of a case that takes additional CPU time.
func BusyPath(name string, work time.Duration) string {
	return fmt.Sprintf("%s?%d", Path(name), work.Microseconds())
}

// Config is the configuration of the baselines.
type Config struct {
	HTTP, GRPC, Admin string
	// Answers is the path of a JSON file with the answers.
	Answers string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:0", "`address` of the HTTP port")
	flags.StringVar(&c.GRPC, "grpc", "127.0.0.1:0", "`address` of the gRPC port")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:0", "`address` of the metrics")
	flags.StringVar(&c.Answers, "answers", "", "JSON `file` with the replies to serve")
}

// Start starts the baselines. It pushes their shutdown on env.Stack.
func Start(ctx context.Context, config Config, env process.Env) error {
	text, err := os.ReadFile(config.Answers)
	if err != nil {
		return fmt.Errorf("-answers: %w", err)
	}
	var answers []Answer
	if err := json.Unmarshal(text, &answers); err != nil {
		return fmt.Errorf("-answers: %w", err)
	}
	metrics, readiness := process.NewMetrics(), process.NewReadiness()
	admin, err := env.Admin(ctx, config.Admin, readiness, metrics)
	if err != nil {
		return err
	}
	calls, err := process.Listen(ctx, "grpc", config.GRPC)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.Creds(insecure.NewCredentials()))
	description, err := describe(answers)
	if err != nil {
		return err
	}
	server.RegisterService(description, nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(calls) }()
	env.Stack.Push("gRPC baseline", func(context.Context) error {
		server.Stop()
		return <-done
	})
	requests, err := process.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return err
	}
	env.HTTP("HTTP baseline", requests, handler(answers), connlimit.New(connlimit.Limits{}))
	env.Ready(readiness, nil)
	fmt.Fprintf(env.Out, "baseline\n  grpc   %s\n  http   http://%s\n  admin  http://%s\n", calls.Addr(), requests.Addr(), admin)
	return nil
}

// pieceSize is the size of the pieces in which the edge writes a long reply.
const pieceSize = 64 << 10

// handler writes replies in the same way as the edge.
func handler(answers []Answer) http.Handler {
	rounds := roundsPerMicrosecond()
	byPath := map[string]Answer{}
	for _, answer := range answers {
		byPath[Path(answer.Name)] = answer
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := byPath[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.RawQuery != "" {
			micros, err := strconv.ParseFloat(r.URL.RawQuery, 64)
			if err != nil {
				http.Error(w, "the query must be a number of microseconds", http.StatusBadRequest)
				return
			}
			compute(int(micros * rounds))
		}
		header := w.Header()
		maps.Copy(header, answer.Header)
		if len(answer.Body) <= pieceSize {
			header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
		}
		for body := answer.Body; len(body) > 0; {
			piece := body[:min(len(body), pieceSize)]
			if _, err := w.Write(piece); err != nil {
				return // the client is gone
			}
			body = body[len(piece):]
		}
	})
}

// roundsPerMicrosecond returns how many rounds of compute take a microsecond of CPU time. It
// returns the highest of several measurements, because other load can only lower it.
func roundsPerMicrosecond() float64 {
	const tries, rounds = 200, 100
	fastest := time.Hour
	for range tries {
		began := time.Now()
		compute(rounds)
		fastest = min(fastest, time.Since(began))
	}
	return rounds / (float64(fastest.Nanoseconds()) / 1e3)
}

// compute keeps a core busy without allocating memory.
func compute(rounds int) {
	var block [1 << 10]byte
	for range rounds {
		block[0] = sha256.Sum256(block[:])[0]
	}
}
