package comparison

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var taipei = time.FixedZone("Taipei", 8*60*60)

func newComparer(strict ...Rule) *Comparer {
	return New(Options{Strict: strict, Zone: taipei, MaxElements: 1000, MaxPairs: 1000})
}

// compare compares the contents of two replies.
func (c *Comparer) compare(t *testing.T, old, new string) Verdict {
	t.Helper()
	return c.Compare(c.parsed(t, old), c.parsed(t, new))
}

func (c *Comparer) parsed(t *testing.T, content string) *Element {
	t.Helper()
	if !strings.HasPrefix(content, "<?xml") {
		content = "<response>" + content + "</response>"
	}
	reply, err := c.Parse([]byte(content))
	if err != nil {
		t.Fatalf("%v in %s", err, content)
	}
	return reply
}

func TestOnlyWhatNoClientCanSeeIsTheSame(t *testing.T) {
	for _, test := range []struct{ old, new string }{
		{"<status>SUCCESS</status>", "<status>SUCCESS</status>"},
		{"\n <status>SUCCESS</status>\r\n\t<score>1</score> ", "<status>SUCCESS</status><score>1</score>"},
		{"<a>&lt;&#x4E2D;&#25991;&amp;&nbsp;</a>", "<a><![CDATA[<中]]>文&#38;\u00A0</a>"},
		{"<!-- made by v2 --><a/>", "<a></a><?page end?>"},
		{`<?xml version="1.0" encoding="big5"?><response><a>` + "\xA4\xA4\xA4\xE5" + `</a></response>`, "<a>中文</a>"},
		{`<?xml version="1.0" encoding="MS950"?><response><a>` + "\xB4\xB8" + `</a></response>`, "<a>晴</a>"},
		{`<?xml version="1.0"?><response xmlns="http://old.example/api"><a>1</a></response>`, "<a>1</a>"},
	} {
		if v := newComparer().compare(t, test.old, test.new); v.Outcome != Same {
			t.Errorf("%s and %s: %+v", test.old, test.new, v)
		}
	}
}

// Each rule allows its differences and no others. When it is strict, it allows none.
func TestEachRuleAllowsItsDifferencesAndNoOthers(t *testing.T) {
	for _, test := range []struct {
		rule     Rule
		old, new string
		// others are new replies that the rule does not allow.
		others []string
	}{
		{RuleIDs, "<albumID>12</albumID>", "<albumID>890341293580625</albumID>", []string{"<albumID></albumID>", "<albumID>0</albumID>"}},
		{RuleIDs, "<replyBlogID>b-7</replyBlogID>", "<replyBlogID>5</replyBlogID>", []string{"", "<replyBlogID>5 6</replyBlogID>"}},
		{RuleDates, "<time>2008/3/5 9:07</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-05 09:08:00</time>", "<time>2008-05-03 09:07:00</time>", "<time>soon</time>"}},
		{RuleDates, "<time>2008-03-05T01:07:31Z</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-05 01:07:31</time>"}},
		{RuleDates, "<time>1204679251</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-05 09:07:32</time>"}},
		{RuleDates, "<time>2008年3月5日 下午 9:07</time>", "<time>2008-03-05 21:07:31</time>", []string{"<time>2008-03-05 09:07:31</time>"}},
		{RuleDates, "<time>Wed, 05 Mar 2008 01:07:31 GMT</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-06 09:07:31</time>"}},
		{RuleDates, "<postDate><month>3</month></postDate>", "<postDate><month>03</month></postDate>", []string{"<postDate><month>3.0</month></postDate>", "<postDate>3</postDate>"}},
		{RuleNumbers, "<lat>25.0330</lat>", "<lat>25.033</lat>", []string{"<lat>25.0331</lat>", "<lat>25,033</lat>"}},
		{RuleNumbers, "<lng>121.56450000</lng>", "<lng>121.56450000000001</lng>", []string{"<lng>121.564501</lng>"}},
		{RuleNumbers, "<score>3.0</score>", "<score>3</score>", []string{"<score>3.0000001</score>", "<score>NaN</score>"}},
		{RuleOrder, "<score>1</score><name>a</name>", "<name>a</name><score>1</score>", []string{"<name>a</name>", "<name>a</name><score>1</score><score>1</score>"}},
		{
			RuleListOrder, "<POIList><POI1><name>a</name></POI1><POI2><name>b</name></POI2></POIList>",
			"<POIList><POI1><name>b</name></POI1><POI2><name>a</name></POI2></POIList>",
			[]string{
				"<POIList><POI1><name>b</name></POI1></POIList>", "<POIList><POI1><name>b</name></POI1><POI2><name>b</name></POI2></POIList>",
				"<POIList><POI2><name>b</name></POI2><POI1><name>a</name></POI1></POIList>",
				"<POIList><POI1><name>b</name></POI1><POI2><name>a</name></POI2><POI3><name>a</name></POI3></POIList>",
			},
		},
		{RuleImageHosts, "<ownerIcon>http://img.old.example:81/up/a.jpg?v=1</ownerIcon>", "<ownerIcon>up/a.jpg?v=1</ownerIcon>", []string{"<ownerIcon>up/b.jpg?v=1</ownerIcon>", "<ownerIcon>up/a.jpg?v=2</ownerIcon>", "<ownerIcon></ownerIcon>"}},
		{RuleOptional, "<comments/>", "", []string{"<comments><comment1/></comments>", "<name/>"}},
		{RuleOptional, "", "<zoomLevel>14</zoomLevel><mapType>1</mapType><replyBlogID>0</replyBlogID>", []string{"<zoomLevel>13</zoomLevel>", "<mapType>2</mapType>", "<replyBlogID>1</replyBlogID>"}},
		{RuleOptional, "<authorReply><time></time><reply> </reply></authorReply>", "", []string{"<authorReply><time></time><reply>x</reply></authorReply>x"}},
		{RulePhotoNames, "<photos><photo1><photo>a</photo></photo1></photos>", "<photos><photo1><photoPath>a</photoPath><photo>a</photo></photo1></photos>", []string{"<photos><photo1><photoPath>a</photoPath></photo1></photos>", "<photos><photo1><photoPath>b</photoPath><photo>a</photo></photo1></photos>"}},
		{RuleFailureText, "<status>FAILED</status><info>no album</info>", "<status>FAILED</status><info>ALBUM NOT FOUND</info>", []string{"<status>SUCCESS</status><info>no album</info>", "<status>FAILED</status><info>x</info><score>1</score>"}},
		{RuleFailureText, "<status>FAILED</status>", "<status>FAILED</status><info>BLOG NOT FOUND</info>", []string{"<status>SUCCESS</status>"}},
		{RuleWhiteSpace, "<blogContent>\n a&#13;\nb </blogContent>", "<blogContent>a\nb</blogContent>", []string{"<blogContent>a b</blogContent>", "<blogContent>ab</blogContent>"}},
		{RuleAttributes, `<score type="int">1</score>`, "<score>1</score>", []string{"<score>2</score>"}},
	} {
		v := newComparer().compare(t, test.old, test.new)
		if v.Outcome != Allowed || !slices.Equal(v.Rules, []Rule{test.rule}) {
			t.Errorf("%s and %s: %+v, want allowed by %v", test.old, test.new, v, test.rule)
		}
		if v := newComparer(test.rule).compare(t, test.old, test.new); v.Outcome != Different {
			t.Errorf("%s and %s, strict %v: %+v", test.old, test.new, test.rule, v)
		}
		for _, other := range test.others {
			if v := newComparer().compare(t, test.old, other); v.Outcome != Different {
				t.Errorf("%s and %s: %+v", test.old, other, v)
			}
		}
	}
}

func TestADifferenceNamesItsPlaceAndTexts(t *testing.T) {
	item := "<comments><comment1><comment>a</comment></comment1><comment2><comment>%s</comment></comment2></comments>"
	v := newComparer().compare(t, fmt.Sprintf(item, "b"), fmt.Sprintf(item, "c"))
	want := Difference{"response/comments/comment2/comment", "other text", "b", "c"}
	if v.Count != 1 || len(v.Differences) != 1 || v.Differences[0] != want {
		t.Errorf("got %+v, want %+v", v, want)
	}
}

func TestAnAdditionalItemInTheMiddleIsOneDifference(t *testing.T) {
	v := newComparer().compare(t,
		"<albumList><album1><albumID>1</albumID><albumTitle>a</albumTitle></album1><album2><albumID>2</albumID><albumTitle>c</albumTitle></album2></albumList>",
		"<albumList><album1><albumID>11</albumID><albumTitle>a</albumTitle></album1><album2><albumID>12</albumID><albumTitle>b</albumTitle></album2>"+
			"<album3><albumID>13</albumID><albumTitle>c</albumTitle></album3></albumList>")
	if v.Count != 1 || v.Differences[0].Path != "response/albumList/album2" {
		t.Errorf("got %+v", v)
	}
}

func TestManyLikeCommentsOfADayMayHaveAnotherOrder(t *testing.T) {
	for what, layouts := range map[string][2]string{
		"equal times": {time.DateTime, time.DateTime}, "other forms": {time.DateTime, time.RFC3339}, "times without seconds": {time.DateTime, "2006/1/2 15:04"},
	} {
		replies := [2]string{}
		for n := range 60 {
			at := time.Date(2008, 3, 5, 9, n, 31, 0, taipei)
			item := "<time>%s</time><comment>+1</comment>"
			replies[0] += fmt.Sprintf("<comment%d>"+item+"</comment%d>", n+1, at.Format(layouts[0]), n+1)
			replies[1] = fmt.Sprintf("<comment%d>"+item+"</comment%d>", 60-n, at.Format(layouts[1]), 60-n) + replies[1]
		}
		v := newComparer().compare(t, "<comments>"+replies[0]+"</comments>", "<comments>"+replies[1]+"</comments>")
		if v.Outcome != Allowed || !slices.Contains(v.Rules, RuleListOrder) {
			t.Errorf("%s: %+v", what, v)
		}
	}
}

func TestTheOrderOfChoicesCounts(t *testing.T) {
	v := newComparer().compare(t,
		"<choices><choice1><votes>1</votes></choice1><choice2><votes>2</votes></choice2></choices>",
		"<choices><choice1><votes>2</votes></choice1><choice2><votes>1</votes></choice2></choices>")
	if v.Outcome != Different || v.Count != 2 {
		t.Errorf("got %+v", v)
	}
}

func TestAnIdentifierStandsForOneOtherInTheWholeRun(t *testing.T) {
	c := newComparer()
	for _, test := range []struct {
		kind, old, new string
		want           Outcome
	}{
		{"albumID", "1", "101", Allowed},
		{"albumID", "1", "101", Allowed},
		{"albumID", "1", "102", Different}, // 1 is 101
		{"albumID", "2", "101", Different}, // 101 is 1
		{"albumID", "2", "102", Allowed},   // the two lines above taught nothing
		{"blogID", "1", "101", Allowed},    // another kind
		{"replyBlogID", "1", "103", Different},
		{"albumID", "7", "7", Same},
		{"albumID", "7", "107", Different},
		{"userID", "7", "107", Different}, // a move keeps the identifiers of users
	} {
		element := "<" + test.kind + ">%s</" + test.kind + ">"
		if v := c.compare(t, fmt.Sprintf(element, test.old), fmt.Sprintf(element, test.new)); v.Outcome != test.want {
			t.Errorf("%+v: %+v", test, v)
		}
	}
}

func TestPairsAreBounded(t *testing.T) {
	c := New(Options{Zone: taipei, MaxElements: 10, MaxPairs: 2})
	for i := range 5 {
		if v := c.compare(t, fmt.Sprintf("<albumID>%d</albumID>", i+1), fmt.Sprintf("<albumID>%d</albumID>", i+101)); v.Outcome != Allowed {
			t.Errorf("%d: %+v", i, v)
		}
	}
	if len(c.pairs.news) != 2 || len(c.pairs.olds) != 2 {
		t.Errorf("%d and %d pairs are kept", len(c.pairs.news), len(c.pairs.olds))
	}
}

func TestReplyOutsideTheLimitsIsRefused(t *testing.T) {
	for _, reply := range []string{
		"", "text", "<response>", "<html></html>", "<response/><response/>", "<response>&unknown;</response>", "<response>\x01</response>",
		`<?xml version="1.0" encoding="koi8-r"?><response/>`,
		"<response>" + strings.Repeat("<a/>", 1000) + "</response>",
		"<response>" + strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40) + "</response>",
	} {
		if e, err := newComparer().Parse([]byte(reply)); err == nil {
			t.Errorf("%.50q is read as %+v", reply, e)
		}
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	var old, new strings.Builder
	for i := range 100 {
		fmt.Fprintf(&old, "<a%d>%s</a%d>", i, strings.Repeat("文", 200), i)
		fmt.Fprintf(&new, "<a%d>b</a%d>", i, i)
	}
	v := newComparer().compare(t, old.String(), new.String())
	if v.Count != 100 || len(v.Differences) != maxDifferences || len(v.Differences[0].Old) > maxShown+len("…") {
		t.Errorf("%d differences, %d kept, %d bytes", v.Count, len(v.Differences), len(v.Differences[0].Old))
	}
}

func TestEachRuleHasANameThatParses(t *testing.T) {
	if len(Rules()) != int(RuleCount) {
		t.Fatalf("%d rules", len(Rules()))
	}
	for i, each := range Rules() {
		if parsed, err := ParseRule(each.Name); err != nil || parsed != each.Rule || int(each.Rule) != i {
			t.Errorf("%+v is parsed as %v (%v)", each, parsed, err)
		}
	}
	if _, err := ParseRule("id"); err == nil {
		t.Error("id is a rule")
	}
}

// Any reply is the same as itself. Written with other white space, attributes and another order of
// fields, it still does not differ.
func FuzzAReplyDoesNotDifferFromItself(f *testing.F) {
	f.Add("<status>SUCCESS</status><albumList><album1><albumID>7</albumID><albumTitle>a</albumTitle></album1></albumList>")
	f.Add("<status>FAILED</status><info>x</info>")
	f.Add("<comments><comment1><time>2008-03-05 09:07:31</time><comment>&#13;</comment></comment1></comments>a")
	f.Fuzz(func(t *testing.T, content string) {
		c := newComparer()
		reply, err := c.Parse([]byte("<response>" + content + "</response>"))
		if err != nil {
			return
		}
		if v := c.Compare(reply, reply); v.Outcome != Same {
			t.Errorf("%q differs from itself: %+v", content, v)
		}
		if v := newComparer().Compare(shuffled(reply), reply); v.Outcome == Different {
			t.Errorf("%q differs from itself in another form: %+v", content, v)
		}
	})
}

// shuffled returns a reply with other attributes and the fields in the opposite order. Fields of one
// name keep their order, because it counts.
func shuffled(e *Element) *Element {
	other := &Element{Name: e.Name, Text: e.Text, attributes: e.attributes + " x"}
	for _, child := range e.Children {
		other.Children = append(other.Children, shuffled(child))
	}
	if _, isList := lists[e.Name]; !isList {
		slices.SortStableFunc(other.Children, func(a, b *Element) int { return strings.Compare(b.Name, a.Name) })
	}
	return other
}

func BenchmarkCompare(b *testing.B) {
	var comments strings.Builder
	for i := range 10 {
		fmt.Fprintf(&comments, "<comment%d><time>2008-03-05 09:07:31</time><commenterName>小明</commenterName><comment>%s</comment></comment%d>\n", i+1, strings.Repeat("好", 50), i+1)
	}
	reply := []byte("<response><status>SUCCESS</status><albumTitle>a</albumTitle><comments>" + comments.String() + "</comments></response>")
	c := newComparer()
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	for b.Loop() {
		old, err := c.Parse(reply)
		if err != nil {
			b.Fatal(err)
		}
		c.Compare(old, old)
	}
}
