package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// maxArchived bounds the bytes of one entry of an archive, its reply included.
const maxArchived = 64 << 20

// archive reads an HTTP archive, entry by entry.
type archive struct {
	decoder *json.Decoder
	bounded *boundedReader
	number  int
	isOpen  bool
}

// newArchive returns an archive of which an entry has at most limit bytes.
func newArchive(source io.Reader, limit int) *archive {
	bounded := &boundedReader{source, limit, limit}
	return &archive{decoder: json.NewDecoder(bounded), bounded: bounded}
}

// boundedReader fails when more than left bytes are read, of limit for an entry.
type boundedReader struct {
	io.Reader
	limit, left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("an entry of the archive has more than %d bytes", b.limit)
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// next returns the next request.
func (a *archive) next() ([]entry, error) {
	if !a.isOpen {
		if err := a.open(); err != nil {
			return nil, err
		}
		a.isOpen = true
	}
	a.bounded.left = a.bounded.limit
	if !a.decoder.More() {
		return nil, io.EOF
	}
	var archived struct {
		Request struct {
			Method, URL string
			Headers     []struct{ Name, Value string }
			PostData    struct {
				MimeType, Text string
				Params         []struct{ Name, Value string }
			}
		}
	}
	if err := a.decoder.Decode(&archived); err != nil {
		return nil, fmt.Errorf("entry %d: %w", a.number+1, err)
	}
	a.number++
	request := archived.Request
	read := entry{
		place: fmt.Sprintf("entry %d", a.number), method: request.Method, target: request.URL,
		body: request.PostData.Text, contentType: request.PostData.MimeType,
	}
	for _, header := range request.Headers {
		if strings.EqualFold(header.Name, "Cookie") {
			read.cookie = header.Value
		}
	}
	if read.body == "" && len(request.PostData.Params) > 0 {
		// The values of an archive are those that its form shows, before they are encoded.
		var pairs []string
		for _, each := range request.PostData.Params {
			pairs = append(pairs, url.QueryEscape(each.Name)+"="+url.QueryEscape(each.Value))
		}
		read.body, read.contentType = strings.Join(pairs, "&"), "application/x-www-form-urlencoded"
	}
	return []entry{read}, nil
}

// open reads up to the first entry.
func (a *archive) open() error {
	noArchive := errors.New("the file is not an HTTP archive: it has no log.entries")
	for _, name := range []string{"log", "entries"} {
		if token, err := a.decoder.Token(); err != nil || token != json.Delim('{') {
			return errors.Join(noArchive, err)
		}
		for {
			token, err := a.decoder.Token()
			if err != nil || token == json.Delim('}') {
				return errors.Join(noArchive, err)
			}
			if token == name {
				break
			}
			var skipped json.RawMessage
			if err := a.decoder.Decode(&skipped); err != nil {
				return err
			}
		}
	}
	if token, err := a.decoder.Token(); err != nil || token != json.Delim('[') {
		return errors.Join(noArchive, err)
	}
	return nil
}
