package operation

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/internal/clients"
)

// somebody is a Caller with an address and a session.
type somebody struct{ nobody }

func (somebody) Address() string          { return "192.0.2.1" }
func (somebody) Session() (Session, bool) { return Session{7, strings.Repeat("0", 32)}, true }

// isUnused reports whether the edge leaves a field to other callers: what it sets is what changes, it
// shows all that it reads, a legacy client never says which state it saw, and the two parts of an
// album's location change separately. The address of a photo stays. A list has more to choose by than an operation has parameters; what is not set is valid.
func isUnused(request protoreflect.Name, path string) bool {
	if request == "ListAlbumsRequest" || request == "ListBlogsRequest" || request == "ListPoisRequest" || request == "ListSessionsRequest" {
		return true
	}
	return path == "update_mask.paths" || path == "read_mask.paths" || path == "etag" ||
		request == "UpdateAlbumRequest" && strings.HasPrefix(path, "location.") || request == "UpdatePhotoRequest" && path == "url"
}

// A violation of a field must name the parameter of the client. If no parameter feeds the field,
// the client gets INTERNAL ERROR.
func TestEveryFieldOfARequestIsFedByAParameter(t *testing.T) {
	for _, row := range newTable() {
		for i := range row.Operations {
			checkFields(t, row.Name, &row.Operations[i])
		}
	}
}

func checkFields(t *testing.T, name string, o *Operation) {
	t.Helper()
	if o.build == nil {
		return
	}
	in := &Input{Reader: form.Reader{Form: &form.Form{}}, User: 7, Caller: somebody{}}
	built := o.build(in).ProtoReflect()
	request := built.Descriptor()
	fed := map[string]bool{}
	for _, each := range in.Readings() {
		fed[each.Field] = true
		list, _, _ := strings.Cut(each.Field, "[") // a parameter for each item
		fed[list] = true
		if !isField(request, each.Field) {
			t.Errorf("%s: %s feeds %q, which %s does not have", name, each.Parameter.Name, each.Field, request.Name())
		}
	}
	for _, path := range leaves(built, "") {
		// With an empty form, only the edge itself sets fields.
		if !fed[path] && !isSet(built, path) && !isUnused(request.Name(), path) {
			t.Errorf("%s: no parameter feeds %s of %s", name, path, request.Name())
		}
	}
}

func isField(message protoreflect.MessageDescriptor, path string) bool {
	name, rest, isNested := strings.Cut(path, ".")
	name, _, isItem := strings.Cut(name, "[")
	field := message.Fields().ByName(protoreflect.Name(name))
	if field != nil && isItem != field.IsList() {
		return false
	}
	return field != nil && (!isNested || isField(field.Message(), rest))
}

// isSet reports whether a field has a value other than zero. A parameter that is missing gives
// zero, also to a field with presence.
func isSet(message protoreflect.Message, path string) bool {
	name, rest, isNested := strings.Cut(path, ".")
	field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
	if !message.Has(field) {
		return false
	}
	if isNested {
		return isSet(message.Get(field).Message(), rest)
	}
	return field.Message() != nil || !message.Get(field).Equal(field.Default())
}

// leaves returns the paths of the fields that hold a value. A repeated field counts as one. Of a
// oneof, only the field that the edge sets counts.
func leaves(message protoreflect.Message, prefix string) (paths []string) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		path := prefix + string(field.Name())
		oneof := field.ContainingOneof()
		switch {
		case oneof != nil && !oneof.IsSynthetic() && !message.Has(field):
		case field.Message() == nil || field.IsList():
			paths = append(paths, path)
		default:
			paths = append(paths, leaves(message.Get(field).Message(), path+".")...)
		}
	}
	return paths
}

// newTable returns the table with clients that must not be called.
func newTable() []Function { return Table(newConfig()) }

func newConfig() *Config {
	return &Config{Clients: clients.Of(nil, nil, nil, nil)}
}

// drip gives a byte of a file at a time, each after a wait.
type drip struct {
	left int
	wait time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(d.wait)
	d.left--
	return copy(p, "x"), nil
}

func TestASlowFileGoesOnEverySecond(t *testing.T) {
	for _, c := range []struct {
		file  drip
		sizes []int
	}{
		{drip{20, time.Millisecond}, []int{8, 8, 4}},
		{drip{3, 700 * time.Millisecond}, []int{2, 1}},
		{drip{2, 20 * time.Second}, []int{1, 1, 0}},
		{drip{0, 0}, []int{0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sizes []int
			file := c.file
			for {
				n, err := fill(make([]byte, 8), &file)
				sizes = append(sizes, n)
				if err != nil {
					break
				}
			}
			if !slices.Equal(sizes, c.sizes) {
				t.Errorf("%v: chunks of %v bytes", c.file, sizes)
			}
		})
	}
}
