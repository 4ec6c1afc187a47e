package operation

import (
	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The functions below read a parameter into the field of the request that they name, in the form
// of google.rpc.BadRequest. A failure names parameters in the order in which they are read.

func required[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) T {
	return form.Required(&in.Reader, p, field, convert)
}

func optional[T any](in *Input, p *form.Parameter, field string, convert func(string) (T, bool)) *T {
	return form.Optional(&in.Reader, p, field, convert)
}

const (
	idHint    = "1 to 9007199254740991"
	titleHint = "1 to 200 characters"
)

// The parameters that several operations have.
var (
	// paramUserID has a range, because the services take 0 for all users.
	paramUserID = form.Parameter{
		Name: "userID", Title: form.Title{"User", "使用者"}, Hint: idHint, Syntax: form.IntegerSyntax,
		Range: &form.Range{Min: 1, Max: form.MaxID},
	}
	paramLat = form.Parameter{Name: "lat", Title: form.Title{"Latitude", "緯度"}, Hint: "from -90 to 90",
		Syntax: form.DecimalSyntax}
	paramLng = form.Parameter{Name: "lng", Title: form.Title{"Longitude", "經度"}, Hint: "from -180 to 180",
		Syntax: form.DecimalSyntax}
	paramDelete = form.Parameter{Name: "delete", Title: form.Title{"Delete", "刪除"}, Hint: "true, false, 1 or 0",
		Syntax: form.WordSyntax}
	paramWithIDs = form.Parameter{Name: "withIDs", Title: form.Title{"With identifiers", "含識別碼"},
		Hint: paramDelete.Hint, Syntax: form.WordSyntax}

	paramAlbumID = form.Parameter{Name: "albumID", Title: form.Title{"Album", "相簿"}, Hint: idHint,
		Syntax: form.IntegerSyntax}
	paramAlbumTitle    = form.Parameter{Name: "albumTitle", Title: form.Title{"Title", "標題"}, Hint: titleHint}
	paramAlbumCategory = form.Parameter{Name: "category", Title: form.Title{"Category", "類別"}, Hint: "1 to 16",
		Syntax: form.IntegerSyntax}

	paramPoiID = form.Parameter{Name: "POIID", Title: form.Title{"Landmark", "地標"}, Hint: idHint,
		Syntax: form.IntegerSyntax}
	paramPoiCategory = form.Parameter{Name: "category", Title: form.Title{"Category", "類別"}, Hint: "1 to 5",
		Syntax: form.IntegerSyntax}

	paramBlogID = form.Parameter{Name: "blogID", Title: form.Title{"Diary entry", "日記"}, Hint: idHint,
		Syntax: form.IntegerSyntax}
	paramBlogType = form.Parameter{Name: "type", Title: form.Title{"Type", "類型"}, Hint: "0_0 to 0_8",
		Syntax: form.WordSyntax}
	paramBlogTitle   = form.Parameter{Name: "blogTitle", Title: paramAlbumTitle.Title, Hint: titleHint}
	paramBlogContent = form.Parameter{Name: "blogContent", Title: form.Title{"Text", "內文"},
		Hint: "1 to 100000 characters"}
	paramYear = form.Parameter{Name: "year", Title: form.Title{"Year", "年"}, Hint: "1 to 9999",
		Syntax: form.IntegerSyntax}
	paramMonth = form.Parameter{Name: "month", Title: form.Title{"Month", "月"}, Hint: "1 to 12",
		Syntax: form.IntegerSyntax}
	paramDay = form.Parameter{Name: "day", Title: form.Title{"Day", "日"}, Hint: "1 to 31",
		Syntax: form.IntegerSyntax}
	paramWeather = form.Parameter{
		Name: "weather", Title: form.Title{"Weather", "天氣"}, Hint: "one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹",
		Syntax: form.WordSyntax,
	}
	paramReplyBlogID = form.Parameter{Name: "replyBlogID", Title: form.Title{"Quoted entry", "引用的日記"},
		Hint: idHint + ", or empty for none", Syntax: form.IntegerSyntax}
	paramZoomLevel = form.Parameter{Name: "zoomLevel", Title: form.Title{"Zoom level", "縮放層級"}, Hint: "0 to 21",
		Syntax: form.IntegerSyntax}
	paramMapType = form.Parameter{Name: "mapType", Title: form.Title{"Map type", "地圖類型"}, Hint: "1 to 3",
		Syntax: form.IntegerSyntax}

	// paramWholeDate names a date that the calendar lacks, although its year, month and day are
	// in range. It has no value of its own.
	paramWholeDate = form.Parameter{Name: "day", Hint: "no such day in that month"}
)

func requiredLocation(in *Input) *typev1.Location {
	return &typev1.Location{
		Lat: required(in, &paramLat, "location.lat", form.Decimal),
		Lng: required(in, &paramLng, "location.lng", form.Decimal),
	}
}

func requiredDate(in *Input) *typev1.Date {
	date := &typev1.Date{
		Year:  required(in, &paramYear, "post_date.year", form.Int32),
		Month: required(in, &paramMonth, "post_date.month", form.Int32),
		Day:   required(in, &paramDay, "post_date.day", form.Int32),
	}
	in.Imply(&paramWholeDate, "post_date")
	return date
}

// optionalAlbumCategory and its siblings return 0, for all, if the parameter is absent.
func optionalAlbumCategory(in *Input) albumv1.AlbumCategory {
	return form.Or(optional(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]), 0)
}

func optionalPoiCategory(in *Input) poiv1.PoiCategory {
	return form.Or(optional(in, &paramPoiCategory, "category", form.Enum[poiv1.PoiCategory]), 0)
}

func optionalBlogType(in *Input) blogv1.BlogType {
	return form.Or(optional(in, &paramBlogType, "type", asBlogType), 0)
}
