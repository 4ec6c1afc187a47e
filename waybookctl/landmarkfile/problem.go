package landmarkfile

import "fmt"

// Position is the start of something in a file. No two records have the same position.
type Position struct {
	// Line counts from 1 and Column counts the line's bytes from 1.
	Line, Column int64
}

// farColumn is the column from which messages add the byte to the line, as in a file of one long
// line.
const farColumn = 200

// String formats the position for people.
func (p Position) String() string {
	if p.Column < farColumn {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, byte %d", p.Line, p.Column)
}

// behind returns the position after text.
func (p Position) behind(text []byte) Position {
	for _, b := range text {
		p.pass(b)
	}
	return p
}

// pass moves the position past a byte.
func (p *Position) pass(b byte) {
	if b == '\n' {
		p.Line, p.Column = p.Line+1, 1
		return
	}
	p.Column++
}

// RecordError reports that a record can't be imported. The reader can continue after it.
type RecordError struct {
	At Position
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns the position and the problem.
func (e *RecordError) Error() string { return e.At.String() + ": " + e.Problem }

// FileError reports that the rest of a file can't be read.
type FileError struct {
	At Position
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns the position and the problem.
func (e *FileError) Error() string { return e.At.String() + ": " + e.Problem }

func fileErrorf(at Position, format string, args ...any) *FileError {
	return &FileError{At: at, Problem: fmt.Sprintf(format, args...)}
}
