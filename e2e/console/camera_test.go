package console_test

import (
	"fmt"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// looked is what a browser sees of a picture of nthPhoto.
type looked struct {
	Width, Height int
	Corners       [4][3]int
	Squares       [5][3]int
	Patch         [3]int
	HasExif       bool
	Profile       bool
}

// look reads the pictures of an album that have a size, such as view, in their order.
const look = `(async size => Promise.all([...document.querySelectorAll('[data-testid="photo"] img')].map(async image => {
	const source = image.src.replace('-thumb.jpg', '-' + size + '.jpg')
	const bytes = new TextDecoder('latin1').decode(await (await fetch(source)).arrayBuffer())
	const picture = new Image()
	picture.src = source
	await picture.decode()
	const { naturalWidth: width, naturalHeight: height } = picture
	const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
	context.drawImage(picture, 0, 0)
	const at = (x, y) => [...context.getImageData((x + 0.5) * width / 8, (y + 0.5) * height / 8, 1, 1).data].slice(0, 3)
	return {
		width, height, corners: [at(0, 0), at(7, 0), at(0, 7), at(7, 7)], squares: [1, 2, 3, 4, 5].map(x => at(x, 4)), patch: at(3, 2),
		hasExif: bytes.includes('Exif'), profile: bytes.includes('Display P3'),
	}
})))`

func TestTheSelectionOfAPhonesCameraArrivesUprightAndInOrder(t *testing.T) {
	const photos = 20
	folder := t.TempDir()
	var paths []string
	for n := range photos {
		file := nthPhoto(n).encode(t)
		name := fmt.Sprintf("IMG_%04d.JPG", 1000-n) // whose order is another one
		switch n {
		case 7:
			paths = append(paths, writeFile(t, folder, "IMG_BROKEN.JPG", file[:len(file)/2]))
		case 13:
			paths = append(paths, writeFile(t, folder, "IMG_2.HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")))
		}
		paths = append(paths, writeFile(t, folder, name, file))
	}
	process := start(t)
	user, token := demoSession(t, process)
	for name, s := range map[string]screen{"390": {width: 390, height: 844, scheme: "light"}, "1280": desktop} {
		t.Run(name, func(t *testing.T) {
			if s == desktop {
				longform.Only(t)
			}
			p := openOn(t, s, process, "")
			p.paste(user, token)
			p.visit("#/explore/addAlbum?albumTitle=Camera&category=1&lat=25&lng=121")
			_, raw := p.send()
			seen := known{}
			seen.note(operation{}, raw)
			p.visit("#/read/album/" + seen["albumID"])
			p.choosePhotos(paths...)
			for _, sent := range []int{5, 10, 15, 20} { // each within the patience of a page
				p.await(fmt.Sprint(sent, " photos"), fmt.Sprintf(`parseInt(document.querySelector('[data-testid="upload-count"]')?.innerText) >= %d`, sent))
			}
			p.awaitText(id("upload-count"), "20 of 22")
			p.awaitText(id("upload-failed"), "IMG_BROKEN.JPG: This file is damaged")
			p.awaitText(id("upload-failed")+":last-child", "IMG_2.HEIC: The server does not take this kind of picture")
			p.await("20 photos", `document.querySelectorAll('[data-testid="photo"]').length === 20`)
			p.shot("camera-" + name)
			value[bool](p, `(document.querySelector('[data-testid="upload-failed"]').scrollIntoView(), true)`)
			p.shot("camera-failed-" + name)
			for size, longest := range map[string]int{"thumb": 320, "view": 1600} {
				all := value[[]looked](p, look+"('"+size+"')")
				if len(all) != photos {
					t.Fatalf("%d pictures", len(all))
				}
				for n, picture := range all {
					if err := nthPhoto(n).compare(picture, longest); err != nil {
						t.Errorf("%s of photo %d, %+v: %v", size, n, nthPhoto(n), err)
					}
				}
			}
			p.click(id("photo") + ":nth-child(7) " + id("open-photo"))
			p.awaitText(id("lightbox"), "7 of 20")
			p.await("the view", `document.querySelector('.lightbox img').naturalWidth > 0`)
			p.shot("camera-large-" + name)
		})
	}
}
