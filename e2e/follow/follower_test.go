package follow

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The environment of a follower: the addresses of the service, and its journal.
const (
	followVariable  = "WAYBOOK_TEST_FOLLOW"
	journalVariable = "WAYBOOK_TEST_JOURNAL"
)

// copied is an album as a follower has it.
type copied struct {
	Title    string           `json:"title"`
	Score    int64            `json:"score"`
	Photos   map[int64]string `json:"photos"`
	Comments map[int64]string `json:"comments"`
	// PhotosAt and CommentsAt are the revisions of these parts.
	PhotosAt   int64 `json:"photos_at"`
	CommentsAt int64 `json:"comments_at"`
}

// line is a line of a journal: an album, which is nil if it is deleted, or a token.
type line struct {
	ID    int64   `json:"id,omitempty"`
	Album *copied `json:"album,omitempty"`
	Token string  `json:"token,omitempty"`
}

// replay reads a journal. Its last line may be torn.
func replay(path string) (albums map[int64]copied, token string, err error) {
	albums = map[int64]copied{}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return albums, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		text, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return albums, token, nil
		}
		if err != nil {
			return nil, "", err
		}
		var each line
		if json.Unmarshal([]byte(text), &each) != nil {
			continue // torn by a kill, and continued by the next follower
		}
		switch {
		case each.Token != "":
			token = each.Token
		case each.Album == nil:
			delete(albums, each.ID)
		default:
			albums[each.ID] = *each.Album
		}
	}
}

// tokenStored is what a follower prints when it has stored a token.
const tokenStored = "token stored"

// follow is the program of a follower. It prints the titles of the albums that it stores. It ends when
// its standard input does.
func follow(addresses, journal string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	all := strings.Split(addresses, ",")
	connection, err := grpc.NewClient(all[rand.IntN(len(all))], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	f, err := resume(journal)
	if err != nil {
		log.Fatal(err)
	}
	f.client = albumv1.NewAlbumServiceClient(connection)
	for {
		err := f.step(context.Background())
		if status.Code(err) == codes.FailedPrecondition {
			log.Print(err) // START_ANEW
			err = f.startAnew()
		}
		// While the store has no primary, it calls again.
		if err != nil && status.Code(err) != codes.Unavailable {
			log.Fatal(err)
		}
	}
}

type follower struct {
	client  albumv1.AlbumServiceClient
	albums  map[int64]copied
	token   string
	file    *os.File
	journal *json.Encoder
}

// resume returns the follower of a journal. Without a token it starts anew.
func resume(journal string) (*follower, error) {
	albums, token, err := replay(journal)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	f := &follower{albums: albums, token: token, file: file, journal: json.NewEncoder(file)}
	if token == "" {
		return f, f.startAnew()
	}
	_, err = fmt.Fprintln(file) // behind a torn line
	return f, err
}

// startAnew begins at nothing, with an empty journal: nobody says which albums were deleted before.
func (f *follower) startAnew() error {
	clear(f.albums)
	f.token = ""
	return f.file.Truncate(0)
}

// step stores a page of changes, or what a stream sends before it ends.
func (f *follower) step(ctx context.Context) error {
	if rand.IntN(2) == 0 {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		page, err := f.client.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{
			PageToken: f.token, PageSize: 1 + rand.Int32N(100), IncludeAlbum: true,
		})
		if err != nil {
			return err
		}
		return f.store(ctx, page.GetChanges(), page.GetNextPageToken())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := f.client.WatchAlbumChanges(ctx, &albumv1.WatchAlbumChangesRequest{PageToken: f.token, IncludeAlbum: true})
	if err != nil {
		return err
	}
	for range 3 {
		batch, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := f.store(ctx, batch.GetChanges(), batch.GetNextPageToken()); err != nil {
			return err
		}
	}
	return nil
}

// store stores changes one by one, and then the token.
func (f *follower) store(ctx context.Context, changes []*albumv1.AlbumChange, token string) error {
	for _, change := range changes {
		each := line{ID: change.GetAlbumId()}
		if change.GetKind() != typev1.ChangeKind_CHANGE_KIND_DELETED {
			album, isThere, err := f.read(ctx, change)
			if err != nil {
				return err
			}
			if !isThere {
				continue // the deletion follows
			}
			each.Album = &album
			f.albums[each.ID] = album
		} else {
			delete(f.albums, each.ID)
		}
		if err := f.journal.Encode(each); err != nil {
			return err
		}
		fmt.Println(change.GetAlbum().GetTitle())
	}
	f.token = token
	err := f.journal.Encode(line{Token: token})
	fmt.Println(tokenStored)
	return err
}

// read returns a changed album. It reads photos and comments only if they are said to have changed.
func (f *follower) read(ctx context.Context, change *albumv1.AlbumChange) (album copied, isThere bool, err error) {
	parts, had := change.GetParts(), f.albums[change.GetAlbumId()]
	album = copied{
		Title: change.GetAlbum().GetTitle(), Score: change.GetAlbum().GetScore(), Photos: had.Photos, Comments: had.Comments,
		PhotosAt: parts.GetPhotos(), CommentsAt: parts.GetComments(),
	}
	if album.PhotosAt == had.PhotosAt && album.CommentsAt == had.CommentsAt {
		return album, true, nil
	}
	found, err := f.client.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: change.GetAlbumId()})
	if status.Code(err) == codes.NotFound {
		return album, false, nil
	}
	album.Photos, album.Comments = childrenOf(found)
	return album, true, err
}

// childrenOf returns the photos and comments of an album.
func childrenOf(found *albumv1.GetAlbumResponse) (photos, comments map[int64]string) {
	for _, each := range found.GetPhotos() {
		if photos == nil {
			photos = map[int64]string{}
		}
		photos[each.GetPhotoId()] = each.GetDescription()
	}
	for _, each := range found.GetComments() {
		if comments == nil {
			comments = map[int64]string{}
		}
		comments[each.GetCommentId()] = each.GetText() + each.GetReply().GetText()
	}
	return photos, comments
}
