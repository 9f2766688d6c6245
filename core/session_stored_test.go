package core_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// sessionRows is a store of sessions of one user.
type sessionRows struct {
	brokenStore
	rows map[string]store.Session
}

func newSessionRows() *sessionRows {
	return &sessionRows{brokenStore{func() error { return errors.New("not asked for") }}, map[string]store.Session{}}
}

func (s *sessionRows) CreateSession(_ context.Context, session *store.Session) error {
	s.rows[string(session.Token)] = *session
	return nil
}

func (s *sessionRows) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	row, ok := s.rows[token]
	if !ok {
		return nil, nil, core.ErrNotFound
	}
	return &row, (&core.User{ID: row.UserID, Name: "Ada"}).AsStored(), nil
}

func (s *sessionRows) UpdateSession(_ context.Context, token string, expires time.Time) error {
	row, ok := s.rows[token]
	if !ok {
		return core.ErrNotFound
	}
	row.Expires = expires
	s.rows[token] = row
	return nil
}

func (s *sessionRows) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	row, ok := s.rows[token]
	if !ok {
		return nil, core.ErrNotFound
	}
	delete(s.rows, token)
	return &row, nil
}

func TestAbsoluteMaxAge(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			a := newApp(t, core.Config{Store: newSessionRows(), Session: core.SessionConfig{
				Strategy: strategy, MaxAge: time.Hour, UpdateAge: core.UpdateAlways, AbsoluteMaxAge: 3 * time.Hour,
			}})
			b := visit(t, a)
			cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "1", Name: "Ada"})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cookies {
				b.keep(c)
			}
			for range 5 { // used every half hour, it does not expire
				a.clock.Advance(30 * time.Minute)
				if body := string(b.get("/auth/session").Body); !strings.Contains(body, "Ada") {
					t.Fatalf("after %v: %s", a.clock.Now().Sub(start), body)
				}
			}
			body := string(b.get("/auth/session").Body)
			if want := `"expires":"2030-01-01T03:00:00.000Z"`; !strings.Contains(body, want) {
				t.Errorf("%s does not have %s", body, want)
			}
			a.clock.Advance(31 * time.Minute)
			if body := string(b.get("/auth/session").Body); body != "null" {
				t.Errorf("after its expiry: %s", body)
			}
		})
	}
}

func TestHashTokens(t *testing.T) {
	t.Parallel()
	store := newSessionRows()
	a := newApp(t, core.Config{Store: store, Session: core.SessionConfig{HashTokens: true, UpdateAge: core.UpdateAlways}})
	b := visit(t, a)
	cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	b.keep(cookies[0])
	value := b.cookies[sessionCookie]
	if _, plain := store.rows[value]; plain || len(store.rows) != 1 {
		t.Fatalf("the store has the unhashed token: %v", store.rows)
	}
	a.clock.Advance(time.Hour)
	if body := string(b.get("/auth/session").Body); !strings.Contains(body, "Ada") || b.cookies[sessionCookie] != value {
		t.Errorf("read: %s, cookie %q", body, b.cookies[sessionCookie])
	}
	for hash := range store.rows {
		b := visit(t, a)
		b.cookies[sessionCookie] = hash
		if body := string(b.get("/auth/session").Body); body != "null" {
			t.Errorf("the stored hash is accepted as a token: %s", body)
		}
	}
	b.submit("/auth/signout", nil)
	if len(store.rows) != 0 {
		t.Error("sign-out did not delete the row")
	}
}

func TestRevoked(t *testing.T) {
	t.Parallel()
	revoked, broken := false, false
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		JWT: core.JWTConfig{Revoked: func(_ context.Context, token *core.Token) (bool, error) {
			if broken {
				return false, errors.New("list is out of reach")
			}
			return revoked && token.Subject == "1", nil
		}},
	})
	b := visit(t, a)
	signIn(t, b)
	request := func() *core.Request { return b.request("GET", "/", "", "") }
	if token, err := a.Token(t.Context(), request()); token == nil || err != nil {
		t.Errorf("a valid token is refused: %v", err)
	}
	broken = true
	if token, err := a.Token(t.Context(), request()); token != nil || !errors.Is(err, core.ErrSessionToken) {
		t.Errorf("with an unavailable revocation list: %v, %v", token, err)
	}
	if r := b.get("/auth/session"); r.Status != http.StatusInternalServerError || b.cookies[sessionCookie] == "" {
		t.Errorf("with an unavailable revocation list: status %d, cookie %q", r.Status, b.cookies[sessionCookie])
	}
	broken, revoked = false, true
	if token, err := a.Token(t.Context(), request()); token != nil || err != nil {
		t.Errorf("Token returns for a revoked token: %v, %v", token, err)
	}
	if r := b.get("/auth/session"); string(r.Body) != "null" || b.cookies[sessionCookie] != "" {
		t.Errorf("a revoked token: response %s, cookie %q", r.Body, b.cookies[sessionCookie])
	}
}

// TestMaxPerUser: the sign-in on a third device ends the user's session that would expire first, and no session of
// another user.
func TestMaxPerUser(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]core.SessionConfig{
		"plain": {MaxPerUser: 2}, "hashed": {MaxPerUser: 2, HashTokens: true}, "one": {MaxPerUser: 1}, "any": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeople()
			for _, id := range []string{"1", "2"} {
				if _, err := p.CreateUser(t.Context(), &core.User{ID: id, Email: id + "@example.com"}); err != nil {
					t.Fatal(err)
				}
			}
			if name == "one" { // a session that expires later must not end the newest one
				p.sessions["old"] = store.Session{Token: "old", UserID: "1", Expires: start.AddDate(9, 0, 0)}
			}
			sessions := p.as(power{tx: true, deletes: true, lists: true, ends: true})
			a := newApp(t, core.Config{Store: sessions, Session: session, Providers: []core.Provider{passwords()}})
			var devices []*browser
			other := visit(t, a)
			cookies, err := a.NewSession(t.Context(), other.request("POST", "/", "", ""), &core.User{ID: "2"})
			if err != nil {
				t.Fatal(err)
			}
			other.keep(cookies[0])
			for range 8 {
				device := visit(t, a)
				signIn(t, device)
				devices = append(devices, device)
				a.clock.Advance(time.Minute)
			}
			most := session.MaxPerUser
			if most == 0 {
				most = len(devices)
			}
			for i, device := range append(devices, other) {
				lives := string(device.get("/auth/session").Body) != "null"
				if want := i >= len(devices)-most; lives != want {
					t.Errorf("session %d of %d exists: %v, want %v", i+1, len(devices), lives, want)
				}
			}
		})
	}
}

// TestMaxPerUserIsChecked uses configurations that do not support it.
func TestMaxPerUserIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]core.Config{
		"negative":                      {Store: newPeople(), Session: core.SessionConfig{MaxPerUser: -1}},
		"sessions in cookies":           {Session: core.SessionConfig{MaxPerUser: 1, Strategy: core.StrategyJWT}},
		"a store without SessionLister": {Store: newPeople().as(power{}), Session: core.SessionConfig{MaxPerUser: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.URL, c.Secrets, c.Getenv = "https://app.test", []core.Secret{testSecret}, func(string) string { return "" }
			if _, err := core.New(c); err == nil || !strings.Contains(err.Error(), "Session.MaxPerUser") {
				t.Errorf("error %v", err)
			}
		})
	}
}
