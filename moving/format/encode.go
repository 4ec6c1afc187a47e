package format

import (
	"bytes"
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
	content, p := contentOf(record)
	if p == nil {
		return line
	}
	return append(p.append(line, fmt.Sprintf(`{"kind":%q,`, p.kind), content), '\n')
}

// EncodeEnd appends the line that ends an export, with the number of records of each kind.
func EncodeEnd(line []byte, counts map[Kind]int64) []byte {
	line = append(line, `{"kind":"end",`...)
	for _, kind := range Kinds() {
		if count := counts[kind]; count != 0 {
			line = fmt.Appendf(line, "%q:%d,", kind, count)
		}
	}
	return append(bytes.TrimSuffix(line, []byte(",")), "}\n"...)
}

// append appends an object that begins with a text and has the fields that are set.
func (p *plan) append(line []byte, begin string, message protoreflect.Message) []byte {
	line = append(line, begin...)
	for _, f := range p.fields {
		if message.Has(f.FieldDescriptor) {
			line = fmt.Appendf(line, "%q:", f.name)
			line = append(f.append(line, message.Get(f.FieldDescriptor)), ',')
		}
	}
	return append(bytes.TrimSuffix(line, []byte(",")), '}')
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
		return f.object.append(line, "{", value.Message())
	case formList:
		line = append(line, '[')
		for i := range value.List().Len() {
			line = append(f.object.append(line, "{", value.List().Get(i).Message()), ',')
		}
		return append(bytes.TrimSuffix(line, []byte(",")), ']')
	case formID:
		// A number that every JSON reader keeps exactly is written as such.
		if id := value.String(); onlyHas(id, digits) && id[0] != '0' && len(id) <= 15 {
			return append(line, id...)
		}
	}
	return quoted(line, value.String())
}

// quoted appends a text as a JSON string.
func quoted(line []byte, value string) []byte {
	line, _ = jsontext.AppendQuote(line, value) // a text that is not UTF-8 gets U+FFFD
	return line
}
