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
	"account.v1.Application":            "KEY:key NAME:name DISABLED:disabled LEGACY_FORM:allow_legacy SECRET_OF:secret_time CREATED:create_time",
}

// columnsOf returns the columns of a message, or nil if it has none of its own.
func columnsOf(message protoreflect.MessageDescriptor) []output.Column[proto.Message] {
	return showing(columns[strings.TrimPrefix(string(message.FullName()), "waybook.")])
}

// rowColumns returns the columns of a message, or one for each field if it has none of its own.
func rowColumns(message protoreflect.MessageDescriptor) []output.Column[proto.Message] {
	if own := columnsOf(message); own != nil {
		return own
	}
	var all []string
	for i := range message.Fields().Len() {
		name := string(message.Fields().Get(i).Name())
		all = append(all, strings.ToUpper(name)+":"+name)
	}
	return showing(strings.Join(all, " "))
}

// showing returns the columns that a text such as those above describes.
func showing(text string) (all []output.Column[proto.Message]) {
	for each := range strings.FieldsSeq(text) {
		head, path, _ := strings.Cut(each, ":")
		all = append(all, output.Column[proto.Message]{Head: strings.ReplaceAll(head, "_", " "), Cell: func(m proto.Message) string {
			return cellOf(m.ProtoReflect(), path)
		}})
	}
	return all
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
