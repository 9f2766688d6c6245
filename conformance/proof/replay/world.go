package main

import (
	"strings"
	"sync"
	"time"
)

// world is the environment of the Auth under test: clock, store, provider and log. A [declaration] configures the Auth,
// and a [comparison] checks the results.
type world struct {
	mu           sync.Mutex
	now          time.Time
	start        time.Time
	rec          *recorder
	binder       *binder
	store        *memory
	peer         *peer
	addedState   addedState
	keys         *keys
	clientSecret string
	generated    int
	raw          string // the scenario as recorded
	lengths      []string
	origin       string   // of the current request
	hosts        []string // every host of the scenario
	soft         *softAuthenticator
	texts        *textGroups
	closers      []func() // stop what the scenario started
	parts        bool     // features that Auth.js does not have are on
	whole        bool     // passwords and the account page are on too
	records      records
	recorded     warnings
	observed     warnings
}

func (w *world) clock() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now }

func (w *world) setClock(t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.binder.now = t, t
}

// mint binds the tokens in a step. Auth.js created them.
func (w *world) mint(st step) {
	for _, m := range st.Minted {
		w.binder.values[m.Label] = m.Literal
	}
	for _, d := range st.Derived {
		w.binder.values[d.Label] = w.derive(d)
	}
}

// derive modifies a value as the recording describes. The original may be a value of this run.
func (w *world) derive(d derived) string {
	from, err := w.binder.substitute(d.From)
	if v, ok := w.binder.values[d.From]; ok {
		from, err = v, nil
	}
	if err != nil {
		return d.Literal
	}
	var at int
	switch {
	case strings.Contains(d.How, "hex digit of the hash"):
		at = strings.IndexByte(from, '|') + 1
	case strings.Contains(d.How, "hex digit of the token"):
		at = 0
	default:
		return d.Literal
	}
	c := byte('0')
	if from[at] == c {
		c = '1'
	}
	return from[:at] + string(c) + from[at+1:]
}
