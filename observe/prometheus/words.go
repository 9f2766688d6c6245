package prometheus

import (
	"regexp"
	"sync"
)

// maxWords is the maximum number of different label values. Core has about seventy, and each provider adds one.
const maxWords = 512

// other replaces a text that is not a word, or that exceeds maxWords.
const other = "other"

// word is the form of core's names and reasons, and of provider IDs.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// words limits the label values that plugins and the application's functions can create. For example, an Authorize
// function may return an audit.Denial with a Reason that contains user input.
type words struct {
	mu   sync.RWMutex
	seen map[string]bool
}

// known returns text if it may be a label value, and other if not.
func (w *words) known(text string) string {
	if text == "" {
		return ""
	}
	w.mu.RLock()
	seen := w.seen[text]
	w.mu.RUnlock()
	if seen {
		return text
	}
	if !word.MatchString(text) {
		return other
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	if len(w.seen) >= maxWords {
		return other
	}
	w.seen[text] = true
	return text
}
