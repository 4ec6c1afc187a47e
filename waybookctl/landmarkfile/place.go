// Package landmarkfile reads and writes files of landmarks: GeoJSON, newline-delimited JSON and
// CSV. A reader holds one record in memory, at most MaxRecordBytes, whatever the size of the file.
// It reports the line of each problem.
package landmarkfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/internal/platform/rules"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Place is a landmark in a file.
type Place struct {
	*poiv1.ImportedPoi
	// HasOwnKey is false for a record without a key. Its key is derived from its content, so equal
	// content has the same key.
	HasOwnKey bool
	// At is the position of its record.
	At Position
}

// Position is that of a record in a file.
type Position struct {
	// Line is the line where the record begins. Record counts the records. Both count from 1.
	Line, Record int64
}

// String formats the position for people. In a file with several records in a line, the line is
// not enough.
func (p Position) String() string {
	if p.Record <= p.Line {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, record %d", p.Line, p.Record)
}

// textFields are the fields of a record that are texts: key, name and more. columns are all, in
// the order of a table.
var textFields, columns = func() (found []protoreflect.FieldDescriptor, names []string) {
	fields := (*poiv1.ImportedPoi)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.Kind() == protoreflect.StringKind {
			found, names = append(found, field), append(names, string(field.Name()))
		}
	}
	return found, append(names, "category", "lat", "lng")
}()

func Columns() string {
	return strings.Join(columns[:len(columns)-1], ", ") + " and " + columns[len(columns)-1]
}

// texts are the values of a record by column. An absent value is empty.
type texts map[string]string

// poi converts a record, or lists everything that is wrong with it.
func (t texts) poi(byDefault poiv1.PoiCategory) (*poiv1.ImportedPoi, error) {
	lat, latErr := parseDegrees("lat", t["lat"])
	lng, lngErr := parseDegrees("lng", t["lng"])
	category, err := parseCategory(t["category"], byDefault)
	if err := errors.Join(latErr, lngErr, err); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	p := &poiv1.ImportedPoi{Category: category, Location: &typev1.Location{Lat: lat, Lng: lng}}
	for i, field := range textFields {
		p.ProtoReflect().Set(field, protoreflect.ValueOfString(t[columns[i]]))
	}
	if p.Key == "" {
		p.Key = derivedKey(p)
	}
	violations := rules.Violations(p)
	if len(violations) == 0 {
		return p, nil
	}
	problems := make([]string, len(violations))
	for i, v := range violations {
		problems[i] = fmt.Sprintf("%s: %s", strings.TrimPrefix(v.Field, "location."), v.Message)
		if v.Field == "location.lat" && -180 <= lat && lat <= 180 {
			problems[i] += " (are lat and lng swapped?)"
		}
	}
	return nil, errors.New(strings.Join(problems, "; "))
}

// parseCategory parses a number or a name, such as 1 or tender.
func parseCategory(text string, byDefault poiv1.PoiCategory) (poiv1.PoiCategory, error) {
	text = strings.TrimSpace(text)
	if text == "" && byDefault != 0 {
		return byDefault, nil
	}
	number, isName := poiv1.PoiCategory_value["POI_CATEGORY_"+strings.ToUpper(text)]
	if parsed, err := strconv.ParseInt(text, 10, 32); err == nil && !isName {
		number = int32(parsed)
	}
	if poiv1.PoiCategory_name[number] == "" || number == 0 {
		return 0, fmt.Errorf("category: %s is not one of 1 to 5, tender, bargain, private, community, thrill",
			quoted(text))
	}
	return poiv1.PoiCategory(number), nil
}

// parseDegrees parses a decimal number, such as 25.034 or 1e-7.
func parseDegrees(column, text string) (float64, error) {
	trimmed := strings.TrimSpace(text)
	n, err := strconv.ParseFloat(trimmed, 64)
	// ParseFloat accepts more than decimals: Inf, NaN, 0x1p-2.
	if err != nil || strings.Trim(trimmed, "+-.0123456789eE") != "" {
		return 0, fmt.Errorf("%s: %s is not a decimal number such as 25.034", column, quoted(text))
	}
	if n == 0 {
		return 0, nil // not -0
	}
	return n, nil
}

// derivedKey returns the key of a landmark without one: a hash of its content.
func derivedKey(p *poiv1.ImportedPoi) string {
	content := fmt.Sprintf("%q %d %v %v", p.GetName(), p.GetCategory().Number(), p.GetLocation().GetLat(),
		p.GetLocation().GetLng())
	for _, field := range textFields[2:] {
		if p.ProtoReflect().Has(field) { // what has no such text keeps its key when the field is new
			content += fmt.Sprintf(" %q", p.ProtoReflect().Get(field).String())
		}
	}
	sum := sha256.Sum256([]byte(content))
	return "content-" + hex.EncodeToString(sum[:16])
}

// quoted formats a text of the file for messages. It shows at most 40 bytes.
func quoted(text string) string {
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "…"
	}
	return strconv.Quote(text)
}
