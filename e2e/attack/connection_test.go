package attack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// quiet is how long no byte comes before the replies are taken for complete, if there are
	// enough. patience bounds how long a connection lasts.
	quiet    = 20 * time.Millisecond
	patience = 10 * time.Second
)

// start starts a program on free TCP ports, with some albums.
func start(t *testing.T, flags ...string) (*launch.Process, albums) {
	t.Helper()
	p := launch.Start(t, standalone, t.TempDir(), append([]string{"-demo=false", "-pprof", "-access-log=false"}, flags...)...)
	connection := launch.Dial(t, p.GRPC)
	owner := launch.CreateUser(t, connection, "小旅人")
	made := albums{}
	for number := range 8 {
		album, err := albumv1.NewAlbumServiceClient(connection).CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: owner, Title: mark(number), Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121},
		})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, album.GetAlbum().GetAlbumId())
	}
	return p, made
}

func TestEachRequestOfTheHTTPPortGetsOneAnswerAndNoOtherBytesGetOne(t *testing.T) {
	p, made := start(t)
	attack(t, p, func(seed uint64) error { return exchange(p.HTTP, seed, made) })
}

func TestEachRequestOfTheAdminPortGetsOneAnswerAndNoOtherBytesGetOne(t *testing.T) {
	p, made := start(t)
	attack(t, p, func(seed uint64) error { return exchange(p.Admin, seed, made) })
}

// exchange sends the bytes of a seed to a port and judges the replies.
func exchange(address string, seed uint64, made albums) error {
	random := rand.New(rand.NewPCG(seed, 1))
	w := &writer{random: random, albums: made}
	stream := w.stream()
	received, end, err := converse(address, stream, paceOf(random, len(stream)), func(received []byte) bool {
		answers, _ := w.read(received)
		return len(answers) >= len(w.sent)
	})
	if err == nil {
		err = w.judge(received, end == byReset)
	}
	if err != nil {
		return fmt.Errorf("%w\nsent: %.3000q\nreceived: %.3000q", err, stream, received)
	}
	return nil
}

// pace is how bytes are sent: some parts of a size with pauses, and then the rest.
type pace struct {
	parts, size int
	pause       time.Duration
}

func paceOf(random *rand.Rand, length int) pace {
	if random.IntN(3) > 0 {
		return pace{}
	}
	return pace{1 + random.IntN(20), 1 + random.IntN(1+length/4), time.Duration(random.IntN(3)) * time.Millisecond}
}

func (p pace) send(to io.Writer, stream []byte) {
	for range p.parts {
		n := min(len(stream), p.size)
		if _, err := to.Write(stream[:n]); err != nil {
			return // who reads sees why
		}
		stream = stream[n:]
		time.Sleep(p.pause)
	}
	_, _ = to.Write(stream)
}

// ending is how a connection ends. After a reset, the end of what the server sent may be missing.
type ending int

const (
	bySilence ending = iota
	byClose
	byReset
)

// converse sends bytes and returns those that come back, until the connection is closed, or all was sent, hasEnough
// holds and nothing more comes.
func converse(address string, stream []byte, pace pace, hasEnough func([]byte) bool) (received []byte, end ending, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, 0, err
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		pace.send(c, stream)
	}()
	defer func() {
		err = errors.Join(err, c.Close())
		<-sent
	}()
	piece := make([]byte, 64<<10)
	for began := time.Now(); time.Since(began) < patience; {
		if err := c.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return nil, 0, err
		}
		n, err := c.Read(piece)
		received = append(received, piece[:n]...)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			select {
			case <-sent:
				if hasEnough(received) {
					return received, bySilence, nil
				}
			default:
			}
		case errors.Is(err, io.EOF):
			return received, byClose, nil
		case errors.Is(err, syscall.ECONNRESET):
			return received, byReset, nil
		default:
			return nil, 0, err
		}
	}
	return received, bySilence, nil
}

// answer is a reply, with its body.
type answer struct {
	*http.Response
	text string
}

// read returns the complete replies, without interim ones, and the bytes after them.
func (w *writer) read(received []byte) (answers []answer, rest []byte) {
	from := bytes.NewReader(received)
	buffered := bufio.NewReader(from)
	for {
		left := received[len(received)-from.Len()-buffered.Buffered():]
		request := &http.Request{Method: http.MethodGet}
		if len(answers) < len(w.sent) {
			request.Method = w.sent[len(answers)].method
		}
		reply, err := http.ReadResponse(buffered, request)
		if err != nil {
			return answers, left
		}
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			return answers, left
		}
		if reply.StatusCode >= 200 {
			answers = append(answers, answer{reply, string(body)})
		}
	}
}

var anyMark = regexp.MustCompile(`mark-(\d+)-`)

// judge compares replies with the requests. Each reply belongs to one request, in their order, if no byte was changed.
func (w *writer) judge(received []byte, isCut bool) error {
	answers, rest := w.read(received)
	switch count := len(w.sent); {
	case w.isWild:
	case len(answers) > count:
		return fmt.Errorf("%d replies to %d requests", len(answers), count)
	case len(answers) < count && !isCut:
		return fmt.Errorf("%d replies, but %d requests need one", len(answers), count)
	}
	if begin := "HTTP/1."; len(rest) > 0 && !strings.HasPrefix(string(rest), begin) && !strings.HasPrefix(begin, string(rest)) {
		return fmt.Errorf("no reply begins with %.100q", rest)
	}
	for i, a := range answers {
		switch {
		case a.StatusCode == http.StatusInternalServerError, strings.HasPrefix(a.Header.Get("X-Waybook-Reason"), "INTERNAL"):
			return fmt.Errorf("reply %d is %s, reason %q", i, a.Status, a.Header.Get("X-Waybook-Reason"))
		case a.Close && i < len(answers)-1:
			return fmt.Errorf("reply %d closes the connection, and others follow", i)
		}
		for _, found := range anyMark.FindAllStringSubmatch(a.text, -1) {
			number, err := strconv.Atoi(found[1])
			if err != nil || number >= len(w.albums) {
				return fmt.Errorf("reply %d has %s, %v", i, found[0], err)
			}
			if !w.isWild && w.sent[i].album != w.albums[number] {
				return fmt.Errorf("reply %d has %s, which is not in the request", i, found[0])
			}
		}
	}
	return nil
}
