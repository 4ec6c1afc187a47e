package connlimit

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"net"
	"time"
)

// header follows the lines of a request's header as they are read. The zero header is at its
// beginning.
type header struct {
	// lines counts the lines so far, the request line included, but not empty ones before it.
	lines int
	// held is the number of bytes of the current line; hasText says that one is no CR.
	held    int
	hasText bool
	// isOver says that the empty line after the header, or the server, has ended it.
	isOver bool
}

// read takes the next bytes of the connection. It ignores those after the header. As net/http
// does, it takes a bare LF for the end of a line, and skips any CR and LF before the request line.
func (h *header) read(part []byte) {
	for !h.isOver && len(part) > 0 {
		line, rest, ends := bytes.Cut(part, []byte{'\n'})
		h.held += len(line)
		h.hasText = h.hasText || len(bytes.Trim(line, "\r")) > 0
		if !ends {
			return
		}
		switch {
		case h.hasText || h.lines > 0 && h.held > 1:
			h.lines++
		case h.lines > 0:
			h.isOver = true
		}
		h.held, h.hasText, part = 0, false, rest
	}
}

// conn is a connection that a Limiter counts until it is closed.
type conn struct {
	net.Conn
	limiter *Limiter
	// client is the result of Limiter.clientOf.
	client []string
	// isCounted and place, that in a list of the limiter, are guarded by the limiter.
	isCounted bool
	place     *list.Element

	maxFields int
	// header belongs to a server of HTTP/1: one goroutine at a time reads from the connection, and
	// follow is called when none does.
	header header
}

var errTooManyFields = errors.New("the request has too many header fields")

// Read reads from the connection. It fails, after a reply, when a header has too many fields. A
// client that sends requests without waiting for replies may exceed the limit by the fields that
// the server read along with the previous request, in its buffer of 4 KiB.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.maxFields == 0 || c.header.isOver {
		return n, err
	}
	c.header.read(p[:n])
	if c.header.lines > 1+c.maxFields {
		c.refuseFields()
		// A server sends nothing after an error of reading.
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(),
			Err: errTooManyFields}
	}
	return n, err
}

const (
	tooManyFields = "HTTP/1.1 431 Request Header Fields Too Large\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
		"431 Request Header Fields Too Large"
	// lingerTime and lingerBytes bound how much of a rejected request is read. A client that still
	// sends when its connection is closed may not see the reply.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 64 << 10
)

// refuseFields answers a request with too many fields. The replies to earlier requests of the
// connection have been sent.
func (c *conn) refuseFields() {
	_ = c.Conn.SetDeadline(time.Now().Add(lingerTime))
	if _, err := io.WriteString(c.Conn, tooManyFields); err == nil && c.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
	}
}

// CloseWrite closes the direction to the client. Servers use it before they close a connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetLinger sets how Close ends the connection: 0 resets it.
func (c *conn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return errors.ErrUnsupported
}

// Close closes the connection and makes room for another one.
func (c *conn) Close() error {
	c.limiter.close(c)
	return c.Conn.Close()
}
