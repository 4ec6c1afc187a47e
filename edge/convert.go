package edge

import (
	"math"
	"strings"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// Conversions from the text of a parameter to the value of a field. They judge
// the syntax only; ranges are the contract's business. What a field cannot hold
// is refused here, because the contract would never see it.

func asText(s string) (string, bool) { return s, true }

func asDecimal(s string) (float64, bool) { return parseDecimal(s) }

func asID(s string) (int64, bool) { return parseInteger(s) }

// asQuote reads an identifier whose absence is spelled as an empty value. 0 is
// how the services' contract spells it and names no blog here.
func asQuote(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	value, ok := parseInteger(s)
	return value, ok && value != 0
}

func asInt32(s string) (int32, bool) {
	value, ok := parseInteger(s)
	if !ok || value > math.MaxInt32 {
		return 0, false
	}
	return int32(value), true
}

// asNumber reads a value of an enumeration that the legacy contract numbers as
// the services' contract does. 0 means "not given" there and nothing here.
func asNumber[E ~int32](s string) (E, bool) {
	value, ok := asInt32(s)
	return E(value), ok && value != 0
}

// asFlag reads true or false in any letter case. Comparing lengths keeps out
// the letters beyond ASCII that fold to ASCII ones.
func asFlag(s string) (bool, bool) {
	switch {
	case len(s) == len("true") && strings.EqualFold(s, "true"):
		return true, true
	case len(s) == len("false") && strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
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

// blogTypes are the values of contract 2.8 by number in the services' contract.
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

// weathers are the values of contract 2.9 likewise.
var weathers = [...]string{
	blogv1.Weather_WEATHER_CLEAR:    "晴空萬里",
	blogv1.Weather_WEATHER_STORM:    "狂風暴雨",
	blogv1.Weather_WEATHER_DRIZZLE:  "陰雨綿綿",
	blogv1.Weather_WEATHER_CLEARING: "雨過天晴",
	blogv1.Weather_WEATHER_OVERCAST: "烏雲滿天",
	blogv1.Weather_WEATHER_SNOW:     "大雪數日",
	blogv1.Weather_WEATHER_RAINBOW:  "有彩虹",
}

// nameOf is the way back; empty for a number that has no name.
func nameOf[E ~int32](names []string, value E) string {
	if value < 0 || int(value) >= len(names) {
		return ""
	}
	return names[value]
}

// valueOr returns what an optional parameter said, or else otherwise.
func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
