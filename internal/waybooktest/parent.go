package waybooktest

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// On returns a request of a shared contract after it names an album, an entry or a landmark.
func On[Request proto.Message](kind typev1.Kind, id int64, request Request) Request {
	field := map[typev1.Kind]protoreflect.Name{
		typev1.Kind_KIND_ALBUM: "album_id", typev1.Kind_KIND_BLOG: "blog_id", typev1.Kind_KIND_POI: "poi_id",
	}[kind]
	message := request.ProtoReflect()
	message.Set(message.Descriptor().Fields().ByName(field), protoreflect.ValueOfInt64(id))
	return request
}
