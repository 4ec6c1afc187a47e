package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

func TestEachMethodHasACommandOrARow(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment}, nil)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, command := range parser.Model.Leaves(false) {
		if !command.Tag.Has("rpc") {
			continue
		}
		method, err := methodOf(command)
		if err != nil {
			t.Errorf("%s: %v", command.FullPath(), err)
			continue
		}
		used[string(method.FullName())] = true
		if command.Help == "" {
			t.Errorf("%s has no help", command.FullPath())
		}
		for _, parameter := range parametersOf(command) {
			if path := parameter.Tag.Get("field"); path != "" && path != "-" && len(pathOf(method.Input(), path)) == 0 {
				t.Errorf("%s: %s is no field of %s", command.FullPath(), path, method.Input().FullName())
			}
			if parameter.Help == "" {
				t.Errorf("%s: %s has no help", command.FullPath(), parameter.Name)
			}
		}
		for _, name := range strings.Fields(command.Tag.Get("with")) {
			if len(pathOf(method.Input(), strings.TrimPrefix(name, "!"))) == 0 {
				t.Errorf("%s: %s is no field of %s", command.FullPath(), name, method.Input().FullName())
			}
		}
		checkColumns(t, command, method.Output())
	}
	inRows := map[string]bool{}
	for _, each := range rows {
		inRows[each.method] = true
	}
	for _, service := range []string{"account", "album", "blog", "poi"} {
		described, err := protoregistry.GlobalFiles.FindDescriptorByName(serviceName(service))
		if err != nil {
			t.Fatal(err)
		}
		methods := described.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			method := methods.Get(i)
			name := string(method.Name())
			isStream := method.IsStreamingClient() || method.IsStreamingServer()
			if !used[string(method.FullName())] && !inRows[name] && !isStream {
				t.Errorf("%s has no command", method.FullName())
			}
			delete(inRows, name)
		}
	}
	for name := range inRows {
		t.Errorf("THE TABLE has %s, which is no method", name)
	}
}

// checkColumns checks the columns of all that a reply may hold.
func checkColumns(t *testing.T, command *kong.Node, message protoreflect.MessageDescriptor) {
	t.Helper()
	own := columns[strings.TrimPrefix(string(message.FullName()), "waybook.")]
	for each := range strings.FieldsSeq(own) {
		_, path, _ := strings.Cut(each, ":")
		path, _, _ = strings.Cut(path, "|")
		if len(pathOf(message, path)) == 0 {
			t.Errorf("%s: %s has no field %s", command.FullPath(), message.FullName(), path)
		}
	}
	if own != "" {
		return
	}
	for i := range message.Fields().Len() {
		switch field := message.Fields().Get(i); {
		case field.Message() != nil:
			checkColumns(t, command, field.Message())
		}
	}
}
