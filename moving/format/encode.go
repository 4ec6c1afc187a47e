package format

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Encode appends a record as a line of a file. Fields that are not set are left out.
func Encode(line []byte, record *moveinv1.Record) []byte {
	message := record.ProtoReflect()
	which := message.WhichOneof(message.Descriptor().Oneofs().Get(0))
	if which == nil {
		return line
	}
	line = fmt.Appendf(line, `{"kind":%q`, which.Name())
	line = appendFields(line, plans()[Kind(which.Name())], message.Get(which).Message(), ",")
	return append(line, "}\n"...)
}

// EncodeEnd appends the line that ends an export, with the number of records of each kind.
func EncodeEnd(line []byte, counts map[Kind]int64) []byte {
	line = fmt.Appendf(line, `{"kind":%q`, KindEnd)
	for _, kind := range Kinds() {
		if count := counts[kind]; count != 0 {
			line = fmt.Appendf(line, `,%q:%d`, kind, count)
		}
	}
	return append(line, "}\n"...)
}

// appendFields appends the fields that are set, with a separator before the first one.
func appendFields(line []byte, p *plan, message protoreflect.Message, separator string) []byte {
	for _, f := range p.fields {
		if message.Has(f.FieldDescriptor) {
			line = append(line, separator...)
			line = fmt.Appendf(line, "%q:", f.name)
			line = f.append(line, message.Get(f.FieldDescriptor))
			separator = ","
		}
	}
	return line
}

func (f *field) append(line []byte, value protoreflect.Value) []byte {
	switch f.form {
	case formInteger, formUser:
		return strconv.AppendInt(line, value.Int(), 10)
	case formDecimal:
		return strconv.AppendFloat(line, value.Float(), 'g', -1, 64)
	case formWord:
		if number := int(value.Enum()); number > 0 && number < len(f.words) {
			return quoted(line, f.words[number])
		}
		return strconv.AppendInt(line, int64(value.Enum()), 10) // of a newer contract: no reader takes it for a word
	case formTime:
		at, _ := value.Message().Interface().(*timestamppb.Timestamp)
		return quoted(line, at.AsTime().Format(time.RFC3339Nano))
	case formDay:
		day, _ := value.Message().Interface().(*typev1.Date)
		return fmt.Appendf(line, `"%04d-%02d-%02d"`, day.GetYear(), day.GetMonth(), day.GetDay())
	case formObject:
		return append(appendFields(append(line, '{'), f.object, value.Message(), ""), '}')
	case formList:
		line = append(line, '[')
		for i := range value.List().Len() {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(appendFields(append(line, '{'), f.object, value.List().Get(i).Message(), ""), '}')
		}
		return append(line, ']')
	case formID:
		// A number that every JSON reader keeps exactly is written as such.
		if number, err := strconv.ParseInt(value.String(), 10, 64); err == nil && number > 0 && number < 1<<53 && strconv.FormatInt(number, 10) == value.String() {
			return append(line, value.String()...)
		}
	}
	return quoted(line, value.String())
}

// quoted appends a text as a JSON string.
func quoted(line []byte, value string) []byte {
	line, _ = jsontext.AppendQuote(line, value) // a text that is not UTF-8 gets U+FFFD
	return line
}
