package replay

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// FormatOf returns the format that the name of a file stands for. The ending .gz does not count.
func FormatOf(file string) (Format, error) {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz"))) {
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
	// next returns the next entries; io.EOF at the end.
	next    func() ([]entry, error)
	closers []io.Closer
}

// Close closes the file.
func (l *Log) Close() error {
	var failed []error
	for _, each := range slices.Backward(l.closers) {
		failed = append(failed, each.Close())
	}
	return errors.Join(failed...)
}

// Open opens a log; - is in. A name that ends in .gz is decompressed. parameter is the name of the
// identifiers in lines of IDs that have no name.
func Open(file string, in io.Reader, format Format, parameter string) (*Log, error) {
	log := &Log{}
	source := in
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		source, log.closers = opened, append(log.closers, opened)
	}
	if strings.HasSuffix(file, ".gz") {
		unzipped, err := gzip.NewReader(source)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", file, err), log.Close())
		}
		source, log.closers = unzipped, append(log.closers, unzipped)
	}
	switch format {
	case HAR:
		log.next = newArchive(source, maxArchived).next
	case NDJSON:
		log.next = newLines(source, parseObject).next
	case IDs:
		parse, err := parserOfIDs(parameter)
		if err != nil {
			return nil, errors.Join(err, log.Close())
		}
		log.next = newLines(source, parse).next
	default:
		log.next = newLines(source, parseAccess).next
	}
	return log, nil
}

// lines reads a log with a request in each line.
type lines struct {
	reader *bufio.Reader
	number int
	parse  func(line string) ([]entry, error)
}

func newLines(source io.Reader, parse func(string) ([]entry, error)) *lines {
	return &lines{reader: bufio.NewReaderSize(source, 64<<10), parse: parse}
}

// next returns the requests of the next line that is not empty.
func (l *lines) next() ([]entry, error) {
	for {
		line, isTooLong, err := l.read()
		if err != nil && (err != io.EOF || line == "" && !isTooLong) {
			return nil, err
		}
		l.number++
		place := fmt.Sprintf("line %d", l.number)
		if isTooLong {
			return nil, unreadableError{place, fmt.Sprintf("longer than %d bytes", maxLine)}
		}
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		entries, err := l.parse(line)
		if err != nil {
			return nil, unreadableError{place, err.Error()}
		}
		for i := range entries {
			entries[i].place = place
		}
		return entries, nil
	}
}

// read returns the next line. It reads a line that is too long to its end, and keeps nothing of it.
func (l *lines) read() (line string, isTooLong bool, err error) {
	var text []byte
	for {
		part, err := l.reader.ReadSlice('\n')
		if isTooLong = isTooLong || len(text)+len(part) > maxLine; isTooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		if err != bufio.ErrBufferFull {
			return string(text), isTooLong, err
		}
	}
}
