package cli

import (
	"slices"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func TestAnEnumIsReadByItsWordItsNameAndItsNumber(t *testing.T) {
	for _, text := range []string{"domestic-travel", "ALBUM_CATEGORY_DOMESTIC_TRAVEL", "5"} {
		var category word[albumv1.AlbumCategory]
		if err := category.UnmarshalText([]byte(text)); err != nil || category.value != 5 {
			t.Errorf("%s is %v, %v", text, category.value, err)
		}
	}
	for _, text := range []string{"", "0", "17", "unspecified", "ALBUM_CATEGORY_UNSPECIFIED", "Food"} {
		var category word[albumv1.AlbumCategory]
		if err := category.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, category.value)
		}
	}
}

func TestWordsAreReadBackAndShown(t *testing.T) {
	var weather word[blogv1.Weather]
	words := weather.Words()
	if !slices.Equal(words, []string{"clear", "storm", "drizzle", "clearing", "overcast", "snow", "rainbow"}) {
		t.Errorf("words %v", words)
	}
	for i, text := range words {
		if err := weather.UnmarshalText([]byte(text)); err != nil || int(weather.value) != i+1 || inWord(weather.value) != text {
			t.Errorf("%s is %v, shown as %s (%v)", text, weather.value, inWord(weather.value), err)
		}
	}
	if got := inWord(blogv1.Weather(99)); got != "99" {
		t.Errorf("the weather of a newer contract is shown as %s", got)
	}
}
