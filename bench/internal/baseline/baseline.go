// Package baseline answers with what others have computed: what it costs to serve the
// same bytes over net/http, and the same messages over gRPC, when nothing is to be
// done for them. No program on these libraries can be faster.
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

	"github.com/waybook/waybook/internal/platform/serve"
)

// Answer is what is answered to the requests of one case.
type Answer struct {
	// Name is the case: the path /<name> and the method /floor/<name>.
	Name string
	// Header and Body are the HTTP reply, but for what the server adds by itself.
	Header http.Header
	Body   []byte
	// Request and Reply name the types of the messages.
	Request, Reply string
	// Messages are the encoded replies: one, or those of a stream.
	Messages [][]byte
	Streams  bool
}

// Method is the full name of a case's RPC.
func Method(name string) string { return "/floor/" + name }

// Path is the path of a case.
func Path(name string) string { return "/" + name }

// BusyPath is the path of a case whose answer takes so much more CPU.
func BusyPath(name string, work time.Duration) string {
	return fmt.Sprintf("%s?%d", Path(name), work.Microseconds())
}

// Config is how the floors are run.
type Config struct {
	HTTP, GRPC, Admin string
	// Answers is a file with the answers, in JSON.
	Answers string
}

// Register declares the flags, with their defaults.
func (c *Config) Register(flags *flag.FlagSet) {
	flags.StringVar(&c.HTTP, "http", "127.0.0.1:0", "`address` of the HTTP port")
	flags.StringVar(&c.GRPC, "grpc", "127.0.0.1:0", "`address` of the gRPC port")
	flags.StringVar(&c.Admin, "admin", "127.0.0.1:0", "`address` of metrics")
	flags.StringVar(&c.Answers, "answers", "", "`file` with what to answer")
}

// Start starts the floors and pushes their parts on env's stack.
func Start(ctx context.Context, config Config, env serve.Env) error {
	text, err := os.ReadFile(config.Answers)
	if err != nil {
		return fmt.Errorf("-answers: %w", err)
	}
	var answers []Answer
	if err := json.Unmarshal(text, &answers); err != nil {
		return fmt.Errorf("-answers: %w", err)
	}
	metrics, readiness := serve.NewMetrics(), serve.NewReadiness(nil)
	admin, err := env.Admin(ctx, config.Admin, readiness, metrics)
	if err != nil {
		return err
	}
	calls, err := serve.Listen(ctx, "grpc", config.GRPC)
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
	env.Stack.Push("gRPC floor", func(context.Context) error {
		server.Stop()
		return <-done
	})
	requests, err := serve.Listen(ctx, "http", config.HTTP)
	if err != nil {
		return err
	}
	env.HTTP("HTTP floor", requests, handler(answers))
	env.Ready(readiness)
	fmt.Fprintf(env.Out, "floor\n  grpc   %s\n  http   http://%s\n  admin  http://%s\n", calls.Addr(), requests.Addr(), admin)
	return nil
}

// pieceSize is the size of the pieces in which the edge sends a long reply.
const pieceSize = 64 << 10

// handler writes replies as the edge does.
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
				http.Error(w, "the query is a number of microseconds", http.StatusBadRequest)
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

// roundsPerMicrosecond is how much of compute takes a microsecond of CPU: the most that
// was seen, as whatever else the machine does makes it less.
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

// compute keeps a core busy and takes no memory.
func compute(rounds int) {
	var block [1 << 10]byte
	for range rounds {
		block[0] = sha256.Sum256(block[:])[0]
	}
}
