package operation

import (
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// vocabulary is how the interface writes the values of an enumeration, and what they mean in the
// words of the legacy contract. Both are indexed by the number in the services' contract.
type vocabulary struct {
	// names are the values of the interface; nil if these are the numbers.
	names []string
	// labels are the meanings; nil if the values say it themselves.
	labels []string
}

// value returns the value of a number.
func (v vocabulary) value(number protoreflect.EnumNumber) Value {
	found := Value{Value: strconv.Itoa(int(number)), Label: nameOf(v.labels, number)}
	if v.names != nil {
		found.Value = nameOf(v.names, number)
	}
	if v.labels == nil {
		found.Label = found.Value
	}
	return found
}

// vocabularyOf returns the vocabulary of an enumeration. One without words of its own is written
// as its numbers.
func vocabularyOf(enum protoreflect.FullName) vocabulary {
	switch enum {
	case albumv1.AlbumCategory(0).Descriptor().FullName():
		return vocabulary{labels: albumCategories[:]}
	case poiv1.PoiCategory(0).Descriptor().FullName():
		return vocabulary{labels: poiCategories[:]}
	case blogv1.BlogType(0).Descriptor().FullName():
		return vocabulary{names: blogTypes[:], labels: blogTypeLabels[:]}
	case blogv1.Weather(0).Descriptor().FullName():
		return vocabulary{names: weathers[:]}
	case blogv1.MapType(0).Descriptor().FullName():
		return vocabulary{labels: mapTypes[:]}
	}
	return vocabulary{}
}

// albumCategories are the words of rule 5.2.
var albumCategories = [...]string{
	albumv1.AlbumCategory_ALBUM_CATEGORY_GIRLS:           "女生個人",
	albumv1.AlbumCategory_ALBUM_CATEGORY_BOYS:            "男生個人",
	albumv1.AlbumCategory_ALBUM_CATEGORY_FAMILY:          "家庭親情",
	albumv1.AlbumCategory_ALBUM_CATEGORY_CAMPUS:          "校園生活",
	albumv1.AlbumCategory_ALBUM_CATEGORY_DOMESTIC_TRAVEL: "國內旅遊",
	albumv1.AlbumCategory_ALBUM_CATEGORY_FOREIGN_TRAVEL:  "國外旅遊",
	albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD:            "美食記錄",
	albumv1.AlbumCategory_ALBUM_CATEGORY_PETS:            "寶貝寵物",
	albumv1.AlbumCategory_ALBUM_CATEGORY_COUPLES:         "情侶合照",
	albumv1.AlbumCategory_ALBUM_CATEGORY_FRIENDS:         "朋友團體",
	albumv1.AlbumCategory_ALBUM_CATEGORY_WEDDINGS:        "甜蜜婚禮",
	albumv1.AlbumCategory_ALBUM_CATEGORY_ENTERTAINMENT:   "影視娛樂",
	albumv1.AlbumCategory_ALBUM_CATEGORY_PHOTO_SHOOTS:    "攝影外拍",
	albumv1.AlbumCategory_ALBUM_CATEGORY_LANDSCAPES:      "自然風景",
	albumv1.AlbumCategory_ALBUM_CATEGORY_ARTWORK:         "圖像創作",
	albumv1.AlbumCategory_ALBUM_CATEGORY_OTHER:           "其它類別",
}

// poiCategories are the words of rule 6.2.
var poiCategories = [...]string{
	poiv1.PoiCategory_POI_CATEGORY_TENDER:    "溫柔鄉",
	poiv1.PoiCategory_POI_CATEGORY_BARGAIN:   "好康鄉",
	poiv1.PoiCategory_POI_CATEGORY_PRIVATE:   "私の鄉",
	poiv1.PoiCategory_POI_CATEGORY_COMMUNITY: "萬家鄉",
	poiv1.PoiCategory_POI_CATEGORY_THRILL:    "尖叫鄉",
}

// blogTypeLabels are the words of rule 7.2.
var blogTypeLabels = [...]string{
	blogv1.BlogType_BLOG_TYPE_LOVE:       "愛情日記",
	blogv1.BlogType_BLOG_TYPE_PETS:       "寵物日記",
	blogv1.BlogType_BLOG_TYPE_MOOD:       "心情日記",
	blogv1.BlogType_BLOG_TYPE_NEWS:       "新聞日記",
	blogv1.BlogType_BLOG_TYPE_FOOD:       "美食日記",
	blogv1.BlogType_BLOG_TYPE_BEAUTY:     "美妝日記",
	blogv1.BlogType_BLOG_TYPE_JOY:        "快樂日記",
	blogv1.BlogType_BLOG_TYPE_FRIENDSHIP: "友情日記",
	blogv1.BlogType_BLOG_TYPE_TRAVEL:     "旅遊日記",
}

// mapTypes are the words of rule 7.4.
var mapTypes = [...]string{
	blogv1.MapType_MAP_TYPE_MAP:       "map",
	blogv1.MapType_MAP_TYPE_SATELLITE: "satellite",
	blogv1.MapType_MAP_TYPE_HYBRID:    "hybrid",
}

// asQuote accepts an identifier, or an empty value or 0 for no blog. It returns 0 for no blog, as
// the services' contract does.
func asQuote(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	return form.ID(s)
}

func asBlogType(s string) (blogv1.BlogType, bool) { return numberOf[blogv1.BlogType](blogTypes[:], s) }

func asWeather(s string) (blogv1.Weather, bool) { return numberOf[blogv1.Weather](weathers[:], s) }

// numberOf returns the number of a name. 0 has none.
func numberOf[E ~int32](names []string, name string) (E, bool) {
	number := max(0, slices.Index(names, name))
	return E(number), number > 0 // #nosec G115 -- few
}

// blogTypes are the types of rule 7.2, indexed by their numbers in the services' contract.
var blogTypes = [...]string{
	blogv1.BlogType_BLOG_TYPE_LOVE:       "0_0",
	blogv1.BlogType_BLOG_TYPE_PETS:       "0_1",
	blogv1.BlogType_BLOG_TYPE_MOOD:       "0_2",
	blogv1.BlogType_BLOG_TYPE_NEWS:       "0_3",
	blogv1.BlogType_BLOG_TYPE_FOOD:       "0_4",
	blogv1.BlogType_BLOG_TYPE_BEAUTY:     "0_5",
	blogv1.BlogType_BLOG_TYPE_JOY:        "0_6",
	blogv1.BlogType_BLOG_TYPE_FRIENDSHIP: "0_7",
	blogv1.BlogType_BLOG_TYPE_TRAVEL:     "0_8",
}

// weathers are the weathers of rule 7.3, indexed by their numbers in the services' contract.
var weathers = [...]string{
	blogv1.Weather_WEATHER_CLEAR:    "晴空萬里",
	blogv1.Weather_WEATHER_STORM:    "狂風暴雨",
	blogv1.Weather_WEATHER_DRIZZLE:  "陰雨綿綿",
	blogv1.Weather_WEATHER_CLEARING: "雨過天晴",
	blogv1.Weather_WEATHER_OVERCAST: "烏雲滿天",
	blogv1.Weather_WEATHER_SNOW:     "大雪數日",
	blogv1.Weather_WEATHER_RAINBOW:  "有彩虹",
}

// nameOf returns the name of a number, or "" if it has none.
func nameOf[E ~int32](names []string, value E) string {
	if value < 0 || int(value) >= len(names) {
		return ""
	}
	return names[value]
}
