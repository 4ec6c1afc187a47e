package scale

// The lengths of the texts in a typical document, in bytes. They are those of the content that
// bench creates: a UUID, a path, a title, and a sentence in Chinese.
const (
	uuidText  = 36
	pathText  = 24
	titleText = 20
	longText  = 114
)

// field is a field of a document: its name and the bytes of its value.
type field struct {
	name  string
	bytes int
}

func text(length int) int { return 4 + length + 1 }

const (
	number  = 8
	number4 = 4
	boolean = 1
)

// size returns the length of a BSON document.
func size(fields ...field) int {
	total := 4 + 1
	for _, f := range fields {
		total += 1 + len(f.name) + 1 + f.bytes
	}
	return total
}

// mark is the size of the record of counted choices in their parent.
func mark() int {
	return size(field{"count", number}, field{"group", size(field{"0", size(field{"choice_id", number}, field{"value", number4})})})
}

// followed returns the fields by which followers find a change: its moment, that of the insert, and the
// revisions of the parts that have changed.
func followed(parts ...string) []field {
	fields := []field{{"_changed", number}, {"_made", number}}
	for _, part := range parts {
		fields = append(fields, field{"_of_" + part, number})
	}
	return fields
}

// Collection is a collection whose documents have places.
type Collection struct {
	Name string
	// PerAlbum is the number of documents for each album in the model.
	PerAlbum float64
	// Bytes is the size of a document as BSON, without indexes. The balancer counts it.
	Bytes int
	// ByKey reports that the place is a hash of owner and key, not the owner's.
	ByKey bool
}

// Collections returns the collections of the model: for each album ten photos, ten comments and
// a recommendation, half an entry and a tenth of a landmark.
func Collections() []Collection {
	id, place := field{"_id", number}, field{"_place", number}
	request, digest, revision := field{"request_key", text(uuidText)}, field{"request_digest", number}, field{"_rev", number}
	created, updated := field{"create_time", number}, field{"update_time", number}
	position := []field{{"lat", number}, {"lng", number}, {"score", number}, {"recommendations", mark()}, {"comment_count", number}, {"cell", number}}
	position = append(append(position, followed("comments", "numbers")...), field{"_adds", number}, request, digest, revision)
	photos := field{"_of_photos", number}
	album := append([]field{id, place, {"owner_id", number}, {"title", text(titleText)}, {"category", number4}, {"photo_count", number}, created, updated, photos}, position...)
	landmark := append([]field{id, place, {"owner_id", number}, {"name", text(titleText)}, {"category", number}, {"photo_count", number}, created, updated, photos}, position...)
	entry := append([]field{
		id, place, {"author_id", number}, {"type", number4}, {"title", text(titleText)}, {"content", text(2 * longText)}, {"post_day", number},
		{"weather", number4}, {"reply_blog_id", number}, {"zoom_level", number4}, {"map_type", number4}, {"reward", number}, {"reward_due", number}, created, updated,
	}, position...)
	return []Collection{
		{Name: "photos", PerAlbum: 10, Bytes: size(id, place, field{"album_id", number}, request, digest, revision, field{"thumbnail_url", text(pathText)}, field{"description", text(longText)})},
		{Name: "comments", PerAlbum: 10, Bytes: size(id, place, field{"parent_id", number}, field{"author_id", number}, request, digest, revision, created, field{"text", text(longText)})},
		{Name: "albums", PerAlbum: 1, Bytes: size(album...)},
		{Name: "recommendations", PerAlbum: 1, Bytes: size(
			id, place, revision, field{"parent_id", number}, field{"user_id", number}, field{"wanted", number4}, field{"counted", number4},
			field{"counted_at", number}, field{"pending", number},
		)},
		{Name: "entries", PerAlbum: 0.5, Bytes: size(entry...)},
		{Name: "landmarks", PerAlbum: 0.1, Bytes: size(landmark...), ByKey: true},
	}
}

// UserBytes is the size of a user as BSON.
func UserBytes() int {
	return size(append(
		followed(), field{"_id", number}, field{"request_key", text(uuidText)}, field{"request_digest", number}, field{"_rev", number}, field{"name", text(titleText)}, field{"icon_url", text(pathText)}, field{"create_time", number},
		field{"email", text(titleText)}, field{"email_key", text(titleText)}, field{"password_hash", text(100)}, field{"credential_generation", number},
		field{"name_key", text(titleText)}, field{"old_form", text(0)}, field{"password_is_moved", boolean}, field{"disabled", boolean}, field{"moved", boolean},
	)...)
}
