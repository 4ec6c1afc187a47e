package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/waybook/waybook/internal/longform"
)

// A browser shows XML as a tree with a style of its own, which the policy of the reply must allow.
// Otherwise it complains and shows the texts of the elements run together.
func TestABrowserShowsAReplyAsATree(t *testing.T) {
	longform.Only(t)
	p := open(t, start(t), "")
	for name, query := range map[string]string{
		"list": "func=getCategoryPOIList&category=2", "failure": "func=getAlbum&albumID=1",
	} {
		p.do("open the reply", chromedp.Navigate(p.base+"API.php?"+query))
		// The viewer hides the elements themselves and shows a tree of them.
		if shown := value[int](p, `document.querySelector('status').getClientRects().length`); shown != 0 {
			t.Errorf("the texts of the elements are shown: %s", p.text("body"))
		}
		p.shot("xml-" + name)
	}
}
