package form

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/failure"
)

// part returns one part of a multipart body, as curl and PHP write it.
func part(headers, value string) string { return "--b\r\n" + headers + "\r\n\r\n" + value + "\r\n" }

// named returns the header of a part with a name.
func named(name string) string { return `Content-Disposition: form-data; name="` + name + `"` }

// parseMultipart adds the parameters of a body that has no file.
func (f *Form) parseMultipart(body, boundary string, charset Charset) error {
	multi, err := NewMultipart(strings.NewReader(body), boundary, charset)
	if err != nil {
		return err
	}
	file, err := multi.ReadFields(f)
	if file != nil {
		return file.NotAccepted()
	}
	return err
}

func TestABoundaryHasAtMost70Characters(t *testing.T) {
	for boundary, accepted := range map[string]bool{"": false, "b": true, strings.Repeat("b", 70): true, strings.Repeat("b", 71): false} {
		body := strings.ReplaceAll(part(named("a"), "1")+"--b--\r\n", "--b", "--"+boundary)
		if err := new(Form).parseMultipart(body, boundary, UTF8); (err == nil) != accepted {
			t.Errorf("%d characters: %v", len(boundary), err)
		}
	}
}

func TestAMultipartBodyThatIsNoFormIsRefused(t *testing.T) {
	const end, latin1 = "--b--\r\n", "\r\nContent-Type: text/plain; charset=ISO-8859-1"
	for _, c := range []struct{ name, body, boundary, info string }{
		{"a file", part(named("a")+`; filename="x.jpg"`, "1") + end, "b", "FILE NOT ACCEPTED: a"},
		{"no file chosen", part(named("a")+`; filename=""`, "") + end, "b", "FILE NOT ACCEPTED: a"},
		{"a file with an encoded name", part(named("相")+`; filename*=utf-8''x`, "1") + end, "b", "FILE NOT ACCEPTED: ???"},
		{"a file whose name is at the bounds of what is shown", part(named("! ~")+`; filename=x`, "1") + end, "b", "FILE NOT ACCEPTED: !?~"},
		{"no boundary", part(named("a"), "1") + end, "", "INVALID MULTIPART"},
		{"another boundary", part(named("a"), "1") + end, "c", "INVALID MULTIPART"},
		{"no end", part(named("a"), "1"), "b", "INVALID MULTIPART"},
		{"no end of a part", "--b\r\n" + named("a") + "\r\n\r\n1", "b", "INVALID MULTIPART"},
		{"a header without end", "--b\r\n" + named("a"), "b", "INVALID MULTIPART"},
		{"no name", part("Content-Disposition: form-data", "1") + end, "b", "INVALID MULTIPART"},
		{"no disposition", part("Content-Type: text/plain", "1") + end, "b", "INVALID MULTIPART"},
		{"another disposition", part(`Content-Disposition: attachment; name="a"`, "1") + end, "b", "INVALID MULTIPART"},
		{"two names", part(named("a")+`; name="b"`, "1") + end, "b", "INVALID MULTIPART"},
		{"base64", part(named("a")+"\r\nContent-Transfer-Encoding: base64", "MQ==") + end, "b", "INVALID MULTIPART"},
		{"base64 in a second line", part(named("a")+"\r\nContent-Transfer-Encoding: 8bit\r\nContent-Transfer-Encoding: Base64", "MQ==") + end, "b", "INVALID MULTIPART"},
		{"quoted-printable", part(named("a")+"\r\nContent-Transfer-Encoding: quoted-printable", "=31") + end, "b", "INVALID MULTIPART"},
		{"a compressed part", part(named("a")+latin1+"\r\nContent-Encoding: gzip", "\x1f\x8b") + end, "b", "INVALID MULTIPART"},
		{"too many parts", strings.Repeat(part(named("a"), "1"), MaxParameters+1) + end, "b", "TOO MANY PARAMETERS"},
	} {
		var f Form
		err := f.parseMultipart(c.body, c.boundary, UTF8)
		var failed *failure.Failure
		if !errors.As(err, &failed) || failed.Info != c.info {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What mime/multipart writes is read back the same, in any charset and by any name.
func FuzzAMultipartFormReadsBackTheSame(f *testing.F) {
	f.Add("albumTitle", "台北\r\n--b--", "\xa5x", "big5")
	f.Add("a\"\\b", "1+%41&b=2", "", "iso-8859-1")
	f.Add("相簿", "\x00", "\xff", "utf-8\r\nX: y")
	f.Fuzz(func(t *testing.T, name, first, second, charset string) {
		var body bytes.Buffer
		writer := multipart.NewWriter(&body)
		if err := writer.WriteField(name, first); err != nil {
			t.Fatal(err)
		}
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="last"`}}
		isPlain := !strings.ContainsFunc(charset, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?=*'%`, r) })
		if isPlain && charset != "" {
			header["Content-Type"] = []string{"text/plain; charset=" + charset}
		}
		last, err := writer.CreatePart(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := last.Write([]byte(second)); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		var form Form
		if err := form.parseMultipart(body.String(), writer.Boundary(), UTF8); err != nil {
			if !isASCII(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				return // a name that a header cannot carry
			}
			t.Fatalf("%q: %v", body.String(), err)
		}
		sent := form.Effective()
		if len(sent) == 0 || sent[0] != (Pair{"last", second}) || name != "last" && sent[1].Value != first {
			t.Fatalf("%q was read as %q", body.String(), sent)
		}
		if _, known := CharsetNamed(charset); isPlain && charset != "" && !known {
			if _, found := form.Get("last"); found != Unreadable {
				t.Fatalf("a value in %q is read: %v", charset, found)
			}
		}
	})
}

// Any bytes are a form within the limits, or a failure that the client sees.
func FuzzAMultipartBodyIsAFormOrAFailure(f *testing.F) {
	f.Add(part(named("a"), "1")+"--b--", "b")
	f.Add(part(named("a")+`; filename="x"`, "1")+"--b--", "b")
	f.Add(part(named("a")+`; filename="x"`, "1")+part(named("b"), "2")+"--b--", "b")
	f.Add("--b\nContent-Disposition: form-data; name=a\n\n1\n--b--", "b")
	f.Add("preamble\r\n--b \t\r\n\r\n\r\n--b\r\n", "b")
	f.Fuzz(func(t *testing.T, body, boundary string) {
		var form Form
		multi, err := NewMultipart(strings.NewReader(body), boundary, UTF8)
		var file *File
		if err == nil {
			file, err = multi.ReadFields(&form)
		}
		size := 0
		if file != nil {
			content, _ := io.ReadAll(file) // it may end early
			size = len(content)
			err = multi.ReadEnd()
		}
		var failed *failure.Failure
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		for _, each := range form.parameters {
			size += len(each.Name) + len(each.Value)
		}
		if len(form.parameters) > MaxParameters || size > len(body) {
			t.Fatalf("%d parameters of %d bytes from %d bytes", len(form.parameters), size, len(body))
		}
	})
}
