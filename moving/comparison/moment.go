package comparison

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// precision is the smallest part of a time that a text has.
type precision int

const (
	toDay precision = iota
	toMinute
	toSecond
)

// form is a form of times.
type form struct {
	layout    string
	precision precision
	hasZone   bool
}

// forms are the forms of times that old servers write. A form that could mean two days, such as
// 3/5/2008, is not among them.
var forms = makeForms()

func makeForms() (all []form) {
	times := []form{
		{"15:4:5", toSecond, false}, {"15:4", toMinute, false}, {"15:4:5Z07:00", toSecond, true}, {"15:4:5 Z07:00", toSecond, true},
		{"15:4:5Z0700", toSecond, true}, {"15:4:5 Z0700", toSecond, true},
		{"3:4:5 PM", toSecond, false}, {"3:4 PM", toMinute, false}, {"PM 3:4:5", toSecond, false}, {"PM 3:4", toMinute, false},
	}
	for _, day := range []string{"2006-1-2", "2006/1/2", "2006.1.2", "2006年1月2日", "Jan 2, 2006", "2 Jan 2006", "Mon, 2 Jan 2006"} {
		all = append(all, form{day, toDay, false})
		for _, each := range times {
			for _, between := range []string{" ", "T"} {
				all = append(all, form{day + between + each.layout, each.precision, each.hasZone})
			}
		}
	}
	return append(all, form{"20060102", toDay, false}, form{"20060102150405", toSecond, false}, form{time.RFC1123, toSecond, true}, form{time.ANSIC, toSecond, false})
}

// halves are the halves of a day in Chinese.
var halves = strings.NewReplacer("上午", "AM ", "下午", "PM ")

// parseMoment reads a time in any of the forms, or as the seconds since 1970. Times without a zone
// are in the given one.
func parseMoment(text string, zone *time.Location) (at time.Time, p precision, ok bool) {
	text = strings.Join(strings.Fields(halves.Replace(text)), " ")
	if len(text) > maxIDBytes {
		return time.Time{}, 0, false
	}
	for _, form := range forms {
		if at, err := time.ParseInLocation(form.layout, text, zone); err == nil {
			return at.In(zone), form.precision, true
		}
	}
	if 9 <= len(text) && len(text) <= 11 && isDigits(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(seconds, 0).In(zone), toSecond, err == nil
	}
	return time.Time{}, 0, false
}

// isSameMoment reports whether two texts are one time, in the parts that both have.
func isSameMoment(old, new string, zone *time.Location) bool {
	a, ofOld, isOld := parseMoment(old, zone)
	b, ofNew, isNew := parseMoment(new, zone)
	if !isOld || !isNew {
		return false
	}
	layout := [...]string{toDay: "2006-01-02", toMinute: "2006-01-02 15:04", toSecond: time.DateTime}[slices.Min([]precision{ofOld, ofNew})]
	return a.Format(layout) == b.Format(layout)
}
