package core_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// strict is a service that accepts each code once. If gate is not nil, a token request waits for a value from it.
type strict struct {
	used  map[string]bool
	gate  chan struct{}
	asked chan struct{}
	calls atomic.Int32
}

func (s *strict) provider(id string) *core.OAuthProvider {
	p := lenient(id)
	next := p.HTTPClient.Transport
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path != "/token" {
			return next.RoundTrip(r)
		}
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form, _ := url.ParseQuery(string(raw))
		s.calls.Add(1)
		if s.gate != nil {
			s.asked <- struct{}{}
			select {
			case <-s.gate:
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		if code := form.Get("code"); s.used[code] {
			return answered(r, http.StatusBadRequest, `{"error":"invalid_grant"}`), nil
		} else if s.used != nil {
			s.used[code] = true
		}
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		return next.RoundTrip(r)
	})}
	return p
}

func newStrict() *strict { return &strict{used: map[string]bool{}} }

// TestAbortedCallback: a browser that disconnects during a callback and requests it again, with the cookies that it
// still has, is signed in. Only one request is sent to the provider.
func TestAbortedCallback(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} { // the second request arrives after the exchange
		t.Run(fmt.Sprintf("late %t", late), func(t *testing.T) {
			s := newStrict()
			s.gate, s.asked = make(chan struct{}), make(chan struct{}, 9)
			b := visit(t, newApp(t, core.Config{
				Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: core.StrategyDatabase},
				Providers: []core.Provider{s.provider("p")},
			}))
			target := "/auth/callback/p?" +
				back(t, b.submit("/auth/signin/p", url.Values{"callbackUrl": {"/orders"}}).Redirect, "ann").Encode()
			ctx, disconnect := context.WithCancel(t.Context())
			lost := make(chan *core.Response)
			go func() { lost <- b.auth.Handle(ctx, b.request("GET", target, "", "")) }()
			<-s.asked
			disconnect()
			if r := <-lost; r.Err == nil {
				t.Fatalf("the request whose browser left got status %d to %s", r.Status, r.Redirect)
			}
			if late {
				close(s.gate)
			} else {
				time.AfterFunc(0, func() { close(s.gate) })
			}
			if r := b.get(target); r.Err != nil || r.Redirect != "https://app.test/orders" || b.who() != "ann" {
				t.Errorf("redirects to %s as %q: %v", r.Redirect, b.who(), r.Err)
			}
			if n := s.calls.Load(); n != 1 {
				t.Errorf("%d token requests", n)
			}
		})
	}
}

// TestRepeatedCallback repeats a callback whose response was lost: the browser has the cookies of before.
func TestRepeatedCallback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(a *app, b *browser, lost map[string]string)
		signed bool
	}{
		{"at once", func(*app, *browser, map[string]string) {}, true},
		{"half a minute later", func(a *app, _ *browser, _ map[string]string) { a.clock.Advance(30 * time.Second) }, true},
		{"two minutes later", func(a *app, _ *browser, _ map[string]string) { a.clock.Advance(2 * time.Minute) }, false},
		{"after a sign-out", func(_ *app, b *browser, _ map[string]string) { b.submit("/auth/signout", nil) }, false},
		{"after a sign-in as another user", func(_ *app, b *browser, _ map[string]string) {
			b.submit("/auth/signin/q", nil)
			b.get("/auth/callback/q?" + back(b.t, b.submit("/auth/signin/q", url.Values{"switchAccount": {"1"}}).Redirect,
				"bob").Encode())
			if b.who() != "bob" {
				b.t.Fatalf("signed in as %q", b.who())
			}
		}, false},
		{"after a revocation", func(a *app, b *browser, _ map[string]string) {
			user := a.userID(b)
			if _, err := a.EndSessions(b.t.Context(), user, core.EndOptions{}); err != nil {
				b.t.Fatal(err)
			}
		}, false},
		{"in another browser", func(_ *app, b *browser, lost map[string]string) {
			delete(lost, csrfCookie)
			b.csrf()
			lost[csrfCookie] = visit(b.t, b.auth).cookies[csrfCookie]
		}, false},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(row.name+", "+string(strategy), func(t *testing.T) {
				s, store := newStrict(), newPeople()
				config := core.Config{
					Store: store.as(power{lists: true, ends: true}), Session: core.SessionConfig{Strategy: strategy},
					Providers: []core.Provider{s.provider("p"), s.provider("q")},
				}
				if strategy == core.StrategyJWT && row.name == "after a revocation" { // it needs records
					config.Store, config.Session.Revocation.On = newHouse(), core.True
				}
				a := newApp(t, config)
				b := visit(t, a)
				answer := "/auth/callback/p?" + back(t, b.submit("/auth/signin/p", nil).Redirect, "ann").Encode()
				lost := maps.Clone(b.cookies)
				if r := b.get(answer); r.Err != nil {
					t.Fatal(r.Err)
				}
				row.before(a, b, lost)
				again := visit(t, a)
				again.cookies = lost
				r := again.get(answer)
				if signed := again.who() == "ann"; signed != row.signed || r.Status >= 500 {
					t.Errorf("signed in %t, want %t: %d to %s, %v", signed, row.signed, r.Status, r.Redirect, r.Err)
				}
				if !row.signed && !strings.Contains(r.Redirect, "error=Configuration&reason=") {
					t.Errorf("redirects to %s", r.Redirect)
				}
			})
		}
	}
}

// userID returns the ID of the signed-in user from the store.
func (a *app) userID(b *browser) string {
	v := a.Visit(b.t.Context(), b.request("GET", "/", "", ""))
	s, err := v.Session()
	if err != nil || s == nil {
		b.t.Fatalf("no session: %v", err)
	}
	return s.UserID
}

// TestTwoProcesses: the provider rejects a repeated callback that another process receives. It is logged as the user's
// mistake, not as a server error.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s, store := newStrict(), newPeople()
	config := core.Config{
		Store: store.as(power{}), Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{s.provider("p")},
	}
	first, second := newApp(t, config), newApp(t, config)
	b := visit(t, first)
	answer := "/auth/callback/p?" + back(t, b.submit("/auth/signin/p", nil).Redirect, "ann").Encode()
	lost := maps.Clone(b.cookies)
	b.get(answer)
	other := visit(t, second)
	other.cookies = lost
	r := other.get(answer)
	if r.Redirect != "https://app.test/auth/error?error=Configuration&reason=used" {
		t.Errorf("redirects to %s: %v", r.Redirect, r.Err)
	}
	if page := other.get("/auth/error?error=Configuration&reason=used"); page.Status != http.StatusBadRequest {
		t.Errorf("the page has status %d", page.Status)
	}
	if log := second.log.String(); strings.Contains(log, "level=ERROR") || !strings.Contains(log, "invalid_grant") {
		t.Errorf("the log says\n%s", log)
	}
	b.auth = second // in the browser that has the response
	if r := b.get(answer); r.Redirect != "https://app.test" || !errors.Is(r.Err, core.ErrorType("InvalidCheck")) {
		t.Errorf("redirects to %s: %v", r.Redirect, r.Err)
	}
}

// TestTwoProcessesOAuth1 is TestTwoProcesses for OAuth 1.0a: the service answers 401 to a request token that was used.
func TestTwoProcessesOAuth1(t *testing.T) {
	t.Parallel()
	p, used := oauth1Provider("one"), false
	next := p.HTTPClient.Transport
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/token" && used {
			return answered(r, http.StatusUnauthorized, "Invalid request token"), nil
		}
		used = used || r.URL.Path == "/token"
		return next.RoundTrip(r)
	})}
	config := core.Config{Providers: []core.Provider{p}}
	first, second := newApp(t, config), newApp(t, config)
	b := visit(t, first)
	started := b.start("one", "/mine")
	lost := maps.Clone(b.cookies)
	finishAny(b, "one", started)
	other := visit(t, second)
	other.cookies = lost
	r := finishAny(other, "one", started)
	if r.Redirect != "https://app.test/auth/error?error=Configuration&reason=used" {
		t.Errorf("redirects to %s: %v", r.Redirect, r.Err)
	}
}

// TestOneExchangePerFlow: while an exchange is in progress, other codes of the same flow reach no provider, and a
// repeated callback gets the result of the first one.
func TestOneExchangePerFlow(t *testing.T) {
	t.Parallel()
	s := newStrict()
	s.gate, s.asked = make(chan struct{}), make(chan struct{}, 1100)
	a := newApp(t, core.Config{Providers: []core.Provider{s.provider("p")}})
	b := visit(t, a)
	answer := back(t, b.submit("/auth/signin/p", nil).Redirect, "ann")
	target := "/auth/callback/p?" + answer.Encode()
	request := func(target string) *core.Request { return b.request("GET", target, "", "") }
	ctx, disconnect := context.WithCancel(t.Context())
	lost := make(chan *core.Response)
	go func() { lost <- a.Handle(ctx, request(target)) }()
	<-s.asked
	disconnect()
	<-lost
	for i := range 1100 {
		answer.Set("code", fmt.Sprintf("invented-%d", i))
		ctx, disconnect := context.WithTimeout(t.Context(), time.Minute)
		r := a.Handle(ctx, request("/auth/callback/p?"+answer.Encode()))
		disconnect()
		if !errors.Is(r.Err, core.ErrorType("InvalidCheck")) {
			t.Fatalf("code %d: %d %v", i, r.Status, r.Err)
		}
	}
	repeated := request(target)
	joined := make(chan *core.Response)
	go func() { joined <- a.Handle(t.Context(), repeated) }()
	close(s.gate)
	if r := <-joined; r.Err != nil {
		t.Errorf("the repeated callback: %v", r.Err)
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d token requests", n)
	}
}
