package dumpfile_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

func document(t testing.TB, id int64, text string) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "text", Value: text}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// written returns a file with count documents of "a", none of "b", and one of "c".
func written(t testing.TB, count int, text string) ([]byte, dumpfile.Contents) {
	t.Helper()
	var file bytes.Buffer
	w, err := dumpfile.NewWriter(&file, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		err = errors.Join(err, w.Write([]bson.Raw{document(t, int64(i), text)}))
	}
	err = errors.Join(err, w.EndCollection(), w.EndCollection(), w.Write([]bson.Raw{document(t, 7, text)}), w.EndCollection())
	if err != nil {
		t.Fatal(err)
	}
	contents, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), contents
}

func visitNothing(dumpfile.Batch) error { return nil }

// A dump carries the format of its documents, so that no program loads those that it would misread.
func TestADumpOfAnotherFormatIsRefused(t *testing.T) {
	file, _ := written(t, 1, "")
	if first := fmt.Sprintf("Waybook store dump %d\n", docstore.Format); !bytes.HasPrefix(file, []byte(first)) {
		t.Fatalf("a dump begins with %q, want %q", file[:len(first)], first)
	}
	for _, format := range []int{docstore.Format - 1, docstore.Format + 1} {
		_, rest, _ := bytes.Cut(file, []byte("\n"))
		other := append(fmt.Appendf(nil, "Waybook store dump %d\n", format), rest...)
		if _, err := dumpfile.Read(t.Context(), bytes.NewReader(other), visitNothing); !errors.Is(err, dumpfile.ErrForeign) {
			t.Errorf("format %d: %v", format, err)
		}
	}
}

func TestDocumentsReadBackInBatchesOfBoundedSize(t *testing.T) {
	for count, text := range map[int]string{1001: "", 9: strings.Repeat("x", 1<<20)} {
		file, contents := written(t, count, text)
		if want := []dumpfile.Collection{{"a", int64(count)}, {"b", 0}, {"c", 1}}; !slices.Equal(contents.Collections, want) {
			t.Errorf("written: %v", contents.Collections)
		}
		got := map[string]int{}
		read, err := dumpfile.Read(t.Context(), bytes.NewReader(file), func(batch dumpfile.Batch) error {
			size := 0
			for i, each := range batch.Documents {
				if !bytes.Equal(each, document(t, each.Lookup("_id").Int64(), text)) || batch.Collection == "a" && each.Lookup("_id").Int64() != int64(got["a"]+i) {
					t.Fatalf("got %s", each)
				}
				size += len(each)
			}
			if len(batch.Documents) == 0 || len(batch.Documents) > 500 || size > 4<<20 || batch.First != (got[batch.Collection] == 0) {
				t.Errorf("a batch of %d documents and %d bytes", len(batch.Documents), size)
			}
			got[batch.Collection] += len(batch.Documents)
			return nil
		})
		if err != nil || read.Sum != contents.Sum || !slices.Equal(read.Collections, contents.Collections) || got["a"] != count || got["c"] != 1 {
			t.Errorf("read: %v, %v, %v", read, got, err)
		}
	}
}

func TestAChangedFileIsRefused(t *testing.T) {
	file, _ := written(t, 3, "x")
	refuse := func(what string, file []byte) {
		t.Helper()
		if _, err := dumpfile.Read(t.Context(), bytes.NewReader(file), visitNothing); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	for i := range file {
		changed := bytes.Clone(file)
		changed[i] ^= 0x10
		refuse("a changed byte", changed)
		refuse("a part", file[:i])
	}
	refuse("more than the file", append(bytes.Clone(file), 0))
	// A file with a correct checksum may still contradict itself.
	body := bytes.Replace(file[:len(file)-sha256.Size], []byte("documents\x00\x03"), []byte("documents\x00\x04"), 1)
	if bytes.Equal(body, file[:len(body)]) {
		t.Fatal("there is no count to change")
	}
	sum := sha256.Sum256(body)
	refuse("a wrong count", append(body, sum[:]...))
}

func TestAWriterNeedsExactlyTheCollectionsItNamed(t *testing.T) {
	w, err := dumpfile.NewWriter(new(bytes.Buffer), []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err == nil {
		t.Error("a file without one of its collections can be closed")
	}
	if err := w.EndCollection(); err != nil {
		t.Error(err)
	}
	if err := w.EndCollection(); err == nil {
		t.Error("a collection that was not named can be ended")
	}
}

func FuzzRead(f *testing.F) {
	file, _ := written(f, 3, "x")
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("Waybook store dump 7\n\xff\xff\xff\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var count int64
		contents, err := dumpfile.Read(t.Context(), bytes.NewReader(file), func(batch dumpfile.Batch) error {
			for _, each := range batch.Documents {
				if err := each.Validate(); err != nil {
					t.Errorf("%x: %v", each, err)
				}
			}
			count += int64(len(batch.Documents))
			return nil
		})
		if err == nil && contents.Documents() != count {
			t.Errorf("%d documents, %d counted", count, contents.Documents())
		}
	})
}

// A file with a correct checksum, whatever its content, is refused or reads as a Writer would write
// the same documents.
func FuzzReadWhereTheChecksumHolds(f *testing.F) {
	file, _ := written(f, 3, "x")
	f.Add(file[:len(file)-sha256.Size])
	f.Add(bytes.Replace(file[:len(file)-sha256.Size], []byte("documents\x00\x03"), []byte("documents\x00\x04"), 1))
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		file := append(bytes.Clone(body), sum[:]...)
		documents := map[string][]bson.Raw{}
		contents, err := dumpfile.Read(t.Context(), bytes.NewReader(file), func(batch dumpfile.Batch) error {
			documents[batch.Collection] = append(documents[batch.Collection], batch.Documents...)
			return nil
		})
		if err != nil {
			return
		}
		var names []string
		for _, each := range contents.Collections {
			names = append(names, each.Name)
		}
		var again bytes.Buffer
		w, err := dumpfile.NewWriter(&again, names)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			err = errors.Join(err, w.Write(documents[name]), w.EndCollection())
		}
		rewritten, closeErr := w.Close()
		if err := errors.Join(err, closeErr); err != nil || !slices.Equal(rewritten.Collections, contents.Collections) {
			t.Errorf("%v is written again as %v, %v", contents.Collections, rewritten.Collections, err)
		}
		reread, err := dumpfile.Read(t.Context(), &again, func(batch dumpfile.Batch) error {
			for _, document := range batch.Documents {
				if !bytes.Equal(document, documents[batch.Collection][0]) {
					t.Errorf("%x reads back as %x", documents[batch.Collection][0], document)
				}
				documents[batch.Collection] = documents[batch.Collection][1:]
			}
			return nil
		})
		if err != nil || !slices.Equal(reread.Collections, contents.Collections) {
			t.Errorf("%v reads back as %v, %v", contents.Collections, reread.Collections, err)
		}
	})
}
