package cli

import (
	"slices"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// inWord returns how a value is shown.
func inWord[E enum](w word[E]) string { return wordOfNumber(w.value.Descriptor(), w.value.Number()) }

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
		if err := weather.UnmarshalText([]byte(text)); err != nil || int(weather.value) != i+1 || inWord(weather) != text {
			t.Errorf("%s is %v, shown as %s (%v)", text, weather.value, inWord(weather), err)
		}
	}
	if got := inWord(word[blogv1.Weather]{99}); got != "99" {
		t.Errorf("the weather of a newer contract is shown as %s", got)
	}
}

// A word or a day that is accepted is shown in a form that reads back the same.
func FuzzWordsAndDaysReadBackTheSame(f *testing.F) {
	for _, text := range []string{"domestic-travel", "ALBUM_CATEGORY_FOOD", "5", "05", "2024-02-29", "2023-02-29", "0000-01-01", "9999-12-31"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var category, again word[albumv1.AlbumCategory]
		if category.UnmarshalText([]byte(text)) == nil {
			shown := inWord(category)
			if err := again.UnmarshalText([]byte(shown)); err != nil || again != category || !slices.Contains(category.Words(), shown) {
				t.Errorf("%q is %v, shown as %s, which is %v, %v", text, category, shown, again, err)
			}
		}
		var at day
		if at.UnmarshalText([]byte(text)) == nil && dateText(at.date) != text {
			t.Errorf("%q is the day %s", text, dateText(at.date))
		}
	})
}
