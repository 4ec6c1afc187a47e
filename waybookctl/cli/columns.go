package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// columns are the columns of the tables of messages: the heading of each, a colon, and the path of the field that it shows. A path
// may end with | and the text for a field that is not set. Those of a result of a search are its distance, and those of what was
// found.
var columns = map[string]string{ // #nosec G101 -- names of fields
	"album.v1.Album": "ALBUM:album_id CATEGORY:category LAT,LNG:location SCORE:score UPDATED:update_time OWNER:owner TITLE:title",
	"poi.v1.Poi":     "LANDMARK:poi_id CATEGORY:category LAT,LNG:location SCORE:score UPDATED:update_time OWNER:owner NAME:name",
	"blog.v1.Blog": "ENTRY:blog_id PLANNED:post_date TYPE:type WEATHER:weather LAT,LNG:location SCORE:score REWARD:reward " +
		"QUOTES:reply_blog_id| AUTHOR:author TITLE:title",
	"album.v1.FoundAlbum": "METERS:distance_meters ALBUM:album.album_id CATEGORY:album.category LAT,LNG:album.location SCORE:album.score " +
		"UPDATED:album.update_time OWNER:album.owner TITLE:album.title",
	"poi.v1.FoundPoi": "METERS:distance_meters LANDMARK:poi.poi_id CATEGORY:poi.category LAT,LNG:poi.location SCORE:poi.score " +
		"UPDATED:poi.update_time OWNER:poi.owner NAME:poi.name",
	"blog.v1.FoundBlog":     "METERS:distance_meters ENTRY:blog_id PLANNED:post_date TYPE:type LAT,LNG:location AUTHOR:author TITLE:title",
	"album.v1.AlbumChange":  "CHANGED:change_time HOW:kind ID:album_id PARTS:parts TITLE:album.title",
	"blog.v1.BlogChange":    "CHANGED:change_time HOW:kind ID:blog_id PARTS:parts TITLE:blog.title",
	"poi.v1.PoiChange":      "CHANGED:change_time HOW:kind ID:poi_id PARTS:parts TITLE:poi.name",
	"account.v1.UserChange": "CHANGED:change_time HOW:kind ID:user_id PARTS:parts TITLE:user.name",
	"album.v1.Photo":        "PHOTO:photo_id URL:thumbnail_url DESCRIPTION:description",
	"poi.v1.Photo":          "PHOTO:photo_id URL:photo_url DESCRIPTION:description",
	"type.v1.Comment":       "COMMENT:comment_id AUTHOR:author CREATED:create_time TEXT:text REPLY:reply.text",
	"blog.v1.Choice":        "VOTES:votes CHOICE:description",
	"account.v1.User": "USER:user_id NAME:name EMAIL:email HAS_PASSWORD:has_password HASH:password_form|- DISABLED:disabled ICON:icon_url " +
		"CREATED:create_time",
	"account.v1.PasswordFormCount":      "FORM:form USERS:user_count",
	"account.v1.GetRewardTotalResponse": "TOTAL:total REWARDS:reward_count",
	"account.v1.Session":                "SESSION:session_id USER:user_id OPENED:create_time|- LAST_USED:last_used_time|- EXPIRES:expire_time",
}

// columnsOf returns the headings of a message, and what makes its texts below them; nil if it has no columns of its own.
func columnsOf(message protoreflect.MessageDescriptor) (heads []string, cells func(proto.Message) []string) {
	return showing(columns[strings.TrimPrefix(string(message.FullName()), "waybook.")])
}

// rowColumns returns the columns of a message, or one for each field if it has none of its own.
func rowColumns(message protoreflect.MessageDescriptor) (heads []string, cells func(proto.Message) []string) {
	if heads, cells = columnsOf(message); heads != nil {
		return heads, cells
	}
	var all []string
	for i := range message.Fields().Len() {
		name := string(message.Fields().Get(i).Name())
		all = append(all, strings.ToUpper(name)+":"+name)
	}
	return showing(strings.Join(all, " "))
}

// showing returns the columns that a text such as those above describes.
func showing(text string) (heads []string, cells func(proto.Message) []string) {
	var paths []string
	for each := range strings.FieldsSeq(text) {
		head, path, _ := strings.Cut(each, ":")
		heads, paths = append(heads, strings.ReplaceAll(head, "_", " ")), append(paths, path)
	}
	return heads, func(m proto.Message) []string {
		texts := make([]string, len(paths))
		for i, path := range paths {
			texts[i] = cellOf(m.ProtoReflect(), path)
		}
		return texts
	}
}

// cellOf returns the text of the field at a path.
func cellOf(message protoreflect.Message, path string) string {
	fields := message.Descriptor().Fields()
	if outer, inner, isNested := strings.Cut(path, "."); isNested {
		return cellOf(message.Get(fields.ByName(protoreflect.Name(outer))).Message(), inner)
	}
	path, unset, hasUnset := strings.Cut(path, "|")
	field := fields.ByName(protoreflect.Name(path))
	if hasUnset && !message.Has(field) {
		return unset
	}
	return scalarsOf(message, field)
}

// scalarsOf returns the text of a field, or the texts of a list with spaces between them.
func scalarsOf(message protoreflect.Message, field protoreflect.FieldDescriptor) string {
	value := message.Get(field)
	if !field.IsList() {
		if field.HasPresence() && !message.Has(field) && field.Message() == nil {
			return "unknown"
		}
		return scalarText(field, value)
	}
	texts := make([]string, value.List().Len())
	for i := range texts {
		texts[i] = scalarText(field, value.List().Get(i))
	}
	return strings.Join(texts, " ")
}

func scalarText(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch field.Kind() {
	case protoreflect.EnumKind:
		return wordOfNumber(field.Enum(), value.Enum())
	case protoreflect.DoubleKind: // a distance
		return number(int64(value.Float() + 0.5))
	case protoreflect.MessageKind:
		return messageText(value.Message().Interface())
	}
	return value.String()
}

func messageText(message proto.Message) string {
	switch value := message.(type) {
	case *timestamppb.Timestamp:
		return output.Time(value)
	case *typev1.Date:
		return dateText(value)
	case *typev1.Location: // as maps accept it
		return degrees(value.GetLat()) + "," + degrees(value.GetLng())
	case *typev1.Profile:
		return strings.TrimSpace(value.GetName() + " (" + number(value.GetUserId()) + ")")
	case *typev1.PartRevisions:
		return partsText(value)
	}
	if values := message.ProtoReflect(); values.IsValid() {
		if encoded, err := json.Marshal(output.FromProto(message)); err == nil {
			return string(encoded)
		}
	}
	return ""
}

// partsText names the parts that have changed since the thing was made, with their revisions.
func partsText(parts *typev1.PartRevisions) string {
	var all []string
	for _, part := range []struct {
		name     string
		revision int64
	}{{"content", parts.GetContent()}, {"photos", parts.GetPhotos()}, {"comments", parts.GetComments()}, {"numbers", parts.GetNumbers()}} {
		if part.revision > 0 {
			all = append(all, part.name+" "+number(part.revision))
		}
	}
	return strings.Join(all, ", ")
}

func degrees(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func number(value int64) string { return strconv.FormatInt(value, 10) }

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
	heads, cells := rowColumns(field.Message())
	return output.Items(out, kind, heads, items, cells)
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
	if heads, cells := columnsOf(values.Descriptor()); heads != nil {
		texts := cells(message)
		for _, secret := range secrets {
			heads, texts = append(heads, strings.ToUpper(secret.Name)), append(texts, secret.Value.(string))
		}
		page.Record(heads, texts)
		if entry, ok := message.(*blogv1.Blog); ok {
			layOutText(page, entry)
		}
		return
	}
	for i := range fields.Len() {
		switch field := fields.Get(i); {
		case field.IsList() && field.Message() != nil:
			heads, cells := rowColumns(field.Message())
			output.Rows(page, heads, messagesIn(values.Get(field)), cells)
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
		heads, cells := columnsOf(choices.Message())
		output.Rows(page, heads, messagesIn(vote.ProtoReflect().Get(choices)), cells)
	}
}
