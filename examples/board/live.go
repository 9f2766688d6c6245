package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// live tracks the open live pages. It is safe for concurrent use.
type live struct {
	mu      sync.Mutex
	streams map[*stream]bool
	closed  bool
	changes int           // number of changes that pages must show
	every   time.Duration // interval of session checks without a wake-up
}

// stream is one open page. wake has a value after a change; it is closed at shutdown.
type stream struct {
	name, session string
	wake          chan struct{}
}

const (
	mostStreams   = 1000             // maximum number of open pages
	mostOfSession = 5                // maximum for one session, so that one user cannot use up all of them
	writeFor      = 20 * time.Second // write timeout of an event
)

func newLive() *live { return &live{streams: map[*stream]bool{}, every: 15 * time.Second} }

// join adds a page of a session. It returns false if there are too many pages or the server is shutting down.
func (l *live) join(name, session string) (*stream, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := 0
	for s := range l.streams {
		if s.session == session {
			own++
		}
	}
	if l.closed || len(l.streams) >= mostStreams || own >= mostOfSession {
		return nil, false
	}
	s := &stream{name: name, session: session, wake: make(chan struct{}, 1)}
	l.streams[s] = true
	l.ring()
	return s, true
}

func (l *live) leave(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, s)
	if !l.closed {
		l.ring()
	}
}

// wake makes all pages check their session and content again.
func (l *live) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.ring()
	}
}

// ring wakes all pages; the caller must hold the lock. A page with a pending wake-up is not woken twice.
func (l *live) ring() {
	l.changes++
	for s := range l.streams {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// close ends all pages, because a server that shuts down waits for its requests.
func (l *live) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	for s := range l.streams {
		close(s.wake)
	}
}

// names returns the names of the users who have the board open, each once.
func (l *live) names() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.streams {
		list = append(list, s.name)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// change returns the number of the last change.
func (l *live) change() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes
}

// renders caches the HTML of the board after the last change, for each role and language, so that it is rendered once
// for many open pages. Its zero value is ready for use. It is safe for concurrent use.
type renders struct {
	mu     sync.Mutex
	change int
	html   map[string]string
}

// get returns the HTML for a key after a change. It calls render only if the cache has no entry for both.
func (r *renders) get(change int, key string, render func() (string, error)) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.html == nil || r.change != change {
		r.change, r.html = change, map[string]string{}
	}
	html, ok := r.html[key]
	if ok {
		return html, nil
	}
	html, err := render()
	if err == nil {
		r.html[key] = html
	}
	return html, err
}

// livePages serves the live board.
type livePages struct {
	*answers
	board   *boardPages
	auth    *core.Auth
	renders renders
}

// get sends the board as server-sent events after each change, until the session ends. It checks the session before
// each event: a user who was signed out on another device receives no later changes.
func (p *livePages) get(w http.ResponseWriter, r *http.Request) {
	session, me, err := p.people.me(r.Context())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	stream, ok := p.live.join(me.Name, session.ID)
	if !ok {
		http.Error(w, "Too many pages are open.", http.StatusServiceUnavailable)
		return
	}
	defer p.live.leave(stream)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx must not buffer the events
	out := events{w, http.NewResponseController(w)}
	look := time.NewTicker(p.live.every)
	defer look.Stop()
	for shown := ""; ; {
		event, data := p.look(r, me)
		switch {
		case event == "": // the session could not be read: the browser reconnects, and is not told that it is signed out
			return
		case event != "board": // the last event
			_ = out.send(event, data)
			return
		case data == shown:
			data, event = "", "" // no change: a comment keeps the connection open in proxies
		default:
			shown = data
		}
		if out.send(event, data) != nil {
			return // the client has disconnected
		}
		select {
		case <-look.C:
		case _, goesOn := <-stream.wake:
			if !goesOn {
				return // the server shuts down, and the browser reconnects to the next one
			}
		case <-r.Context().Done():
			return
		}
	}
}

// look returns the board as the user may see it now: "board" with its HTML, "end" if the session has ended, "reload" if
// the page around the board has changed, or nothing if this cannot be determined.
func (p *livePages) look(r *http.Request, me Member) (event, html string) {
	// A visit reads its session only once, so this is a new visit with the same request's cookies.
	visit := p.auth.Visit(r.Context(), authhttp.Request(r))
	session, now, err := p.people.me(visit)
	switch {
	case err != nil:
		return "", ""
	case session == nil:
		return "end", ""
	case now.Role != me.Role:
		return "reload", ""
	}
	key := now.Role + " " + locale(visit).Tag
	html, err = p.renders.get(p.live.change(), key, func() (string, error) {
		var page bytes.Buffer
		v, err := p.board.view(visit)
		if err == nil {
			err = boardColumns(v).Render(visit, &page)
		}
		return page.String(), err
	})
	if err != nil {
		p.log.ErrorContext(r.Context(), "board: a live page has failed", "error", err)
		return "", ""
	}
	return "board", html
}

// events writes server-sent events, each with a timeout.
type events struct {
	http.ResponseWriter
	*http.ResponseController
}

// send sends an event. Without a name it sends a comment, which browsers ignore.
func (e events) send(event, data string) error {
	if err := e.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
		return err
	}
	text := ": still here\n\n"
	if event != "" {
		var lines bytes.Buffer
		for line := range bytes.Lines([]byte(data)) {
			_, _ = fmt.Fprintf(&lines, "data: %s\n", bytes.TrimRight(line, "\r\n"))
		}
		text = "event: " + event + "\n" + lines.String() + "data:\n\n"
	}
	if _, err := e.Write([]byte(text)); err != nil {
		return err
	}
	return e.Flush()
}
