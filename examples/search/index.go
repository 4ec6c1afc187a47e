package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
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
	// Day is the day from which an entry is published, such as 20260228; 0 for other content.
	Day int `json:"day"`
}

// Index is a full-text index on disk. It may be used concurrently.
type Index struct{ bleve.Index }

// lockTime is how long OpenIndex waits for another copy of the program to end.
const lockTime = 2 * time.Second

// OpenIndex opens the index in a directory, or creates it. It fails if another program has it open.
func OpenIndex(directory string) (Index, error) {
	opened, err := bleve.OpenUsing(directory, map[string]any{"bolt_timeout": lockTime.String()})
	if errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		var how mapping.IndexMapping
		if how, err = textMapping(); err == nil {
			opened, err = bleve.New(directory, how)
		}
	}
	if err != nil && strings.HasSuffix(err.Error(), "timeout") {
		err = fmt.Errorf("another program uses the index %s; stop it, or name another directory with -index", directory)
	}
	return Index{opened}, err
}

// textMapping analyzes texts in Chinese, Japanese and Korean as single characters and as pairs, and
// other texts as words, in any letter case and width.
func textMapping() (mapping.IndexMapping, error) {
	const bigrams, words = "characters and pairs", "words"
	m := bleve.NewIndexMapping()
	if err := m.AddCustomTokenFilter(bigrams, map[string]any{"type": cjk.BigramName, "output_unigram": true}); err != nil {
		return nil, err
	}
	if err := m.AddCustomAnalyzer(words, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{cjk.WidthName, lowercase.Name, bigrams},
	}); err != nil {
		return nil, err
	}
	m.DefaultAnalyzer = words
	content := bleve.NewTextFieldMapping()
	content.Store = false
	m.DefaultMapping.AddFieldMappingsAt("content", content)
	m.DefaultMapping.AddFieldMappingsAt("kind", bleve.NewKeywordFieldMapping())
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

// Clear removes everything of a kind, with its token.
func (x Index) Clear(ctx context.Context, kind Kind) error {
	const batchSize = 10_000
	of := bleve.NewTermQuery(string(kind))
	of.SetField("kind")
	for {
		found, err := x.SearchInContext(ctx, bleve.NewSearchRequestOptions(of, batchSize, 0, false))
		if err != nil {
			return err
		}
		batch := x.NewBatch()
		for _, hit := range found.Hits {
			batch.Delete(hit.ID)
		}
		batch.DeleteInternal([]byte(kind))
		if err := x.Batch(batch); err != nil || len(found.Hits) == 0 {
			return err
		}
	}
}

// Found is a result of a search, the best first.
type Found struct {
	Kind  Kind    `json:"kind"`
	ID    int64   `json:"id,string"`
	Title string  `json:"title"`
	Score float64 `json:"score"`
}

// phrase finds a word in a field: the pairs of its characters one after the other, or a character
// that stands alone. A word of one or two characters is one term, so it needs no positions.
func phrase(word, field string, boost float64) query.Query {
	if utf8.RuneCountInString(word) <= 2 {
		term := bleve.NewMatchQuery(word)
		term.Analyzer, term.Operator = cjk.AnalyzerName, query.MatchQueryOperatorAnd
		term.SetField(field)
		term.SetBoost(boost)
		return term
	}
	terms := bleve.NewMatchPhraseQuery(word)
	terms.Analyzer = cjk.AnalyzerName
	terms.SetField(field)
	terms.SetBoost(boost)
	return terms
}

// Find returns what is published by a day and has every word of a text in its title or in its content. Titles
// count more.
func (x Index) Find(ctx context.Context, text string, today, limit int) ([]Found, error) {
	all := bleve.NewConjunctionQuery()
	for word := range strings.FieldsSeq(text) {
		const titleBoost = 3
		all.AddQuery(bleve.NewDisjunctionQuery(phrase(word, "title", titleBoost), phrase(word, "content", 1)))
	}
	if len(all.Conjuncts) == 0 {
		return nil, nil
	}
	day, isIncluded := float64(today), true
	published := bleve.NewNumericRangeInclusiveQuery(nil, &day, nil, &isIncluded)
	published.SetField("day")
	published.SetBoost(0)
	all.AddQuery(published)
	request := bleve.NewSearchRequestOptions(all, limit, 0, false)
	request.Fields = []string{"title"}
	result, err := x.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	found := make([]Found, 0, len(result.Hits))
	for _, hit := range result.Hits {
		kind, number, _ := strings.Cut(hit.ID, "/")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the index has the key %q: %w", hit.ID, err)
		}
		title, _ := hit.Fields["title"].(string)
		found = append(found, Found{Kind(kind), id, title, hit.Score})
	}
	return found, nil
}
