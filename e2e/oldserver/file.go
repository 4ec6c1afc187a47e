package oldserver

import (
	"encoding/json"
	"os"
	"time"
)

// Taipei is the zone of Waybook's replies unless set otherwise.
var Taipei = time.FixedZone("Taipei", 8*60*60)

// Read reads content from a JSON file.
func Read(file string) (content Content, err error) {
	encoded, err := os.ReadFile(file)
	if err != nil {
		return content, err
	}
	return content, json.Unmarshal(encoded, &content)
}
