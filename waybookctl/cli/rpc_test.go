package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func TestEachCommandOfAnRPCHasItsFieldsAndItsColumns(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		if !command.Tag.Has("rpc") {
			continue
		}
		method, err := methodOf(command)
		if err != nil {
			t.Errorf("%s: %v", command.FullPath(), err)
			continue
		}
		for _, parameter := range parametersOf(command) {
			if len(fieldsOf(method.Input(), parameter)) == 0 && parameter.Tag.Get("field") != "-" {
				t.Errorf("%s: %s is no field of %s", command.FullPath(), parameter.Name, method.Input().FullName())
			}
		}
		for _, name := range strings.Fields(command.Tag.Get("with")) {
			if len(pathOf(method.Input(), strings.TrimPrefix(name, "!"))) == 0 {
				t.Errorf("%s: %s is no field of %s", command.FullPath(), name, method.Input().FullName())
			}
		}
		checkColumns(t, command, method.Output())
	}
}

// checkColumns checks the columns of all that a reply may hold.
func checkColumns(t *testing.T, command *kong.Node, message protoreflect.MessageDescriptor) {
	t.Helper()
	columns := columnsByName(strings.TrimPrefix(string(message.FullName()), "waybook."))
	for _, each := range columns {
		path, _, _ := strings.Cut(each.path, "|")
		if len(pathOf(message, path)) == 0 {
			t.Errorf("%s: %s has no field %s", command.FullPath(), message.FullName(), path)
		}
	}
	if columns != nil {
		return
	}
	for i := range message.Fields().Len() {
		switch field := message.Fields().Get(i); {
		case field.Message() != nil:
			checkColumns(t, command, field.Message())
		case field.IsList():
			t.Errorf("%s: the list %s has no columns", command.FullPath(), field.FullName())
		}
	}
}
