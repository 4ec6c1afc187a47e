package replay

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/waybook/waybook/moving/linefile"
)

// Format is a format of logs.
type Format string

// The formats.
const (
	// AccessLog is the common or the combined format of Apache and nginx.
	AccessLog Format = "access"
	// HAR is an HTTP archive, as browsers export it.
	HAR Format = "har"
	// NDJSON has an object in each line.
	NDJSON Format = "ndjson"
	// IDs has an identifier in each line.
	IDs Format = "ids"
)

// FormatOf returns the format that the name of a file stands for. The endings .gz and .zst do not count.
func FormatOf(file string) (Format, error) {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".zst"))) {
	case ".log":
		return AccessLog, nil
	case ".har":
		return HAR, nil
	case ".ndjson", ".jsonl":
		return NDJSON, nil
	case ".ids", ".txt":
		return IDs, nil
	}
	return "", fmt.Errorf("%s does not say its format (.log, .har, .ndjson or .ids)", filepath.Base(file))
}

// maxLine is the length of the longest line of a log in bytes. A form has at most 2 MiB.
const maxLine = 4 << 20

// entry is a request of a log.
type entry struct {
	// place says where in the log it is, such as "line 12".
	place                     string
	method, target            string
	body, contentType, cookie string
}

// unreadableError reports a line that is no request. Reading goes on behind it.
type unreadableError struct{ place, why string }

func (e unreadableError) Error() string { return e.place + ": " + e.why }

// Log is a log of requests.
type Log struct {
	file *linefile.Reader
	// next returns the next entries; io.EOF at the end.
	next func() ([]entry, error)
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Open opens a log; - is in. parameter is the name of the identifiers in lines of IDs that have no
// name.
func Open(path string, in io.Reader, format Format, parameter string) (*Log, error) {
	parse := parseAccess
	switch format {
	case NDJSON:
		parse = parseObject
	case IDs:
		var err error
		if parse, err = parserOfIDs(parameter); err != nil {
			return nil, err
		}
	}
	file, err := linefile.Open(path, in, maxLine)
	if err != nil {
		return nil, err
	}
	if format == HAR {
		return &Log{file, newArchive(file.Text(), maxArchived).next}, nil
	}
	return &Log{file, lines{file, parse}.next}, nil
}

// lines reads a log with a request in each line.
type lines struct {
	file  *linefile.Reader
	parse func(line string) ([]entry, error)
}

// next returns the requests of the next line that is neither empty nor a comment.
func (l lines) next() ([]entry, error) {
	for {
		line, number, err := l.file.Next()
		place := fmt.Sprintf("line %d", number)
		switch {
		case errors.Is(err, linefile.ErrLong):
			return nil, unreadableError{place, err.Error()}
		case err != nil:
			return nil, err
		case line[0] == '#':
			continue
		}
		entries, err := l.parse(string(line))
		if err != nil {
			return nil, unreadableError{place, err.Error()}
		}
		for i := range entries {
			entries[i].place = place
		}
		return entries, nil
	}
}
