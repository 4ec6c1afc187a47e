package edge

// parameter is one parameter of the legacy contract.
type parameter struct {
	// name is how the form and the info of a failure spell it.
	name string
	// hint tells a person what it takes.
	hint string
	// fields are the fields of the services' contracts that it feeds, as a
	// google.rpc.BadRequest spells them.
	fields []string
}

// feeds reports whether a violation of field is one of this parameter.
func (p *parameter) feeds(field string) bool {
	for _, mine := range p.fields {
		if mine == field {
			return true
		}
	}
	return false
}

const (
	idHint    = "1 to 9007199254740991"
	titleHint = "1 to 200 characters"
)

// The parameters that operations share (contract 4.1); the hint of func is the
// list of the table's functions.
var (
	paramFunc           = parameter{name: "func"}
	paramResponseFormat = parameter{name: "responseFormat", hint: "XML or JSON"}
	paramDelete         = parameter{name: "delete", hint: "true or false"}
	paramLat            = parameter{"lat", "from -90 to 90", []string{"lat", "location.lat"}}
	paramLng            = parameter{"lng", "from -180 to 180", []string{"lng", "location.lng"}}
)

// The parameters of a signature (contract 4.1), for where signatures are switched on.
var (
	paramKey = parameter{name: "key", hint: "1 to 64 letters, digits and . _ -"}
	paramTs  = parameter{name: "ts", hint: "seconds since 1970"}
	paramSig = parameter{name: "sig", hint: "64 lowercase hexadecimal digits"}
)

// The parameters of albums (contract 4.3 to 4.7).
var (
	paramAlbumID       = parameter{"albumID", idHint, []string{"album_id"}}
	paramAlbumTitle    = parameter{"albumTitle", titleHint, []string{"title"}}
	paramAlbumCategory = parameter{"category", "1 to 16", []string{"category"}}
	paramUserID        = parameter{"userID", idHint, []string{"owner_id"}}
)

// The parameters of landmarks (contract 4.8 and 4.9).
var (
	paramPoiCategory = parameter{"category", "1 to 5", []string{"category"}}
	paramPoiID       = parameter{"POIID", idHint, []string{"poi_id"}}
)

// The parameters of a part of a list, which the legacy contract does not have.
var (
	paramLimit = parameter{"limit", "1 to 1000000", []string{"limit"}}
	paramAfter = parameter{"after", "0 to 9007199254740991", []string{"after_album_id", "after_poi_id"}}
)

// The parameters of login, which the legacy contract does not have.
var (
	paramEmail    = parameter{"email", "1 to 254 bytes", []string{"email"}}
	paramPassword = parameter{"password", "1 to 200 characters", []string{"password"}}
)

// The parameters of blogs (contract 4.10 to 4.13).
var (
	paramBlogID      = parameter{"blogID", idHint, []string{"blog_id"}}
	paramBlogType    = parameter{"type", "0_0 to 0_8", []string{"type"}}
	paramBlogTitle   = parameter{"blogTitle", titleHint, []string{"title"}}
	paramBlogContent = parameter{"blogContent", "1 to 100000 characters", []string{"content"}}
	paramYear        = parameter{"year", "1 to 9999", []string{"post_date.year"}}
	paramMonth       = parameter{"month", "1 to 12", []string{"post_date.month"}}
	paramDay         = parameter{"day", "1 to 31", []string{"post_date.day"}}
	paramWeather     = parameter{
		"weather",
		"one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹",
		[]string{"weather"},
	}
	paramReplyBlogID = parameter{"replyBlogID", idHint + ", or empty for none", []string{"reply_blog_id"}}
	paramZoomLevel   = parameter{"zoomLevel", "0 to 21", []string{"zoom_level"}}
	paramMapType     = parameter{"mapType", "1 to 3", []string{"map_type"}}

	// paramWholeDate stands for a date whose year, month and day are each in
	// range and that the calendar lacks. It has no value of its own.
	paramWholeDate = parameter{"day", "no such day in that month", []string{"post_date"}}
)
