package attack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frameReplies are the frames of one connection that came back.
type frameReplies struct {
	// ended are the streams that have ended, and how.
	ended map[uint32]outcome
	// isGone says that the server ends the connection.
	isGone bool
}

// outcome is how a stream has ended.
type outcome struct {
	status, message string
	isReset         bool
}

// areEnough reports whether each of some streams has ended.
func (r frameReplies) areEnough(streams map[uint32]bool) bool {
	for id := range streams {
		if _, has := r.ended[id]; !has {
			return false
		}
	}
	return true
}

// readFrames reads the frames that came back, up to one that is incomplete. It fails if they break the rules of
// HTTP/2.
func readFrames(received []byte) (frameReplies, error) {
	replies := frameReplies{ended: map[uint32]outcome{}}
	framer := http2.NewFramer(io.Discard, bytes.NewReader(received))
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	framer.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(math.MaxUint32) // as SETTINGS of an attack may say
	for {
		frame, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return replies, nil
		}
		if err != nil {
			return replies, fmt.Errorf("a malformed frame: %w", err)
		}
		id := frame.Header().StreamID
		o, hasEnded := replies.ended[id]
		switch frame.(type) {
		case *http2.MetaHeadersFrame, *http2.DataFrame:
			if hasEnded && !o.isReset { // a frame on a stream that is not open yet resets it
				return replies, fmt.Errorf("stream %d has ended, and gets %v", id, frame)
			}
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			if frame.StreamEnded() {
				var o outcome
				for _, field := range frame.Fields {
					switch field.Name {
					case "grpc-status":
						o.status = field.Value
					case "grpc-message":
						o.message = field.Value
					}
				}
				replies.ended[id] = o
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				replies.ended[id] = outcome{}
			}
		case *http2.RSTStreamFrame:
			if !hasEnded {
				replies.ended[id] = outcome{isReset: true}
			}
		case *http2.GoAwayFrame:
			replies.isGone = true
		}
	}
}

// judgeFrames compares the frames that came back with those that were sent.
func judgeFrames(w *frameWriter, received []byte, isCut bool) error {
	if strings.HasPrefix(string(received), "HTTP/1.") {
		if w.isClean {
			return errors.New("a reply in HTTP/1")
		}
		return nil // the preface was changed
	}
	replies, err := readFrames(received)
	if errors.Is(err, http2.ConnectionError(http2.ErrCodeCompression)) && !w.isClean {
		return nil // SETTINGS at a bad moment; see the test of replies without a table
	}
	if err != nil {
		return err
	}
	if w.isClean && replies.isGone {
		return errors.New("the server ends a connection whose frames are all well-formed")
	}
	if !replies.areEnough(w.whole) && !isCut {
		return fmt.Errorf("calls %v need a reply, and %v have one", w.whole, replies.ended)
	}
	for id, o := range replies.ended {
		switch {
		case w.isClean && !w.opened[id]:
			return fmt.Errorf("a reply on stream %d, which was not opened", id)
		case w.isClean && (o.isReset || o.status == ""):
			return fmt.Errorf("call %d ends with %+v, and not with a status", id, o)
		case o.status == "13" && strings.Contains(o.message, "the cause is in the log"):
			return fmt.Errorf("call %d is INTERNAL", id)
		}
	}
	return nil
}
