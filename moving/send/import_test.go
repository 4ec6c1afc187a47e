package send

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/moving/movefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// userService stores users and counts how often. Other methods than this fail.
type userService struct {
	accountv1.AccountServiceClient
	stored map[int64]bool
	count  int
}

func (s *userService) MoveInUsers(_ context.Context, request *accountv1.MoveInUsersRequest, _ ...grpc.CallOption) (*accountv1.MoveInUsersResponse, error) {
	reply := &accountv1.MoveInUsersResponse{}
	for _, each := range request.GetUsers() {
		result := &typev1.MoveResult{Outcome: typev1.MoveOutcome_MOVE_OUTCOME_CREATED}
		if s.stored[each.GetUserId()] {
			result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED
		}
		if reply.Results = append(reply.Results, result); !request.GetOptions().GetValidateOnly() {
			s.stored[each.GetUserId()] = true
			s.count++
		}
	}
	return reply, nil
}

// albumService refuses the albums of users who are not stored, and fails at one album. It keeps the last one.
type albumService struct {
	albumv1.AlbumServiceClient
	users  *userService
	broken string
	last   *albumv1.MovedAlbum
	// outcomes are those of the parts of an album; CREATED for further ones.
	outcomes []typev1.MoveOutcome
}

func (s *albumService) MoveInAlbums(_ context.Context, request *albumv1.MoveInAlbumsRequest, _ ...grpc.CallOption) (*albumv1.MoveInAlbumsResponse, error) {
	reply := &albumv1.MoveInAlbumsResponse{}
	for _, each := range request.GetAlbums() {
		if each.GetOldId() == s.broken {
			return nil, errors.New("the service has died")
		}
		result := &typev1.MoveResult{Outcome: typev1.MoveOutcome_MOVE_OUTCOME_CREATED}
		s.last = each
		if n := int(each.GetPart()); n < len(s.outcomes) {
			result.Outcome = s.outcomes[n]
		}
		if !s.users.stored[each.GetOwnerId()] {
			result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
			result.Problems = []*typev1.MoveProblem{{Reason: "USER_NOT_FOUND"}}
		}
		reply.Results = append(reply.Results, result)
	}
	return reply, nil
}

// newMove returns services without users, and the import of the albums 1 of a user who is left out and 4096 of another
// one, which are sent in this order.
func newMove(t *testing.T) (*albumService, Services, ImportOptions) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(file, []byte(anna+`{"kind":"user","id":2,"name":""}
{"kind":"album","id":1,"owner_id":2,"title":"x","category":1,"lat":1,"lng":2,"create_time":1}
{"kind":"album","id":4096,"owner_id":1,"title":"x","category":1,"lat":1,"lng":2,"create_time":1}
{"kind":"end","user":2,"album":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	users := &userService{stored: map[int64]bool{}}
	albums := &albumService{users: users}
	return albums, Services{Account: users, Album: albums}, ImportOptions{Input: Input{Folder: filepath.Join(t.TempDir(), "journal"), Files: []string{file}, Zone: time.UTC}}
}

func TestAnImportGoesOnBesideContentThatWasRefusedForItsOwner(t *testing.T) {
	albums, services, options := newMove(t)
	albums.broken = "4096"
	if _, err := Import(t.Context(), services, options, new(notes)); err == nil {
		t.Fatal("the import ends beside a service that has died")
	}
	albums.broken = ""
	summary, err := Import(t.Context(), services, options, new(notes))
	if err != nil {
		t.Fatal(err)
	}
	if got := summary.Outcomes[movefile.KindAlbum]; got[Created] != 1 || got[Refused] != 1 || albums.users.count != 1 {
		t.Errorf("the albums are %v, and %d users were stored", got, albums.users.count)
	}
}

func TestADryRunSaysWhatTheImportDoesWithContentOfUsersWhoAreLeftOut(t *testing.T) {
	_, services, options := newMove(t)
	for _, isDry := range []bool{true, false} {
		if options.DryRun = isDry; isDry {
			options.Input.Folder = t.TempDir()
		} else {
			options.Input.Folder = filepath.Join(t.TempDir(), "journal")
		}
		summary, err := Import(t.Context(), services, options, new(notes))
		if err != nil {
			t.Fatal(err)
		}
		if got := summary.Outcomes[movefile.KindAlbum]; got[Created] != 1 || got[Refused] != 1 || summary.RefusalCount != 1 {
			t.Errorf("dry: %t; the albums are %v with %d refusals", isDry, got, summary.RefusalCount)
		}
	}
}

func TestTheLastPartOfAnAlbumSaysWhatItKeeps(t *testing.T) {
	const unchanged, changed = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED, typev1.MoveOutcome_MOVE_OUTCOME_UPDATED
	for name, c := range map[string]struct {
		idBytes, kept int
		outcomes      []typev1.MoveOutcome
		want          Outcomes
		refusals      int64
	}{
		"as it is":        {10, maxPartChildren, []typev1.MoveOutcome{unchanged, unchanged}, Outcomes{Unchanged: 1}, 0},
		"changed in one":  {10, maxPartChildren, []typev1.MoveOutcome{changed, unchanged}, Outcomes{Updated: 1}, 0},
		"beyond a limit":  {100, 0, slices.Repeat([]typev1.MoveOutcome{unchanged}, 6), Outcomes{Unchanged: 1}, 1},
		"new beyond that": {100, 0, nil, Outcomes{Created: 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			albums, services, options := newMove(t)
			var lines strings.Builder
			lines.WriteString(anna + `{"kind":"album","id":1,"owner_id":1,"title":"x","category":1,"lat":1,"lng":2,"create_time":1}` + "\n")
			count := maxPartChildren + 1
			if c.idBytes > 10 {
				count = maxBeforeBytes/c.idBytes + maxPartChildren
			}
			for n := range count {
				fmt.Fprintf(&lines, `{"kind":"photo","id":"x%0*d","album_id":1,"url":"x"}`+"\n", c.idBytes-1, n)
			}
			fmt.Fprintf(&lines, `{"kind":"end","user":1,"album":1,"photo":%d}`, count)
			if err := os.WriteFile(options.Input.Files[0], []byte(lines.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			albums.outcomes, options.Update = c.outcomes, true
			summary, err := Import(t.Context(), services, options, new(notes))
			if err != nil {
				t.Fatal(err)
			}
			if got := summary.Outcomes[movefile.KindAlbum]; got != c.want || summary.RefusalCount != c.refusals || len(albums.last.GetBefore().GetPhotoOldIds()) != c.kept {
				t.Errorf("the outcomes are %v with %d refusals, and %d photos are kept", got, summary.RefusalCount, len(albums.last.GetBefore().GetPhotoOldIds()))
			}
		})
	}
}

// Otherwise, content of the second one would be refused.
func TestTwoUsersWithAnEmailAddressAreNoDuplicates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(file, []byte(`{"kind":"user","id":1,"name":"x","email":"a@old.example"}
{"kind":"user","id":2,"name":"x","email":"A@old.example"}
{"kind":"user","id":1,"name":"x","email":"a@old.example"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Check(t.Context(), Input{Folder: t.TempDir(), Files: []string{file}, Zone: time.UTC, Allowed: movefile.Allowed{movefile.Duplicates}}, new(notes))
	if err != nil {
		t.Fatal(err)
	}
	if groups := found.Sorted(); found.Problems() != 1 || groups[0].Class != movefile.Duplicate || groups[0].First[0].At.Line != 2 || !groups[1].IsAllowed {
		t.Errorf("%d problems", found.Problems())
	}
}
