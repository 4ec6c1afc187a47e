// Package landmarkfile reads and writes files of landmarks: GeoJSON, JSON, newline-delimited JSON
// and CSV. A reader holds one record in memory, at most MaxRecordBytes, whatever the size of the
// file. It reports the position of each problem.
package landmarkfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/id"
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

// Fields name the fields of a record. An empty name selects the default names.
type Fields struct {
	// Key is id or key by default; id may be the Feature's own. A record may lack it, unless this
	// names the field.
	Key string
	// Name is name by default.
	Name string
	// Lat is lat or latitude by default. A GeoJSON Feature has a geometry instead.
	Lat string
	// Lng is lng, lon or longitude by default.
	Lng string
	// Category is category by default.
	Category string
	// Owner holds the identifier of the owner, in every record. It has no default: without this
	// name, the owner of a record is ignored.
	Owner string
}

// usual are the default names of the fields.
var usual = struct{ key, name, lat, lng, category []string }{
	key: []string{"id", "key"}, name: []string{"name"}, category: []string{"category"},
	lat: []string{"lat", "latitude"}, lng: []string{"lng", "lon", "longitude"},
}

// record is a record of any format.
type record interface {
	// text returns a field as text, empty if it is missing. It fails if the field is neither a text
	// nor a number.
	text(field string) (string, error)
}

// place converts a record into a place, or lists everything that is wrong with the record.
func (o Options) place(r record, at Position) (Place, error) {
	b := builder{record: r}
	p := Place{At: at, Name: b.name(o.Fields.Name), Category: b.category(o.Fields.Category, o.Category)}
	p.Lat, p.Lng = b.location(o.Fields)
	p.Key, p.KeyIsDerived = b.key(o.Fields.Key)
	p.OwnerID = b.owner(o.Fields.Owner)
	if len(b.problems) > 0 {
		return Place{}, &RecordError{At: at, Problem: strings.Join(b.problems, "; ")}
	}
	if p.KeyIsDerived {
		p.Key = derivedKey(p)
	}
	return p, nil
}

// builder collects the problems of a record.
type builder struct {
	record   record
	problems []string
}

func (b *builder) problem(format string, args ...any) {
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// field returns the text of the named field, or of the first usual one that is present.
func (b *builder) field(named string, usual []string) (text string, ok bool) {
	if named != "" {
		usual = []string{named}
	}
	for _, field := range usual {
		text, err := b.record.text(field)
		if err != nil {
			b.problem("%s: %v", quoted(field), err)
			return "", false
		}
		if text != "" {
			return text, true
		}
	}
	return "", true
}

// missing adds the problem that a field is missing.
func (b *builder) missing(what, named string, usual []string) {
	if named != "" {
		b.problem("%s is missing: the field %s, which should hold it, is absent or empty", what, quoted(named))
		return
	}
	b.problem("%s is missing: add a field %s, or name the field that holds it", what, quoted(usual[0]))
}

func (b *builder) name(named string) string {
	name, ok := b.field(named, usual.name)
	if !ok {
		return ""
	}
	if name == "" {
		b.missing("the name", named, usual.name)
	} else if problem := checkName(name); problem != "" {
		b.problem("%s", problem)
	}
	return name
}

func (b *builder) category(named string, byDefault Category) Category {
	text, ok := b.field(named, usual.category)
	if !ok {
		return 0
	}
	if text == "" {
		if byDefault == 0 {
			b.problem("the category is missing: add a field %s, or choose a category for records without one", quoted(cmp.Or(named, usual.category[0])))
		}
		return byDefault
	}
	category, err := ParseCategory(text)
	if err != nil {
		b.problem("%v", err)
	}
	return category
}

func (b *builder) key(named string) (key string, isDerived bool) {
	key, ok := b.field(named, usual.key)
	if !ok {
		return "", false
	}
	if key == "" && named != "" {
		b.missing("the key", named, usual.key)
		return "", false
	}
	if problem := checkKey(key); problem != "" {
		b.problem("%s", problem)
	}
	return key, key == ""
}

func (b *builder) owner(named string) int64 {
	if named == "" {
		return 0
	}
	text, ok := b.field(named, nil)
	if !ok {
		return 0
	}
	if text == "" {
		b.missing("the owner", named, nil)
		return 0
	}
	owner, err := strconv.ParseInt(text, 10, 64)
	if err != nil || owner < 1 || owner > id.Max {
		b.problem("the owner %s is not an identifier, from 1 to %d", quoted(text), int64(id.Max))
	}
	return owner
}

func (b *builder) location(fields Fields) (lat, lng float64) {
	var latText, lngText string
	feature, isFeature := b.record.(feature)
	if isFeature {
		var err error
		if lngText, latText, err = feature.point(); err != nil {
			b.problem("%v", err)
			return 0, 0
		}
	} else {
		var latOK, lngOK bool
		if latText, latOK = b.field(fields.Lat, usual.lat); latOK && latText == "" {
			b.missing("the latitude", fields.Lat, usual.lat)
		}
		if lngText, lngOK = b.field(fields.Lng, usual.lng); lngOK && lngText == "" {
			b.missing("the longitude", fields.Lng, usual.lng)
		}
		if latText == "" || lngText == "" {
			return 0, 0
		}
	}
	lat, latErr := parseDegrees(latText)
	lng, lngErr := parseDegrees(lngText)
	if latErr != nil {
		b.problem("the latitude %v", latErr)
	}
	if lngErr != nil {
		b.problem("the longitude %v", lngErr)
	}
	if latErr != nil || lngErr != nil {
		return 0, 0
	}
	if math.Abs(lat) <= 90 && math.Abs(lng) <= 180 {
		return lat, lng
	}
	advice := ""
	if math.Abs(lat) <= 180 && math.Abs(lng) <= 90 {
		advice = "; are latitude and longitude swapped?"
		if isFeature {
			advice += " In GeoJSON the longitude comes first"
		}
	}
	if math.Abs(lat) > 90 {
		b.problem("the latitude %v is not from -90 to 90%s", lat, advice)
	} else {
		b.problem("the longitude %v is not from -180 to 180", lng)
	}
	if math.Abs(lat) > 90 && math.Abs(lng) > 180 {
		b.problem("the longitude %v is not from -180 to 180; the file may be in metres of a projection: convert it to WGS 84", lng)
	}
	return 0, 0
}

// parseDegrees parses a decimal number, such as 25.034 or 1e-7.
func parseDegrees(text string) (float64, error) {
	trimmed := strings.TrimSpace(text)
	n, err := strconv.ParseFloat(trimmed, 64)
	// ParseFloat accepts more than decimals: Inf, NaN, 0x1p-2.
	if err != nil || math.IsInf(n, 0) || strings.Trim(trimmed, "+-.0123456789eE") != "" {
		advice := ""
		if strings.Contains(trimmed, ",") {
			advice = ": use a point, not a comma"
		}
		return 0, fmt.Errorf("%s is not a decimal number%s", quoted(text), advice)
	}
	if n == 0 {
		return 0, nil // -0 is written as 0
	}
	return n, nil
}
