package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/waybook/waybook/e2e/contract/casefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// contracts returns the files that define the methods.
func contracts() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		accountv1.File_waybook_account_v1_account_proto,
		albumv1.File_waybook_album_v1_album_proto,
		blogv1.File_waybook_blog_v1_blog_proto,
		poiv1.File_waybook_poi_v1_poi_proto,
		commentv1.File_waybook_comment_v1_comment_proto,
		photov1.File_waybook_photo_v1_photo_proto,
		recommendationv1.File_waybook_recommendation_v1_recommendation_proto,
	}
}

func findMethod(service, method string) protoreflect.MethodDescriptor {
	for _, file := range contracts() {
		name := protoreflect.FullName(service)
		if name.Parent() != file.Package() {
			continue
		}
		if found := file.Services().ByName(name.Name()); found != nil {
			return found.Methods().ByName(protoreflect.Name(method))
		}
	}
	return nil
}

// serverOf returns the short name of the server that a request goes to: that of what it names, if several share the service.
func serverOf(service string, request protoreflect.Message) string {
	for _, name := range []string{"album", "blog", "poi"} {
		parent := request.Descriptor().Fields().ByName(protoreflect.Name(name + "_id"))
		if parent != nil && parent.ContainingOneof() != nil && request.Has(parent) {
			return name
		}
	}
	return strings.Split(service, ".")[1]
}

// call makes an RPC over TCP and compares the reply.
func (p *player) call(c *casefile.Call) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), stepTimeout)
	defer cancel()
	method := findMethod(c.Service, c.Method)
	if method == nil || method.IsStreamingClient() || method.IsStreamingServer() {
		return fmt.Errorf("there is no unary method %s/%s", c.Service, c.Method)
	}
	written, err := c.Request.Expand(p.variables)
	if err != nil {
		return err
	}
	request, reply := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
	if err := protojson.Unmarshal([]byte(written), request); err != nil {
		return err
	}
	err = p.on.connections[serverOf(c.Service, request)].Invoke(ctx, "/"+c.Service+"/"+c.Method, request, reply)
	if err := matchStatus(c.Answer, status.Convert(err)); err != nil {
		return err
	}
	if c.Answer.Reply == "" {
		return nil
	}
	got, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(reply)
	if err != nil {
		return err
	}
	if err := p.matchJSON(c.Answer.Reply, got); err != nil {
		return fmt.Errorf("%w\ngot %s", err, shorten(string(got)))
	}
	return nil
}

func matchStatus(want *casefile.Answer, got *status.Status) error {
	reason := ""
	for _, detail := range got.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			reason = info.GetReason()
		}
	}
	if name := code.Code_name[int32(got.Code())]; name != want.Code || reason != want.Reason {
		return fmt.Errorf("want %s %s, got %s %s: %s", want.Code, want.Reason, name, reason, got.Message())
	}
	return nil
}

func (p *player) matchJSON(want string, got []byte) error {
	var wanted, gotten any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		return fmt.Errorf("the case's answer is not JSON: %w", err)
	}
	if err := json.Unmarshal(got, &gotten); err != nil {
		return err
	}
	return p.matchValue("reply", wanted, gotten)
}

// matchValue compares a value. An object may have more fields than the case names. An array
// must have exactly the items of the case. A string must match its template.
func (p *player) matchValue(at string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object, got %v", at, got)
		}
		for name, value := range want {
			if err := p.matchValue(at+"."+name, value, object[name]); err != nil {
				return err
			}
		}
	case []any:
		items, ok := got.([]any)
		if !ok || len(items) != len(want) {
			return fmt.Errorf("%s: want %d items, got %v", at, len(want), got)
		}
		for i := range want {
			if err := p.matchValue(fmt.Sprintf("%s[%d]", at, i), want[i], items[i]); err != nil {
				return err
			}
		}
	case string:
		template, err := casefile.ParseTemplate(want)
		if err != nil {
			return err
		}
		text, ok := got.(string)
		if !ok {
			return fmt.Errorf("%s: want %q, got %v", at, want, got)
		}
		if err := template.Match(text, p.variables, p.span()); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	default:
		if want != got {
			return fmt.Errorf("%s: want %v, got %v", at, want, got)
		}
	}
	return nil
}
