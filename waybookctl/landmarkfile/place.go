// Package landmarkfile reads and writes files of landmarks: GeoJSON, JSON, newline-delimited JSON
// and CSV. A reader holds one record in memory, at most MaxRecordBytes, whatever the size of the
// file. It reports the position of each problem.
package landmarkfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// Place is a landmark in a file.
type Place struct {
	// Key identifies the landmark in the file, 1 to 100 bytes.
	Key string
	// KeyIsDerived reports that the file has no key for the place. The key is then derived from the
	// content, so that equal content has the same key.
	KeyIsDerived bool
	// Name is 1 to 200 characters.
	Name     string
	Category Category
	// Lat and Lng are decimal degrees, from -90 to 90 and from -180 to 180.
	Lat, Lng float64
	// OwnerID and PoiID are the identifiers of the owner and the landmark in a file WithIDs. Read
	// ignores PoiID, and OwnerID too unless Fields.Owner names its field.
	OwnerID, PoiID int64
	// At is the position of its record in the file.
	At Position
}

// The limits of the import (waybook.poi.v1.ImportedPoi).
const (
	maxKeyBytes  = 100
	maxNameRunes = 200
)

// Category is the category of a landmark, from 1 to 5; 0 is none.
type Category int

// labels are the names of the categories: first that of the legacy contract, then that of
// waybook.poi.v1.PoiCategory.
var labels = [...][2]string{
	{"溫柔鄉", "tender"}, {"好康鄉", "bargain"}, {"私の鄉", "private"}, {"萬家鄉", "community"}, {"尖叫鄉", "thrill"},
}

// ParseCategory parses a number from 1 to 5, a name such as 溫柔鄉, or its English name.
func ParseCategory(text string) (Category, error) {
	text = strings.TrimSpace(text)
	for i, names := range labels {
		if text == names[0] || strings.EqualFold(text, names[1]) {
			return Category(i + 1), nil
		}
	}
	// Spreadsheets may write a whole number with a fraction of zero.
	if n, err := strconv.ParseFloat(text, 64); err == nil && n == float64(int(n)) && n >= 1 && n <= float64(len(labels)) {
		return Category(n), nil
	}
	return 0, fmt.Errorf("%s is not a category; choose one of %s", quoted(text), CategoryNames())
}

// CategoryNames lists the categories for people.
func CategoryNames() string {
	all := make([]string, len(labels))
	for i, names := range labels {
		all[i] = fmt.Sprintf("%d (%s, %s)", i+1, names[0], names[1])
	}
	return strings.Join(all, ", ")
}

// checkKey describes the fault of a key; it is empty for a valid key.
func checkKey(key string) string {
	if len(key) > maxKeyBytes {
		return fmt.Sprintf("the key %s has %d bytes; at most %d are allowed", quoted(key), len(key), maxKeyBytes)
	}
	if !text.IsValid(key) {
		return fmt.Sprintf("the key %s has a control character, or another one that XML 1.0 cannot carry", quoted(key))
	}
	return ""
}

// checkName describes the fault of a name; it is empty for a valid name.
func checkName(name string) string {
	if runes := utf8.RuneCountInString(name); runes > maxNameRunes {
		return fmt.Sprintf("the name %s has %d characters; at most %d are allowed", quoted(name), runes, maxNameRunes)
	}
	if !text.IsValid(name) {
		return fmt.Sprintf("the name %s has a control character, or another one that XML 1.0 cannot carry", quoted(name))
	}
	if text.IsBlank(name) {
		return fmt.Sprintf("the name %s has no visible character", quoted(name))
	}
	return ""
}

// derivedKey returns the key of a place without one: a hash of all imported fields.
func derivedKey(p Place) string {
	content := fmt.Sprintf("%q %d %v %v", p.Name, p.Category, p.Lat, p.Lng)
	sum := sha256.Sum256([]byte(content))
	return "content-" + hex.EncodeToString(sum[:16])
}

// maxQuotedRunes bounds how much of a file's text a message quotes.
const maxQuotedRunes = 40

// quoted formats a text of the file for messages.
func quoted(text string) string {
	if runes := []rune(text[:min(len(text), 4*(maxQuotedRunes+1))]); len(runes) > maxQuotedRunes {
		text = string(runes[:maxQuotedRunes]) + "…"
	}
	return strconv.Quote(text)
}
