// Package movefile reads and writes the files in which an old service's data moves into Waybook:
// NDJSON, an object in each line, in any order. docs/moving-in.schema.json describes the objects,
// and docs/moving-in.md explains them.
package movefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// MaxLineBytes bounds a line. The longest text that can be allowed has a million characters.
const MaxLineBytes = 16 << 20

// Kind says what a record is about.
type Kind string

// The kinds.
const (
	KindUser           Kind = "user"
	KindSession        Kind = "session"
	KindReward         Kind = "reward"
	KindAlbum          Kind = "album"
	KindEntry          Kind = "entry"
	KindLandmark       Kind = "landmark"
	KindPhoto          Kind = "photo"
	KindComment        Kind = "comment"
	KindBallot         Kind = "ballot"
	KindRecommendation Kind = "recommendation"
	KindEnd            Kind = "end"
)

// records returns an empty record of each kind, parents first.
func records() []Record {
	return []Record{
		&User{}, &Session{}, &Reward{}, &Album{}, &Entry{}, &Landmark{}, &Photo{}, &Comment{}, &Ballot{}, &Recommendation{}, &End{},
	}
}

// Kinds returns the kinds, parents first.
func Kinds() (kinds []Kind) {
	for _, each := range records() {
		kinds = append(kinds, each.Kind())
	}
	return kinds
}

// IsPart reports whether records of a kind hang on others, and can be left out alone.
func (k Kind) IsPart() bool {
	switch k {
	case KindSession, KindReward, KindPhoto, KindComment, KindBallot, KindRecommendation:
		return true
	}
	return false
}

// Record is what one line holds: one of the types below, by pointer.
//
// The tag `move` of a field names its rule, and whether it is required; `doc` explains it.
type Record interface {
	// Kind returns the kind.
	Kind() Kind
	// Root returns what the record hangs on: a user, an album, an entry or a landmark. It is the
	// record itself for these.
	Root() Root
}

// Root names a user, an album, an entry or a landmark by its old identifier.
type Root struct {
	Kind Kind
	ID   ID
}

// User is a user, who keeps the identifier.
type User struct {
	ID           ID     `json:"id" move:"userRef,required" doc:"The user's identifier. The user keeps it."`
	Name         string `json:"name" move:"nickname,required" doc:"Nickname."`
	IconURL      string `json:"icon_url,omitempty" move:"icon" doc:"Address of the avatar image."`
	Email        string `json:"email,omitempty" move:"email" doc:"Email address with which the user logs in. No two users have the same, ignoring letter case."`
	PasswordHash string `json:"password_hash,omitempty" move:"passwordHash" doc:"Hash of the password, in one of the forms of docs/moving-in.md. The user needs an email address."`
	CreateTime   Moment `json:"create_time,omitzero" move:"moment" doc:"When the user was created."`
}

// Session is an open session, so that a client stays logged in.
type Session struct {
	UserID     ID     `json:"user_id" move:"userRef,required" doc:"The user, who is id in the cookie."`
	IDRand     string `json:"idrand" move:"idrand,required" doc:"The part idrand of the cookie. Waybook stores its SHA-256."`
	ExpireTime Moment `json:"expire_time,omitzero" move:"moment" doc:"When the session ends; as for a session that is opened now if absent. One that has ended is left out."`
	CreateTime Moment `json:"create_time,omitzero" move:"moment" doc:"When the session was opened."`
}

// Reward is an amount that a user got in the old service's currency.
type Reward struct {
	ID     ID    `json:"id" move:"id,required" doc:"The reward's identifier, unique among the rewards of the user."`
	UserID ID    `json:"user_id" move:"userRef,required" doc:"The user who got it."`
	Amount int64 `json:"amount" move:"amount,required" doc:"The amount."`
}

// Album is an album without its photos and comments.
type Album struct {
	ID         ID      `json:"id" move:"id,required" doc:"The album's identifier."`
	OwnerID    ID      `json:"owner_id" move:"userRef,required" doc:"The user who owns it."`
	Title      string  `json:"title" move:"title,required" doc:"Title."`
	Category   int64   `json:"category" move:"albumCategory,required" doc:"Category, as in the legacy contract."`
	Lat        float64 `json:"lat" move:"lat,required" doc:"Latitude in decimal degrees."`
	Lng        float64 `json:"lng" move:"lng,required" doc:"Longitude in decimal degrees."`
	Score      int64   `json:"score,omitzero" move:"amount" doc:"Recommendation score. Recommendations of users count in it."`
	CreateTime Moment  `json:"create_time,omitzero" move:"moment,required" doc:"When it was created."`
	UpdateTime Moment  `json:"update_time,omitzero" move:"moment" doc:"When its owner last changed it or its photos; create_time if absent. Clients see the day."`
}

// Entry is a diary entry with its vote, without ballots and comments.
type Entry struct {
	ID         ID      `json:"id" move:"id,required" doc:"The entry's identifier."`
	AuthorID   ID      `json:"author_id" move:"userRef,required" doc:"The user who wrote it."`
	Type       string  `json:"type" move:"entryType,required" doc:"Type."`
	Lat        float64 `json:"lat" move:"lat,required" doc:"Latitude in decimal degrees."`
	Lng        float64 `json:"lng" move:"lng,required" doc:"Longitude in decimal degrees."`
	Title      string  `json:"title" move:"title,required" doc:"Title."`
	Content    string  `json:"content" move:"content,required" doc:"Text, which may have line breaks."`
	PostDate   string  `json:"post_date" move:"day,required" doc:"Planned publication date."`
	Weather    string  `json:"weather" move:"weather,required" doc:"Weather, in the words of the legacy contract."`
	QuotedID   ID      `json:"quoted_id,omitempty" move:"id" doc:"The entry that this one quotes (replyBlogID)."`
	ZoomLevel  *int64  `json:"zoom_level,omitempty" move:"zoomLevel" doc:"Map zoom level; 14 if absent."`
	MapType    int64   `json:"map_type,omitzero" move:"mapType" doc:"Map type: 1 map, 2 satellite, 3 hybrid; 1 if absent."`
	Score      int64   `json:"score,omitzero" move:"amount" doc:"Recommendation score. Recommendations of users count in it."`
	Reward     int64   `json:"reward,omitzero" move:"amount" doc:"Reward that the author got for posting. It is shown with the entry; the author's total comes from records of kind reward."`
	Vote       *Vote   `json:"vote,omitempty" move:"vote" doc:"Vote inside the entry."`
	CreateTime Moment  `json:"create_time,omitzero" move:"moment,required" doc:"When it was created."`
	UpdateTime Moment  `json:"update_time,omitzero" move:"moment" doc:"When its author last changed it; create_time if absent."`
}

// Vote is the vote inside an entry.
type Vote struct {
	Description string   `json:"description" move:"question,required" doc:"The question."`
	Choices     []Choice `json:"choices" move:"choices,required" doc:"The choices in their order."`
}

// Choice is a choice of a vote.
type Choice struct {
	Description string `json:"description" move:"choiceText,required" doc:"The text."`
	Votes       int64  `json:"votes,omitzero" move:"amount" doc:"Number of votes received. Ballots of users count in it."`
}

// Landmark is a landmark without its photos and comments.
type Landmark struct {
	ID         ID      `json:"id" move:"id,required" doc:"The landmark's identifier."`
	OwnerID    ID      `json:"owner_id" move:"userRef,required" doc:"The user who owns it."`
	Name       string  `json:"name" move:"landmarkName,required" doc:"Name."`
	Category   int64   `json:"category" move:"landmarkCategory,required" doc:"Category, as in the legacy contract."`
	Lat        float64 `json:"lat" move:"lat,required" doc:"Latitude in decimal degrees."`
	Lng        float64 `json:"lng" move:"lng,required" doc:"Longitude in decimal degrees."`
	Score      int64   `json:"score,omitzero" move:"amount" doc:"Recommendation score. Recommendations of users count in it."`
	CreateTime Moment  `json:"create_time,omitzero" move:"moment,required" doc:"When it was created."`
	UpdateTime Moment  `json:"update_time,omitzero" move:"moment" doc:"When its owner last changed it or its photos; create_time if absent. Clients see the day."`
}

// Photo is a photo of an album or a landmark. Photos are in the order of their identifiers.
type Photo struct {
	ID          ID     `json:"id" move:"id,required" doc:"The photo's identifier."`
	AlbumID     ID     `json:"album_id,omitempty" move:"id,parent" doc:"The album that it belongs to."`
	LandmarkID  ID     `json:"landmark_id,omitempty" move:"id,parent" doc:"The landmark that it belongs to."`
	URL         string `json:"url" move:"photoURL,required" doc:"Address of the image, often a relative path. An album's is that of its thumbnail."`
	Description string `json:"description,omitempty" move:"description" doc:"Description."`
}

// Comment is a comment on an album, an entry or a landmark, with the owner's reply. Comments are in
// the order of their identifiers.
type Comment struct {
	ID            ID     `json:"id" move:"id,required" doc:"The comment's identifier."`
	AlbumID       ID     `json:"album_id,omitempty" move:"id,parent" doc:"The album that it belongs to."`
	EntryID       ID     `json:"entry_id,omitempty" move:"id,parent" doc:"The entry that it belongs to."`
	LandmarkID    ID     `json:"landmark_id,omitempty" move:"id,parent" doc:"The landmark that it belongs to."`
	AuthorID      ID     `json:"author_id,omitempty" move:"userRef" doc:"The user who wrote it. Without it, author_name is required."`
	AuthorName    string `json:"author_name,omitempty" move:"guestName" doc:"Name of an author who has no account."`
	AuthorIconURL string `json:"author_icon_url,omitempty" move:"icon" doc:"Address of the avatar image of an author who has no account."`
	Text          string `json:"text" move:"comment,required" doc:"Text."`
	CreateTime    Moment `json:"create_time,omitzero" move:"moment,required" doc:"When it was written."`
	Reply         string `json:"reply,omitempty" move:"reply" doc:"Reply of the owner."`
	ReplyTime     Moment `json:"reply_time,omitzero" move:"moment" doc:"When the owner replied; create_time if absent."`
}

// Ballot is a user's vote in an entry.
type Ballot struct {
	EntryID ID    `json:"entry_id" move:"id,required" doc:"The entry."`
	UserID  ID    `json:"user_id" move:"userRef,required" doc:"The user who voted."`
	Choice  int64 `json:"choice" move:"choice,required" doc:"Position of the choice, from 1."`
}

// Recommendation says that a user recommends an album, an entry or a landmark.
type Recommendation struct {
	AlbumID    ID `json:"album_id,omitempty" move:"id,parent" doc:"The album."`
	EntryID    ID `json:"entry_id,omitempty" move:"id,parent" doc:"The entry."`
	LandmarkID ID `json:"landmark_id,omitempty" move:"id,parent" doc:"The landmark."`
	UserID     ID `json:"user_id" move:"userRef,required" doc:"The user who recommends it."`
}

// End says how many records of each kind were exported, so that a file that was cut off is found. If
// there are several, the numbers add up.
type End struct {
	Users           int64 `json:"user,omitzero" move:"count" doc:"Number of users; 0 if absent, as for all kinds."`
	Sessions        int64 `json:"session,omitzero" move:"count" doc:"Number of sessions."`
	Rewards         int64 `json:"reward,omitzero" move:"count" doc:"Number of rewards."`
	Albums          int64 `json:"album,omitzero" move:"count" doc:"Number of albums."`
	Entries         int64 `json:"entry,omitzero" move:"count" doc:"Number of entries."`
	Landmarks       int64 `json:"landmark,omitzero" move:"count" doc:"Number of landmarks."`
	Photos          int64 `json:"photo,omitzero" move:"count" doc:"Number of photos."`
	Comments        int64 `json:"comment,omitzero" move:"count" doc:"Number of comments."`
	Ballots         int64 `json:"ballot,omitzero" move:"count" doc:"Number of ballots."`
	Recommendations int64 `json:"recommendation,omitzero" move:"count" doc:"Number of recommendations."`
}

// number returns the number of a kind.
func (e *End) number(kind Kind) *int64 {
	return map[Kind]*int64{
		KindUser: &e.Users, KindSession: &e.Sessions, KindReward: &e.Rewards, KindAlbum: &e.Albums, KindEntry: &e.Entries,
		KindLandmark: &e.Landmarks, KindPhoto: &e.Photos, KindComment: &e.Comments, KindBallot: &e.Ballots,
		KindRecommendation: &e.Recommendations, KindEnd: new(int64),
	}[kind]
}

// Counts returns the numbers by kind.
func (e *End) Counts() map[Kind]int64 {
	counts := map[Kind]int64{}
	for _, kind := range Kinds() {
		counts[kind] = *e.number(kind)
	}
	delete(counts, KindEnd)
	return counts
}

// Kind returns KindUser, and so on for the types below.
func (*User) Kind() Kind           { return KindUser }
func (*Session) Kind() Kind        { return KindSession }
func (*Reward) Kind() Kind         { return KindReward }
func (*Album) Kind() Kind          { return KindAlbum }
func (*Entry) Kind() Kind          { return KindEntry }
func (*Landmark) Kind() Kind       { return KindLandmark }
func (*Photo) Kind() Kind          { return KindPhoto }
func (*Comment) Kind() Kind        { return KindComment }
func (*Ballot) Kind() Kind         { return KindBallot }
func (*Recommendation) Kind() Kind { return KindRecommendation }
func (*End) Kind() Kind            { return KindEnd }

// Root returns the user, and so on for the types below.
func (u *User) Root() Root     { return Root{KindUser, u.ID} }
func (s *Session) Root() Root  { return Root{KindUser, s.UserID} }
func (r *Reward) Root() Root   { return Root{KindUser, r.UserID} }
func (a *Album) Root() Root    { return Root{KindAlbum, a.ID} }
func (e *Entry) Root() Root    { return Root{KindEntry, e.ID} }
func (l *Landmark) Root() Root { return Root{KindLandmark, l.ID} }
func (p *Photo) Root() Root    { return parent(p.AlbumID, "", p.LandmarkID) }
func (c *Comment) Root() Root  { return parent(c.AlbumID, c.EntryID, c.LandmarkID) }
func (b *Ballot) Root() Root   { return Root{KindEntry, b.EntryID} }
func (r *Recommendation) Root() Root {
	return parent(r.AlbumID, r.EntryID, r.LandmarkID)
}

// Root returns nothing: an end hangs on no record.
func (*End) Root() Root { return Root{} }

// parent returns the first of a child's parents. A valid child has one.
func parent(album, entry, landmark ID) Root {
	switch {
	case album != "":
		return Root{KindAlbum, album}
	case entry != "":
		return Root{KindEntry, entry}
	case landmark != "":
		return Root{KindLandmark, landmark}
	}
	return Root{}
}

// Position is the place of a record: the file's position in the command, from 0, and the line from 1.
type Position struct {
	File int
	Line int64
}

// Before orders positions.
func (p Position) Before(other Position) bool {
	return p.File < other.File || p.File == other.File && p.Line < other.Line
}

// Writer writes records.
type Writer struct {
	out  io.Writer
	line bytes.Buffer
	end  End
}

// NewWriter returns a Writer.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes a record as a line.
func (w *Writer) Write(record Record) error {
	w.line.Reset()
	fmt.Fprintf(&w.line, `{"kind":%q`, record.Kind())
	begin := w.line.Len()
	encoder := json.NewEncoder(&w.line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return err
	}
	line := w.line.Bytes()
	line[begin] = ',' // the object's own brace gives way to the kind
	if line[begin+1] == '}' {
		line = slices.Delete(line, begin, begin+1) // it has no fields
	}
	*w.end.number(record.Kind())++
	_, err := w.out.Write(line)
	return err
}

// End writes how many records were written.
func (w *Writer) End() error { return w.Write(&w.end) }
