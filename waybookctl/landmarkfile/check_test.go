package landmarkfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
)

// lines is NDJSON with a place in each line. A line with an id has that key.
const lines = `{"id":1,"name":"a","lat":1,"lng":1}
{"name":"b","lat":1,"lng":1}
{"id":1,"name":"c","lat":1,"lng":1}
{"name":"b","lat":1.0,"lng":1}
{"name":"d","lat":91,"lng":1}
{"name":"b","lat":2,"lng":1}
{"id":"2","name":"e","lat":1,"lng":1}
`

func check(t *testing.T, text string, maxProblems int) *Checked {
	t.Helper()
	checked, err := Check(t.Context(), reading(text), maxProblems)
	if err != nil {
		t.Fatal(err)
	}
	return checked
}

func reading(text string) iter.Seq2[Place, error] {
	return Read(strings.NewReader(text), Options{Format: NDJSON, Category: 1})
}

func TestACheckSeparatesPlacesFromProblems(t *testing.T) {
	checked := check(t, lines, 10)
	if checked.Places != 4 || checked.Duplicates != 1 || checked.ProblemCount != 2 || checked.Broken != nil {
		t.Errorf("%+v", checked)
	}
	want := []string{
		`line 3: the key "1" is already used in line 1; give each place a key of its own`,
		`line 5: the latitude 91 is not from -90 to 90; are latitude and longitude swapped?`,
	}
	for i, problem := range checked.Problems {
		if problem.Error() != want[i] {
			t.Errorf("%v", problem)
		}
	}
	var selected []int64
	for place, err := range checked.Select(reading(lines)) {
		if err != nil {
			t.Fatal(err)
		}
		selected = append(selected, place.At.Line)
	}
	if !slices.Equal(selected, []int64{1, 2, 6, 7}) {
		t.Errorf("lines %v are selected", selected)
	}
}

func TestACheckKeepsTheFirstProblemsAndTheOneThatEndedIt(t *testing.T) {
	checked := check(t, strings.Repeat("x\n", 100)+strings.Repeat("x", MaxRecordBytes+1), 7)
	if checked.ProblemCount != 101 || len(checked.Problems) != 8 || checked.Broken == nil || checked.Problems[7] != error(checked.Broken) {
		t.Errorf("%d problems, %d kept, %v", checked.ProblemCount, len(checked.Problems), checked.Broken)
	}
}

func TestAChangedFileIsDetectedBeforeItsEnd(t *testing.T) {
	checked := check(t, lines, 10)
	for name, text := range map[string]string{
		"a line less":    strings.TrimSuffix(lines, `{"id":"2","name":"e","lat":1,"lng":1}`+"\n"),
		"a line more":    lines + `{"id":"3","name":"e","lat":1,"lng":1}`,
		"another line":   strings.Replace(lines, `"id":"2"`, `"id":"3"`, 1),
		"shifted":        "\n" + lines,
		"invalid":        strings.Replace(lines, `"lat":2`, `"lat":99`, 1),
		"another file":   "\xff\xfe",
		"of another key": strings.Replace(lines, `"lat":2`, `"lat":3`, 1),
	} {
		var last error
		for _, err := range checked.Select(reading(text)) {
			last = err
		}
		if !errors.Is(last, ErrChanged) {
			t.Errorf("%s: %v", name, last)
		}
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, reading(lines), 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// manyPlaces is a GeoJSON document of many features in one line. It is never in memory as a whole.
type manyPlaces struct {
	count, next int
	pending     []byte
}

func (m *manyPlaces) Read(p []byte) (int, error) {
	for len(m.pending) == 0 {
		switch {
		case m.next == 0:
			m.pending = []byte(`{"type":"FeatureCollection","features":[`)
		case m.next > m.count+1:
			return 0, io.EOF
		case m.next > m.count:
			m.pending = []byte("]}")
		default:
			if m.next > 1 {
				m.pending = []byte(",")
			}
			m.pending = fmt.Appendf(m.pending, `{"type":"Feature","id":%d,"geometry":{"type":"Point","coordinates":[%d,%d]},"properties":{"name":"%d","category":1}}`,
				m.next, m.next%180, m.next%90, m.next)
		}
		m.next++
	}
	n := copy(p, m.pending)
	m.pending = m.pending[n:]
	return n, nil
}

func TestAFileOfOneLineIsReadPlaceByPlace(t *testing.T) {
	const count = 32_000
	source := &manyPlaces{count: count}
	reader := documentReader{input: newInput(source)}
	n := 0
	err := reader.read(func(r record, _ Position, err error) error {
		n++
		key, _ := r.text("id")
		// The reader consumes no more of the file than its read-ahead.
		if ahead := source.next - n; err != nil || ahead > readAhead/100 || key != fmt.Sprint(n) {
			return fmt.Errorf("after place %d, %d more are read ahead (%v)", n, ahead, err)
		}
		return nil
	})
	if err != nil || n != count {
		t.Errorf("%d places, %v", n, err)
	}
	if held := reader.ahead.Cap(); held > 4*readAhead {
		t.Errorf("the reader holds %d bytes", held)
	}
}
