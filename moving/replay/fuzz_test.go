package replay

import (
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/form"
)

// open returns a log with some text.
func open(t *testing.T, format Format, text string) *Log {
	t.Helper()
	log, err := Open("-", strings.NewReader(text), format, "albumID")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// A log of any bytes ends. Each line counts once, as requests or as unreadable. Every request that is
// recognized has the same func for another parser.
func FuzzALogIsReadToItsEnd(f *testing.F) {
	f.Add(`192.0.2.1 - - [05/Mar/2008:09:07:31 +0800] "GET /API.php?func=getAlbum&albumID=1&x=\"\x22 HTTP/1.1" 200 512`)
	f.Add(`{"log":{"version":"1.2","entries":[{"request":{"method":"POST","url":"/API.php","postData":{"params":[{"name":"func","value":"getPOI"}]}}}]}}`)
	f.Add("{\"url\":\"/API.php?%66unc=getBlog&a;b=%zz\"}\nalbumID 12\n\n12\r\n# x")
	recognizer := edge.NewRecognizer(form.UTF8)
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{AccessLog, NDJSON, IDs, HAR} {
			log, err := Open("-", strings.NewReader(text), format, "albumID")
			if err != nil {
				continue // compressed, or UTF-16
			}
			for count := 0; ; {
				entries, err := log.next()
				if err != nil && !errors.As(err, new(unreadableError)) {
					break // the end, or an archive that is broken
				}
				if count++; count > len(text)+1 {
					t.Fatalf("%s: %q has no end", format, text)
				}
				for _, each := range entries {
					check(t, recognizer, each)
				}
			}
		}
	})
}

func check(t *testing.T, recognizer *edge.Recognizer, e entry) {
	target, err := url.Parse(e.target)
	if err != nil {
		return
	}
	asked, err := recognizer.Recognize(target.RawQuery, e.contentType, e.body)
	if err != nil {
		return
	}
	query, queryErr := url.ParseQuery(asked.Query)
	body, bodyErr := url.ParseQuery(asked.Body)
	if got := append(query["func"], body["func"]...); queryErr != nil || bodyErr != nil || len(got) != 1 || got[0] != asked.Function {
		t.Errorf("%q and %q are sent as %q and %q, which is func %q", target.RawQuery, e.body, asked.Query, asked.Body, got)
	}
}

func TestALineThatIsTooLongIsSkipped(t *testing.T) {
	log := open(t, IDs, strings.Repeat("1", maxLine+1)+"\n12\n"+strings.Repeat("1", maxLine+1))
	if _, err := log.next(); !errors.As(err, new(unreadableError)) || !strings.Contains(err.Error(), "line 1: the line is longer") {
		t.Errorf("got %v", err)
	}
	if entries, err := log.next(); err != nil || len(entries) != 1 || entries[0].target != "/API.php?albumID=12&func=getAlbum" || entries[0].place != "line 2" {
		t.Errorf("got %+v, %v", entries, err)
	}
	if _, err := log.next(); !errors.As(err, new(unreadableError)) {
		t.Errorf("got %v", err)
	}
	if _, err := log.next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

func TestAnEntryOfAnArchiveIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"log":{"entries":[{"request":{},"response":{"text":"`), endlessText{})
	if _, err := newArchive(endless, 1<<20).next(); err == nil || !strings.Contains(err.Error(), "an entry of the archive has more than") {
		t.Errorf("got %v", err)
	}
}

// A browser that is stopped leaves a part of an archive, and a broken disk a part of a compressed one.
func TestAnArchiveThatWasCutOffIsNoWholeOne(t *testing.T) {
	whole := `{"log":{"entries":[` + strings.Repeat(`{"request":{"method":"GET","url":"/API.php"}},`, 2) + `{"request":{}}],"pages":[{}]}}`
	packed := new(strings.Builder)
	writer := gzip.NewWriter(packed)
	if _, err := writer.Write([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	second := strings.LastIndex(whole, ",{\"request\":{}}")
	for text, isWhole := range map[string]bool{
		whole: true, packed.String(): true,
		whole[:second]: false, whole[:second+1]: false, whole[:second] + "}": false, whole[:second] + strings.Repeat(" ", 1<<20): false,
		packed.String()[:packed.Len()-8] + "checksum": false, packed.String()[:packed.Len()-4]: false,
	} {
		log, err := open(t, HAR, text), error(nil)
		for err == nil {
			_, err = log.next()
		}
		if isWhole != errors.Is(err, io.EOF) {
			t.Errorf("%.200q: the end is %v", text, err)
		}
	}
}

type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestAFileNameMayNameItsFormat(t *testing.T) {
	for file, want := range map[string]Format{"a.log": AccessLog, "a.log.gz": AccessLog, "a.log.zst": AccessLog, "A.HAR": HAR, "b.ndjson": NDJSON, "b.jsonl": NDJSON, "c.ids": IDs, "c.txt": IDs} {
		if got, err := FormatOf(file); got != want || err != nil {
			t.Errorf("%s: %s, %v", file, got, err)
		}
	}
	for _, file := range []string{"access_log", "a.gz", "a.json", ""} {
		if got, err := FormatOf(file); err == nil {
			t.Errorf("%s: %s", file, got)
		}
	}
}
