package operation

import "github.com/waybook/waybook/edge/form"

const (
	idHint    = "1 to 9007199254740991"
	titleHint = "1 to 200 characters"
)

// The parameters that operations share (rules 1.2, 2.1, 4.16 and 8.12).
var (
	paramDelete = form.Parameter{Name: "delete", Hint: "true, false, 1 or 0"}
	paramLat    = form.Parameter{Name: "lat", Hint: "from -90 to 90", Syntax: form.DecimalSyntax}
	paramLng    = form.Parameter{Name: "lng", Hint: "from -180 to 180", Syntax: form.DecimalSyntax}
)

// The parameters of albums (rules 5.3 to 5.8).
var (
	paramAlbumID       = form.Parameter{Name: "albumID", Hint: idHint, Syntax: form.IntegerSyntax}
	paramAlbumTitle    = form.Parameter{Name: "albumTitle", Hint: titleHint}
	paramAlbumCategory = form.Parameter{Name: "category", Hint: "1 to 16", Syntax: form.IntegerSyntax}
	paramUserID        = form.Parameter{Name: "userID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// The parameters of landmarks (rules 6.3 and 6.5).
var (
	paramPoiCategory = form.Parameter{Name: "category", Hint: "1 to 5", Syntax: form.IntegerSyntax}
	paramPoiID       = form.Parameter{Name: "POIID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// The parameters of a part of a list (rules 9.2 and 9.4).
var (
	paramLimit = form.Parameter{Name: "limit", Hint: "1 to 1000000", Syntax: form.IntegerSyntax, Range: &form.Range{Min: 1, Max: 1_000_000}}
	paramAfter = form.Parameter{Name: "after", Hint: "0 to 9007199254740991", Syntax: form.IntegerSyntax}
)

// The parameters of login (rule 12.1).
var (
	paramEmail    = form.Parameter{Name: "email", Hint: "1 to 254 bytes"}
	paramPassword = form.Parameter{Name: "password", Hint: "1 to 200 characters"}
)

// The parameters of blogs (rules 7.5 to 7.18).
var (
	paramBlogID      = form.Parameter{Name: "blogID", Hint: idHint, Syntax: form.IntegerSyntax}
	paramBlogType    = form.Parameter{Name: "type", Hint: "0_0 to 0_8"}
	paramBlogTitle   = form.Parameter{Name: "blogTitle", Hint: titleHint}
	paramBlogContent = form.Parameter{Name: "blogContent", Hint: "1 to 100000 characters"}
	paramYear        = form.Parameter{Name: "year", Hint: "1 to 9999", Syntax: form.IntegerSyntax}
	paramMonth       = form.Parameter{Name: "month", Hint: "1 to 12", Syntax: form.IntegerSyntax}
	paramDay         = form.Parameter{Name: "day", Hint: "1 to 31", Syntax: form.IntegerSyntax}
	paramWeather     = form.Parameter{Name: "weather", Hint: "one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹"}
	paramReplyBlogID = form.Parameter{Name: "replyBlogID", Hint: idHint + ", or empty for none", Syntax: form.IntegerSyntax}
	paramZoomLevel   = form.Parameter{Name: "zoomLevel", Hint: "0 to 21", Syntax: form.IntegerSyntax}
	paramMapType     = form.Parameter{Name: "mapType", Hint: "1 to 3", Syntax: form.IntegerSyntax}

	// paramWholeDate names a date that the calendar lacks, although its year, month and day are
	// in range. It has no value of its own.
	paramWholeDate = form.Parameter{Name: "day", Hint: "no such day in that month"}
)
