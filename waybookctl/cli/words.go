package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// word is a value of an enum of the contracts, written as a word: ALBUM_CATEGORY_FOOD is food. The
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

func (w word[E]) Words() (words []string) {
	values := w.value.Descriptor().Values()
	for i := 1; i < values.Len(); i++ { // the first is UNSPECIFIED
		words = append(words, wordOf(values.Get(i)))
	}
	return words
}

// inWord returns the word for a value of an enum, or its number if the word is unknown.
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

// wordsFor returns the words that a flag or an argument takes, or nothing if it takes others too.
func wordsFor(value *kong.Value) []string {
	if worded, ok := reflect.Zero(value.Target.Type()).Interface().(interface{ Words() []string }); ok {
		return worded.Words()
	}
	return slices.DeleteFunc(value.EnumSlice(), func(word string) bool { return word == "" })
}
