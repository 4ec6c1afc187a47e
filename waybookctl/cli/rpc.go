package cli

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// A command with the tag rpc calls that method of the service that the tag service of its noun names. Its tag with names
// boolean fields of the request that are true, or false after a !. The tag field of a flag or an argument is the path of the
// field that it sets; a flag that is not given leaves it unset.

// limit is the flag that bounds the length of a list.
type limit struct {
	Limit uint `placeholder:"COUNT" help:"Maximum number of items; all when not given."`
}

// runRPC is the Run function of commands that have none.
func runRPC(ctx context.Context, call *rpc, out *output.Printer) error {
	if call.method.Output().Fields().ByName("next_page_token") == nil {
		return call.print(ctx, out)
	}
	var most limit
	for _, flag := range call.command.Flags {
		if flag.Name == "limit" {
			most.Limit = uint(flag.Target.Uint())
		}
	}
	return call.printList(ctx, out, most)
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
		name, isFalse := strings.CutPrefix(name, "!")
		request.ProtoReflect().Set(pathOf(method.Input(), name)[0], protoreflect.ValueOfBool(!isFalse))
	}
	var actor []protoreflect.FieldDescriptor
	for _, value := range parametersOf(command) {
		fields := pathOf(method.Input(), value.Tag.Get("field"))
		switch {
		case len(fields) == 0:
		case value.Set || value.HasDefault:
			if err := set(request.ProtoReflect(), fields, value, in); err != nil {
				return nil, err
			}
		case fields[0].Name() == "actor_id":
			actor = fields
		}
	}
	if actor != nil {
		owner, err := s.ownerOf(ctx, request)
		if err != nil {
			return nil, err
		}
		request.ProtoReflect().Set(actor[0], protoreflect.ValueOfInt64(owner))
	}
	return &rpc{command, method, s.links[serviceOf(command)], request}, nil
}

// methodOf returns the method that a command calls.
func methodOf(command *kong.Node) (protoreflect.MethodDescriptor, error) {
	name := serviceName(serviceOf(command)).Append(protoreflect.Name(command.Tag.Get("rpc")))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
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

// set sets the field at the end of a path to the value of a flag or an argument.
func set(message protoreflect.Message, path []protoreflect.FieldDescriptor, from *kong.Value, in io.Reader) error {
	last := len(path) - 1
	for _, field := range path[:last] {
		message = message.Mutable(field).Message()
	}
	field := path[last]
	value, err := valueFor(field, from.Target, in)
	if err != nil {
		return usageError(fmt.Sprintf("%s: %v", from.ShortSummary(), err))
	}
	switch text, isJSON := value.(jsonText); {
	case isJSON: // of a message that is merged, because protojson reads only messages
		made := message.New().Interface()
		if err := protojson.Unmarshal(fmt.Appendf(nil, "{%q: %s}", field.Name(), text), made); err != nil {
			return usageError(from.ShortSummary() + " is not JSON as the contract has it: " + strings.TrimPrefix(err.Error(), "proto:"))
		}
		proto.Merge(message.Interface(), made)
	case field.IsList():
		list := message.Mutable(field).List()
		for i := range from.Target.Len() {
			each, err := valueFor(field, from.Target.Index(i), in)
			if err != nil {
				return usageError(fmt.Sprintf("%s: %v", from.ShortSummary(), err))
			}
			list.Append(protoreflect.ValueOf(each))
		}
	default:
		message.Set(field, protoreflect.ValueOf(value))
	}
	return nil
}

// valueFor returns a value for a field.
func valueFor(field protoreflect.FieldDescriptor, value reflect.Value, in io.Reader) (any, error) {
	switch value := value.Interface().(type) {
	case enumText:
		return numberOf(field.Enum(), string(value))
	case day:
		return value.date.ProtoReflect(), nil
	case textOrInput:
		return value.read(in)
	default:
		return value, nil
	}
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
	return 0, usageError("--as is required: this command names nothing that has an owner")
}

// do calls.
func (r *rpc) do(ctx context.Context) (proto.Message, error) {
	reply, err := newMessage(r.method.Output())
	if err != nil {
		return nil, err
	}
	return reply, r.link.Invoke(ctx, fmt.Sprintf("/%s/%s", r.method.Parent().FullName(), r.method.Name()), r.request, reply)
}

// enumText is a value of an enum of the contracts, written as a word: ALBUM_CATEGORY_FOOD is food. The enum's own
// names and numbers are accepted too. The tag words of its flag has the words.
type enumText string

// jsonText is a value as JSON.
type jsonText string

// word is a value of an enum that a program knows.
type word[E enum] struct{ value E }

type enum interface {
	~int32
	protoreflect.Enum
}

// UnmarshalText parses a word, a name or a number.
func (w *word[E]) UnmarshalText(text []byte) error {
	number, err := numberOf(w.value.Descriptor(), string(text))
	w.value = E(number)
	return err
}

// Words returns all words of the enum.
func (w word[E]) Words() []string { return wordsOf(w.value.Descriptor()) }

// numberOf returns the number of a word, a name or a number.
func numberOf(of protoreflect.EnumDescriptor, text string) (protoreflect.EnumNumber, error) {
	for i := 1; i < of.Values().Len(); i++ {
		value := of.Values().Get(i)
		switch text {
		case wordOf(value), string(value.Name()), strconv.Itoa(int(value.Number())):
			return value.Number(), nil
		}
	}
	return 0, fmt.Errorf("must be one of %s", strings.Join(wordsOf(of), ", "))
}

// wordsOf returns all words of an enum.
func wordsOf(of protoreflect.EnumDescriptor) []string {
	words := make([]string, 0, of.Values().Len())
	for i := 1; i < of.Values().Len(); i++ { // the first is UNSPECIFIED
		words = append(words, wordOf(of.Values().Get(i)))
	}
	return words
}

// wordOfNumber returns the word for a value of an enum, or its number if the word is unknown.
func wordOfNumber(of protoreflect.EnumDescriptor, value protoreflect.EnumNumber) string {
	described := of.Values().ByNumber(value)
	if described == nil {
		return strconv.Itoa(int(value)) // from a newer contract
	}
	return wordOf(described)
}

func wordOf(value protoreflect.EnumValueDescriptor) string {
	unspecified := value.Parent().(protoreflect.EnumDescriptor).Values().ByNumber(0).Name()
	prefix := strings.TrimSuffix(string(unspecified), "UNSPECIFIED")
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(value.Name()), prefix), "_", "-"))
}

// day is a day of the calendar.
type day struct{ date *typev1.Date }

// UnmarshalText parses a day such as 2026-11-21.
func (d *day) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("must be an existing day, such as 2026-11-21")
	}
	d.date = &typev1.Date{Year: int32(at.Year()), Month: int32(at.Month()), Day: int32(at.Day())}
	return nil
}

func dateText(date *typev1.Date) string {
	return fmt.Sprintf("%04d-%02d-%02d", date.GetYear(), date.GetMonth(), date.GetDay())
}

// maxTextBytes bounds a text: services accept at most 100,000 characters of at most four bytes.
const maxTextBytes = 400_000

// textOrInput is a text, or "-" for the text on standard input.
type textOrInput string

// read returns the text.
func (t textOrInput) read(in io.Reader) (string, error) {
	if t != "-" {
		return string(t), nil
	}
	read, err := io.ReadAll(io.LimitReader(in, maxTextBytes+1))
	if err != nil {
		return "", fmt.Errorf("standard input can't be read: %w", err)
	}
	if len(read) > maxTextBytes {
		return "", usageError("standard input is longer than 100,000 characters")
	}
	return string(read), nil
}
