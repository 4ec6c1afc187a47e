package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Kind is a kind of content.
type Kind string

// The kinds of content that are found.
const (
	Album    Kind = "album"
	Entry    Kind = "entry"
	Landmark Kind = "landmark"
)

// Text is what is found of an album, an entry or a landmark.
type Text struct {
	Kind Kind `json:"kind"`
	// Title is the title or the name. Content is the text of an entry.
	Title   string `json:"title"`
	Content string `json:"content"`
	// Category is that of an album or a landmark, or the type of an entry, such as domestic_travel.
	Category string `json:"category"`
	Place    Place  `json:"place"`
	// Day is the day from which an entry is published, such as 20260228; 0 for other content.
	Day int `json:"day"`
}

// Place is a place on the map, in degrees.
type Place struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// Index is a full-text index on disk. It may be used concurrently.
type Index struct{ bleve.Index }

// lockTime is how long OpenIndex waits for another copy of the program to end.
const lockTime = 2 * time.Second

// OpenIndex opens the index in a directory, or creates it. It fails if another program has it open, or if the index
// was made by a program that analyzes otherwise.
func OpenIndex(directory string) (Index, error) {
	how, err := textMapping()
	if err != nil {
		return Index{}, err
	}
	opened, err := bleve.OpenUsing(directory, map[string]any{"bolt_timeout": lockTime.String()})
	switch {
	case errors.Is(err, bleve.ErrorIndexPathDoesNotExist):
		opened, err = bleve.New(directory, how)
	case err != nil && strings.HasSuffix(err.Error(), "timeout"):
		err = fmt.Errorf("another program uses the index %s; stop it, or name another directory with -index", directory)
	case err == nil && !isEqual(opened.Mapping(), how):
		err = errors.Join(fmt.Errorf("another version of the program made the index %s; remove it, and it is built anew", directory), opened.Close())
	}
	return Index{opened}, err
}

// isEqual reports whether two mappings are stored as the same text.
func isEqual(a, b mapping.IndexMapping) bool {
	first, err := json.Marshal(a)
	second, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(first, second)
}

// The analyzers. Both fold what is written in several ways: letters of any case and width and with accents, and variants
// of Chinese characters. Texts in Chinese, Japanese and Korean are analyzed as single characters and as pairs, and
// other texts as words. A query has the pairs alone, or a character that stands alone.
const words, pairs = "words", "pairs"

func textMapping() (mapping.IndexMapping, error) {
	const bigrams = "characters and pairs"
	m := bleve.NewIndexMapping()
	if err := m.AddCustomTokenFilter(bigrams, map[string]any{"type": cjk.BigramName, "output_unigram": true}); err != nil {
		return nil, err
	}
	for name, filter := range map[string]string{words: bigrams, pairs: cjk.BigramName} {
		if err := m.AddCustomAnalyzer(name, map[string]any{
			"type": custom.Name, "char_filters": []string{asciifolding.Name, variants}, "tokenizer": unicode.Name,
			"token_filters": []string{cjk.WidthName, lowercase.Name, filter},
		}); err != nil {
			return nil, err
		}
	}
	m.DefaultAnalyzer = words
	content := bleve.NewTextFieldMapping()
	content.Store = false
	m.DefaultMapping.AddFieldMappingsAt("content", content)
	m.DefaultMapping.AddFieldMappingsAt("kind", bleve.NewKeywordFieldMapping())
	m.DefaultMapping.AddFieldMappingsAt("category", bleve.NewKeywordFieldMapping())
	m.DefaultMapping.AddFieldMappingsAt("place", bleve.NewGeoPointFieldMapping())
	return m, nil
}

// Change is a change of one text. Text is nil if the content was deleted.
type Change struct {
	ID   int64
	Text *Text
}

// Apply stores changes of a kind together with the token that continues after them, so that neither
// is there without the other after a crash.
func (x Index) Apply(kind Kind, changes []Change, token string) error {
	batch := x.NewBatch()
	for _, change := range changes {
		key := string(kind) + "/" + strconv.FormatInt(change.ID, 10)
		if change.Text == nil {
			batch.Delete(key)
		} else if err := batch.Index(key, change.Text); err != nil {
			return err
		}
	}
	batch.SetInternal([]byte(kind), []byte(token))
	return x.Batch(batch)
}

// Token returns the token that continues after the changes of a kind; empty at the start.
func (x Index) Token(kind Kind) (string, error) {
	token, err := x.GetInternal([]byte(kind))
	return string(token), err
}

// clearedAtOnce is how many texts Clear removes in a batch.
const clearedAtOnce = 10_000

// Clear removes everything of a kind, with its token.
func (x Index) Clear(ctx context.Context, kind Kind) error {
	of := bleve.NewTermQuery(string(kind))
	of.SetField("kind")
	for {
		found, err := x.SearchInContext(ctx, bleve.NewSearchRequestOptions(of, clearedAtOnce, 0, false))
		if err != nil {
			return err
		}
		batch := x.NewBatch()
		for _, hit := range found.Hits {
			batch.Delete(hit.ID)
		}
		if len(found.Hits) == 0 {
			batch.DeleteInternal([]byte(kind)) // last: with the token, a Clear that was killed is done again
		}
		if err := x.Batch(batch); err != nil || len(found.Hits) == 0 {
			return err
		}
	}
}
