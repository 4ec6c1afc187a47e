package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// word is an enum value of the contracts, written as a word: ALBUM_CATEGORY_FOOD is food. The
// enum's own names and numbers are accepted too.
type word[E enum] struct{ value E }

type enum interface {
	~int32
	protoreflect.Enum
}

// UnmarshalText parses a word, a name or a number.
func (w *word[E]) UnmarshalText(text []byte) error {
	values := w.value.Descriptor().Values()
	for i := 1; i < values.Len(); i++ {
		value := values.Get(i)
		switch string(text) {
		case wordOf(value), string(value.Name()), strconv.Itoa(int(value.Number())):
			w.value = E(value.Number())
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(w.Words(), ", "))
}

// Words returns all words of the enum.
func (w word[E]) Words() []string {
	values := w.value.Descriptor().Values()
	words := make([]string, 0, values.Len())
	for i := 1; i < values.Len(); i++ { // the first is UNSPECIFIED
		words = append(words, wordOf(values.Get(i)))
	}
	return words
}

// inWord returns the word for a value, or its number if the word is unknown.
func inWord[E enum](value E) string {
	described := value.Descriptor().Values().ByNumber(value.Number())
	if described == nil {
		return strconv.Itoa(int(value)) // from a newer contract
	}
	return wordOf(described)
}

func wordOf(value protoreflect.EnumValueDescriptor) string {
	unspecified := value.Parent().(protoreflect.EnumDescriptor).Values().ByNumber(0).Name()
	prefix := strings.TrimSuffix(string(unspecified), "UNSPECIFIED")
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(value.Name()), prefix), "_", "-"))
}

// day is a day of the calendar.
type day struct{ date *typev1.Date }

// UnmarshalText parses a day such as 2026-11-21.
func (d *day) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("must be an existing day, such as 2026-11-21")
	}
	d.date = &typev1.Date{Year: int32(at.Year()), Month: int32(at.Month()), Day: int32(at.Day())}
	return nil
}

func dateText(date *typev1.Date) string {
	return fmt.Sprintf("%04d-%02d-%02d", date.GetYear(), date.GetMonth(), date.GetDay())
}

// place is a required location on the map.
type place struct {
	Lat float64 `required:"" placeholder:"DEGREES" help:"Latitude, from -90 to 90."`
	Lng float64 `required:"" placeholder:"DEGREES" help:"Longitude, from -180 to 180."`
}

func (p place) location() *typev1.Location { return &typev1.Location{Lat: p.Lat, Lng: p.Lng} }

// placeText formats a location as maps accept it: latitude, comma, longitude.
func placeText(at *typev1.Location) string {
	return degrees(at.GetLat()) + "," + degrees(at.GetLng())
}

func degrees(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// profileText formats a user as name and identifier.
func profileText(user *typev1.Profile) string {
	return strings.TrimSpace(user.GetName() + " (" + number(user.GetUserId()) + ")")
}

func number(value int64) string { return strconv.FormatInt(value, 10) }
