// Package landmarkfile reads and writes files of landmarks: GeoJSON, JSON, newline-delimited
// JSON and CSV. Readers hold one record in memory whatever the size of the file, at
// most MaxRecordBytes of it, and say where in the file each problem stands.
package landmarkfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Place is a landmark of a file.
type Place struct {
	// Key is what the landmark is called in the file, 1 to 100 bytes.
	Key string
	// KeyIsDerived says that the file names no key: it was made of the content, so
	// that the same content has the same key again.
	KeyIsDerived bool
	// Name is 1 to 200 characters.
	Name string
	// Category is what it is.
	Category Category
	// Lat and Lng are decimal degrees, from -90 to 90 and from -180 to 180.
	Lat, Lng float64
	// At is where its record begins in the file.
	At Position
}

// What the import accepts (waybook.poi.v1.ImportedPoi).
const (
	maxKeyBytes  = 100
	maxNameRunes = 200
)

// Category is what a landmark is, from 1 to 5; 0 is none.
type Category int

// labels are the categories' names: those of the legacy contract, and those of
// waybook.poi.v1.PoiCategory.
var labels = [...][2]string{
	{"溫柔鄉", "tender"}, {"好康鄉", "bargain"}, {"私の鄉", "private"}, {"萬家鄉", "community"}, {"尖叫鄉", "thrill"},
}

// ParseCategory reads a number from 1 to 5, a name such as 溫柔鄉, or its English name.
func ParseCategory(text string) (Category, error) {
	text = strings.TrimSpace(text)
	for i, names := range labels {
		if text == names[0] || strings.EqualFold(text, names[1]) {
			return Category(i + 1), nil
		}
	}
	// A whole number with a fraction of zero is how spreadsheets write one.
	if n, err := strconv.ParseFloat(text, 64); err == nil && n == float64(int(n)) && n >= 1 && n <= float64(len(labels)) {
		return Category(n), nil
	}
	return 0, fmt.Errorf("%s is no category; write one of %s", quoted(text), CategoryNames())
}

// CategoryNames lists the categories for people.
func CategoryNames() string {
	all := make([]string, len(labels))
	for i, names := range labels {
		all[i] = fmt.Sprintf("%d (%s, %s)", i+1, names[0], names[1])
	}
	return strings.Join(all, ", ")
}

// checkKey says what is wrong with a key; nothing if it may be imported.
func checkKey(key string) string {
	if len(key) > maxKeyBytes {
		return fmt.Sprintf("the key %s has %d bytes; at most %d are allowed", quoted(key), len(key), maxKeyBytes)
	}
	return ""
}

// checkName says what is wrong with a name; nothing if it may be imported.
func checkName(name string) string {
	if runes := utf8.RuneCountInString(name); runes > maxNameRunes {
		return fmt.Sprintf("the name %s has %d characters; at most %d are allowed", quoted(name), runes, maxNameRunes)
	}
	return ""
}

// derivedKey is the key of a place that has none: a hash of all that is imported.
func derivedKey(p Place) string {
	content := fmt.Sprintf("%q %d %v %v", p.Name, p.Category, p.Lat, p.Lng)
	sum := sha256.Sum256([]byte(content))
	return "content-" + hex.EncodeToString(sum[:16])
}

// maxQuotedRunes bounds what a message repeats of a file.
const maxQuotedRunes = 40

// quoted is a text of the file as messages show it.
func quoted(text string) string {
	if runes := []rune(text[:min(len(text), 4*(maxQuotedRunes+1))]); len(runes) > maxQuotedRunes {
		text = string(runes[:maxQuotedRunes]) + "…"
	}
	return strconv.Quote(text)
}
