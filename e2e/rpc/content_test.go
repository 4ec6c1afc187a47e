package rpc_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// partialChange is an Update and, if the resource shows it otherwise, what it changes.
type partialChange struct {
	name         string
	update, want fields
}

// partialChanges returns a change of each field of a kind.
func (k kind) partialChanges(owner int64) []partialChange {
	shared := []partialChange{{"nothing", fields{}, nil}, {"title", fields{"title": "新"}, nil}, {"category", fields{"category": 4}, nil}}
	switch k.name {
	case "Album":
		return append(shared,
			partialChange{"latitude", fields{"lat": 0.0}, fields{"location": at(0, taipei.GetLng())}},
			partialChange{"longitude", fields{"lng": -180.0}, fields{"location": at(0, -180)}})
	case "Blog":
		return append(shared, []partialChange{
			{"location", fields{"location": at(-90, 0)}, nil},
			{"content", fields{"content": "\r\n"}, nil},
			{"date", fields{"post_date": &typev1.Date{Year: 2028, Month: 2, Day: 29}}, nil},
			{"weather", fields{"weather": int(blogv1.Weather_WEATHER_SNOW)}, nil},
			{"quote", fields{"reply_blog_id": k.create(owner, "quoted")}, nil},
			{"zoom", fields{"zoom_level": int32(0)}, nil},
			{"map", fields{"map_type": int(blogv1.MapType_MAP_TYPE_HYBRID)}, nil},
			{"no quote", fields{"reply_blog_id": int64(0)}, nil},
		}...)
	}
	return append(shared, partialChange{"location", fields{"location": at(90, 180)}, nil})
}

func TestContentIsChangedInPart(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("小旅人")
	for _, k := range w.kinds() {
		t.Run(k.service, func(t *testing.T) {
			id := k.create(owner, "東北角")
			want := k.shown(id)
			profile := read[*typev1.Profile](want, k.by())
			if profile.GetName() != "小旅人" || profile.GetIconUrl() != "小旅人.jpg" || profile.GetUserId() != owner || read[int64](want, "score") != 0 {
				t.Errorf("created %v", want)
			}
			for _, change := range k.partialChanges(owner) {
				if change.want == nil {
					change.want = change.update
				}
				reply := must(k.send(t.Context(), "Update", change.update.and(fields{"actor_id": owner, "id": id})))(t)
				now, before := read[proto.Message](reply, k.lower()), read[*timestamppb.Timestamp](want, "update_time")
				updated := read[*timestamppb.Timestamp](now, "update_time")
				if updated.AsTime().Before(before.AsTime()) {
					t.Errorf("%s: the update time decreased", change.name)
				}
				k.set(want, change.want.and(fields{"update_time": updated, "etag": read[string](now, "etag")}))
				if shown := k.shown(id); !proto.Equal(now, want) || !proto.Equal(shown, want) {
					t.Errorf("after %s: %v, read %v, want %v", change.name, now, shown, want)
				}
			}
		})
	}
}
