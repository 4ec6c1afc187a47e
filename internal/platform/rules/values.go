package rules

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type value = protoreflect.Value

// email is the address that HTML defines.
var (
	email = regexp.MustCompile("^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
		`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	uuid = regexp.MustCompile("^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")
)

// valueRules returns the rules that options of one type, such as buf.validate.StringRules, have
// for a value of a field.
func valueRules(field protoreflect.FieldDescriptor, options protoreflect.Message) (rules []rule[value], err error) {
	isWithin, words := func(float64) bool { return true }, ""
	for _, option := range given(options) {
		limit := options.Get(option)
		add := func(words string, holds func(value) bool) {
			rules = append(rules, rule[value]{holds, strings.Replace(words, "%v", written(limit), 1)})
		}
		bound := func(phrase string, holds func(n, limit float64) bool) {
			rest, limit := isWithin, numberOf(option)(limit)
			isWithin = func(n float64) bool { return holds(n, limit) && rest(n) }
			words = strings.TrimSuffix(phrase+written(options.Get(option))+" and "+words, " and ")
		}
		switch name := strings.TrimPrefix(string(option.FullName()), "buf.validate."); name {
		case "StringRules.min_len":
			add("must be at least %v characters", func(v value) bool { return characters(v) >= limit.Uint() })
		case "StringRules.max_len":
			add("must be at most %v characters", func(v value) bool { return characters(v) <= limit.Uint() })
		case "StringRules.max_bytes":
			add("must be at most %v bytes", func(v value) bool { return uint64(len(v.String())) <= limit.Uint() })
		case "StringRules.pattern":
			pattern := regexp.MustCompile(limit.String())
			add("does not match regex pattern `%v`", func(v value) bool { return pattern.MatchString(v.String()) })
		case "StringRules.email":
			add("value is empty, which is not a valid email address", func(v value) bool { return v.String() != "" })
			add("must be a valid email address",
				func(v value) bool { return v.String() == "" || email.MatchString(v.String()) })
		case "StringRules.uuid":
			add("must be a valid UUID", func(v value) bool { return uuid.MatchString(v.String()) })
		case "BytesRules.len":
			add("must be %v bytes", func(v value) bool { return uint64(len(v.Bytes())) == limit.Uint() })
		case "BytesRules.max_len":
			add("must be at most %v bytes", func(v value) bool { return uint64(len(v.Bytes())) <= limit.Uint() })
		case "RepeatedRules.min_items":
			add("must contain at least %v item(s)",
				func(v value) bool { return uint64(v.List().Len()) >= limit.Uint() })
		case "RepeatedRules.max_items":
			add("must contain no more than %v item(s)",
				func(v value) bool { return uint64(v.List().Len()) <= limit.Uint() })
		case "RepeatedRules.items": // fieldRules.take takes them
		case "EnumRules.defined_only":
			defined := field.Enum().Values()
			add("value must be one of the defined enum values",
				func(v value) bool { return defined.ByNumber(v.Enum()) != nil })
		case "EnumRules.in":
			add("must be in list %v", func(v value) bool { return isIn(limit.List(), v) })
		case "EnumRules.not_in":
			add("must not be in list %v", func(v value) bool { return !isIn(limit.List(), v) })
		case "Int32Rules.gte", "Int64Rules.gte", "DoubleRules.gte", "TimestampRules.gte":
			bound("greater than or equal to ", func(n, limit float64) bool { return n >= limit })
		case "Int32Rules.lte", "Int64Rules.lte", "DoubleRules.lte":
			bound("less than or equal to ", func(n, limit float64) bool { return n <= limit })
		case "Int64Rules.gt":
			bound("greater than ", func(n, limit float64) bool { return n > limit })
		case "TimestampRules.lt":
			bound("less than ", func(n, limit float64) bool { return n < limit })
		default:
			return nil, fmt.Errorf("unknown rule %s", option.FullName())
		}
	}
	if words != "" {
		number := numberOf(field)
		rules = append(rules, rule[value]{func(v value) bool { return isWithin(number(v)) }, "must be " + words})
	}
	return rules, nil
}

func characters(v value) uint64 { return uint64(utf8.RuneCountInString(v.String())) } // #nosec G115 -- a count

// numberOf returns how a field is read as a number, or nil. The number of a time is its whole
// seconds. Numbers in rules are below 2^53, so they are exact.
func numberOf(field protoreflect.FieldDescriptor) func(value) float64 {
	switch field.Kind() {
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return func(v value) float64 { return float64(v.Int()) }
	case protoreflect.DoubleKind:
		return value.Float
	case protoreflect.EnumKind:
		return func(v value) float64 { return float64(v.Enum()) }
	case protoreflect.MessageKind:
		if seconds := field.Message().Fields().ByName("seconds"); seconds != nil {
			return func(v value) float64 { return float64(v.Message().Get(seconds).Int()) }
		}
	}
	return nil
}

func isIn(list protoreflect.List, v value) bool {
	for i := range list.Len() {
		if list.Get(i).Int() == int64(v.Enum()) {
			return true
		}
	}
	return false
}

// written returns what an option says, for people.
func written(v value) string {
	switch v := v.Interface().(type) {
	case protoreflect.List:
		var all []string
		for i := range v.Len() {
			all = append(all, v.Get(i).String())
		}
		return "[" + strings.Join(all, ", ") + "]"
	case protoreflect.Message:
		return v.Interface().(*timestamppb.Timestamp).AsTime().Format(time.RFC3339)
	}
	return v.String()
}
