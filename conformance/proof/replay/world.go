package main

import (
	"strings"
	"sync"
	"time"
)

// world is everything around the Auth under test: clock, store, provider, log. A [declaration] configures the Auth, a
// [comparison] looks at what came.
type world struct {
	mu           sync.Mutex
	now          time.Time
	start        time.Time
	rec          *recorder
	binder       *binder
	store        *memory
	peer         *peer
	besides      besides
	keys         *keys
	clientSecret string
	generated    int
	raw          string // the scenario as recorded
	lengths      []string
	origin       string   // of the request under way
	hosts        []string // every host of the scenario
	soft         *softAuthenticator
	texts        *textGroups
	closers      []func() // end what the scenario started
	parts        bool     // what Auth.js has nothing of is switched on
	whole        bool     // passwords and the account page are there too
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

// mint binds the tokens that a step brings along: real ones, made by Auth.js.
func (w *world) mint(st step) {
	for _, m := range st.Minted {
		w.binder.values[m.Label] = m.Literal
	}
	for _, d := range st.Derived {
		w.binder.values[d.Label] = w.derive(d)
	}
}

// derive alters a value as the recording says; what the alteration starts from may be a value of this run.
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
