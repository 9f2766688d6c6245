package prometheus

import (
	"regexp"
	"sync"
)

// maxWords is how many texts labels of decisions can have. Core's own are some seventy, and each provider has one.
const maxWords = 512

// other is what stands for a text that is no word, or for one too many.
const other = "other"

// word is the form of core's names and reasons, and of the IDs of providers.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// words bound what parts and functions of the application can make of labels: a core.Refusal has a Reason that an
// Authorize function may have made of what a visitor typed.
type words struct {
	mu   sync.RWMutex
	seen map[string]bool
}

// known returns the text where it may be the value of a label.
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
