package cli

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// Most commands are one RPC each. Their fields in the tree of commands have these tags:
//
//   - rpc names a method of the service that the tag service of the noun names.
//   - with names boolean fields of the request that are true, or false after a !.
//
// Each flag and argument is the field of the request with its name, or with its name and _id. A tag
// overrides that: field names the path of the field, or several of which the request has one, or is
// - for a flag that is no field. A flag that is not given leaves its field unset.

// calls is the Run method of a command that calls its RPC and prints the reply.
type calls struct{}

// Run calls the RPC.
func (calls) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	return call.print(ctx, out)
}

// limit is the flag that bounds the length of a list.
type limit struct {
	Limit uint `field:"-" placeholder:"COUNT" help:"Maximum number of items; all when not given."`
}

// lists is the Run method of a command that prints all pages of a list.
type lists struct{ limit }

// Run lists.
func (l lists) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	return call.printList(ctx, out, l.limit)
}

// rpc is the call of a command. The Run method of a command takes one if the command has an rpc tag.
type rpc struct {
	command *kong.Node
	method  protoreflect.MethodDescriptor
	link    *link
	request proto.Message
}

// rpc returns the call of a command, with the request that its flags and arguments make.
func (s *services) rpc(ctx context.Context, command *kong.Node, in io.Reader) (*rpc, error) {
	method, err := methodOf(command)
	if err != nil {
		return nil, err
	}
	request, err := newMessage(method.Input())
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(command.Tag.Get("with")) {
		isFalse := strings.HasPrefix(name, "!")
		fields := pathOf(method.Input(), strings.TrimPrefix(name, "!"))
		request.ProtoReflect().Set(fields[0], protoreflect.ValueOfBool(!isFalse))
	}
	for _, value := range parametersOf(command) {
		fields := fieldsOf(method.Input(), value)
		if len(fields) == 0 {
			continue
		}
		target := value.Target
		if fields[0].Name() == "actor_id" && target.IsZero() {
			owner, err := s.ownerOf(ctx, request)
			if err != nil {
				return nil, err
			}
			target = reflect.ValueOf(owner)
		} else if !value.Set {
			continue
		}
		if err := set(ctx, request.ProtoReflect(), fields, target.Interface(), in); err != nil {
			return nil, err
		}
	}
	return &rpc{command, method, s.links[serviceOf(command)], request}, nil
}

// methodOf returns the method that a command calls.
func methodOf(command *kong.Node) (protoreflect.MethodDescriptor, error) {
	service := serviceOf(command)
	name := fmt.Sprintf("waybook.%s.v1.%s%sService.%s", service, strings.ToUpper(service[:1]), service[1:], command.Tag.Get("rpc"))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found.(protoreflect.MethodDescriptor), nil
}

// serviceOf returns the service of a command's noun.
func serviceOf(command *kong.Node) string {
	for node := command; node != nil && node.Tag != nil; node = node.Parent {
		if service := node.Tag.Get("service"); service != "" {
			return service
		}
	}
	return ""
}

func newMessage(described protoreflect.MessageDescriptor) (proto.Message, error) {
	found, err := protoregistry.GlobalTypes.FindMessageByName(described.FullName())
	if err != nil {
		return nil, err
	}
	return found.New().Interface(), nil
}

// parametersOf returns the arguments and the flags of a command.
func parametersOf(command *kong.Node) []*kong.Value {
	all := slices.Clone(command.Positional)
	for _, flag := range command.Flags {
		all = append(all, flag.Value)
	}
	return all
}

// fieldsOf returns the path of the field that a flag or an argument sets. It is empty if there is none.
func fieldsOf(request protoreflect.MessageDescriptor, value *kong.Value) []protoreflect.FieldDescriptor {
	own := strings.ReplaceAll(value.Name, "-", "_")
	paths := []string{own, own + "_id"}
	if tag := value.Tag.Get("field"); tag != "" {
		paths = strings.Split(tag, ",")
	}
	for _, path := range paths {
		if fields := pathOf(request, path); len(fields) > 0 {
			return fields
		}
	}
	return nil
}

// pathOf returns the fields along a path such as location.lat, or nothing if a message lacks one.
func pathOf(message protoreflect.MessageDescriptor, path string) (fields []protoreflect.FieldDescriptor) {
	for name := range strings.SplitSeq(path, ".") {
		if message == nil {
			return nil
		}
		field := message.Fields().ByName(protoreflect.Name(name))
		if field == nil {
			return nil
		}
		fields, message = append(fields, field), field.Message()
	}
	return fields
}

// set sets the field at the end of a path.
func set(ctx context.Context, message protoreflect.Message, path []protoreflect.FieldDescriptor, value any, in io.Reader) error {
	last := len(path) - 1
	for _, field := range path[:last] {
		message = message.Mutable(field).Message()
	}
	field := path[last]
	switch value := value.(type) {
	case numbered:
		message.Set(field, protoreflect.ValueOfEnum(value.number()))
	case day:
		message.Set(field, protoreflect.ValueOfMessage(value.date.ProtoReflect()))
	case textOrInput:
		text, err := value.read(ctx, in)
		if err != nil {
			return err
		}
		message.Set(field, protoreflect.ValueOfString(text))
	case []string:
		list := message.Mutable(field).List()
		for _, each := range value {
			list.Append(protoreflect.ValueOfString(each))
		}
	default:
		message.Set(field, protoreflect.ValueOf(value))
	}
	return nil
}

// ownerOf returns the owner of the album, the entry or the landmark that a request names.
func (s *services) ownerOf(ctx context.Context, request any) (int64, error) {
	switch request := request.(type) {
	case interface{ GetAlbumId() int64 }:
		found, err := s.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: request.GetAlbumId()})
		return found.GetAlbum().GetOwner().GetUserId(), err
	case interface{ GetBlogId() int64 }:
		found, err := s.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: request.GetBlogId()})
		return found.GetBlog().GetAuthor().GetUserId(), err
	case interface{ GetPoiId() int64 }:
		found, err := s.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: request.GetPoiId()})
		return found.GetPoi().GetOwner().GetUserId(), err
	}
	return 0, fmt.Errorf("%T names nothing that has an owner", request)
}

// do calls.
func (r *rpc) do(ctx context.Context) (proto.Message, error) {
	reply, err := newMessage(r.method.Output())
	if err != nil {
		return nil, err
	}
	return reply, r.link.Invoke(ctx, fmt.Sprintf("/%s/%s", r.method.Parent().FullName(), r.method.Name()), r.request, reply)
}
