package settings

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// file reads the flags that neither the command line nor the environment sets from a file of
// settings: one YAML mapping from names of flags to single values.
func (r *reading) file(path string) {
	text, err := readBounded(path)
	if err != nil {
		r.fault("-%s: %w", configFlag, err)
		return
	}
	pairs, err := parseFile(text)
	if err != nil {
		r.fault("%s: %w", path, err)
		return
	}
	given := r.alreadyGiven()
	lines := map[string]int{}
	for _, pair := range pairs {
		name, where := pair.name.Value, fmt.Sprintf("%s:%d", path, pair.name.Line)
		f := r.flags.Lookup(name)
		switch first, isRepeated := lines[name]; {
		case f == nil || pair.name.Kind != yaml.ScalarNode:
			r.fault("%s: unknown setting %q", where, shortened(name))
		case isRepeated:
			r.fault("%s: %s is already set in line %d", where, name, first)
		case name == configFlag || onlyOnCommandLine(name):
			r.fault("%s: %s cannot be set in a file", where, name)
		default:
			if err := checkType(f, pair.value); err != nil {
				r.fault("%s: %s: %w", where, name, err)
			} else if !given(name) {
				r.setFromFile(f, pair.value.Value, where+": "+name)
			}
		}
		lines[name] = pair.name.Line
	}
}

// setFromFile sets a flag unless the value holds a secret.
func (r *reading) setFromFile(f *flag.Flag, value, source string) {
	r.set(f, value, source)
	if secret, ok := f.Value.(Secret); ok && secret.HasSecret() {
		r.fault("%s holds a password; put the value into a file of its own and set %s%s to its path", source, f.Name, fileSuffix)
	}
}

// pair is a key of the mapping with its value.
type pair struct{ name, value *yaml.Node }

// parseFile parses a file of settings. An empty file has no pairs.
func parseFile(text []byte) ([]pair, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("want one YAML document"), err)
	}
	mapping := document.Content[0]
	if mapping.Kind == yaml.ScalarNode && mapping.ShortTag() == "!!null" {
		return nil, nil // only comments
	}
	if mapping.Kind != yaml.MappingNode {
		return nil, errors.New("want lines of the form NAME: VALUE, with the names of flags")
	}
	pairs := make([]pair, 0, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		pairs = append(pairs, pair{mapping.Content[i], mapping.Content[i+1]})
	}
	return pairs, nil
}

// checkType refuses a value that has not the type of a flag. Otherwise a quoted number would pass
// here and surprise where YAML is read by something else.
func checkType(f *flag.Flag, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode {
		return errors.New("want one value; separate several by commas")
	}
	tag := value.ShortTag()
	var current any
	if getter, ok := f.Value.(flag.Getter); ok {
		current = getter.Get()
	}
	switch current.(type) {
	case bool:
		return expect(tag, "true or false", "!!bool")
	case int, int64, uint, uint64:
		return expect(tag, "a whole number", "!!int")
	case float64:
		return expect(tag, "a number", "!!int", "!!float")
	}
	return expect(tag, "text; put the value in quotes", "!!str", "!!int", "!!float")
}

func expect(tag, wanted string, tags ...string) error {
	for _, each := range tags {
		if tag == each {
			return nil
		}
	}
	return fmt.Errorf("want %s", wanted)
}
