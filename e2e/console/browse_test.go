package console_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const manyAlbums = 60

// travels is content of somebody beside that of the demo: albums around Taipei, and a diary of April 2026.
type travels struct{ author, album, entry int64 }

func fillTravels(t *testing.T, p *launch.Process) (made travels) {
	t.Helper()
	connection := launch.Dial(t, p.GRPC)
	made.author = launch.CreateUser(t, connection, "林旅人")
	reader := launch.CreateUser(t, connection, "阿讀")
	albums, blogs := albumv1.NewAlbumServiceClient(connection), blogv1.NewBlogServiceClient(connection)
	for i := range manyAlbums {
		at := &typev1.Location{Lat: 24.8 + float64(i%8)/10, Lng: 121.2 + float64(i/8)/10}
		title := fmt.Sprintf("相簿 %d", i+1)
		if i == 0 {
			at, title = &typev1.Location{Lat: 25.0345, Lng: 121.5640}, "信義區的夜景"
		}
		created, err := albums.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: made.author, Title: title, Category: albumv1.AlbumCategory(1 + i%16), Location: at,
		})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			made.album = created.GetAlbum().GetAlbumId()
		}
	}
	postEntry(t, blogs, made.author, "清明的雨", 5, 0)
	made.entry = postEntry(t, blogs, made.author, "陽明山的花季", 12, 0)
	postEntry(t, blogs, made.author, "花季之後", 12, made.entry)
	_, err := commentv1.NewCommentServiceClient(connection).AddComment(t.Context(), &commentv1.AddCommentRequest{
		AuthorId: reader, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: made.entry}, Text: "明年一起去",
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func postEntry(t *testing.T, blogs blogv1.BlogServiceClient, author int64, title string, day int32, quoted int64) int64 {
	t.Helper()
	created, err := blogs.CreateBlog(t.Context(), &blogv1.CreateBlogRequest{
		AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL, Title: title, Content: title + "，從早到晚。",
		PostDate: &typev1.Date{Year: 2026, Month: 4, Day: day}, Weather: blogv1.Weather(1 + day%7),
		Location: &typev1.Location{Lat: 25.16, Lng: 121.54}, ReplyBlogId: quoted,
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.GetBlog().GetBlogId()
}

// cards waits until a list has a number of cards at least, and returns how many it has.
func (p *page) cards(least int) int {
	p.t.Helper()
	p.await(fmt.Sprint(least, " cards"), `document.querySelectorAll('.read-cards > li').length >= `+strconv.Itoa(least))
	return value[int](p, `document.querySelectorAll('.read-cards > li').length`)
}

func TestReadingBeginsWithWhatIsNewAndBackKeepsThePlace(t *testing.T) {
	longform.Only(t)
	process := start(t)
	fillTravels(t, process)
	p := open(t, process, "#/read")
	p.cards(20)
	p.awaitText(id("browse-list"), fmt.Sprintf("相簿 %d", manyAlbums))
	p.shot("read-new")
	for shown := p.cards(20); shown <= manyAlbums; {
		value[bool](p, `(scrollTo(0, document.body.scrollHeight), true)`)
		shown = p.cards(shown + 1)
	}
	p.awaitText(id("browse-count"), fmt.Sprint(manyAlbums+1)) // the demo has one
	value[bool](p, `(document.querySelectorAll('.read-cards > li')[40].scrollIntoView({ block: 'center' }), true)`)
	before := value[float64](p, `scrollY`)
	if before < 500 {
		t.Fatalf("the page is scrolled to %v", before)
	}
	p.click(`.read-cards > li:nth-child(41) a`)
	p.awaitElement(id("album-page"))
	p.await("the beginning of the album", `scrollY === 0`)
	value[bool](p, `(history.back(), true)`)
	p.await("the place in the list", fmt.Sprintf(`Math.abs(scrollY - %v) < 2`, before))
	p.cards(manyAlbums)
	// A page that is loaded anew loads as many.
	p.do("reload", chromedp.Reload())
	p.await("the place in the list", fmt.Sprintf(`Math.abs(scrollY - %v) < 300`, before))
}

func TestAListIsNarrowedByCategoryPlaceAndMonth(t *testing.T) {
	longform.Only(t)
	process := start(t)
	fillTravels(t, process)
	p := open(t, process, "#/read?kind=album&near=25.034,121.5645&radius=1")
	p.awaitText(id("browse-list"), "信義區的夜景")
	p.awaitText(id("browse-list"), "away")
	if n := p.cards(1); n != 1 {
		t.Errorf("within a kilometre are %d albums", n)
	}
	p.shot("read-near")
	p.choose(id("browse-radius"), "20")
	p.cards(2)
	p.click(id("browse-everywhere"))
	p.cards(20)
	p.choose(id("browse-category"), "2")
	p.await("one category", `[...document.querySelectorAll('.read-cards .tag')].every(each => each.innerText === 'Boys') && document.querySelectorAll('.read-cards .tag').length > 2`)
	p.fill(id("browse-near"), "north of here")
	p.click(id("browse-near-go"))
	p.awaitText(`[role="alert"]`, "latitude")
	p.visit("#/read?kind=blog&date=2026-04")
	p.awaitText(id("browse-list"), "清明的雨")
	p.click(id("browse-month-after"))
	p.awaitText(id("browse-list"), "no published entries")
	p.click(id("browse-any-date"))
	p.awaitText(id("browse-list"), "日月潭環湖")
	p.click(id("browse-landmark"))
	p.awaitText(id("browse-list"), "臺中國家歌劇院")
}

func TestADiaryIsACalendarWithAnswersBelowWhatTheyAnswer(t *testing.T) {
	longform.Only(t)
	process := start(t)
	made := fillTravels(t, process)
	p := open(t, process, fmt.Sprintf("#/read/user/%d", made.author))
	p.click(id("user-diary"))
	p.awaitElement(id("diary") + `[data-month="2026-04"]`) // that of the latest entry
	p.awaitText(id("diary-2026-04"), "3")
	p.awaitText(id("diary-entry")+" "+id("diary-entry"), "花季之後")
	p.shot("read-diary")
	p.click(id("diary-2026-05"))
	p.awaitText(id("diary"), "no published entries")
	value[bool](p, `(history.back(), true)`)
	p.awaitText(id("diary"), "清明的雨")
	p.click(id("diary-entry") + " " + id("diary-entry") + " a")
	p.awaitText(id("quoted"), "陽明山的花季")
	p.click(id("in-diary"))
	p.awaitElement(id("diary") + `[data-month="2026-04"]`)
}

func TestAPageOfAUserHasTheLandmarksOfThatUser(t *testing.T) {
	longform.Only(t)
	process := start(t)
	connection := launch.Dial(t, process.GRPC)
	owner := launch.CreateUser(t, connection, "地主")
	const landmarks = 15 // more than are shown at first
	for i := range landmarks {
		if _, err := poiv1.NewPoiServiceClient(connection).CreatePoi(t.Context(), &poiv1.CreatePoiRequest{
			OwnerId: owner, Name: fmt.Sprintf("第 %d 號地標", i+1), Category: poiv1.PoiCategory_POI_CATEGORY_COMMUNITY, Location: &typev1.Location{Lat: 25, Lng: 121.5},
		}); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, process, fmt.Sprintf("#/read/user/%d", owner))
	p.awaitText("h1", "地主")
	p.awaitText(id("user-page"), "This user has no albums.")
	count := `document.querySelectorAll('[data-testid="landmark-cards"] .read-cards > li').length`
	p.await("the first landmarks", count+` === 12`)
	p.shot("read-landmarks-of-user")
	p.clickWords("Load more")
	p.await("all landmarks", fmt.Sprint(count, " === ", landmarks))
	p.clickWords("第 7 號地標")
	p.awaitElement(id("landmark-page"))
	p.clickWords("地主")
	p.awaitElement(id("user-page"))
}

func TestWithoutAdditionsReadingSaysWhatIsMissing(t *testing.T) {
	longform.Only(t)
	process := start(t, "-additions=false")
	user, _ := demoSession(t, process)
	p := open(t, process, "#/read")
	p.awaitText("main", "switched off")
	p.click(id("read-kind"))
	p.fill(id("read-id"), user)
	p.click(id("read-open"))
	p.awaitElement(id("album-card"))
	p.awaitText(id("user-page"), "switched off") // entries
	if p.has(id("user-diary")) {
		t.Error("there is a link to the calendar")
	}
	p.visit("#/map")
	p.click(id("load-listing"))
	p.awaitElement(id("mark-landmark"))
	if p.has(id("category-6")) {
		t.Error("the map offers albums, which it cannot find")
	}
}

// clickWords clicks with the mouse on a link, a button, a label or a summary that shows words, and knows
// nothing else of the page.
func (p *page) clickWords(words string) {
	p.t.Helper()
	const find = `(words => {
		const shows = each => (each.innerText ?? '').trim().replace(/\s+/g, ' ')
		const all = [...document.querySelectorAll('a, button, summary, label')].filter(each => each.checkVisibility())
		return all.find(each => shows(each) === words) ?? all.find(each => (each.innerText ?? '').split('\n').some(line => line.trim() === words))
	})`
	p.await("the words "+words, find+`(`+quoted(words)+`) !== undefined`)
	at := value[[]float64](p, `(each => {
		each.scrollIntoView({ block: 'center', behavior: 'instant' })
		const { left, top, width, height } = each.getBoundingClientRect()
		return [left + Math.min(width / 2, 40), top + height / 2]
	})(`+find+`(`+quoted(words)+`))`)
	p.do("click on "+words, chromedp.MouseClickXY(at[0], at[1]))
}

// awaitWords waits until the page shows words.
func (p *page) awaitWords(words string) {
	p.t.Helper()
	p.awaitText("body", words)
}

func TestPeopleFindTheirWayWithTheMouseAndTheWordsOfThePage(t *testing.T) {
	longform.Only(t)
	process := start(t)
	fillTravels(t, process)
	for language, w := range map[string]struct{ reading, landmarks, albums, entries, byMonth, back, explorer, getAlbum, send, why string }{
		"en":      {"All →", "Landmarks", "Albums", "Diary entries", "By month", "← What is new", "Developers", "Read an album", "Send", "the parameters"},
		"zh-Hant": {"全部 →", "地標", "相簿", "日記", "依月份", "← 最新內容", "開發者", "讀取相簿", "送出", "參數"},
	} {
		t.Run(language, func(t *testing.T) {
			p := open(t, process, "")
			p.choose(id("language"), language)
			// An album near Taipei 101.
			p.clickWords(w.reading)
			p.clickWords(w.landmarks)
			p.clickWords("饒河街觀光夜市")
			p.awaitElement(id("landmark-page"))
			p.clickWords(w.albums)
			p.clickWords("信義區的夜景")
			p.awaitWords("林旅人")
			// An entry of last spring, and who commented on it.
			p.clickWords(w.back)
			p.clickWords(w.reading)
			p.clickWords(w.entries)
			p.clickWords(w.byMonth)
			for !strings.Contains(p.text("h1"), "2026") || !p.isApril() {
				before := p.text("h1")
				p.clickWords(p.monthBefore())
				p.await("another month", `document.querySelector('h1').innerText !== `+quoted(before))
			}
			p.clickWords("陽明山的花季")
			p.awaitWords("明年一起去")
			p.awaitWords("阿讀")
			// Why a request failed.
			p.clickWords(w.explorer)
			p.clickWords(w.getAlbum)
			p.clickWords(w.send)
			p.awaitWords("MISSING PARAMETER: albumID")
			p.awaitText(id("failure-action"), w.why)
		})
	}
}

func (p *page) isApril() bool {
	title := p.text("h1")
	return strings.Contains(title, "April") || strings.Contains(title, "4月")
}

// monthBefore returns the words of the second button of the months: the first one goes back a year.
func (p *page) monthBefore() string {
	p.t.Helper()
	return value[string](p, `[...document.querySelectorAll('button')].filter(each => each.innerText.startsWith('‹'))[1].innerText`)
}

func TestThePageBeginsWithWhatIsNewOrWithWhatToDoFirst(t *testing.T) {
	longform.Only(t)
	process := start(t)
	p := open(t, process, "")
	for _, kind := range []string{"album", "landmark", "blog"} {
		p.awaitElement(id("home") + " " + id(kind+"-card"))
	}
	p.await("a photo", `document.querySelector('.read-cover')?.naturalWidth > 0`)
	p.await("their places on the map", `document.querySelectorAll('.home-map circle').length > 7`)
	p.click(id("home-map"))
	p.awaitMap(`Number(map.dataset.inView) > 7`)
	// A failure is one box, in the language of the page.
	p.choose(id("language"), "zh-Hant")
	p.visit("#/read/user/1")
	p.awaitText(id("failure"), "此使用者不存在")
	if boxes := value[int](p, `document.querySelectorAll('[data-testid="failure"]').length`); boxes != 1 {
		t.Errorf("an unknown user has %d boxes of failures", boxes)
	}
	if details := value[string](p, `document.querySelector('.failure code').textContent`); !strings.Contains(details, "USER_NOT_FOUND") {
		t.Errorf("the details are %s", details)
	}

	p = open(t, start(t, "-demo=false"), "")
	p.awaitText(id("first-steps"), "waybookctl user create")
	p.click(id("first-login"))
	p.awaitElement(id("session-dialog") + "[open]")
}
