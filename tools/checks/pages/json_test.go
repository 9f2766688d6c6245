package pages

import (
	"encoding/json"
	"strconv"
	"testing"
)

// TestJSON: JSON blocks are valid JSON.
func TestJSON(t *testing.T) {
	t.Parallel()
	count := 0
	for _, p := range pages(t) {
		text := ""
		for i, l := range p.lines {
			switch {
			case l.language == "json" && !l.fence:
				text += l.text + "\n"
			case text != "":
				count++
				if !json.Valid([]byte(text)) {
					t.Error(p.path + ":" + strconv.Itoa(i) + ": the block that ends here is no JSON")
				}
				text = ""
			}
		}
	}
	if count == 0 {
		t.Error("no JSON was found")
	}
}
