package oldserver

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
