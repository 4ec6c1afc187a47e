package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// enumText is a value of an enum of the contracts, written as a word: ALBUM_CATEGORY_FOOD is food. The enum's own
// names and numbers are accepted too. The tag words of its flag has the words.
type enumText string

// jsonText is a value as JSON.
type jsonText string

// word is a value of an enum that a program knows.
type word[E enum] struct{ value E }

type enum interface {
	~int32
	protoreflect.Enum
}

// UnmarshalText parses a word, a name or a number.
func (w *word[E]) UnmarshalText(text []byte) error {
	number, err := numberOf(w.value.Descriptor(), string(text))
	w.value = E(number)
	return err
}

// Words returns all words of the enum.
func (w word[E]) Words() []string { return wordsOf(w.value.Descriptor()) }

// numberOf returns the number of a word, a name or a number.
func numberOf(of protoreflect.EnumDescriptor, text string) (protoreflect.EnumNumber, error) {
	for i := 1; i < of.Values().Len(); i++ {
		value := of.Values().Get(i)
		switch text {
		case wordOf(value), string(value.Name()), strconv.Itoa(int(value.Number())):
			return value.Number(), nil
		}
	}
	return 0, fmt.Errorf("must be one of %s", strings.Join(wordsOf(of), ", "))
}

// wordsOf returns all words of an enum.
func wordsOf(of protoreflect.EnumDescriptor) []string {
	words := make([]string, 0, of.Values().Len())
	for i := 1; i < of.Values().Len(); i++ { // the first is UNSPECIFIED
		words = append(words, wordOf(of.Values().Get(i)))
	}
	return words
}

// wordOfNumber returns the word for a value of an enum, or its number if the word is unknown.
func wordOfNumber(of protoreflect.EnumDescriptor, value protoreflect.EnumNumber) string {
	described := of.Values().ByNumber(value)
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

// maxTextBytes bounds a text: services accept at most 100,000 characters of at most four bytes.
const maxTextBytes = 400_000

// textOrInput is a text, or "-" for the text on standard input.
type textOrInput string

// read returns the text.
func (t textOrInput) read(ctx context.Context, in io.Reader) (string, error) {
	if t != "-" {
		return string(t), nil
	}
	return await(ctx, func() (string, error) {
		read, err := io.ReadAll(io.LimitReader(in, maxTextBytes+1))
		if err != nil {
			return "", fmt.Errorf("standard input can't be read: %w", err)
		}
		if len(read) > maxTextBytes {
			return "", usageError("standard input is longer than 100,000 characters")
		}
		return string(read), nil
	})
}
