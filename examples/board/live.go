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

// live knows who looks at the board now. It is safe for concurrent use.
type live struct {
	mu      sync.Mutex
	streams map[*stream]bool
	closed  bool
	changes int           // counts what pages have to show again
	every   time.Duration // how long a session may have ended unnoticed, where nobody told of it
}

// stream is a page that is open. Something has changed when wake has a value; it is closed when the server ends.
type stream struct {
	name, session string
	wake          chan struct{}
}

const (
	mostStreams   = 1000             // pages that are served at once
	mostOfSession = 5                // of one session, so that one user cannot take all places
	writeFor      = 20 * time.Second // how long a page may take to read an event
)

func newLive() *live { return &live{streams: map[*stream]bool{}, every: 15 * time.Second} }

// join adds a page of a session; false: there are too many, or the server ends.
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

// wake has all pages look again at what they show, and whether they may.
func (l *live) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.ring()
	}
}

// ring needs the lock. A page that has not looked since the last time need not be told twice.
func (l *live) ring() {
	l.changes++
	for s := range l.streams {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// close ends all pages: a server that shuts down waits for its requests.
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

// names are those of the people who look at the board, each once.
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

// renders has the board as HTML after the last change, for each role and language: many open pages show the same, and
// are rendered once. Its zero value is ready, and safe for concurrent use.
type renders struct {
	mu     sync.Mutex
	change int
	html   map[string]string
}

// get returns the HTML for a key after a change. It calls render only if nothing was rendered for both.
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

// livePages are open boards that change while they are looked at.
type livePages struct {
	*answers
	board   *boardPages
	auth    *core.Auth
	renders renders
}

// get sends the board as server-sent events, whenever it has changed, until the session ends. Each time it asks
// again who the visitor is: somebody who was signed out on another device sees nothing that was written since.
func (p *livePages) get(w http.ResponseWriter, r *http.Request) {
	session, me, err := p.people.From(r.Context())
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
	w.Header().Set("X-Accel-Buffering", "no") // nginx would wait for more
	out := events{w, http.NewResponseController(w)}
	look := time.NewTicker(p.live.every)
	defer look.Stop()
	for shown := ""; ; {
		event, data := p.look(r, me)
		switch {
		case event == "": // nobody knows: the browser comes back, and is not told that it is signed out
			return
		case event != "board": // the last one
			_ = out.send(event, data)
			return
		case data == shown:
			data, event = "", "" // nothing new: a proxy is shown that the connection lives
		default:
			shown = data
		}
		if out.send(event, data) != nil {
			return // the visitor has left
		}
		select {
		case <-look.C:
		case _, goesOn := <-stream.wake:
			if !goesOn {
				return // the server ends, and the browser comes back to the next one
			}
		case <-r.Context().Done():
			return
		}
	}
}

// look is the board as the visitor may see it at this moment: "board" with its HTML, "end" when the session has ended,
// "reload" when the page around the board is another one now, and nothing when that cannot be found out.
func (p *livePages) look(r *http.Request, me Member) (event, html string) {
	// A visit reads its session once. This is another visit, with the cookies of the same request.
	visit := p.auth.Visit(r.Context(), authhttp.Request(r))
	session, now, err := p.people.From(visit)
	switch {
	case err != nil:
		return "", ""
	case session == nil:
		return "end", ""
	case now.Role != me.Role:
		return "reload", ""
	}
	key := string(now.Role) + " " + locale(visit).Tag
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

// events writes server-sent events, each within its time.
type events struct {
	http.ResponseWriter
	*http.ResponseController
}

// send sends an event; without a name it sends a comment, which browsers ignore.
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
