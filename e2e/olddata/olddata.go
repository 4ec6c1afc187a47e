// Package olddata makes the data of an old service in the format of docs/moving-in.md: always the same data for the same
// sizes, in the order that an import wants. It has identifiers with gaps, some of which are texts, comments of people without
// accounts, and unlikely texts.
package olddata

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// Sizes say how many things there are. Of photos and comments, there are a thousand more under each thousandth parent.
type Sizes struct{ Users, Albums, Photos, Comments, Entries, Landmarks int }

// Years returns the sizes of a part of a service that ran for years, and has four million records.
func Years(part float64) (s Sizes) {
	for size, count := range map[*int]float64{
		&s.Users: 20_000, &s.Albums: 200_000, &s.Photos: 850_000, &s.Comments: 1_720_000, &s.Entries: 100_000, &s.Landmarks: 20_000,
	} {
		*size = max(2, int(part*count))
	}
	return s
}

// Write writes the data to a file in a folder, compressed by zstd, and returns its path.
func (s Sizes) Write(folder string) (path string, err error) {
	path = filepath.Join(folder, "old.ndjson.zst")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	packed, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	out, counts, line := bufio.NewWriterSize(packed, 1<<16), map[format.Kind]int64{}, []byte(nil)
	for kind, record := range s.records {
		counts[kind]++
		line = format.Encode(line[:0], record)
		_, _ = out.Write(line) // Flush has the error
	}
	_, _ = out.Write(format.EncodeEnd(nil, counts))
	return path, errors.Join(out.Flush(), packed.Close(), file.Close())
}

// WritePhotos writes the files that the addresses of some photos name, one of a number each, below a folder. All have the
// same picture.
func (s Sizes) WritePhotos(folder string, picture []byte, oneOf int) error {
	photos := 0
	for _, record := range s.records {
		if record.GetPhoto() == nil {
			continue
		}
		if photos++; photos%oneOf > 0 {
			continue
		}
		path := filepath.Join(folder, record.GetPhoto().GetUrl())
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, picture, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// Requests returns a read of each user, album, entry and landmark, as waybookctl compare takes them.
func (s Sizes) Requests() string {
	var text strings.Builder
	for n := range s.Users {
		fmt.Fprintf(&text, "func=getUserAlbumList&userID=%d\nfunc=getUserBlogList&userID=%d\n", number(n), number(n))
	}
	for kind, count := range []int{s.Albums, s.Entries, s.Landmarks} {
		for n := range count {
			query := []string{"func=getAlbum&albumID=", "func=getBlog&blogID=", "func=getPOI&POIID="}[kind]
			text.WriteString(query + id(contents()[kind], n) + "\n")
		}
	}
	return text.String()
}

// records makes all records.
func (s Sizes) records(yield func(format.Kind, *moveinv1.Record) bool) {
	fields, isGoing := (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields(), true
	put := func(content proto.Message) {
		for i := range fields.Len() {
			if field := fields.Get(i); isGoing && field.Message() == content.ProtoReflect().Descriptor() {
				record := &moveinv1.Record{}
				record.ProtoReflect().Set(field, protoreflect.ValueOfMessage(content.ProtoReflect()))
				isGoing = yield(format.Kind(field.Name()), record)
			}
		}
	}
	for n := range s.Users {
		put(user(n))
		put(&moveinv1.Session{UserId: number(n), Idrand: fmt.Sprintf("%032x", n), ExpireTime: moment(2*s.Users+n, s.Users)})
		put(&moveinv1.Reward{Id: id(format.KindReward, n), UserId: number(n), Amount: 10})
	}
	for n := range s.Albums {
		put(s.album(n))
	}
	for n := range s.Landmarks {
		put(s.landmark(n))
	}
	for n := range s.Entries {
		put(s.entry(n))
	}
	s.children(s.Albums, s.Photos, func(parent, child int) { put(photo(parent, child)) })
	for kind, parents := range []int{s.Albums, s.Entries, s.Landmarks} {
		s.children(parents, s.Comments*(13-6*kind)/20, func(parent, child int) { put(s.comment(kind, parent, child)) })
	}
	for n := range s.Entries {
		for choice, voter := range s.some(format.KindBallot, n) {
			put(&moveinv1.Ballot{EntryId: id(format.KindEntry, n), UserId: voter, Choice: int32(choice) + 1}) // #nosec G115 -- at most five
		}
	}
	for n := range s.Albums {
		of := &moveinv1.Recommendation_AlbumId{AlbumId: id(format.KindAlbum, n)}
		for _, user := range s.some(format.KindRecommendation, n) {
			put(&moveinv1.Recommendation{Parent: of, UserId: user})
		}
	}
}

// contents are the kinds of content, in the order of the functions above.
func contents() []format.Kind {
	return []format.Kind{format.KindAlbum, format.KindEntry, format.KindLandmark}
}

// children calls put for each child of each parent. One of a thousand parents has many. The numbers of children tell when they
// came: those of all parents are mixed.
func (s Sizes) children(count, of int, put func(parent, child int)) {
	for parent := range count {
		n := dice("children", parent).IntN(2*of/count + 1)
		if parent%1000 == 1 {
			n += 1000
		}
		for k := range min(n, of) {
			put(parent, k*count+parent)
		}
	}
}
