package core

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// contractStore is a store with one user. Its calls fail while down is set. Sessions record their last use in the
// background; mu guards what that reads.
type contractStore struct {
	Store
	user    *User
	mu      sync.Mutex
	rows    map[string]store.Session
	records map[string]store.Record
	down    error
}

func (s *contractStore) User(_ context.Context, id string) (*User, error) {
	if id != s.user.ID {
		return nil, ErrNotFound
	}
	return s.user.Clone(), s.down
}

func (s *contractStore) CreateSession(_ context.Context, session *store.Session) error {
	s.rows[string(session.Token)] = *session
	return s.down
}

func (s *contractStore) SessionAndUser(_ context.Context, token string) (*store.Session, *User, error) {
	row, there := s.rows[token]
	switch {
	case s.down != nil:
		return nil, nil, s.down
	case !there:
		return nil, nil, ErrNotFound
	}
	return &row, s.user.Clone(), nil
}

func (s *contractStore) UpdateSession(_ context.Context, token string, expires time.Time) error {
	row := s.rows[token]
	row.Expires = expires
	s.rows[token] = row
	return s.down
}

func (s *contractStore) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	row, there := s.rows[token]
	if !there {
		return nil, ErrNotFound
	}
	delete(s.rows, token)
	return &row, s.down
}

func (s *contractStore) Record(_ context.Context, kind, key string) (*store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, there := s.records[kind+key]
	if !there {
		return nil, ErrNotFound
	}
	return &row, nil
}

func (s *contractStore) CreateRecord(_ context.Context, r *store.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Version++
	s.records[r.Kind+r.Key] = *r
	return nil
}

func (s *contractStore) UpdateRecord(ctx context.Context, r *store.Record) error {
	return s.CreateRecord(ctx, r)
}

func (s *contractStore) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, kind+key)
	return nil, ErrNotFound
}

func (s *contractStore) UserRecords(context.Context, string, string) ([]*store.Record, error) {
	return nil, nil
}

func (s *contractStore) DeleteUserRecords(context.Context, string, string) (int, error) {
	return 0, nil
}

// tracking is a plugin that gives sessions an ID, authentication time and methods.
type tracking struct{}

func (tracking) Attach(h *PluginHost) error {
	h.TrackAuthentication()
	return nil
}

// contract has an Auth and its store for one strategy.
type contract struct {
	t     *testing.T
	auth  *Auth
	store *contractStore
	since atomic.Int64 // of the clock, in nanoseconds since contractEpoch
}

var contractEpoch = time.Unix(1_700_000_000, 0)

func (c *contract) now() time.Time { return contractEpoch.Add(time.Duration(c.since.Load())) }

func (c *contract) wait(d time.Duration) { c.since.Add(int64(d)) }

func newContract(t *testing.T, strategy Strategy) *contract {
	t.Helper()
	c := &contract{t: t}
	c.store = &contractStore{
		user: &User{ID: "1", Name: "Ada", Email: "ada@app.test"},
		rows: map[string]store.Session{}, records: map[string]store.Record{},
	}
	config := Config{
		Secrets: []Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: c.store,
		Session: SessionConfig{Strategy: strategy, Bearer: true}, Now: c.now,
		Logger: slog.New(slog.DiscardHandler), CleanUp: False, Getenv: func(string) string { return "" },
		Plugins: []Plugin{tracking{}},
	}
	if strategy == StrategyJWT {
		config.Session.Revocation.On = True
		config.JWT.Revoked = func(context.Context, *Token) (bool, error) { return false, c.store.down }
	}
	var err error
	if c.auth, err = New(config); err != nil {
		t.Fatal(err)
	}
	return c
}

// of returns the session of a request with these header fields.
func (c *contract) of(header ...string) requestSession {
	c.t.Helper()
	r := &Request{Method: "POST", Target: "/", Scheme: "https", Hosts: []string{"app.test"}, Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	v, err := c.auth.site.arrive(r)
	if err != nil {
		c.t.Fatal(err)
	}
	s, err := c.auth.sessions.of(c.t.Context(), &v)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

const contractCookie = "__Secure-authjs.session-token="

// signIn starts a session that replaces another one, and returns the Cookie header of the browser.
func (c *contract) signIn(r requestSession) string {
	c.t.Helper()
	id := &identity{user: c.store.user.Clone(), account: &Account{Type: TypeOAuth, Provider: "p"}}
	who := member{user: c.store.user.Clone()}
	if err := c.auth.sessions.createStored(c.t.Context(), r.carrier(), id, &who); err != nil {
		c.t.Fatal(err)
	}
	cookies, sessionID, err := c.auth.sessions.issue(c.t.Context(), r, id, who)
	if err != nil || len(cookies) != 1 || sessionID == "" {
		c.t.Fatalf("cookies %v, ID %q, %v", cookies, sessionID, err)
	}
	return contractCookie + cookies[0].Value
}

// signedIn checks whether a request with this Cookie header has a session.
func (c *contract) signedIn(cookie string) bool {
	c.t.Helper()
	r := c.of("Cookie", cookie)
	current, err := r.current(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	session, _, err := c.auth.sessions.read(c.t.Context(), r, sessionRead{})
	if err != nil || (session != nil) != (current != nil) {
		c.t.Fatalf("current returns %v, read %v, %v", current, session, err)
	}
	return session != nil
}

// TestRequestSession is the contract of both implementations of requestSession.
func TestRequestSession(t *testing.T) {
	t.Parallel()
	for _, strategy := range []Strategy{StrategyJWT, StrategyDatabase} {
		for name, check := range map[string]func(*testing.T, *contract){
			"no session": contractNone, "any order of calls": contractOrder, "ended while the request waits": contractEnded,
			"a planted cookie": contractPlanted, "the store is unavailable": contractDown, "a new sign-in": contractStart,
			"sign-out": contractEnd, "re-authentication": contractRenew, "a bearer token": contractBearer,
			"a renewal": contractRenewal,
		} {
			t.Run(string(strategy)+"/"+name, func(t *testing.T) {
				t.Parallel()
				check(t, newContract(t, strategy))
			})
		}
	}
}

func contractNone(t *testing.T, c *contract) {
	r := c.of()
	current, err := r.current(t.Context())
	if r.carrier().Value() != "" || r.Facts(t.Context()).Owner != "" || current != nil || err != nil {
		t.Errorf("owner %q, current %v, %v", r.Facts(t.Context()).Owner, current, err)
	}
	session, cookies, err := c.auth.sessions.read(t.Context(), r, sessionRead{})
	if session != nil || len(cookies) > 0 || err != nil {
		t.Errorf("read %v, %v, %v", session, cookies, err)
	}
}

func contractOrder(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	calls := []func(requestSession) string{
		func(r requestSession) string { return r.carrier().Value() },
		func(r requestSession) string { return r.Facts(t.Context()).Owner },
		func(r requestSession) string {
			current, err := r.current(t.Context())
			if err != nil || current == nil || current.authTime.IsZero() {
				t.Fatalf("current %v, %v", current, err)
			}
			return current.user.ID
		},
		func(r requestSession) string {
			session, cookies, err := c.auth.sessions.read(t.Context(), r, sessionRead{})
			if err != nil || session == nil || len(cookies) > 0 {
				t.Fatalf("read %v, %v, %v", session, cookies, err)
			}
			return session.UserID
		},
	}
	var want []string
	for _, call := range calls {
		want = append(want, call(c.of("Cookie", cookie)))
	}
	for first := range calls {
		for second := range calls {
			r := c.of("Cookie", cookie)
			for _, n := range []int{first, second, first} {
				if got := calls[n](r); got != want[n] || got == "" {
					t.Errorf("calls %d, %d: call %d returns %q, alone %q", first, second, n, got, want[n])
				}
			}
		}
	}
}

func contractEnded(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	r := c.of("Cookie", cookie)
	if current, err := r.current(t.Context()); err != nil || current == nil {
		t.Fatalf("current %v, %v", current, err)
	}
	if _, err := c.of("Cookie", cookie).end(t.Context()); err != nil { // another request
		t.Fatal(err)
	}
	if current, err := r.current(t.Context()); err != nil || current != nil {
		t.Errorf("current %v, %v", current, err)
	}
	session, cookies, err := c.auth.sessions.read(t.Context(), r, sessionRead{})
	if err != nil || session != nil || len(cookies) != 1 || cookies[0].Value != "" {
		t.Errorf("read %v, %v, %v", session, cookies, err)
	}
	if _, err := r.renew(t.Context(), &reauthentication{now: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("renew: %v", err)
	}
}

func contractPlanted(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	for _, header := range []string{contractCookie + "planted; " + cookie, cookie + "; " + contractCookie + "planted"} {
		if !c.signedIn(header) {
			t.Errorf("%s: signed out", header)
		}
		if r := c.of("Cookie", header); contractCookie+r.carrier().Value() != cookie {
			t.Errorf("%s: the token is %q", header, r.carrier().Value())
		}
	}
	if c.signedIn(contractCookie + "planted; " + contractCookie + "other") {
		t.Error("signed in without a valid token")
	}
}

func contractDown(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	r := c.of("Cookie", cookie)
	c.store.down = store.Unavailable(errors.New("down"))
	if current, err := r.current(t.Context()); err == nil || current != nil {
		t.Errorf("current %v, %v", current, err)
	}
	session, cookies, err := c.auth.sessions.read(t.Context(), r, sessionRead{})
	if session != nil || len(cookies) > 0 || !errors.Is(err, ErrSessionToken) {
		t.Errorf("read %v, %v, %v", session, cookies, err)
	}
	c.store.down = nil
	if !c.signedIn(cookie) {
		t.Error("signed out")
	}
}

func contractStart(t *testing.T, c *contract) {
	first := c.signIn(c.of())
	c.wait(time.Minute)
	second := c.signIn(c.of("Cookie", first))
	if first == second || !c.signedIn(second) {
		t.Error("the sign-in has started no other session")
	}
	if c.signedIn(first) {
		t.Error("a copy of the old cookie is valid")
	}
}

func contractEnd(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	r := c.of("Cookie", contractCookie+"planted; "+cookie)
	userID, err := c.auth.sessions.end(t.Context(), r)
	if err != nil || userID != "1" {
		t.Errorf("user %q, %v", userID, err)
	}
	if c.signedIn(cookie) {
		t.Error("a copy of the cookie is valid")
	}
	if r.carrier().MayRenew(true) {
		t.Error("a late response may set the cookie of the ended session")
	}
}

func contractRenew(t *testing.T, c *contract) {
	first := c.signIn(c.of())
	before, _, _ := c.auth.sessions.read(t.Context(), c.of("Cookie", first), sessionRead{})
	c.wait(time.Hour)
	cookies, err := c.of("Cookie", first).renew(t.Context(), &reauthentication{now: true, methods: []amr.Method{"pwd"}})
	if err != nil || len(cookies) != 1 {
		t.Fatalf("cookies %v, %v", cookies, err)
	}
	second := contractCookie + cookies[0].Value
	if c.signedIn(first) || !c.signedIn(second) {
		t.Error("the old token is valid, or the new one is not")
	}
	after, _, _ := c.auth.sessions.read(t.Context(), c.of("Cookie", second), sessionRead{})
	if after.ID == before.ID || !after.AuthTime.Equal(c.now()) || after.UserID != "1" {
		t.Errorf("%v was %v", after, before)
	}
}

func contractBearer(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	token := strings.TrimPrefix(cookie, contractCookie)
	r := c.of("Authorization", "Bearer "+token, "Cookie", contractCookie+"other")
	session, cookies, err := c.auth.sessions.read(t.Context(), r, sessionRead{trigger: TriggerUpdate})
	if err != nil || session == nil || len(cookies) > 0 {
		t.Errorf("read %v, %v, %v", session, cookies, err)
	}
	if r := c.of("Authorization", "Bearer other", "Cookie", cookie); r.carrier().Value() != "other" {
		t.Error("a cookie is used in place of an invalid bearer token")
	}
}

func contractRenewal(t *testing.T, c *contract) {
	cookie := c.signIn(c.of())
	c.wait(25 * time.Hour) // UpdateAge is a day
	slow := c.of("Cookie", cookie)
	session, cookies, err := c.auth.sessions.read(t.Context(), c.of("Cookie", cookie), sessionRead{})
	if err != nil || session == nil || len(cookies) != 1 || !cookies[0].Expires.After(c.now().Add(29*24*time.Hour)) {
		t.Fatalf("read %v, %v, %v", session, cookies, err)
	}
	if _, err := c.auth.sessions.end(t.Context(), c.of("Cookie", cookie)); err != nil {
		t.Fatal(err)
	}
	if _, cookies, _ := c.auth.sessions.read(t.Context(), slow, sessionRead{}); len(cookies) > 0 &&
		cookies[0].Value != "" {
		t.Error("a slow response sets the cookie of an ended session")
	}
}
