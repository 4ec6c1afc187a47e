package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// HTTP makes one request again and again on persistent HTTP/1.1 connections.
type HTTP struct {
	Address string
	// Request is the complete encoded request.
	Request []byte
	// Want must appear in the first 200 bytes of each reply's body.
	Want string
}

// Open returns a connection.
func (h HTTP) Open(int) (Connection, error) { return h.dial() }

func (h HTTP) dial() (*httpConnection, error) {
	connection, err := net.Dial("tcp", h.Address)
	if err != nil {
		return nil, err
	}
	return &httpConnection{Conn: connection, from: h, reader: bufio.NewReaderSize(connection, 64<<10)}, nil
}

// Fetch makes one request. It returns the body and the header of the reply, without the fields
// that any server adds.
func (h HTTP) Fetch() (body []byte, header http.Header, err error) {
	connection, err := h.dial()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	reply, err := connection.exchange()
	if err != nil {
		return nil, nil, err
	}
	reply.Header.Del("Date")
	reply.Header.Del("Content-Length")
	return connection.body.Bytes(), reply.Header, nil
}

type httpConnection struct {
	net.Conn
	from   HTTP
	reader *bufio.Reader
	// body is that of the last reply.
	body bytes.Buffer
}

// Do makes the request.
func (c *httpConnection) Do(context.Context) error {
	_, err := c.exchange()
	return err
}

func (c *httpConnection) exchange() (*http.Response, error) {
	if _, err := c.Write(c.from.Request); err != nil {
		return nil, err
	}
	reply, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, err
	}
	c.body.Reset()
	_, err = c.body.ReadFrom(reply.Body)
	start := c.body.Bytes()[:min(c.body.Len(), 200)]
	if err == nil && (reply.StatusCode != http.StatusOK || !bytes.Contains(start, []byte(c.from.Want))) {
		err = fmt.Errorf("the reply has status %s and starts with %q, want %q", reply.Status, start, c.from.Want)
	}
	return reply, errors.Join(err, reply.Body.Close())
}
