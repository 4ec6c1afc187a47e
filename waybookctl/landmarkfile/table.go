package landmarkfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

func (in *input) table(hasCategory bool, take take) error {
	var heading []string
	comma := ','
	for {
		text, first, err := in.row()
		switch {
		case errors.Is(err, io.EOF) && heading == nil:
			return in.fatalf("the file is empty; its first line should be a heading such as %s",
				strings.Join(columns, ","))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case heading == nil:
			comma = commaOf(text)
		}
		fields, err := split(text, comma)
		if errors.Is(err, errQuote) {
			text = text[:first] // a lone quote spoils only its own line
		}
		switch {
		case err == nil && len(fields) == 0: // an empty line
		case heading == nil:
			if err == nil {
				heading, err = fields, checkHeading(fields, hasCategory)
			}
			if err != nil {
				return in.fatalf("the heading is wrong: %v", err)
			}
		case !take(recordOf(heading, fields, err)):
			return nil
		}
		in.pass(text)
		_, _ = in.reader.Discard(len(text)) // it is in memory
	}
}

// row returns the text of the next record without consuming it, and the length of its first line.
// A record ends with the first line up to which quotes are paired. If there is no such line, its
// first line is returned.
func (in *input) row() (text []byte, first int, err error) {
	for size := 4 << 10; ; size *= 2 {
		ahead, err := in.reader.Peek(size)
		isEnd := errors.Is(err, io.EOF)
		quotes, end := 0, 0
		for end < len(ahead) {
			line, _, hasEnd := bytes.Cut(ahead[end:], []byte("\n"))
			if !hasEnd && !isEnd {
				break
			}
			quotes += bytes.Count(line, []byte(`"`))
			end = min(end+len(line)+1, len(ahead))
			if first == 0 {
				first = end
			}
			if quotes%2 == 0 {
				return ahead[:end], first, nil
			}
		}
		switch isFull := errors.Is(err, bufio.ErrBufferFull); {
		case (isEnd || isFull) && first > 0:
			return ahead[:first], first, nil
		case isFull:
			return nil, 0, in.tooLong()
		case err != nil:
			return nil, 0, err
		}
	}
}

// commaOf returns the most frequent separator in the heading.
func commaOf(heading []byte) rune {
	return slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int {
		return bytes.Count(heading, []byte(string(a))) - bytes.Count(heading, []byte(string(b)))
	})
}

var errQuote = errors.New(`a quote is not paired; write a field that has a quote as "…", and each quote in it as ""`)

// split returns the fields of a record; an empty line has none.
func split(text []byte, comma rune) ([]string, error) {
	reader := csv.NewReader(bytes.NewReader(text))
	reader.Comma = comma
	fields, err := reader.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, errQuote
	case slices.ContainsFunc(fields, func(field string) bool { return !utf8.ValidString(field) }):
		return nil, errNotUTF8
	}
	return fields, nil
}

// checkHeading checks the names of the columns, and trims them.
func checkHeading(names []string, hasCategory bool) error {
	var missing, unknown []string
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(columns, names[i]) || slices.Contains(names[:i], names[i]) {
			unknown = append(unknown, quoted(names[i]))
		}
	}
	for _, name := range columns {
		isRequired := name == "name" || name == "lat" || name == "lng" || name == "category" && !hasCategory
		if isRequired && !slices.Contains(names, name) {
			missing = append(missing, name)
		}
	}
	var problem string
	if len(missing) > 0 {
		problem = fmt.Sprintf("there is no column %s; ", strings.Join(missing, ", "))
	}
	if len(unknown) > 0 {
		problem += fmt.Sprintf("unknown or repeated: %s; ", strings.Join(unknown[:min(len(unknown), 10)], ", "))
	}
	if problem == "" {
		return nil
	}
	return fmt.Errorf("%sthe columns are %s, where key and a category that all share may be left out", problem,
		strings.Join(columns, ", "))
}

// recordOf returns the fields by column.
func recordOf(heading, fields []string, err error) (texts, error) {
	if err == nil && len(fields) != len(heading) {
		err = fmt.Errorf("the heading has %d columns, and this record has %d", len(heading), len(fields))
	}
	if err != nil {
		return nil, err
	}
	record := make(texts, len(fields))
	for i, name := range heading {
		record[name] = fields[i]
	}
	return record, nil
}
