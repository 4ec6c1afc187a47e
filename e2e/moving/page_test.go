package moving_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// The examples of the page have all fields of the records, and nothing wrong.
func TestTheExamplesOfThePageHaveAllFields(t *testing.T) {
	t.Parallel()
	decoder, kinds := format.Decoder{Zone: time.UTC}, (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	shown := map[string]string{}
	for line := range strings.Lines(guide(t, "json")[0]) {
		decoded := decoder.Decode([]byte(line))
		if len(decoded.Faults) > 0 {
			t.Errorf("%s: %+v", line, decoded.Faults)
		}
		shown[string(decoded.Kind)] += line
	}
	var expect func(kind string, of protoreflect.MessageDescriptor)
	expect = func(kind string, of protoreflect.MessageDescriptor) {
		for i := range of.Fields().Len() {
			field := of.Fields().Get(i)
			isChoice := field.ContainingOneof() != nil && !field.ContainingOneof().IsSynthetic()
			if !isChoice && !strings.Contains(shown[kind], `"`+string(field.Name())+`":`) {
				t.Errorf("no example of %s has %s", kind, field.Name())
			}
			if message := field.Message(); message != nil && message.ParentFile() == of.ParentFile() {
				expect(kind, message)
			}
		}
	}
	for i := range kinds.Len() {
		expect(string(kinds.Get(i).Name()), kinds.Get(i).Message())
	}
}
