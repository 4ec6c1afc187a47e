package contract

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/waybook/waybook/internal/platform/rules"
)

// The services check the rules of the contracts themselves. Protovalidate finds the same violations, with the same words,
// in messages whose values are at the bounds of these rules. Each rule about several fields is broken.
func TestTheServicesAgreeWithProtovalidate(t *testing.T) {
	broken := map[string]bool{}
	count := 0
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		name := string(kind.Descriptor().FullName())
		if !strings.HasPrefix(name, "waybook.") {
			return true
		}
		seeds := uint64(100)
		if name == "waybook.type.v1.Date" {
			seeds = 3000
		}
		for seed := range seeds {
			random := rand.New(rand.NewPCG(seed, 0)) // #nosec G404 -- a test
			message := kind.New()
			fill(random, message, 0)
			want, ids := violations(t, message.Interface())
			got := rules.Violations(message.Interface())
			got = slices.DeleteFunc(got, isOwn)
			slices.SortFunc(got, compareViolations)
			if !slices.Equal(got, want) {
				t.Errorf("%s, seed %d:\ngot  %.500q\nwant %.500q", name, seed, got, want)
				return true
			}
			for _, id := range ids {
				broken[id] = true
			}
			count += len(want)
		}
		options, _ := proto.GetExtension(kind.Descriptor().Options(), validate.E_Message).(*validate.MessageRules)
		for _, rule := range options.GetCel() {
			if !broken[rule.GetId()] {
				t.Errorf("no message broke %s", rule.GetId())
			}
		}
		return true
	})
	if count < 10_000 {
		t.Errorf("only %d violations", count)
	}
}

// violations returns what protovalidate finds, and the rules.
func violations(t *testing.T, message proto.Message) (all []rules.Violation, ids []string) {
	t.Helper()
	var invalid *protovalidate.ValidationError
	if err := protovalidate.Validate(message); err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	} else if err == nil {
		return nil, nil
	}
	for _, v := range invalid.Violations {
		found := rules.Violation{Field: protovalidate.FieldPathString(v.Proto.GetField()), Message: v.Proto.GetMessage()}
		if field, text, names := strings.Cut(found.Message, ": "); names && found.Field == "" {
			found = rules.Violation{Field: field, Message: text}
		}
		all, ids = append(all, found), append(ids, v.Proto.GetRuleId())
	}
	slices.SortFunc(all, compareViolations)
	return all, ids
}

// isOwn reports whether a violation is one of the rules that protovalidate does not have.
func isOwn(v rules.Violation) bool {
	return slices.Contains([]string{
		"has a character that XML 1.0 cannot carry, such as a control character", "must have a visible character",
		"must be from 1 to 9007199254740991", "must be a time from the year 1 to 9999",
	}, v.Message)
}

func compareViolations(a, b rules.Violation) int {
	return strings.Compare(a.Field+"\x00"+a.Message, b.Field+"\x00"+b.Message)
}

// fill sets about half of the fields of a message.
func fill(random *rand.Rand, message protoreflect.Message, depth int) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		switch {
		case random.IntN(2) == 0 || depth > 3:
		case field.IsList():
			list := message.Mutable(field).List()
			lengths := []int{1, 2, 3, 20, 21}
			if random.IntN(30) == 0 {
				lengths = []int{1000, 1001}
			}
			for range lengths[random.IntN(len(lengths))] {
				item := list.NewElement()
				if field.Message() == nil {
					item = scalar(random, field)
				} else if list.Len() < 3 {
					fill(random, item.Message(), depth+1)
				}
				list.Append(item)
			}
		case field.Message() != nil:
			fill(random, message.Mutable(field).Message(), depth+1)
		default:
			message.Set(field, scalar(random, field))
		}
	}
}

// lengths and numbers are those at the bounds of rules.
var (
	lengths = []int{0, 1, 2, 7, 8, 63, 64, 65, 99, 100, 101, 199, 200, 201, 254, 255, 300, 301, 500, 501, 1000, 1001, 2000, 2001}
	numbers = []float64{
		-181, -180, -91, -90, -1, 0, 1, 2, 3, 4, 5, 6, 11, 12, 13, 16, 17, 20, 21, 22, 28, 29, 30, 31, 32, 90, 91, 100, 180, 181, 400,
		1900, 1904, 2000, 9999, 10_000, 100_000, 100_001, 1e9, 1e9 + 1, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1 << 53, 1 << 62,
	}
	words = []string{
		"a@b.c", "a@-b", "a@b..c", "@", "album/1", "album/", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400g",
		strings.Repeat("0f", 16), strings.Repeat("0f", 8), strings.Repeat("0F", 16), "文",
	}
)

func scalar(random *rand.Rand, field protoreflect.FieldDescriptor) protoreflect.Value {
	number := numbers[random.IntN(len(numbers))]
	length := lengths[random.IntN(len(lengths))]
	if random.IntN(30) == 0 {
		length = 100_000 + random.IntN(2)
	}
	switch field.Kind() {
	case protoreflect.StringKind:
		if random.IntN(2) == 0 {
			return protoreflect.ValueOfString(words[random.IntN(len(words))])
		}
		return protoreflect.ValueOfString(strings.Repeat([]string{"a", "文"}[random.IntN(2)], length))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(make([]byte, []int{0, 31, 32, 33, 262_144, 262_145}[random.IntN(6)]))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.IntN(2) == 0)
	case protoreflect.Int32Kind:
		if field.Name() == "nanos" {
			number = max(0, min(number, 999_999_999)) // other times are refused anyway
		}
		return protoreflect.ValueOfInt32(int32(max(math.MinInt32, min(number, math.MaxInt32))))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(number))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(random.IntN(field.Enum().Values().Len()+2) - 1))
	}
	if random.IntN(4) == 0 {
		number = []float64{math.NaN(), math.Inf(1), math.Nextafter(90, 91), math.Nextafter(-180, -181)}[random.IntN(4)]
	}
	return protoreflect.ValueOfFloat64(number)
}
