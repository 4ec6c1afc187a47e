package output

import (
	"bytes"
	"encoding/json"
)

// FromJSON converts a value to Objects and Lists by its json tags, keeping the order of the fields.
func FromJSON(value any) (any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	return plain(decoder)
}

func plain(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := Object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := plain(decoder)
			if err != nil {
				return nil, err
			}
			object = append(object, Field{name.(string), value})
		}
		_, err = decoder.Token()
		return object, err
	case json.Delim('['):
		list := List{}
		for decoder.More() {
			value, err := plain(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = decoder.Token()
		return list, err
	}
	if number, ok := token.(json.Number); ok {
		if whole, err := number.Int64(); err == nil {
			return whole, nil
		}
		return number.Float64()
	}
	return token, nil
}
