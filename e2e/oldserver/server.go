// Package oldserver is a server of the legacy contract as somebody else wrote it, for tests. It
// serves the reads from content in memory, in XML with habits of its own.
package oldserver

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// taipei is the zone of the server's times, and of Waybook's unless set otherwise.
var taipei = time.FixedZone("Taipei", 8*60*60)

// Server serves Content. It is safe for concurrent use.
type Server struct {
	content Content

	mu   sync.Mutex
	seen []Seen
}

// Seen is a request that the server got.
type Seen struct {
	Method, Path, Func, Cookie string
	Header                     http.Header
}

// New returns a server.
func New(content Content) *Server { return &Server{content: content} }

// Seen returns the requests so far, at most the first 10,000.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// ServeHTTP answers a request as old servers did: every parameter counts wherever it is, every
// method is fine, and a func that it does not know is a success.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parameters := r.URL.Query()
	if body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20)); err == nil {
		if inBody, err := url.ParseQuery(string(body)); err == nil {
			for name, values := range inBody {
				parameters[name] = append(parameters[name], values...)
			}
		}
	}
	s.note(r, parameters.Get("func"))
	if r.URL.Path != "/API.php" {
		w.Header().Set("Content-Type", "image/png")
		fmt.Fprintf(w, "old %s", r.URL.Path) // #nosec G705 -- a test, and no page by its type
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	p := &page{}
	p.text.WriteString("<?xml version='1.0' encoding='utf-8' ?>\r\n<!-- API 1.2 -->\r\n")
	p.element(s.answer(parameters.Get("func"), func(name string) int64 {
		id, err := strconv.ParseInt(parameters.Get(name), 10, 64)
		if err != nil {
			return 0
		}
		return id
	}), "")
	_, _ = io.WriteString(w, p.text.String()) // the client may be gone
}

func (s *Server) note(r *http.Request, function string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) < 10_000 {
		s.seen = append(s.seen, Seen{r.Method, r.URL.Path, function, r.Header.Get("Cookie"), r.Header.Clone()})
	}
}

// answer returns the reply of a func.
func (s *Server) answer(function string, id func(parameter string) int64) element {
	switch function {
	case "getAlbum":
		if album := s.content.Albums[id("albumID")]; album != nil {
			return success(s.album(album)...)
		}
		return failure("no such album")
	case "getPOI":
		if landmark := s.content.Landmarks[id("POIID")]; landmark != nil {
			return success(s.landmark(landmark)...)
		}
		return failure("no such place")
	case "getBlog":
		if entry := s.content.Entries[id("blogID")]; entry != nil {
			return success(s.entry(entry)...)
		}
		return element{name: "response", children: []element{leaf("status", "FAILED")}}
	case "getUserAlbumList":
		albums, isKnown := s.content.AlbumsOf[id("userID")]
		if !isKnown {
			return failure("who?")
		}
		return success(listOf("albumList", "album", albums, func(id int64) []element {
			return []element{leaf("albumTitle", s.content.Albums[id].Title), leaf("albumID", s.own(AlbumID, id))}
		}))
	case "getCategoryPOIList":
		return success(listOf("POIList", "POI", s.content.LandmarksOf[id("category")], func(id int64) []element {
			return []element{leaf("POIID", s.own(LandmarkID, id)), leaf("name", s.content.Landmarks[id].Title)}
		}))
	}
	return success()
}

// own returns the identifier that the server shows.
func (s *Server) own(kind Kind, id int64) string {
	if own, isKnown := s.content.Own[kind][id]; isKnown {
		id = own
	}
	return strconv.FormatInt(id, 10)
}

// element is an element of a reply.
type element struct {
	name, text, attributes string
	children               []element
	isData                 bool
}

func leaf(name, text string) element { return element{name: name, text: text} }

func whole(name string, value int64) element { return leaf(name, fmt.Sprintf("%d.0", value)) }

func success(children ...element) element {
	return element{name: "response", attributes: ` version="1.2"`, children: append(children, leaf("status", "SUCCESS"))}
}

func failure(info string) element {
	return element{name: "response", children: []element{leaf("info", info), leaf("status", "FAILED")}}
}

func listOf[T any](name, item string, items []T, fields func(T) []element) element {
	list := element{name: name, attributes: fmt.Sprintf(" count='%d'", len(items))}
	for i, each := range items {
		list.children = append(list.children, element{name: fmt.Sprintf("%s%d", item, i+1), children: fields(each)})
	}
	return list
}

// page writes a reply: indented, with line breaks of Windows, and with characters as entities.
type page struct{ text strings.Builder }

func (p *page) element(e element, indent string) {
	p.text.WriteString(indent + "<" + e.name + e.attributes)
	switch {
	case len(e.children) > 0:
		p.text.WriteString(">\r\n")
		for _, child := range e.children {
			p.element(child, indent+"\t")
		}
		p.text.WriteString(indent + "</" + e.name + ">\r\n")
	case e.text == "":
		p.text.WriteString("/>\r\n")
	default:
		p.text.WriteString(">")
		if e.isData && !strings.Contains(e.text, "]]>") {
			p.text.WriteString("<![CDATA[" + e.text + "\n]]>")
		} else {
			for _, c := range e.text {
				if c == '&' || c == '<' || c == '>' || c == '\'' || c == '"' || c > 0x7E {
					fmt.Fprintf(&p.text, "&#x%X;", c)
				} else {
					p.text.WriteRune(c)
				}
			}
		}
		p.text.WriteString("</" + e.name + ">\r\n")
	}
}

func location(lat, lng float64) element {
	return element{name: "Location", children: []element{leaf("lng", fmt.Sprintf("%.8f", lng)), leaf("lat", fmt.Sprintf("%.8f", lat))}}
}

func day(at time.Time) element {
	year, month, day := at.In(taipei).Date()
	return dateOf("updateDate", year, int(month), day)
}

func dateOf(name string, year, month, day int) element {
	return element{name: name, children: []element{
		leaf("year", fmt.Sprint(year)), leaf("month", fmt.Sprint(month)), leaf("day", fmt.Sprint(day)),
	}}
}

// moment writes a time without seconds.
func moment(at time.Time) element {
	return leaf("time", at.In(taipei).Format("2006/1/2 15:04"))
}

// image makes the address of an image absolute.
func image(name, address string) element {
	if address != "" && !strings.Contains(address, "://") {
		address = "http://img.old.example/" + address
	}
	return leaf(name, address)
}

// comments lists the latest comment first.
func comments(all []Comment) element {
	latest := make([]Comment, len(all))
	for i, each := range all {
		latest[len(all)-1-i] = each
	}
	return listOf("comments", "comment", latest, func(c Comment) []element {
		fields := []element{
			leaf("commenterName", c.By.Name), image("commenterIcon", c.By.Icon), moment(c.At),
			{name: "comment", text: c.Text, isData: true},
		}
		if c.Reply != "" {
			return append(fields, element{name: "authorReply", children: []element{leaf("reply", c.Reply), moment(c.RepliedAt)}})
		}
		return append(fields, element{name: "authorReply"})
	})
}

func (s *Server) album(a *Place) []element {
	return []element{
		leaf("albumTitle", a.Title), leaf("ownerName", a.Owner.Name), image("ownerIcon", a.Owner.Icon), whole("category", a.Category),
		location(a.Lat, a.Lng), whole("score", a.Score), day(a.Updated),
		listOf("photos", "photo", a.Photos, func(p Photo) []element {
			return []element{leaf("photoID", s.own(PhotoID, p.ID)), leaf("description", p.Description), image("thumbnail", p.Address)}
		}),
		comments(a.Comments),
	}
}

func (s *Server) landmark(l *Place) []element {
	return []element{
		leaf("name", l.Title), whole("category", l.Category), location(l.Lat, l.Lng), leaf("ownerName", l.Owner.Name),
		image("ownerIcon", l.Owner.Icon), day(l.Updated), whole("score", l.Score),
		listOf("photos", "photo", l.Photos, func(p Photo) []element {
			return []element{image("photoPath", p.Address), leaf("description", p.Description)}
		}),
		comments(l.Comments),
	}
}

func (s *Server) entry(e *Entry) []element {
	fields := []element{
		leaf("blogTitle", e.Title), {name: "blogContent", text: e.Text, isData: true}, leaf("authorName", e.Author.Name),
		image("authorIcon", e.Author.Icon), leaf("type", e.Type), location(e.Lat, e.Lng), dateOf("postDate", e.Year, e.Month, e.Day),
		leaf("weather", e.Weather), whole("score", e.Score), leaf("replyBlogID", s.own(EntryID, e.Quoted)), comments(e.Comments),
	}
	if e.Zoom != 14 {
		fields = append(fields, whole("zoomLevel", e.Zoom))
	}
	if e.Map != 1 {
		fields = append(fields, whole("mapType", e.Map))
	}
	if len(e.Choices) == 0 {
		return append(fields, element{name: "vote"})
	}
	return append(fields, element{name: "vote", children: []element{
		listOf("choices", "choice", e.Choices, func(c Choice) []element {
			return []element{whole("votes", c.Votes), leaf("description", c.Text)}
		}),
		leaf("description", e.Question),
	}})
}

// Content is what the server serves. Maps have the identifiers by which clients ask.
type Content struct {
	Albums, Landmarks map[int64]*Place
	Entries           map[int64]*Entry
	// AlbumsOf are the albums of each user, LandmarksOf those of each category, in their order.
	AlbumsOf    map[int64][]int64
	LandmarksOf map[int64][]int64
	// Own are the identifiers that the server shows instead of those by which clients ask. Things
	// of two kinds may have the same identifier, so each kind has its own.
	Own map[Kind]map[int64]int64
}

// Kind is a kind of identifiers.
type Kind string

// The kinds.
const (
	AlbumID    Kind = "album"
	LandmarkID Kind = "landmark"
	EntryID    Kind = "entry"
	PhotoID    Kind = "photo"
)

// Place is an album or a landmark.
type Place struct {
	Title    string
	Category int64
	Lat, Lng float64
	Owner    Person
	Updated  time.Time
	Score    int64
	Photos   []Photo
	Comments []Comment
}

// Entry is a diary entry.
type Entry struct {
	Author           Person
	Type             string
	Lat, Lng         float64
	Title, Text      string
	Year, Month, Day int
	Weather          string
	Quoted           int64
	Zoom, Map        int64
	Score            int64
	Question         string
	Choices          []Choice
	Comments         []Comment
}

// Person is a user, Photo a photo, Comment a comment with its reply, and Choice a choice of a vote.
type (
	Person struct{ Name, Icon string }
	Photo  struct {
		ID                   int64
		Address, Description string
	}
	Comment struct {
		At        time.Time
		By        Person
		Text      string
		RepliedAt time.Time
		Reply     string
	}
	Choice struct {
		Text  string
		Votes int64
	}
)
