package movefile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// validator checks values against a JSON Schema. It knows the keywords of ours and refuses others.
type validator struct {
	t        *testing.T
	root     map[string]any
	patterns map[string]*regexp.Regexp
}

func newValidator(t *testing.T, schema []byte) *validator {
	t.Helper()
	v := &validator{t: t, patterns: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal(schema, &v.root); err != nil {
		t.Fatal(err)
	}
	return v
}

// accepts reports whether the schema accepts a JSON text.
func (v *validator) accepts(text []byte) bool {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return false
	}
	return v.valid(v.root, value) == nil
}

func (v *validator) valid(schema map[string]any, value any) error {
	for keyword, argument := range schema {
		if err := v.keyword(keyword, argument, schema, value); err != nil {
			return fmt.Errorf("%s: %w", keyword, err)
		}
	}
	return nil
}

func (v *validator) keyword(keyword string, argument any, schema map[string]any, value any) error {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	failed := func(isWrong bool) error {
		if isWrong {
			return fmt.Errorf("%v for %v", argument, value)
		}
		return nil
	}
	switch keyword {
	case "$schema", "$defs", "$comment", "title", "description", "format":
		return nil
	case "$ref":
		name := strings.TrimPrefix(argument.(string), "#/$defs/")
		return v.valid(v.root["$defs"].(map[string]any)[name].(map[string]any), value)
	case "oneOf":
		count := 0
		for _, each := range argument.([]any) {
			if v.valid(each.(map[string]any), value) == nil {
				count++
			}
		}
		return failed(count != 1)
	case "not":
		return failed(v.valid(argument.(map[string]any), value) == nil)
	case "const":
		return failed(!reflect.DeepEqual(argument, value))
	case "enum":
		for _, each := range argument.([]any) {
			if each == value {
				return nil
			}
		}
		return failed(true)
	case "type":
		return failed(!v.hasType(argument, value))
	case "properties":
		for name, each := range argument.(map[string]any) {
			if given, isGiven := object[name]; isGiven {
				if err := v.valid(each.(map[string]any), given); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	case "required":
		for _, name := range argument.([]any) {
			if _, isGiven := object[name.(string)]; isObject && !isGiven {
				return failed(true)
			}
		}
		return nil
	case "additionalProperties":
		for name := range object {
			if _, isKnown := schema["properties"].(map[string]any)[name]; !isKnown {
				return fmt.Errorf("%s is unknown", name)
			}
		}
		return nil
	case "items":
		for _, each := range list {
			if err := v.valid(argument.(map[string]any), each); err != nil {
				return err
			}
		}
		return nil
	case "minItems":
		return failed(isList && float64(len(list)) < argument.(float64))
	case "maxItems":
		return failed(isList && float64(len(list)) > argument.(float64))
	case "minLength":
		return failed(isText && float64(utf8.RuneCountInString(text)) < argument.(float64))
	case "maxLength":
		return failed(isText && float64(utf8.RuneCountInString(text)) > argument.(float64))
	case "pattern":
		pattern := argument.(string)
		if v.patterns[pattern] == nil {
			v.patterns[pattern] = regexp.MustCompile("(?s)" + pattern)
		}
		return failed(isText && !v.patterns[pattern].MatchString(text))
	case "minimum", "maximum":
		if !isNumber {
			return nil
		}
		decimal, err := number.Float64()
		return failed(err != nil || keyword == "minimum" && decimal < argument.(float64) || keyword == "maximum" && decimal > argument.(float64))
	}
	v.t.Fatalf("the schema has the keyword %s, which the test does not know", keyword)
	return nil
}

// hasType reports whether a value has one of some types.
func (v *validator) hasType(types, value any) bool {
	if name, isName := types.(string); isName {
		types = []any{name}
	}
	for _, name := range types.([]any) {
		switch value := value.(type) {
		case nil:
			if name == "null" {
				return true
			}
		case string:
			if name == "string" {
				return true
			}
		case json.Number:
			if name == "number" || name == "integer" && !strings.ContainsAny(value.String(), ".eE") {
				return true
			}
		case map[string]any:
			if name == "object" {
				return true
			}
		case []any:
			if name == "array" {
				return true
			}
		}
	}
	return false
}
