package landmarkfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// lineReader reads newline-delimited JSON.
type lineReader struct {
	*input
	line []byte
}

func (l *lineReader) read() (record, Position, error) {
	for {
		at := l.at
		if err := l.readLine(); err != nil {
			return nil, at, err
		}
		line := bytes.Trim(l.line, " \t\r\n")
		if len(line) == 0 {
			continue
		}
		decoded, err := decode(line, at)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			err = &RecordError{At: at, Problem: notAnObject(err)}
		}
		return decoded, at, err
	}
}

// notAnObject describes a line that is not valid JSON.
func notAnObject(err error) string {
	return "this line is not valid JSON: " + err.Error() + "; each line must be one complete object"
}

// readLine reads up to a line break or the end of the file. It returns io.EOF when nothing is left.
func (l *lineReader) readLine() error {
	at := l.at
	l.line = l.line[:0]
	for {
		b, err := l.next()
		if errors.Is(err, io.EOF) && len(l.line) > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if b == '\n' {
			return nil
		}
		if len(l.line) == MaxRecordBytes {
			return tooLong(at)
		}
		l.line = append(l.line, b)
	}
}
