package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// eventPause is the pause between two looks while a page is open.
const eventPause = time.Second

// sendEvents sends what look returns as server-sent events, again when it is something else, until the page is
// closed.
func (d *Desk) sendEvents(w http.ResponseWriter, r *http.Request, look func(context.Context) any) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	ticker := time.NewTicker(eventPause)
	defer ticker.Stop()
	for last := []byte(nil); ; {
		now, err := json.Marshal(look(r.Context()))
		if err != nil || r.Context().Err() != nil {
			return
		}
		if !bytes.Equal(now, last) {
			last = now
			_, err = fmt.Fprintf(w, "data: %s\n\n", now)
			if err = errors.Join(err, control.Flush()); err != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}
