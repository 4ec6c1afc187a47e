package cli

import (
	"encoding/json"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// column is a column of a table: its heading, and the path of the field that it shows. A path may
// end with | and the text for a field that is not set.
type column struct{ head, path string }

// columnsOf returns the columns of a message, or nil if it has none of its own.
func columnsOf(message protoreflect.MessageDescriptor) []output.Column[proto.Message] {
	return showing(columnsByName(strings.TrimPrefix(string(message.FullName()), "waybook.")))
}

// rowColumns returns the columns of a message, or one for each field if it has none of its own.
func rowColumns(message protoreflect.MessageDescriptor) []output.Column[proto.Message] {
	if own := columnsOf(message); own != nil {
		return own
	}
	var all []column
	for i := range message.Fields().Len() {
		name := string(message.Fields().Get(i).Name())
		all = append(all, column{strings.ToUpper(strings.ReplaceAll(name, "_", " ")), name})
	}
	return showing(all)
}

func showing(all []column) []output.Column[proto.Message] {
	var columns []output.Column[proto.Message]
	for _, each := range all {
		columns = append(columns, output.Column[proto.Message]{Head: each.head, Cell: func(m proto.Message) string {
			return cellOf(m.ProtoReflect(), each.path)
		}})
	}
	return columns
}

func columnsByName(message string) []column {
	switch message {
	case "album.v1.Album":
		return []column{
			{"ALBUM", "album_id"}, {"CATEGORY", "category"}, {"LAT,LNG", "location"}, {"SCORE", "score"},
			{"UPDATED", "update_time"}, {"OWNER", "owner"}, {"TITLE", "title"},
		}
	case "poi.v1.Poi":
		return []column{
			{"LANDMARK", "poi_id"}, {"CATEGORY", "category"}, {"LAT,LNG", "location"}, {"SCORE", "score"},
			{"UPDATED", "update_time"}, {"OWNER", "owner"}, {"NAME", "name"},
		}
	case "blog.v1.Blog":
		return []column{
			{"ENTRY", "blog_id"}, {"PLANNED", "post_date"}, {"TYPE", "type"}, {"WEATHER", "weather"}, {"LAT,LNG", "location"},
			{"SCORE", "score"}, {"REWARD", "reward"}, {"QUOTES", "reply_blog_id|"}, {"AUTHOR", "author"}, {"TITLE", "title"},
		}
	case "album.v1.FoundAlbum":
		return found("album", columnsByName("album.v1.Album"))
	case "poi.v1.FoundPoi":
		return found("poi", columnsByName("poi.v1.Poi"))
	case "blog.v1.FoundBlog":
		return []column{
			{"METERS", "distance_meters"}, {"ENTRY", "blog_id"}, {"PLANNED", "post_date"}, {"TYPE", "type"},
			{"LAT,LNG", "location"}, {"AUTHOR", "author"}, {"TITLE", "title"},
		}
	case "album.v1.AlbumChange":
		return changed("album_id", "album.title")
	case "blog.v1.BlogChange":
		return changed("blog_id", "blog.title")
	case "poi.v1.PoiChange":
		return changed("poi_id", "poi.name")
	case "account.v1.UserChange":
		return changed("user_id", "user.name")
	case "album.v1.Photo":
		return []column{{"PHOTO", "photo_id"}, {"URL", "thumbnail_url"}, {"DESCRIPTION", "description"}}
	case "poi.v1.Photo":
		return []column{{"PHOTO", "photo_id"}, {"URL", "photo_url"}, {"DESCRIPTION", "description"}}
	case "type.v1.Comment":
		return []column{{"COMMENT", "comment_id"}, {"AUTHOR", "author"}, {"CREATED", "create_time"}, {"TEXT", "text"}, {"REPLY", "reply.text"}}
	case "blog.v1.Choice":
		return []column{{"VOTES", "votes"}, {"CHOICE", "description"}}
	case "account.v1.User":
		return []column{
			{"USER", "user_id"}, {"NAME", "name"}, {"EMAIL", "email"}, {"HAS PASSWORD", "has_password"},
			{"HASH", "password_form|-"}, {"DISABLED", "disabled"}, {"ICON", "icon_url"}, {"CREATED", "create_time"},
		}
	case "account.v1.PasswordFormCount":
		return []column{{"FORM", "form"}, {"USERS", "user_count"}}
	case "account.v1.GetRewardTotalResponse":
		return []column{{"TOTAL", "total"}, {"REWARDS", "reward_count"}}
	case "account.v1.Session":
		return []column{
			{"SESSION", "session_id"}, {"USER", "user_id"}, {"OPENED", "create_time|-"}, {"LAST USED", "last_used_time|-"}, {"EXPIRES", "expire_time"},
		}
	case "account.v1.Application":
		return []column{
			{"KEY", "key"}, {"NAME", "name"}, {"DISABLED", "disabled"}, {"LEGACY FORM", "allow_legacy"}, {"SECRET OF", "secret_time"},
			{"CREATED", "create_time"},
		}
	}
	return nil
}

// found returns the columns of a result of a search: its distance, and those of the field that was found.
func found(field string, columns []column) []column {
	all := []column{{"METERS", "distance_meters"}}
	for _, each := range columns {
		all = append(all, column{each.head, field + "." + each.path})
	}
	return all
}

// changed returns the columns of a change, given the paths of the thing's identifier and title.
func changed(id, title string) []column {
	return []column{{"CHANGED", "change_time"}, {"HOW", "kind"}, {"ID", id}, {"PARTS", "parts"}, {"TITLE", title}}
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
