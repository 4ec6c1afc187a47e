package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// HTTP makes HTTP/1.1 requests on persistent connections.
type HTTP struct {
	Address string
	// Requests are complete encoded requests, sent in turn.
	Requests [][]byte
	// Want must appear in the first 200 bytes of each reply's body, in its first chunk.
	Want string
}

// Open opens the n-th connection.
func (h HTTP) Open(n int) (Connection, error) {
	connection, err := net.Dial("tcp", h.Address)
	if err != nil {
		return nil, err
	}
	// Connections start with different requests.
	return &httpConnection{
		Conn: connection, from: h, next: n * 7919 % len(h.Requests),
		reader: bufio.NewReaderSize(connection, 64<<10), body: make([]byte, 64<<10),
	}, nil
}

type httpConnection struct {
	net.Conn
	from   HTTP
	next   int
	reader *bufio.Reader
	body   []byte
	// found is true once the current reply contains from.Want.
	found bool
}

// Do makes one request.
func (c *httpConnection) Do(context.Context) error {
	request := c.from.Requests[c.next]
	if c.next++; c.next == len(c.from.Requests) {
		c.next = 0
	}
	if _, err := c.Write(request); err != nil {
		return err
	}
	length, err := c.readHeader()
	if err != nil {
		return err
	}
	c.found = false
	if length >= 0 {
		err = c.readPiece(length)
	} else {
		err = c.readChunks()
	}
	if err == nil && !c.found {
		err = fmt.Errorf("the reply does not contain %q", c.from.Want)
	}
	return err
}

// readHeader returns the length of the body, or -1 if the body is chunked. It supports only
// the format that Go's server writes.
func (c *httpConnection) readHeader() (length int, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
		return 0, fmt.Errorf("got status line %q, want status 200", bytes.TrimSpace(line))
	}
	length = -1
	for {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= len("\r\n") {
			return length, nil
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		}
	}
}

// readPiece reads length bytes of the body.
func (c *httpConnection) readPiece(length int) error {
	for length > 0 {
		piece := c.body[:min(length, len(c.body))]
		if _, err := io.ReadFull(c.reader, piece); err != nil {
			return err
		}
		c.found = c.found || bytes.Contains(piece[:min(len(piece), 200)], []byte(c.from.Want))
		length -= len(piece)
	}
	return nil
}

func (c *httpConnection) readChunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return err
		}
		if err := c.readPiece(int(size)); err != nil {
			return err
		}
		if end, err := c.reader.ReadSlice('\n'); err != nil || len(end) != len("\r\n") {
			return errors.Join(errors.New("a chunk has no end mark"), err)
		}
		if size == 0 {
			return nil
		}
	}
}
