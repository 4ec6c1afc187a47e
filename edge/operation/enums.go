package operation

import (
	"github.com/waybook/waybook/edge/form"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// asQuote accepts an identifier, or an empty value or 0 for no blog. It returns 0 for no blog, as
// the services' contract does.
func asQuote(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	return form.ID(s)
}

func asBlogType(s string) (blogv1.BlogType, bool) {
	for i, name := range blogTypes {
		if name == s && name != "" {
			return blogv1.BlogType(i), true
		}
	}
	return 0, false
}

func asWeather(s string) (blogv1.Weather, bool) {
	for i, name := range weathers {
		if name == s && name != "" {
			return blogv1.Weather(i), true
		}
	}
	return 0, false
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
