package rival

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

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
	Request, Reply protoreflect.FullName
	// Message is the encoded reply.
	Message []byte
}

// serviceName is the name of the gRPC service.
const serviceName = "baseline"

// Method returns the full name of the RPC of a case.
func Method(name string) string { return "/" + serviceName + "/" + name }

// Path returns the HTTP path of a case.
func Path(name string) string { return "/" + name }

// startBaselines starts the gRPC baseline and returns the handler of that over HTTP.
func startBaselines(ctx context.Context, path string, env process.Env) (http.Handler, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-answers: %w", err)
	}
	var answers []Answer
	if err := json.Unmarshal(text, &answers); err != nil {
		return nil, fmt.Errorf("-answers: %w", err)
	}
	description, err := describe(answers)
	if err != nil {
		return nil, err
	}
	calls, err := process.Listen(ctx, "grpc", anyPort)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.Creds(insecure.NewCredentials()))
	server.RegisterService(description, nil)
	done := make(chan error, 1)
	go func() { done <- server.Serve(calls) }()
	env.Stack.Push("gRPC baseline", func(context.Context) error {
		server.Stop()
		return <-done
	})
	fmt.Fprintf(env.Out, "  grpc   %s\n", calls.Addr())
	return replay(answers), nil
}

// replay returns a handler that writes the replies.
func replay(answers []Answer) http.Handler {
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
		header := w.Header()
		maps.Copy(header, answer.Header)
		header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
		_, _ = w.Write(answer.Body) // the client has gone if this fails
	})
}

// describe returns a service with a method per case. It decodes each request and encodes each
// reply, like any service.
func describe(answers []Answer) (*grpc.ServiceDesc, error) {
	description := &grpc.ServiceDesc{ServiceName: serviceName, HandlerType: (*any)(nil)}
	for _, answer := range answers {
		request, err := protoregistry.GlobalTypes.FindMessageByName(answer.Request)
		if err != nil {
			return nil, err
		}
		replyType, err := protoregistry.GlobalTypes.FindMessageByName(answer.Reply)
		if err != nil {
			return nil, err
		}
		reply := replyType.New().Interface()
		if err := proto.Unmarshal(answer.Message, reply); err != nil {
			return nil, fmt.Errorf("%s: %w", answer.Name, err)
		}
		description.Methods = append(description.Methods, grpc.MethodDesc{
			MethodName: answer.Name,
			Handler: func(_ any, _ context.Context, decode func(any) error,
				_ grpc.UnaryServerInterceptor) (any, error) {
				return reply, decode(request.New().Interface())
			},
		})
	}
	return description, nil
}
