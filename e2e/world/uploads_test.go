package world

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/waybook/waybook/internal/waybooktest"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// picture is a small picture.
var picture = func() []byte {
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		panic(err)
	}
	return encoded.Bytes()
}()

// mayRepeat reports whether the client sends an upload again.
func (p *part) mayRepeat() bool { return p.request != "" && !p.wasRemoved }

// isOpen reports whether an upload got no answer yet. What its program does may not have ended.
func (p *part) isOpen() bool { return p.mayRepeat() && p.ended == 0 }

// uploadSomething uploads a photo. A client that got no answer sends the same request again, some others do, too.
func (w *world) uploadSomething(c *item) {
	if c.kind.photo == "" {
		return
	}
	for _, p := range c.photos {
		if p.mayRepeat() && (p.isOpen() || w.random.IntN(8) == 0) {
			w.upload(c, p, w.random.IntN(3) == 0)
			return
		}
	}
	p := &part{span: span{begun: w.tick()}, text: w.unique("photo"), exists: open}
	p.request = fmt.Sprintf("00000000-0000-4000-8000-%012d", p.begun)
	c.photos = append(c.photos, p)
	w.upload(c, p, w.random.IntN(3) == 0)
}

// file returns the file of an uploaded photo, which is unlike that of any other.
func (p *part) file() []byte { return append(bytes.Clone(picture), p.text...) }

// upload sends a photo. isCut: the client or its edge may end in the middle.
func (w *world) upload(c *item, p *part, isCut bool) {
	op := begin(c, true)
	defer op.end()
	p.uploadedIn = w.turns.runs
	ctx, cancel := context.WithCancel(c.owner.context())
	defer cancel()
	if isCut {
		w.cuts[c.owner.number] = &cut{w.random.IntN(20), cancel}
		defer delete(w.cuts, c.owner.number)
	}
	on, send := w.anyProgram(), w.uploadByGRPC
	if c.kind.add != "" && w.random.IntN(2) == 0 {
		send = w.uploadByForm
	}
	r, id := send(ctx, on, c, p)
	if ctx.Err() != nil {
		w.note("%s: uploads %q, and is cut", c.owner.name, p.text)
		return
	}
	r = w.answered(on, c.owner, r, "uploads %q to %s %d", p.text, c.kind.name, c.id)
	if !p.wasRemoved || r.info == c.kind.notFound {
		w.isThere(op, r)
	}
	switch {
	case r.isDone:
		if p.id != "" && p.id != id {
			w.violated("%q is photo %s, and after another request %s", p.text, p.id, id)
		}
		p.id, p.ended = id, cmp.Or(p.ended, w.tick())
		if !p.wasRemoved {
			p.exists = yes
		}
		w.means("photo of "+c.kind.name, p.id, p.text)
	case r.info != "":
		p.exists, p.wasRemoved = no, true
	}
}

func (w *world) uploadByForm(ctx context.Context, on *program, c *item, p *part) (r reply, id string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{
		{"func", "addPhoto"}, {c.kind.id, strconv.FormatInt(c.id, 10)}, {"description", p.text}, {"requestID", p.request},
	} {
		w.must(form.WriteField(field[0], field[1]))
	}
	to, err := form.CreateFormFile("photo", "photo.jpg")
	w.must(err)
	_, err = to.Write(p.file())
	w.must(err)
	w.must(form.Close())
	r = on.post(ctx, w, c.owner, form.FormDataContentType(), &body)
	return r, r.body.text("photoID")
}

func (w *world) uploadByGRPC(ctx context.Context, on *program, c *item, p *part) (r reply, id string) {
	stream, err := on.Photo.Upload(ctx)
	if err != nil {
		return c.kind.replyOf(err), ""
	}
	start := waybooktest.On(c.kind.number, c.id, &photov1.UploadStart{RequestId: p.request, ActorId: c.owner.id, Description: p.text})
	for _, message := range []*photov1.UploadRequest{
		{Part: &photov1.UploadRequest_Start{Start: start}}, {Part: &photov1.UploadRequest_Chunk{Chunk: p.file()}},
	} {
		if err := stream.Send(message); err != nil && err != io.EOF { // the reply says why it ended
			return c.kind.replyOf(err), ""
		}
	}
	stored, err := stream.CloseAndRecv()
	return c.kind.replyOf(err), strconv.FormatInt(w.shown(stored.GetPhoto().GetPhotoId()), 10)
}

// cut ends a client after so many more steps of calls of the store that it waits for.
type cut struct {
	left int
	end  context.CancelFunc
}

// cutAt ends a client if that is due.
func (w *world) cutAt(client int) {
	if due := w.cuts[client]; due != nil {
		if due.left--; due.left < 0 {
			due.end()
		}
	}
}

// showsFiles expects, at rest, that the files of each photo of content are what was uploaded.
func (w *world) showsFiles(c *item) {
	for _, p := range c.photos {
		if c.exists != yes || p.request == "" || p.exists != yes {
			continue
		}
		path := fmt.Sprintf("/upload/%s/%d/%s", c.kind.files, c.id, p.id)
		status, original := w.anyProgram().get(c.owner, path+"-original")
		if status != http.StatusOK || !bytes.Equal(original, p.file()) {
			w.violated("the original of %q: %d %q", p.text, status, original)
		}
		if status, _ := w.anyProgram().get(c.owner, path+"-thumb.jpg"); status != http.StatusOK {
			w.violated("the thumbnail of %q: %d", p.text, status)
		}
	}
}

// sweepDuringUploads lets clients upload and remove photos while files are swept, which is once a day.
func (w *world) sweepDuringUploads() {
	w.note("a day passes without a sweep")
	for range 25 {
		w.system.tend(time.Hour)
		time.Sleep(time.Hour)
	}
	p := w.anyProgram()
	all := []func(){func() { p.sweep(w) }}
	for _, c := range w.model.contents {
		if c.kind.photo != "" && c.id != 0 && c.exists != no && !c.owner.isGone && len(all) < 5 {
			all = append(all, func() { w.uploadSomething(c) }, func() { w.removePart(c, "photo", c.photos) })
		}
	}
	w.turns.run(w.random, all)
}
