package landmarkfile

import "fmt"

// Position is where something begins in a file. No two records begin at the same one.
type Position struct {
	// Line counts from 1 and Column counts the line's bytes from 1.
	Line, Column int64
}

// farColumn is from where on a line alone is no help, as in a file of one long line.
const farColumn = 200

// String is the position for people.
func (p Position) String() string {
	if p.Column < farColumn {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, byte %d", p.Line, p.Column)
}

// behind is the position after some bytes.
func (p Position) behind(text []byte) Position {
	for _, b := range text {
		p.pass(b)
	}
	return p
}

// pass moves the position behind a byte.
func (p *Position) pass(b byte) {
	if b == '\n' {
		p.Line, p.Column = p.Line+1, 1
		return
	}
	p.Column++
}

// RecordError says that a record can't be imported. The reader can go on behind it.
type RecordError struct {
	At Position
	// Problem is what is wrong and what to do about it.
	Problem string
}

// Error is the position and the problem.
func (e *RecordError) Error() string { return e.At.String() + ": " + e.Problem }

// FileError says that a file can't be read any further.
type FileError struct {
	At Position
	// Problem is what is wrong and what to do about it.
	Problem string
}

// Error is the position and the problem.
func (e *FileError) Error() string { return e.At.String() + ": " + e.Problem }

func fileErrorf(at Position, format string, args ...any) *FileError {
	return &FileError{At: at, Problem: fmt.Sprintf(format, args...)}
}
