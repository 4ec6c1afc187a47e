package edge

import (
	"io"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
)

const (
	// uploadTime bounds an upload. A client of 35 kB a second sends the largest photo in it.
	uploadTime = 10 * time.Minute
	// discardBytes and discardTime bound what is read of a body whose request has failed. Clients
	// that send everything before they read would get no reply if the edge closed the connection
	// at once.
	discardBytes = 32 << 20
	discardTime  = 10 * time.Second
)

// parts is a multipart body, which is read as it arrives: the fields of a form, and after them one
// file at most. Read reads the file. It returns io.EOF when the whole body has arrived, and other
// failures of the client as such.
type parts struct {
	body  partsReader
	multi *form.Multipart
	file  *form.File
	// fileLeft is how many more bytes the file may have.
	fileLeft int64
}

// readParts reads the fields of a multipart body. It leaves the file to an operation that takes
// one.
func (x *exchange) readParts(contentType form.ContentType, limit int64) (err error) {
	p := &parts{body: partsReader{x: x, left: limit, size: len(x.request.URL.RawQuery)},
		fileLeft: x.config.MaxPhotoBytes}
	x.parts = p
	if p.multi, err = form.NewMultipart(&p.body, contentType.Boundary, contentType.Charset); err != nil {
		return err
	}
	p.file, err = p.multi.ReadFields(&x.form)
	switch {
	case err != nil && p.body.isEmpty():
		return nil
	case err != nil:
		return p.body.reason(err)
	case p.file == nil:
		return p.body.readToEnd()
	}
	return x.acceptFile()
}

// acceptFile gives the file to the operation that the fields name, if that takes one.
func (x *exchange) acceptFile() error {
	file := x.parts.file
	function, err := operation.Find(x.table, &x.form)
	if _, found := x.form.Get("func"); found == form.Absent && x.config.takesFiles() {
		return form.FieldsFirst()
	}
	switch {
	case err != nil, function.File != file.Name:
		return file.NotAccepted()
	case x.config.MaxPhotoBytes <= 0:
		return failure.New("UPLOADS_OFF")
	case x.request.ContentLength-int64(x.parts.body.size) > x.config.MaxPhotoBytes+x.config.MaxFormBytes:
		return failure.New("PHOTO_TOO_LARGE") // no need to read it
	}
	x.op.In.File = x.parts
	return nil
}

// takesFiles reports whether an operation of the edge takes a file.
func (c *Config) takesFiles() bool { return c.Additions == operation.AdditionsServed }

func (p *parts) Read(into []byte) (int, error) {
	if p.body.until.IsZero() {
		p.body.until = time.Now().Add(uploadTime)
	}
	n, err := p.file.Read(into)
	p.fileLeft -= int64(n)
	switch {
	case p.fileLeft < 0:
		return 0, failure.New("PHOTO_TOO_LARGE")
	case err == io.EOF:
		return n, p.end()
	case err != nil:
		return 0, p.body.reason(failure.New("INVALID_MULTIPART"))
	}
	return n, nil
}

// end reads what follows the file. It returns io.EOF if that is only the end of the body.
func (p *parts) end() error {
	if err := p.multi.ReadEnd(); err != nil {
		return p.body.reason(err)
	}
	if err := p.body.readToEnd(); err != nil {
		return err
	}
	return io.EOF
}

// discard reads on after a failure.
func (p *parts) discard() {
	if p == nil || p.body.err != nil {
		return
	}
	p.body.x.response.control.SetReadDeadline(time.Now().Add(discardTime))
	_, _ = io.CopyN(io.Discard, p.body.x.request.Body, discardBytes)
}

// partsReader reads a body: fields within the limits of every form, and the file within its own.
// Its errors are the failures of the client, and io.EOF.
type partsReader struct {
	x *exchange
	// left is how many more bytes the fields may have, and size how many the form has, with its
	// query.
	left int64
	size int
	// until is when a file must have arrived; zero before the file.
	until time.Time
	// err is what ended the body.
	err error
}

func (r *partsReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.until.IsZero() {
		n, err = r.readFields(p)
	} else {
		n, err = r.readFile(p)
	}
	if err != nil {
		r.err = bodyFailure(err)
	}
	return n, r.err
}

func (r *partsReader) readFields(p []byte) (int, error) {
	n, err := r.x.request.Body.Read(p[:min(int64(len(p)), r.left+1)])
	r.left -= int64(n)
	r.size += n
	if r.left < 0 {
		return n, errTooLarge
	}
	if grown := r.x.turn.growForm(r.x.request.Context(), r.size); grown != nil {
		return n, grown
	}
	return n, err
}

// readFile waits for the next bytes as long as for the whole of a form.
func (r *partsReader) readFile(p []byte) (int, error) {
	deadline := time.Now().Add(r.x.config.WriteTimeout)
	if deadline.After(r.until) {
		deadline = r.until
	}
	r.x.response.control.SetReadDeadline(deadline)
	return r.x.request.Body.Read(p)
}

// readToEnd reads what follows the last part. It counts as fields.
func (r *partsReader) readToEnd() error {
	r.until = time.Time{}
	_, _ = io.Copy(io.Discard, r)
	if r.err != io.EOF {
		return r.err
	}
	// net/http also clears the deadline here for HTTP/1, but does not promise to.
	r.x.response.control.SetReadDeadline(time.Time{})
	return nil
}

// reason returns why a body could not be parsed: otherwise, unless it could not be read.
func (r *partsReader) reason(otherwise error) error {
	if r.err != nil && r.err != io.EOF {
		return r.err
	}
	return otherwise
}

func (r *partsReader) isEmpty() bool {
	return r.err == io.EOF && r.size == len(r.x.request.URL.RawQuery)
}
