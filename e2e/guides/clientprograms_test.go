package guides_test

import (
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/chromium"
	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
)

// clientsPage names the programs in clientsFolder.
const (
	clientsPage   = examples.Docs + "clients.md"
	clientsFolder = "../../examples/clients"
)

// programs returns the text of each program by the name of its file.
func programs() (map[string]string, error) {
	files, err := os.ReadDir(clientsFolder)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(clientsPage)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(clientsFolder, file.Name()))
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(page), "(../examples/clients/"+file.Name()+")") {
			return nil, fmt.Errorf("%s does not name %s", clientsPage, file.Name())
		}
		found[file.Name()] = string(text)
	}
	return found, nil
}

// runs says how to run the programs, but for page.js, which a browser runs. FILE
// stands for the program's file, FOLDER for an empty directory. The address and the password follow.
var runs = map[string]struct {
	needs   []library
	command string
}{
	"curl.php":              {[]library{phpCurl, phpXML}, "php FILE"},
	"streams.php":           {[]library{phpXML}, "php FILE"},
	"ConnectionClient.java": {[]library{java}, "java -cp CLASSPATH ConnectionClient"},
	"ApacheClient.java":     {[]library{java, apache}, "java -cp CLASSPATH ApacheClient"},
	"client.py":             {[]library{python}, "python3 FILE"},
	"Program.cs":            {[]library{dotnet}, "dotnet run --project FOLDER/client --"},
	"client.pl":             {[]library{lwp, perlXML}, "perl FILE"},
	"client.tcl":            {[]library{tcl, tdom}, "tclsh -encoding utf-8 FILE"},
	"client.sh":             {[]library{curl}, "sh FILE"},
	"upload.php":            {[]library{phpCurl, phpXML}, "php FILE"},
	"upload.py":             {[]library{python}, "python3 FILE"},
	"upload.sh":             {[]library{curl}, "sh FILE"},
	"Upload.java":           {[]library{java}, "java -cp CLASSPATH Upload"},
}

// printed matches what each program prints, and thumbnail what one prints that sends a photo.
var (
	printed   = regexp.MustCompile(`^([0-9]{13,16}) 台北一日$`)
	thumbnail = regexp.MustCompile(`^upload/album/[0-9]{13,16}/[0-9]{13,16}-thumb\.jpg$`)
)

func TestThePrograms(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	all, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	classes := filepath.Join(t.TempDir(), "classes")
	if err := compileJava(all, classes); err != nil {
		t.Fatal(err)
	}
	origin := servePage(t)
	otherSite := strings.Replace(origin, "127.0.0.1", "localhost", 1)
	p := start(t, "-trusted-origins", origin+","+otherSite)
	address := "http://" + p.HTTP + "/API.php"
	secret, err := os.ReadFile(filepath.Join(p.Data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	password := strings.TrimSpace(string(secret))
	expect := func(t *testing.T, output string) {
		t.Helper()
		found := printed.FindStringSubmatch(strings.TrimSpace(output))
		if found == nil {
			t.Fatalf("it prints\n%s", output)
		}
		if stored := waybooktest.ClientAt(t, p.HTTP).Get("func=getAlbum&albumID=" + found[1]); stored.Text("albumTitle") != "台北一日" {
			t.Errorf("stored: %s", stored.Body)
		}
	}
	for name, text := range all {
		if name == "page.js" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			how, isKnown := runs[name]
			if !isKnown {
				t.Fatal("no test runs it")
			}
			need(t, how.needs)
			folder := t.TempDir()
			file := filepath.Join(folder, name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "Program.cs" {
				makeProject(t, filepath.Join(folder, "client"), file)
			}
			args := strings.Fields(strings.NewReplacer("FILE", file, "FOLDER", folder, "CLASSPATH", classes+":"+apacheJars).Replace(how.command))
			args = append(args, address, password)
			isUpload := strings.HasPrefix(strings.ToLower(name), "upload")
			if isUpload {
				args = append(args, picture(t))
			}
			command := exec.CommandContext(t.Context(), args[0], args[1:]...)
			command.Dir = folder
			command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if isUpload {
				expectPhoto(t, p.HTTP, strings.TrimSpace(string(output)))
				return
			}
			expect(t, string(output))
		})
	}
	t.Run("page.js", func(t *testing.T) {
		browser, end, err := chromium.Start(filepath.Join(t.TempDir(), "profile"))
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		if browser == nil {
			t.Skip("SKIPPED: Chromium is not installed, so this client was not run")
		}
		output, err := openPage(t, browser, origin).call(all["page.js"], "addAndRead", address, password)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, output)
		_, err = openPage(t, browser, otherSite).call(all["page.js"], "addAndRead", address, password)
		if err == nil || !strings.Contains(err.Error(), "LOGIN REQUIRED") {
			t.Errorf("on another site: %v", err)
		}
	})
	if len(all) != len(runs)+1 {
		t.Errorf("the folder has %d programs, and %d are run", len(all), len(runs)+1)
	}
}

// picture returns the path of a photo of about a megabyte.
func picture(t *testing.T) string {
	t.Helper()
	noise := image.NewGray(image.Rect(0, 0, 1200, 900))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "DSC_0001.JPG"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(jpeg.Encode(file, noise, &jpeg.Options{Quality: 95}), file.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// expectPhoto checks what a program prints that sends a photo, and that the photo is there.
func expectPhoto(t *testing.T, address, output string) {
	t.Helper()
	if !thumbnail.MatchString(output) {
		t.Fatalf("it prints\n%s", output)
	}
	client := waybooktest.ClientAt(t, address)
	client.URL = "http://" + address + "/" + output
	size, err := jpeg.DecodeConfig(strings.NewReader(client.Get("").Body))
	if err != nil || size.Width != 320 || size.Height != 240 {
		t.Errorf("%s: %v, %d by %d pixels", output, err, size.Width, size.Height)
	}
}

// makeProject makes a project of .NET from a program.
func makeProject(t *testing.T, folder, program string) {
	t.Helper()
	create := exec.CommandContext(t.Context(), "dotnet", "new", "console", "-o", folder)
	if output, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if err := os.Rename(program, filepath.Join(folder, "Program.cs")); err != nil {
		t.Fatal(err)
	}
}
