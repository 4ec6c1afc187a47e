package attack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestEachCallOfTheGRPCPortGetsOneReplyAndNoOtherFramesGetOne(t *testing.T) {
	p, made := start(t)
	attack(t, p, func(seed uint64) error { return exchangeFrames(p.GRPC, seed, made, staying) })
}

// A connection that the server ends for an error stays for a second, so that an attack fills the port.
func TestEachCallOfTheAdminPortGetsOneReplyAndNoOtherFramesGetOne(t *testing.T) {
	p, made := start(t)
	attack(t, p, func(seed uint64) error { return exchangeFrames(p.Admin, seed, made, givingWay) })
	for seed := range uint64(10) {
		if err := exchangeFrames(p.Admin, seed, made, staying); err != nil {
			t.Errorf("after the attack, seed %d: %v", seed, err)
		}
	}
}

// A connection that is closed within calls is closed for good, with the calls that were taken back and have not begun.
func TestNothingIsLeftOfConnectionsThatWereClosedWithinCalls(t *testing.T) {
	p, made := start(t)
	before := stateOf(t, p)
	for _, address := range []string{p.Admin, p.GRPC} {
		for seed := range uint64(400) {
			w := newFrameWriter(rand.New(rand.NewPCG(seed, 3)), made)
			w.begin()
			w.open("/grpc.health.v1.Health/Check")
			w.takenBack(strings.Repeat("x", 4000))
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Write(w.out.Bytes())
			if err := errors.Join(err, c.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("before %+v, after %+v", before, settled(t, p, before))
}

// net/http changes the table of its encoder on one goroutine and encodes replies on another. SETTINGS of a client at
// the right moment would end the program, so there has to be no table.
func TestEachReplyOfTheAdminPortIsReadWithoutATable(t *testing.T) {
	p, made := start(t)
	w := newFrameWriter(rand.New(rand.NewPCG(1, 4)), made)
	w.begin()
	const calls = 3
	for range calls {
		w.call()
	}
	received, _, err := converse(p.Admin, w.out.Bytes(), pace{}, func(received []byte) bool {
		replies, err := readFrames(received)
		return err != nil || len(replies.ended) == calls
	})
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for framer := http2.NewFramer(io.Discard, bytes.NewReader(received)); ; {
		frame, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		header, isHeader := frame.(*http2.HeadersFrame)
		if !isHeader {
			continue
		}
		blocks++
		if _, err := hpack.NewDecoder(1, nil).DecodeFull(header.HeaderBlockFragment()); err != nil {
			t.Errorf("header %d: %v", blocks, err)
		}
	}
	if blocks < calls {
		t.Errorf("%d headers came back", blocks)
	}
}

// displacement says whether a connection may have to give way to another one.
type displacement int

const (
	staying displacement = iota
	givingWay
)

// exchangeFrames sends the frames of a seed to a port and judges those that come back.
func exchangeFrames(address string, seed uint64, made albums, displacement displacement) error {
	random := rand.New(rand.NewPCG(seed, 2))
	w := newFrameWriter(random, made)
	stream := w.stream()
	received, end, err := converse(address, stream, paceOf(random, len(stream)), func(received []byte) bool {
		replies, err := readFrames(received)
		return err != nil || replies.isGone || replies.areEnough(w.whole)
	})
	if err == nil {
		err = judgeFrames(w, received, end == byReset || end == byClose && displacement == givingWay)
	}
	if err != nil {
		return fmt.Errorf("%w\nsent: %s\nreceived: %.3000q", err, strings.Join(w.log, ", "), received)
	}
	return nil
}

// frameWriter writes the frames of one connection.
type frameWriter struct {
	random *rand.Rand
	albums albums
	out    bytes.Buffer
	frames *http2.Framer
	fields *hpack.Encoder
	block  bytes.Buffer
	// isClean says that no frame is malformed so far. next is the next identifier of a stream.
	isClean bool
	next    uint32
	// opened are the streams that have a header. whole are those whose call is complete, on a
	// connection that is clean to its end.
	opened, whole map[uint32]bool
	// log describes the frames.
	log []string
}

func newFrameWriter(random *rand.Rand, made albums) *frameWriter {
	w := &frameWriter{random: random, albums: made, isClean: true, next: 1, opened: map[uint32]bool{}, whole: map[uint32]bool{}}
	w.frames = http2.NewFramer(&w.out, nil)
	w.frames.AllowIllegalWrites = true
	w.fields = hpack.NewEncoder(&w.block)
	return w
}

func (w *frameWriter) oneIn(n int) bool { return w.random.IntN(n) == 0 }

// stream returns a connection: calls, and in two of three some frames that do not belong there.
func (w *frameWriter) stream() []byte {
	w.begin()
	isWild := !w.oneIn(3)
	for range 1 + w.random.IntN(8) {
		if isWild && w.oneIn(2) {
			w.wild()
		} else {
			w.call()
		}
	}
	stream := w.out.Bytes()
	if isWild && w.oneIn(3) {
		w.spoil("a byte changed")
		stream[w.random.IntN(len(stream))] ^= 1 << w.random.IntN(8)
	}
	if !w.isClean {
		clear(w.whole)
	}
	return stream
}

func (w *frameWriter) begin() {
	w.out.WriteString(http2.ClientPreface)
	check(w.frames.WriteSettings())
}

// spoil notes that a connection is no longer clean.
func (w *frameWriter) spoil(format string, values ...any) {
	w.isClean = false
	w.log = append(w.log, fmt.Sprintf(format, values...))
}

// check panics: a buffer takes every frame.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// call writes a whole call, perhaps in many frames, with frames between them that belong to no stream.
func (w *frameWriter) call() {
	method, message := "/grpc.health.v1.Health/Check", proto.Message(&healthv1.HealthCheckRequest{})
	switch w.random.IntN(4) {
	case 0:
		method, message = "/waybook.album.v1.AlbumService/GetAlbum", &albumv1.GetAlbumRequest{AlbumId: w.albums[w.random.IntN(len(w.albums))]}
	case 1:
		method = "/waybook.album.v1.AlbumService/Unknown"
	}
	id := w.open(method)
	w.log = append(w.log, fmt.Sprintf("call %d of %s", id, method))
	body, err := proto.Marshal(message)
	check(err)
	body = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	for len(body) > 0 && w.oneIn(3) {
		n := w.random.IntN(len(body))
		check(w.frames.WriteData(id, false, body[:n]))
		body = body[n:]
		w.between()
	}
	check(w.frames.WriteData(id, true, body))
	w.whole[id] = true
}

// encoded returns the header of a call.
func (w *frameWriter) encoded(method string, more ...hpack.HeaderField) []byte {
	w.block.Reset()
	for _, field := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: method}, {Name: ":authority", Value: "localhost"},
		{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
	}, more...) {
		check(w.fields.WriteField(field))
	}
	return bytes.Clone(w.block.Bytes())
}

// open opens a stream, with a header in one frame or in several.
func (w *frameWriter) open(method string, more ...hpack.HeaderField) (id uint32) {
	id = w.next
	w.next += 2
	w.opened[id] = true
	block := w.encoded(method, more...)
	cut := len(block)
	if w.oneIn(3) {
		cut = w.random.IntN(len(block))
	}
	check(w.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:cut], EndHeaders: cut == len(block)}))
	for rest := block[cut:]; len(rest) > 0; {
		n := 1 + w.random.IntN(len(rest))
		check(w.frames.WriteContinuation(id, n == len(rest), rest[:n]))
		rest = rest[n:]
	}
	return id
}

// between writes a frame that is allowed anywhere between frames of streams.
func (w *frameWriter) between() {
	switch w.random.IntN(4) {
	case 0:
		check(w.frames.WriteWindowUpdate(0, 1+w.random.Uint32N(1000)))
	case 1:
		check(w.frames.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 14}))
	case 2:
		check(w.frames.WriteRawFrame(http2.FrameType(0x20+w.random.IntN(100)), 0, 0, []byte("x"))) // of an extension
	}
}

// wild writes a frame that is malformed, or does not belong there.
func (w *frameWriter) wild() {
	id := w.random.Uint32N(w.next + 4)
	number := w.random.IntN(17)
	w.spoil("wild %d on %d", number, id)
	switch number {
	case 0:
		check(w.frames.WriteRSTStream(id, http2.ErrCode(w.random.Uint32N(20))))
	case 1:
		check(w.frames.WriteWindowUpdate(id, w.random.Uint32()))
	case 2:
		check(w.frames.WriteSettings(http2.Setting{ID: http2.SettingID(w.random.IntN(8)), Val: w.random.Uint32()}))
	case 3:
		check(w.frames.WritePing(w.oneIn(2), [8]byte{1}))
	case 4:
		check(w.frames.WriteContinuation(id, w.oneIn(2), []byte("x")))
	case 5:
		check(w.frames.WriteData(id, w.oneIn(2), make([]byte, w.random.IntN(1<<14))))
	case 6:
		check(w.frames.WriteGoAway(id, http2.ErrCode(w.random.Uint32N(20)), []byte("x")))
	case 7:
		check(w.frames.WritePriority(id, http2.PriorityParam{StreamDep: w.random.Uint32N(w.next), Exclusive: w.oneIn(2), Weight: 1}))
	case 8:
		junk := make([]byte, w.random.IntN(100))
		for i := range junk {
			junk[i] = byte(w.random.Uint32())
		}
		check(w.frames.WriteRawFrame(http2.FrameType(w.random.IntN(12)), http2.Flags(w.random.Uint32()), id, junk))
	case 9: // a header without an end
		check(w.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: w.next, BlockFragment: w.encoded("/x")}))
		w.opened[w.next] = true
		w.next += 2
	case 10: // streams that never end
		for range 50 {
			w.open("/waybook.album.v1.AlbumService/GetAlbum")
		}
	case 11:
		w.takenBack("")
	case 12:
		w.open("/x", hpack.HeaderField{Name: "x", Value: strings.Repeat("x", w.random.IntN(40_000))})
	case 13:
		odd := []hpack.HeaderField{
			{Name: ":path", Value: "/y"}, {Name: "Upper", Value: "x"}, {Name: "connection", Value: "close"}, {Name: "content-length", Value: "7"},
			{Name: "transfer-encoding", Value: "chunked"}, {Name: "grpc-timeout", Value: "0n"}, {Name: "grpc-encoding", Value: "gzip"},
			{Name: "x-bin", Value: "!"}, {Name: "host", Value: "y"}, {Name: "x", Value: "a\r\nb"},
		}
		opened := w.open("/waybook.album.v1.AlbumService/GetAlbum", odd[w.random.IntN(len(odd))])
		check(w.frames.WriteData(opened, true, []byte{0, 0, 0, 0, 0}))
	case 14: // a message that is longer than it may be, compressed, or not what the method takes
		messages := [][]byte{{0, 0xff, 0xff, 0xff, 0xff}, {1, 0, 0, 0, 1, 'x'}, {0, 0, 0, 0, 3, 0xff, 0xff, 0xff}, {9, 0, 0, 0, 0}}
		opened := w.open("/waybook.album.v1.AlbumService/GetAlbum")
		check(w.frames.WriteData(opened, true, messages[w.random.IntN(len(messages))]))
	case 15: // a table that changes while replies are written
		for n := range uint32(8) {
			w.call()
			check(w.frames.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: n % 2 * 4096}))
		}
	default:
		for range 20 {
			check(w.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: w.random.Uint32N(1 << 31)}))
		}
	}
}

// takenBack writes calls that the client takes back at once.
func (w *frameWriter) takenBack(value string) {
	for range 50 {
		opened := w.open("/waybook.album.v1.AlbumService/GetAlbum", hpack.HeaderField{Name: "x", Value: value, Sensitive: true})
		check(w.frames.WriteRSTStream(opened, http2.ErrCodeCancel))
	}
}
