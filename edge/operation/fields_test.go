package operation

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
)

// notFromTheForm are fields of requests that the edge fills by itself or leaves empty.
var notFromTheForm = map[string]bool{
	"request_id": true, "actor_id": true, "client_address": true,
	"CreateAlbumRequest.owner_id": true, "CreateBlogRequest.author_id": true, // the session's user
	"CreateBlogRequest.vote": true, // the legacy contract only shows votes
}

// A violation of a field must name the parameter that the client sent: a field that no
// parameter feeds would be an INTERNAL ERROR.
func TestEveryFieldOfARequestIsFedByAParameter(t *testing.T) {
	table := newTable()
	for i := range table {
		row := &table[i]
		if row.build == nil {
			continue
		}
		in := &Input{Reader: form.Reader{Form: &form.Form{}}, Caller: nobody{}}
		request := row.build(in).ProtoReflect().Descriptor()
		fed := map[string]bool{}
		for _, each := range in.Readings() {
			fed[each.Field] = true
			if !isField(request, each.Field) {
				t.Errorf("%s: %s feeds %q, which %s does not have", row.Func, each.Parameter.Name, each.Field, request.Name())
			}
		}
		for _, path := range leaves(request, "") {
			if !fed[path] && !notFromTheForm[path] && !notFromTheForm[string(request.Name())+"."+path] {
				t.Errorf("%s: no parameter feeds %s of %s", row.Func, path, request.Name())
			}
		}
	}
}

func isField(message protoreflect.MessageDescriptor, path string) bool {
	name, rest, isNested := strings.Cut(path, ".")
	field := message.Fields().ByName(protoreflect.Name(name))
	return field != nil && (!isNested || isField(field.Message(), rest))
}

// leaves are the paths of the fields that hold a value; a repeated field is one.
func leaves(message protoreflect.MessageDescriptor, prefix string) (paths []string) {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		path := prefix + string(field.Name())
		if field.Message() == nil || field.IsList() || notFromTheForm[string(message.Name())+"."+path] {
			paths = append(paths, path)
		} else {
			paths = append(paths, leaves(field.Message(), path+".")...)
		}
	}
	return paths
}
