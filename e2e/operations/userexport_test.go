package operations_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onePerson is the data of a person in the form in which an export writes it, and a line of
// somebody else, which no export of the person has.
const onePerson = `{"kind":"user","id":7,"name":"安","icon_url":"a.jpg","email":"ann@example.com","create_time":"2009-03-01T10:00:00Z"}
{"kind":"reward","id":1,"user_id":7,"amount":10}
{"kind":"reward","id":"blog/77","user_id":7,"amount":5}
{"kind":"album","id":12,"owner_id":7,"title":"a < b & c","category":2,"lat":25.034,"lng":121.5645,"score":3,"create_time":"2010-01-02T03:04:05Z","update_time":"2010-01-03T03:04:05Z"}
{"kind":"photo","id":3,"album_id":12,"url":"t/3.jpg","description":"three"}
{"kind":"photo","id":4,"album_id":12,"url":"t/4.jpg"}
{"kind":"comment","id":5,"album_id":12,"author_id":7,"text":"mine","create_time":"2010-01-04T03:04:05Z","reply":"thanks","reply_time":"2010-01-05T03:04:05Z"}
{"kind":"comment","id":6,"album_id":12,"author_name":"a guest","author_icon_url":"g.jpg","text":"nice","create_time":"2010-01-04T04:04:05Z"}
{"kind":"album","id":"old-album","owner_id":7,"title":"of a text","category":1,"lat":25,"lng":121,"create_time":"2010-01-02T03:04:05Z","update_time":"2010-01-02T03:04:05Z"}
{"kind":"entry","id":1,"author_id":7,"type":"0_2","lat":25,"lng":121,"title":"an entry","content":"two\nlines","post_date":"2010-02-03","weather":"晴空萬里","zoom_level":12,"map_type":2,"score":1,"reward":10,"vote":{"description":"which","choices":[{"description":"a","votes":2},{"description":"b"}]},"create_time":"2010-02-02T03:04:05Z","update_time":"2010-02-02T03:04:05Z"}
{"kind":"entry","id":2,"author_id":7,"type":"0_0","lat":25,"lng":121,"title":"an answer","content":"x","post_date":"2010-02-04","weather":"有彩虹","quoted_id":1,"zoom_level":14,"map_type":1,"create_time":"2010-02-03T03:04:05Z","update_time":"2010-02-03T03:04:05Z"}
{"kind":"comment","id":1,"entry_id":1,"author_id":7,"text":"on an entry","create_time":"2010-02-05T03:04:05Z"}
{"kind":"landmark","id":9,"owner_id":7,"name":"a landmark","category":3,"lat":24.5,"lng":120.5,"create_time":"2010-03-02T03:04:05Z","update_time":"2010-03-02T03:04:05Z"}
{"kind":"photo","id":1,"landmark_id":9,"url":"l/1.jpg"}
{"kind":"comment","id":2,"landmark_id":9,"author_id":7,"text":"on a landmark","create_time":"2010-03-05T03:04:05Z"}
{"kind":"end","user":1,"reward":2,"album":2,"entry":2,"landmark":1,"photo":3,"comment":4}
`

const anotherPerson = `{"kind":"user","id":8,"name":"Bob","email":"bob@example.com","password_hash":"8743b52063cd84097a65d1633f5c74f5"}
{"kind":"session","user_id":8,"idrand":"abababababababababababababababab"}
{"kind":"album","id":13,"owner_id":8,"title":"of another","category":2,"lat":25,"lng":121,"create_time":"2010-01-02T03:04:05Z"}
{"kind":"comment","id":7,"album_id":13,"author_id":7,"text":"in an album of another","create_time":"2010-01-04T04:04:05Z"}
{"kind":"end","user":1,"session":1,"album":1,"comment":1}
`

func sortedLines(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}

// TestAnExportedPersonMovesInUnchanged moves a person in, exports the person, and moves the export
// into another Waybook, whose export is the same.
func TestAnExportedPersonMovesInUnchanged(t *testing.T) {
	t.Parallel()
	first, second := operator{t, startEmpty(t).GRPC}, operator{t, startEmpty(t).GRPC}
	folder := t.TempDir()
	input, file := filepath.Join(folder, "old.ndjson"), filepath.Join(folder, "person.ndjson")
	if err := os.WriteFile(input, []byte(onePerson+anotherPerson), 0o600); err != nil {
		t.Fatal(err)
	}
	first.must("move", "import", input)
	first.must("user", "export", "7", file)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sortedLines(string(written)), sortedLines(onePerson); !slices.Equal(got, want) {
		t.Errorf("exported\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	second.must("move", "import", file)
	if again := second.must("user", "export", "7", "-"); again != string(written) {
		t.Errorf("exported again\n%s\nwant\n%s", again, written)
	}
	second.run("", "user", "export", "9", file, "--force").expect(3)
	if kept, err := os.ReadFile(file); err != nil || string(kept) != string(written) {
		t.Errorf("an export that failed left %q, %v", kept, err)
	}
}
