// Package oldserver is a server of the legacy contract as somebody else wrote it, for tests. It
// serves the reads from content in memory, in XML with habits of its own.
package oldserver

import "time"

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
