package embedded_test

import (
	"fmt"

	"github.com/waybook/waybook/internal/docstore"
)

// ballotsPerWriter gives the documents of a page the same writer, like an album's photos.
const ballotsPerWriter = 1000

// ballot is the document of most tests.
type ballot struct {
	ID      int64  `bson:"_id"`
	Writer  int64  `bson:"writer"`
	Code    string `bson:"code"`
	Version int64  `bson:"version"`
	Body    string `bson:"body"`
	// Draft is 1 in the first version.
	Draft int64 `bson:"draft,omitempty"`
}

// ballots is a collection of ballots.
type ballots = docstore.Collection[int64, ballot]

func ballotSpec() docstore.Spec {
	return docstore.Spec{Name: "ballots", ID: docstore.Int64, Indexes: []docstore.Index{byWriterVersion().Declare(), byCode().Declare(), byDraft().Declare()}}
}

func byWriterVersion() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "by_writer_version", A: "writer", B: "version"}
}

func byDraft() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "draft", A: "draft", Sparse: true}
}

func byCode() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "code", A: "code", Unique: true}
}

// ballotOf returns documents of very different sizes, some larger than a page.
func ballotOf(id, version int64) ballot {
	body := make([]byte, (id*version)%97*101)
	for i := range body {
		body[i] = 'a' + byte((id+version)%26)
	}
	b := ballot{ID: id, Writer: id % 8, Code: fmt.Sprintf("%d/%d", version, id), Version: version, Body: string(body)}
	if version == 1 {
		b.Draft = 1
	}
	return b
}

func someBallot(id int64) ballot {
	const prime = 1_000_000_007 // all ids below it get different codes, in scattered order
	return ballot{
		ID: id, Writer: id / ballotsPerWriter, Code: fmt.Sprintf("code-%d", id*7919%prime), Version: id,
		Body: "A quiet lane between the old temple and the river, best in the early morning.",
	}
}
