package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/waybook/waybook/internal/longform"
)

// choosePhotos chooses files as a person does in the dialog of the browser.
func (p *page) choosePhotos(paths ...string) {
	p.t.Helper()
	p.awaitElement(id("photo-files"))
	p.do("choose photos", chromedp.SetUploadFiles(chromedp.CSS(id("photo-files")), paths))
}

// photoCount waits until an album has a number of photos, all of which are shown.
func (p *page) photoCount(want int) {
	p.t.Helper()
	p.await(fmt.Sprint(want, " photos"), fmt.Sprintf(`(shown => shown.length === %d && shown.every(each => each.querySelector('img')?.naturalWidth !== 0))
		([...document.querySelectorAll('[data-testid="photo"]')])`, want))
}

func TestPhotosAreAddedShownLargeAndRemoved(t *testing.T) {
	process := start(t)
	user, token := demoSession(t, process)
	folder := t.TempDir()
	var paths []string
	for i := range 3 {
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("photo %d.jpg", i+1)))
		writePhoto(t, paths[i], i)
	}
	broken := filepath.Join(folder, "broken.jpg")
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	phone := filepath.Join(folder, "IMG_1.HEIC")
	if err := os.WriteFile(phone, []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, process, "")
	p.paste(user, token)
	p.visit("#/explore/addAlbum?albumTitle=Hills&category=1&lat=25&lng=121")
	_, raw := p.send()
	seen := known{}
	seen.note(operation{}, raw)
	p.visit("#/read/album/" + seen["albumID"])
	// One that fails stops none of the others, and says why.
	p.choosePhotos(paths[0], broken, paths[1], phone, paths[2])
	p.photoCount(3)
	p.awaitText(id("upload-failed"), "broken.jpg: This file is damaged")
	p.awaitText(id("upload-count"), "3 of 5")
	p.awaitText(id("upload-failed")+":last-child", "IMG_1.HEIC: The server does not take this kind of picture")
	p.shot("uploads")
	// Sent again it fails again, and adds nothing.
	p.click(id("upload-failed") + " " + id("retry"))
	p.awaitText(id("upload-failed")+":last-child", "broken.jpg: This file is damaged")
	p.photoCount(3)

	// The larger view, by keys and by a swipe.
	p.click(id("photo") + " " + id("open-photo"))
	p.awaitText(id("lightbox"), "1 of 3")
	p.await("the view", `document.querySelector('.lightbox img').naturalWidth === 400`)
	p.press(kb.ArrowRight)
	p.awaitText(id("lightbox"), "2 of 3")
	p.shot("lightbox")
	p.show(screen{width: 390, height: 844, scheme: "dark"})
	p.shot("lightbox-390")
	// The owner describes it. Arrows move in the text, and Escape leaves only the form.
	p.click(id("describe-photo"))
	p.fill(id("describe-form")+" textarea", "given up")
	p.press(kb.ArrowLeft)
	p.press("\x1b")
	p.await("no form", `document.querySelector('[data-testid="describe-form"]') === null`)
	p.click(id("describe-photo"))
	p.fill(id("describe-form")+" textarea", "晴天的山")
	p.shot("describe-390")
	p.click(id("describe-form") + " button")
	p.awaitText(id("lightbox"), "晴天的山 2 of 3")
	value[bool](p, `(dialog => {
		const touch = x => new Touch({ identifier: 1, target: dialog, clientX: x, clientY: 300 })
		dialog.dispatchEvent(new TouchEvent('touchstart', { bubbles: true, touches: [touch(300)] }))
		dialog.dispatchEvent(new TouchEvent('touchend', { bubbles: true, changedTouches: [touch(100)] }))
		return true
	})(document.querySelector('.lightbox'))`)
	p.awaitText(id("lightbox"), "3 of 3")
	p.click(id("remove-photo"))
	p.awaitText(id("remove-photo"), "for good")
	p.click(id("remove-photo"))
	p.await("the album without it", `document.querySelectorAll('[data-testid="photo"]').length === 2`)
	p.await("no larger view", `document.querySelector('.lightbox') === null`)
	p.click(id("photo") + " " + id("open-photo"))
	p.awaitElement(id("lightbox"))
	p.press("\x1b")
	p.await("no larger view", `document.querySelector('.lightbox') === null`)
	p.shot("uploads-390")

	// Others see the photos and no way to change them.
	p.openSession()
	p.click(id("logout"))
	p.awaitSession("")
	p.visit("#/read/album/" + seen["albumID"])
	p.photoCount(2)
	if p.has(id("uploads")) {
		t.Error("a visitor can add photos")
	}
}

func TestDroppedPhotosGoToTheAlbum(t *testing.T) {
	longform.Only(t)
	process := start(t)
	user, token := demoSession(t, process)
	p := open(t, process, "")
	p.paste(user, token)
	seen := known{}
	seen.note(operation{}, ask(t, process, "GET", "/API.php?func=getUserAlbumList&userID="+user, "").Body)
	p.visit("#/read/album/" + seen["albumID"])
	p.awaitElement(id("uploads"))
	before := value[int](p, `document.querySelectorAll('[data-testid="photo"]').length`)
	// The browser draws the photos, and drops them beside the place for them.
	value[bool](p, `(async () => {
		const files = new DataTransfer()
		for (const colour of ['teal', 'orange']) {
			const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 })
			const context = canvas.getContext('2d')
			context.fillStyle = colour
			context.fillRect(0, 0, 640, 480)
			const blob = await new Promise(resolve => canvas.toBlob(resolve, colour === 'teal' ? 'image/png' : 'image/jpeg'))
			files.items.add(new File([blob], colour, { type: blob.type }))
		}
		for (const type of ['dragover', 'drop']) {
			document.querySelector('h1').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files }))
		}
		return true
	})()`)
	p.await("the photos", fmt.Sprintf(`document.querySelectorAll('[data-testid="photo"]').length === %d`, before+2))
	p.awaitText(id("upload-count"), "2 of 2")
}
