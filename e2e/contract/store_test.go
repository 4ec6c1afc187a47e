package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/contract/casefile"
)

// Rules 3.6 and 3.12 are visible only in the store, not in any reply.

func TestOnlyTheSHA256OfASessionSecretIsStored(t *testing.T) {
	data := t.TempDir()
	p := newPlayer(t, startAssembly(t, "-data", data))
	p.play("user amy\n")
	token := p.variables[secretOf("amy")]
	secret, err := hex.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token))
	stored := readFiles(t, data)
	if bytes.Contains(stored, []byte(token)) || bytes.Contains(stored, secret) {
		t.Error("the secret is in the store")
	}
	if !bytes.Contains(stored, sum[:]) && !bytes.Contains(stored, []byte(hex.EncodeToString(sum[:]))) {
		t.Error("the SHA-256 of the secret is not in the store; this test reads the wrong place")
	}
}

func TestReadingStoresNothing(t *testing.T) {
	data := t.TempDir()
	p := newPlayer(t, startAssembly(t, "-data", data))
	p.play(`user amy
POST as amy
  func=addAlbum
  albumTitle=a
  category=1
  lat=1
  lng=2
reply
  <response><status>SUCCESS</status><albumID>{album}</albumID></response>
`)
	before := readFiles(t, data)
	p.play(`each cookie
  -
  id=1; idrand=00000000000000000000000000000000
GET
  func=getUserAlbumList
  userID={amy}
headers
  Cookie: {cookie}
reply
  <response><status>SUCCESS</status><albumList><album1><albumID>{album}</albumID><albumTitle>a</albumTitle></album1></albumList></response>
GET
  func=getCategoryPOIList
  category=1
headers
  Cookie: {cookie}
reply
  <response><status>SUCCESS</status><POIList></POIList></response>
GET
  func=getBlog
  blogID=1
headers
  Cookie: {cookie}
reply BLOG_NOT_FOUND
  <response><status>FAILED</status><info>BLOG NOT FOUND</info></response>
POST
  func=addAlbum
headers
  Cookie: {cookie}
reply LOGIN_REQUIRED
  <response><status>FAILED</status><info>LOGIN REQUIRED</info></response>
end
`)
	if !bytes.Equal(before, readFiles(t, data)) {
		t.Error("the store changed")
	}
}

// play runs further steps of the same case.
func (p *player) play(steps string) {
	p.t.Helper()
	parsed, err := casefile.Parse(p.t.Name(), "Steps (rules 3.6 and 3.12)\n"+steps)
	if err != nil {
		p.t.Fatal(err)
	}
	p.played = parsed
	p.take(parsed.Steps, "")
}

// readFiles returns the contents of all files below a directory.
func readFiles(t *testing.T, directory string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, content...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
