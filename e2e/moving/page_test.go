package moving_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// The examples of the page have all fields of the records, and nothing wrong.
func TestTheExamplesOfThePageHaveAllFields(t *testing.T) {
	t.Parallel()
	missing := map[string]bool{}
	var add func(of protoreflect.MessageDescriptor)
	add = func(of protoreflect.MessageDescriptor) {
		for i := range of.Fields().Len() {
			field := of.Fields().Get(i)
			isChoice := field.ContainingOneof() != nil && !field.ContainingOneof().IsSynthetic()
			missing[`"`+string(field.Name())+`":`] = !isChoice
			if message := field.Message(); message != nil && message.ParentFile().Package() == "waybook.movein.v1" {
				add(message)
			}
		}
	}
	decoder := format.NewDecoder(format.Options{Zone: time.UTC})
	kinds := (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	examples := guide(t, "json")[0]
	for i := range kinds.Len() {
		clear(missing)
		add(kinds.Get(i).Message())
		for line := range strings.Lines(examples) {
			decoded := decoder.Decode([]byte(line))
			if len(decoded.Faults) > 0 {
				t.Fatalf("%s: %+v", line, decoded.Faults)
			}
			for field := range missing {
				if decoded.Kind == format.Kind(kinds.Get(i).Name()) && strings.Contains(line, field) {
					delete(missing, field)
				}
			}
		}
		for field, isMissing := range missing {
			if !isMissing {
				continue
			}
			t.Errorf("no example of %s has %s", kinds.Get(i).Name(), field)
		}
	}
}

func TestThePageListsAllRepairs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| rule | finds | gives |\n| --- | --- | --- |\n"
	for _, rule := range format.Repairs() {
		want += fmt.Sprintf("| %s | %s | %s |\n", rule.Repair, rule.Finds, rule.Gives)
	}
	if !strings.Contains(string(page), want) {
		t.Errorf("the page lacks this table:\n%s", want)
	}
}
