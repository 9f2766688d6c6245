package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// event is one event of a live page; name is empty for a comment.
type event struct{ name, data string }

// watch opens a person's live page. The channel is closed when the page has ended.
func (b *person) watch() <-chan event {
	b.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	b.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/live", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	answer, err := b.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = answer.Body.Close() })
	if got := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || got != "text/event-stream" {
		b.Fatalf("the live page is answered %s, %s", answer.Status, got)
	}
	events := make(chan event, 1000)
	go func() {
		defer close(events)
		var e event
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case lines.Text() == "":
				events <- e
				e = event{}
			case name == "event":
				e.name = value
			case name == "data":
				e.data += value
			}
		}
	}()
	return events
}

// until reads events up to one that satisfies ok, and fails if the page ends before it.
func (p *product) until(events <-chan event, what string, as func(event) bool) event {
	p.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		select {
		case e, more := <-events:
			if !more {
				p.Fatalf("the page ended before %s", what)
			}
			if as(e) {
				return e
			}
		case <-deadline.C:
			p.Fatalf("never came: %s", what)
		}
	}
}

func shows(text string) func(event) bool {
	return func(e event) bool { return e.name == "board" && strings.Contains(e.data, text) }
}

func named(name string) func(event) bool { return func(e event) bool { return e.name == name } }

// ends reads the remaining events, and fails if the page continues or shows a text.
func (p *product) ends(events <-chan event, never string) {
	p.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		select {
		case e, more := <-events:
			if !more {
				return
			}
			if strings.Contains(e.data, never) {
				p.Errorf("a page that should have ended shows %q", never)
			}
		case <-deadline.C:
			p.Fatal("the page goes on")
		}
	}
}

// TestLive: the live board shows changes, and the users who are viewing it.
func TestLive(t *testing.T) {
	p := serve(t)
	owner, guest := p.owner(), p.byProvider("Gus Guest", "gus@example.com")
	page := guest.watch()
	p.until(page, "the board", shows("Book the garden"))
	owners := owner.watch()
	p.until(page, "who else is here", shows("Demi Owen</span>"))
	owner.send("/cards", "title", "<b>Bold</b> & new")
	if e := p.until(page, "the new card", shows("&lt;b&gt;Bold&lt;/b&gt; &amp; new")); strings.Contains(e.data, "<form") {
		t.Errorf("a guest gets a form: %s", e.data)
	}
	p.until(owners, "the owner's buttons", shows("<form"))

	p.admit(owner, guest, "member")
	p.until(page, "the page with the buttons of a member", named("reload"))
	p.ends(page, "<form")
}

// TestLiveEndsWithTheSession: after a sign-out on another device or here, and when the session expires.
func TestLiveEndsWithTheSession(t *testing.T) {
	for _, row := range []struct {
		name  string
		every time.Duration
		end   func(*product, *person)
	}{
		{"on another device", time.Hour, func(p *product, _ *person) {
			other := p.owner()
			other.send("/auth/account/end", "csrfToken", other.csrf("/auth/account"), "session", "others")
		}},
		{"by the visitor", time.Hour, func(_ *product, b *person) {
			b.send("/auth/signout", "csrfToken", b.csrf("/auth/signout"))
		}},
		// As when it expires, or when another process ends it.
		{"without a word", 50 * time.Millisecond, func(p *product, b *person) {
			store, err := bboltstore.New(p.db)
			if err != nil {
				p.Fatal(err)
			}
			if _, err := store.DeleteSession(p.Context(), b.token()); err != nil {
				p.Fatal(err)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := serve(t)
			p.live.every = row.every
			b := p.owner()
			page := b.watch()
			p.until(page, "the board", shows("Book the garden"))
			row.end(p, b)
			p.until(page, "the end", named("end"))
			if _, err := p.cards.add("Secret of the team", columns[0], "somebody"); err != nil {
				t.Fatal(err)
			}
			p.live.wake()
			p.ends(page, "Secret of the team")
		})
	}
}

// TestLiveEndsWithTheServer: open pages do not delay a shutdown, and no new ones are accepted.
func TestLiveEndsWithTheServer(t *testing.T) {
	p := serve(t)
	b := p.owner()
	page := b.watch()
	p.until(page, "the board", shows("Book the garden"))
	if err := p.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	p.ends(page, "never shown")
	if _, ok := p.live.join("somebody", "s"); ok {
		t.Error("a page is opened")
	}
}

// TestLiveHasABound: the number of open pages is limited.
func TestLiveHasABound(t *testing.T) {
	l := newLive()
	for i := range mostStreams {
		if _, ok := l.join("somebody", strconv.Itoa(i)); !ok {
			t.Fatal("refused too early")
		}
	}
	if _, ok := l.join("somebody", "another"); ok {
		t.Error("one more")
	}
}

// TestLivePagesOfASession: one session cannot use up the pages of all others.
func TestLivePagesOfASession(t *testing.T) {
	l := newLive()
	var last *stream
	for range mostOfSession {
		s, ok := l.join("somebody", "one")
		if !ok {
			t.Fatal("refused too early")
		}
		last = s
	}
	if _, ok := l.join("somebody", "one"); ok {
		t.Error("one more of the same session")
	}
	if _, ok := l.join("somebody", "two"); !ok {
		t.Error("another session is refused")
	}
	l.leave(last)
	if _, ok := l.join("somebody", "one"); !ok {
		t.Error("refused after a page was closed")
	}
}

// TestLiveRendersOnce: pages of one role and language share the rendered HTML.
func TestLiveRendersOnce(t *testing.T) {
	var r renders
	count := 0
	get := func(change int, key string) string {
		html, err := r.get(change, key, func() (string, error) { count++; return fmt.Sprint(key, change), nil })
		if err != nil {
			t.Fatal(err)
		}
		return html
	}
	for _, row := range []struct {
		change int
		key    string
		count  int
	}{{1, "member en", 1}, {1, "member en", 1}, {1, "owner en", 2}, {2, "member en", 3}, {2, "owner en", 4}, {2,
		"member en", 4}} {
		if html := get(row.change, row.key); html != fmt.Sprint(row.key, row.change) || count != row.count {
			t.Errorf("change %d, %s: %q after %d renderings, want %d", row.change, row.key, html, count, row.count)
		}
	}
	failed := errors.New("the database is closed")
	if _, err := r.get(3, "member en", func() (string, error) { return "", failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if get(3, "member en") != "member en3" {
		t.Error("a failure is shown again")
	}
}
