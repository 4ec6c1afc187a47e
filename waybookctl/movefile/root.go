package movefile

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
