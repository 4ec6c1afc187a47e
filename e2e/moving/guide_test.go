package moving_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
)

// guide returns the code blocks of docs/moving-in.md in a language.
func guide(t *testing.T, language string) (texts []string) {
	t.Helper()
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if block.Language == language {
			texts = append(texts, block.Text)
		}
	}
	return texts
}

// dump returns the dump of an old service, with bytes in Big5.
func dump(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/old.sql")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`\{big5:.*?\}`).ReplaceAllStringFunc(string(text), func(marked string) string {
		big5, err := traditionalchinese.Big5.NewEncoder().String(marked[len("{big5:") : len(marked)-1])
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(big5, `\`, `\\`)
	})
}

// startDatabase starts a MariaDB, and makes a folder with the programs of the guide: mysql connects to it, and mysqldump is a
// stand-in for that of an old server.
func startDatabase(t *testing.T) (programs string) {
	t.Helper()
	for _, each := range []string{"bash", "curl", "mariadbd", "mariadb-install-db", "mariadb"} {
		examples.Need(t, each)
	}
	folder := t.TempDir()
	data, socket := "--datadir="+filepath.Join(folder, "data"), "--socket="+filepath.Join(folder, "s")
	if output, err := exec.CommandContext(t.Context(), "mariadb-install-db", "--no-defaults", data, "--auth-root-authentication-method=normal").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	args := []string{"--no-defaults", data, socket, "--skip-networking", "--skip-grant-tables"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	launch.Begin(t, "mariadbd", nil, args...).AwaitLog("ready for connections")
	programs = t.TempDir()
	for name, text := range map[string]string{
		"mysql":     "#!/bin/sh\nexec mariadb --no-defaults " + socket + " \"$@\"\n",
		"mysqldump": "#!/bin/sh\ncat " + filepath.Join(programs, "dump") + "\n",
		"dump":      dump(t),
	} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(text), 0o700); err != nil { // #nosec G306 -- programs
			t.Fatal(err)
		}
	}
	for _, name := range []string{"standalone", "waybookctl"} {
		if err := os.Symlink(filepath.Join(binaries, name), filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	return programs
}

// What the data of testdata/old.sql becomes, with --repair: these reads have these parts.
var messy = map[string][]string{
	"func=getAlbum&albumID=5": {
		">東北角一日遊<", ">小旅人 &amp; co.<", "<lat>25.0113<", "<month>03</month><day>09<", "<score>2<", "<photo2>", "-thumb.jpg</thumbnail>", ">upload/5/32.jpg<", ">陰陽海<", "<time>2008-03-06 10:00:00<",
		"<commenterName>阿海<", ">謝謝<", "<commenterName>路人<", "<comment3><time>2008-03-07 11:00:00</time><commenterName><", ">of a user who is gone<",
		"<comment4><time>2008-03-05 09:07:31</time><commenterName>-<", ">" + strings.Repeat("長", 2000) + "<",
	},
	"func=getAlbum&albumID=12": {
		">陽明山的貓 &amp; 狗<", "<category>16<", "<lat>25.04<", "<year>2006</year><month>03</month><day>05<", "<score>0<", ">tab!<", "<comment1500>",
	},
	"func=getAlbum&albumID=13": {">" + strings.Repeat("長", 200) + "<", "<lat>0<", "<lng>0<", ">許功蓋先生<"},
	"func=getAlbum&albumID=14": {"FAILED"},
	"func=getBlog&blogID=7": {
		"好&lt;累&gt;!", ">雨過天晴<", "<choice1><description>阿里山</description><votes>0<", "<choice2><description>太魯閣</description><votes>3<", ">我投太魯閣!<",
	},
	"func=getBlog&blogID=8":              {">隔天<", "<year>2008</year><month>04</month><day>01<", ">晴空萬里<", "<replyBlogID>1", "<zoomLevel>9<", "<score>1<"},
	"func=getBlog&blogID=9":              {"<blogTitle>-<", ">我騎了一整天的車<", "<type>0_2<", "<zoomLevel>14<"},
	"func=getPOI&POIID=3":                {">中正紀念堂<", ">阿海<", ">http://images.example/poi/4.jpg<", ">夕陽<"},
	"func=getUserAlbumList&userID=7":     {"<album2>"},
	"func=getUserAlbumList&userID=11":    {"<albumList></albumList>"},
	"func=getCategoryPOIList&category=4": {">中正紀念堂<"},
}

// mended are how often each repair mends testdata/old.sql.
const mended = "2 amount,1 author,3 big5,1 blanks,1 category,1 control-characters,1 duplicate-email,1 email,2 empty-text,1 entities,2 long-text,1 map,1 missing-author,1 missing-quote," +
	"7 number,2 password,2 position,1 post-date,5 time,1 type,21 utf8-as-latin1,1 vote,1 weather,"

// oldSite makes a folder with the picture of a photo, and with one that is broken.
func oldSite(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	whole := picture(t)
	for name, content := range map[string][]byte{"5/31.jpg": whole, "12/34.jpg": whole[:len(whole)/2]} {
		path := filepath.Join(folder, "upload", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// picture returns a small JPEG.
func picture(t *testing.T) []byte {
	t.Helper()
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	return encoded.Bytes()
}

// TestTheGuideOfAnEveningWorks runs the commands of docs/moving-in.md as they are. Only addresses are others: the old
// server is Waybook.
func TestTheGuideOfAnEveningWorks(t *testing.T) {
	t.Parallel()
	programs, folder, address := startDatabase(t), t.TempDir(), launch.Address(t)
	site := oldSite(t)
	place := strings.NewReplacer("/srv/old", site, "127.0.0.1:8080", address, "127.0.0.1:8081", launch.Address(t), "old.example", address)
	script := "trap 'kill $(jobs -p)' EXIT\n"
	for n, block := range guide(t, "sh") {
		script += fmt.Sprintf("echo '# block %d' >&2\n%s", n, place.Replace(block))
	}
	for _, verify := range []string{"", " --verify"} {
		script += "waybookctl move import old.ndjson --repair --photos " + site + verify + " || [ $? = 4 ]\n"
	}
	export, err := os.ReadFile("../../deploy/moving/export.sql")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "export.sql"), export, 0o600); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for query := range messy {
		queries = append(queries, query)
		script += "echo '# read'; curl -fsS 'http://" + address + "/API.php?" + query + "'\n"
	}
	for _, form := range []string{
		"-d 'func=login&email=traveller@old.example&password=password'", "-d 'func=login&email=wander@old.example&password=wander'",
		"-b 'id=7; idrand=0123456789abcdef0123456789abcdef' -d 'func=addComment&POIID=3&comment=here'",
	} {
		script += "echo '# read'; curl -fsS http://" + address + "/API.php " + form + "\n"
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir, shell.WaitDelay = folder, time.Minute
	shell.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "GORACE=atexit_sleep_ms=0")
	var output, notes strings.Builder
	shell.Stdout, shell.Stderr = &output, &notes
	if err := shell.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, output.String(), notes.String())
	}
	printed, replies, _ := strings.Cut(output.String(), "# read")
	inserts, verifies := "INSERTED UNCHANGED DIFFERENT DELETED REFUSED\n", "UNCHANGED ABSENT DIFFERENT DELETED REFUSED\n"
	for _, want := range []string{
		inserts + counts("%d 0 0 0 0") + "file 4 2 1 0 0 0 1\n", verifies + counts("%d 0 0 0 0") + "\n",
		inserts + counts("0 %d 0 0 0") + "file 4 2 0 1 0 0 1\n", verifies + counts("%d 0 0 0 0") + "file 4 2 1 1 0 0 0\n",
		"photo: 34: url: the photo is in Waybook without its file: PHOTO_DAMAGED", "photo: 4: url: the photo moves in without its file: ",
		"\nPROBLEMS CLASS\n9 dangling\n2 duplicate\n2 no-file\n1 wrong-type\n", "\nMENDED RULE\n" + strings.ReplaceAll(mended, ",", "\n"),
		"15 the same, 0 allowed, 0 different, 0 trouble\n",
	} {
		if !strings.Contains(words(printed), want) {
			t.Errorf("the commands did not print\n%s", want)
		}
	}
	for n, reply := range strings.Split(replies, "# read") {
		wanted := []string{"SUCCESS"}
		if n < len(queries) {
			wanted = messy[queries[n]]
		}
		for _, want := range wanted {
			if !strings.Contains(reply, want) {
				t.Errorf("reply %d has no %s:\n%s", n, want, reply)
			}
		}
		if strings.Contains(reply, "only one?") || strings.Contains(reply, "<photo3>") {
			t.Errorf("this was to be left out: %s", reply)
		}
	}
	if t.Failed() {
		t.Logf("%s%s", output.String(), notes.String())
	}
	// Without --repair, a record that breaks a rule is left out, and listed.
	old, problems := filepath.Join(folder, "old.ndjson"), filepath.Join(t.TempDir(), "problems")
	out := expectRun(t, 4, "move", "import", old, "--problems", problems, "--address", startOn(t, t.TempDir()).GRPC)
	if want := "user 7 5 2 0 0 0 0\nsession 3 2 1 0 0 0 0\nreward 3 2 1 0 0 0 0\nalbum 4 4 0 0 0 0 0\n"; !strings.Contains(out, want) {
		t.Error(out)
	}
	listed, err := os.ReadFile(problems)
	if err != nil || !strings.Contains(string(listed), `"kind":"album","id":"12","field":"category","class":"out-of-range","value":"0"`) {
		t.Errorf("%v: %s", err, listed)
	}
}

// counts returns the lines of a report about testdata/old.sql: what was read and left out, and the other columns of what was not.
func counts(format string) (text string) {
	for _, each := range []struct {
		kind          string
		read, leftOut int
	}{
		{"user", 7, 0}, {"session", 3, 2}, {"reward", 3, 1}, {"album", 4, 1}, {"entry", 3, 0}, {"landmark", 1, 0}, {"photo", 7, 3}, {"comment", 1506, 1}, {"ballot", 3, 2},
		{"recommendation", 3, 2},
	} {
		text += fmt.Sprintf("%s %d %d "+format+"\n", each.kind, each.read, each.leftOut, each.read-each.leftOut)
	}
	return text
}
