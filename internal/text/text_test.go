package text

import (
	"encoding/json"
	"encoding/xml"
	"testing"
	"unicode/utf8"
)

func TestATextHasOnlyCharactersThatXMLCanCarry(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "a": true, "\t\r\n": true, "晴😀": true, "\x7f\u0085\u00a0\u200b\u2028\ufeff\ufffd": true,
		"\x00": false, "a\x07": false, "\x1f": false, "晴\x1b": false, "\ufffe": false, "\uffff": false, "\xff": false, "\xed\xa0\x80": false,
	} {
		if got := IsValid(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestANameNeedsSomethingToSee(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, " ": true, "\t\r\n": true, "\u3000\u00a0": true, "\u200b\ufeff\u202e": true, "\x07": true,
		"\u3164": true, "\u2800\u2800": true, "\U0001d159": true,
		"a": false, " a ": false, "\u3164晴": false, "⠁": false, "ㅏ": false, "晴": false, "\u200b1": false, "😀": false, ".": false, "\ufffd": false,
	} {
		if got := IsBlank(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// The ranges are those of Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 17.
func TestWhatUnicodeIgnoresByDefaultIsNothingToSee(t *testing.T) {
	ignored := [][2]rune{
		{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
		{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8},
		{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
	}
	for _, of := range ignored {
		for r := of[0]; r <= of[1]; r++ {
			if !IsBlank(string(r)) {
				t.Errorf("%U is something to see", r)
			}
		}
	}
}

// encoding/xml replaces each character that XML 1.0 cannot carry.
func FuzzATextIsWhatEncodingXMLKeeps(f *testing.F) {
	f.Add("a\x00")
	f.Add("\ufffd\xff")
	f.Fuzz(func(t *testing.T, s string) {
		encoded, err := xml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var decoded string
		if err := xml.Unmarshal(encoded, &decoded); err != nil {
			t.Fatal(err)
		}
		if got, want := IsValid(s), decoded == s && utf8.ValidString(s); got != want {
			t.Fatalf("%q is valid: %v; encoding/xml makes it %q", s, got, decoded)
		}
	})
}

func TestABeginningEndsWithACharacter(t *testing.T) {
	for most, want := range map[int]string{0: "…", 2: "…", 3: "晴…", 5: "晴…", 6: "晴空"} {
		if got := Beginning("晴空", most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}

func TestAJSONStringIsHalvedIfDecodingItReplacesAnEscape(t *testing.T) {
	for encoded, want := range map[string]bool{
		`"a"`: false, `"\ud83d\ude00"`: false, `"\ufffd"`: false, `"\uFFFD�"`: false, `"\\ud800"`: false,
		`"\ud800"`: true, `"\uDE00"`: true, `"\ud83d\u0041"`: true, `"�\ud800"`: true, `"\\\ud800\ufffd"`: true, `"\\ufffd\ud800"`: true,
	} {
		var decoded string
		if err := json.Unmarshal([]byte(encoded), &decoded); err != nil {
			t.Fatal(err)
		}
		if got := IsHalved([]byte(encoded), decoded); got != want {
			t.Errorf("%s: %v", encoded, got)
		}
	}
}

func TestANameIsDisguisedByWhatShowsNothing(t *testing.T) {
	for _, name := range []string{
		"Ann", "Mary Ann", "小旅人", "小　旅人", "O'Neil-3", "👨‍👩‍👧", "I ❤️", "👍🏽", "می\u200cخواهم", "क्\u200dष", "é", "é",
	} {
		if IsDisguised(name) {
			t.Errorf("%q is", name)
		}
	}
	for _, name := range []string{
		" Ann", "Ann ", "Mary  Ann", "Mary\u00a0Ann", "\u3000小旅人", "A\u200bnn", "A\u200dnn", "Ann\u200d", "Ann\ufe0f", "\ufe0fAnn", "Ann\u202e", "\u2067Ann\u2069", "Ann\u200f",
		"A\u00adnn", "Ann\u3164", "Ann\u2800", "Ann\n", "A\tn", "小\ufe00旅", "Ann\U000e0041", "👍\u200d", "",
	} {
		if !IsDisguised(name) {
			t.Errorf("%q is not", name)
		}
	}
}
