package cli

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// print calls, and prints the reply.
func (r *rpc) print(ctx context.Context, out *output.Printer) error {
	reply, err := r.do(ctx)
	if err != nil {
		return err
	}
	values, fields := reply.ProtoReflect(), r.method.Output().Fields()
	var only, secret protoreflect.FieldDescriptor
	switch fields.Len() {
	case 0:
		out.Note("%s", r.done())
		return nil
	case 1:
		only = fields.Get(0)
	case 2:
		if fields.Get(1).Name() == "secret" {
			only, secret = fields.Get(0), fields.Get(1)
		}
	}
	switch {
	case only == nil:
		r.noteMore(out, values)
		return printMessage(out, reply)
	case only.IsList() && only.Message() != nil:
		return r.printItems(out, func(yield func(proto.Message, error) bool) {
			for _, item := range itemsOf(reply) {
				if !yield(item, nil) {
					return
				}
			}
		})
	case secret != nil:
		return printMessage(out, values.Get(only).Message().Interface(), output.Field{Name: "secret", Value: values.Get(secret).String()})
	case only.Message() != nil:
		return printMessage(out, values.Get(only).Message().Interface())
	}
	return printMessage(out, reply)
}

// done says what a call without a result did: deleted 123.
func (r *rpc) done() string {
	verb := r.command.Name
	if !strings.HasSuffix(verb, "e") || len(r.command.Positional) == 0 {
		return "done"
	}
	return fmt.Sprintf("%sd %v", verb, r.argument(len(r.command.Positional)-1))
}

// argument returns the command's argument at a position.
func (r *rpc) argument(position int) any { return r.command.Positional[position].Target.Interface() }

// noteMore reports each list in a reply that continues, and the command that prints all of it.
func (r *rpc) noteMore(out *output.Printer, reply protoreflect.Message) {
	fields := reply.Descriptor().Fields()
	for i := range fields.Len() {
		noun, isToken := strings.CutSuffix(strings.TrimPrefix(string(fields.Get(i).Name()), "next_"), "s_token")
		if isToken && reply.Has(fields.Get(i)) {
			out.Note("there are more: %s %s %s list %v", name, r.command.Parent.Name, noun, r.argument(0))
		}
	}
}

// pageSize is the number of items on a page: few enough for a fast first page, enough for a long
// list to need few calls. Every list allows it.
const pageSize = 100

// pageOf selects a page of a list.
type pageOf struct {
	size  int32
	token string
}

// listReply is the reply of a list.
type listReply interface {
	proto.Message
	GetNextPageToken() string
}

// page calls a list for a page.
func (r *rpc) page(ctx context.Context, page pageOf) (listReply, error) {
	request, fields := r.request.ProtoReflect(), r.method.Input().Fields()
	request.Set(fields.ByName("page_size"), protoreflect.ValueOfInt32(page.size))
	request.Set(fields.ByName("page_token"), protoreflect.ValueOfString(page.token))
	if start := fields.ByName("start_time"); start != nil && page.token != "" { // a walk that goes on
		request.Clear(start)
	}
	reply, err := r.do(ctx)
	if err != nil {
		return nil, err
	}
	return reply.(listReply), nil
}

// printList prints a list up to its limit.
func (r *rpc) printList(ctx context.Context, out *output.Printer, most limit) error {
	return r.printItems(out, pages(most, func(page pageOf) ([]proto.Message, string, error) {
		reply, err := r.page(ctx, page)
		if err != nil {
			return nil, "", err
		}
		return itemsOf(reply), reply.GetNextPageToken(), nil
	}))
}

// itemsOf returns the items of a list, which are the first field of its reply.
func itemsOf(reply proto.Message) []proto.Message {
	return messagesIn(reply.ProtoReflect().Get(reply.ProtoReflect().Descriptor().Fields().Get(0)))
}

func messagesIn(list protoreflect.Value) []proto.Message {
	all := make([]proto.Message, list.List().Len())
	for i := range all {
		all[i] = list.List().Get(i).Message().Interface()
	}
	return all
}

// printItems prints the items of a list.
func (r *rpc) printItems(out *output.Printer, items iter.Seq2[proto.Message, error]) error {
	field := r.method.Output().Fields().Get(0)
	kind := string(field.Name())
	switch kind {
	case "blogs":
		kind = "entries"
	case "pois":
		kind = "landmarks"
	}
	return output.Items(out, kind, rowColumns(field.Message()), items)
}

// pages reads a list page by page, up to its limit. It fetches a page only when its caller asks for
// the first item of that page.
func pages[T any](most limit, fetch func(pageOf) ([]T, string, error)) iter.Seq2[T, error] {
	left := most.Limit
	if left == 0 {
		left = math.MaxUint
	}
	return func(yield func(T, error) bool) {
		for token := ""; ; {
			items, next, err := fetch(pageOf{int32(min(left, pageSize)), token})
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if left -= uint(len(items)); left == 0 || next == "" {
				return
			}
			token = next
		}
	}
}

// printMessage prints a message, and secrets that are shown only now.
func printMessage(out *output.Printer, message proto.Message, secrets ...output.Field) error {
	return out.Value(append(output.FromProto(message), secrets...), func(page *output.Page) { layOut(page, message, secrets...) })
}

// layOut prints a message that has columns as a record. Of another, it prints a line for each scalar, and the messages and
// the lists in it.
func layOut(page *output.Page, message proto.Message, secrets ...output.Field) {
	values, fields := message.ProtoReflect(), message.ProtoReflect().Descriptor().Fields()
	if columns := columnsOf(values.Descriptor()); columns != nil {
		for _, secret := range secrets {
			columns = append(columns, output.Column[proto.Message]{
				Head: strings.ToUpper(secret.Name), Cell: func(proto.Message) string { return secret.Value.(string) },
			})
		}
		output.Record(page, columns, message)
		if entry, ok := message.(*blogv1.Blog); ok {
			layOutText(page, entry)
		}
		return
	}
	for i := range fields.Len() {
		switch field := fields.Get(i); {
		case field.IsList() && field.Message() != nil:
			output.Rows(page, rowColumns(field.Message()), messagesIn(values.Get(field)))
		case field.Message() != nil && values.Has(field):
			layOut(page, values.Get(field).Message().Interface())
		case field.Message() == nil && !strings.HasSuffix(string(field.Name()), "_token"):
			page.Line(string(field.Name()) + " " + scalarsOf(values, field))
		}
	}
}

// layOutText prints the text and the vote of an entry.
func layOutText(page *output.Page, entry *blogv1.Blog) {
	page.Text(entry.GetContent())
	if vote := entry.GetVote(); vote != nil {
		page.Text(vote.GetDescription())
		choices := vote.ProtoReflect().Descriptor().Fields().ByName("choices")
		output.Rows(page, columnsOf(choices.Message()), messagesIn(vote.ProtoReflect().Get(choices)))
	}
}
