package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// hashDigits is how many hexadecimal digits of the hash of an email address are logged.
// That is enough to tell addresses apart.
const hashDigits = 16

// appendSubjects adds the user, the client, the application and the email address of a call,
// as far as its messages name them. It reads no other fields.
func appendSubjects(attributes []slog.Attr, call *Call) []slog.Attr {
	request, reply := fieldsOf(call.Request), fieldsOf(call.Reply)
	if call.Failure != nil {
		reply = fields{}
	}
	user := cmp.Or(call.User, request.user(), reply.part("user").user())
	if user != 0 {
		attributes = append(attributes, slog.Int64("user_id", user))
	}
	if address := request.text("client_address"); address != "" {
		attributes = append(attributes, slog.String("client_address", address))
	}
	if key := cmp.Or(request.text("key"), reply.part("application").text("key")); key != "" {
		attributes = append(attributes, slog.String("application", key))
	}
	if hash := emailHash(request.text("email")); hash != "" {
		attributes = append(attributes, slog.String("email_hash", hash))
	}
	return attributes
}

// UserOf returns the user that a message of the contracts names, or 0.
func UserOf(message any) int64 { return fieldsOf(message).user() }

// emailHash returns a part of the SHA-256 of an address in lower case. It returns "" for a
// text that is no address: users type passwords into the wrong field.
func emailHash(email string) string {
	if !strings.Contains(email, "@") {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.ToLower(email)))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// hasField reports whether a message sets a field.
func hasField(message any, name protoreflect.Name) bool {
	_, has := fieldsOf(message).value(name, protoreflect.StringKind)
	return has
}

// fields are the fields of a message. The zero value has none.
type fields struct{ protoreflect.Message }

func fieldsOf(message any) fields {
	if m, ok := message.(proto.Message); ok {
		return fields{m.ProtoReflect()}
	}
	return fields{}
}

// value returns a field that is set and has the given kind.
func (f fields) value(name protoreflect.Name, kind protoreflect.Kind) (protoreflect.Value, bool) {
	if f.Message == nil {
		return protoreflect.Value{}, false
	}
	field := f.Message.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != kind || field.Cardinality() == protoreflect.Repeated || !f.Message.Has(field) {
		return protoreflect.Value{}, false
	}
	return f.Message.Get(field), true
}

func (f fields) text(name protoreflect.Name) string {
	value, ok := f.value(name, protoreflect.StringKind)
	if !ok {
		return ""
	}
	return value.String()
}

func (f fields) part(name protoreflect.Name) fields {
	value, ok := f.value(name, protoreflect.MessageKind)
	if !ok {
		return fields{}
	}
	return fields{value.Message()}
}

// user returns the user that a message names (rule 14.3), or 0.
func (f fields) user() int64 {
	for _, name := range [...]protoreflect.Name{"user_id", "actor_id", "owner_id", "author_id"} {
		if value, ok := f.value(name, protoreflect.Int64Kind); ok {
			return value.Int()
		}
	}
	return 0
}
