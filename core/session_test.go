package core_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// passwords is a credentials provider with one user.
func passwords() *core.CredentialsProvider {
	return &core.CredentialsProvider{
		Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
			if form["email"] == "ada@example.com" && form["password"] == "engine" {
				return &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}, nil
			}
			return nil, nil
		},
	}
}

func signIn(t *testing.T, b *browser) {
	t.Helper()
	r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Status != 302 || r.Redirect != "https://app.test" {
		t.Fatalf("sign-in: status %d, redirect to %q: %v", r.Status, r.Redirect, r.Err)
	}
}

func TestCredentialsSignInAndOut(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("session before sign-in: %s", got)
	}
	signIn(t, b)
	want := `{"user":{"name":"Ada","email":"ada@example.com"},"expires":"2030-01-31T00:00:00.000Z"}`
	if got := string(b.get("/auth/session").Body); got != want {
		t.Errorf("session after sign-in:\n got %s\nwant %s", got, want)
	}
	if r := b.submit("/auth/signout", nil); r.Status != 302 {
		t.Errorf("sign-out: status %d", r.Status)
	}
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("session after sign-out: %s", got)
	}
}

func TestSessionExpires(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: core.SessionConfig{MaxAge: time.Hour}})
	for _, row := range []struct {
		name    string
		after   time.Duration
		present bool
	}{
		{"fresh", 0, true},
		{"within the tolerance for clocks", time.Hour + 14*time.Second, true},
		{"expired", time.Hour + 16*time.Second, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a.clock.now = start
			b := visit(t, a)
			signIn(t, b)
			a.clock.Advance(row.after)
			r := b.get("/auth/session")
			if got := string(r.Body) != "null"; got != row.present {
				t.Errorf("session present: %v, want %v", got, row.present)
			}
			if _, kept := b.cookies["__Secure-authjs.session-token"]; kept != row.present {
				t.Errorf("cookie unchanged: %v, want %v", kept, row.present)
			}
		})
	}
}

// TestRememberedTokensEnd sends one cookie many times. The decrypted content is cached, but its validity is checked
// each time.
func TestRememberedTokensEnd(t *testing.T) {
	t.Parallel()
	retired := core.Secret(strings.Repeat("retired", 5))
	config := core.Config{
		Secrets: []core.Secret{retired}, Providers: []core.Provider{passwords()},
		Session: core.SessionConfig{MaxAge: time.Hour},
	}
	a := newApp(t, config)
	b := visit(t, a)
	signIn(t, b)
	cookie := b.cookies["__Secure-authjs.session-token"]
	isIn := func(b *browser) bool {
		b.cookies["__Secure-authjs.session-token"] = cookie
		return string(b.get("/auth/session").Body) != "null"
	}
	for range 3 {
		if !isIn(b) {
			t.Fatal("not signed in")
		}
	}
	config.Secrets = []core.Secret{core.Secret(strings.Repeat("current", 5)), retired}
	if !isIn(visit(t, newApp(t, config))) {
		t.Error("a session encrypted with the second secret is refused")
	}
	config.Secrets = config.Secrets[:1]
	if isIn(visit(t, newApp(t, config))) {
		t.Error("a session encrypted with a removed secret is accepted")
	}
	a.clock.Advance(time.Hour + 16*time.Second)
	if isIn(b) {
		t.Error("a session is accepted after its expiry")
	}
}

func TestCallbacksShapeTheSession(t *testing.T) {
	t.Parallel()
	type extra struct {
		Role string `json:"role"`
	}
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Callbacks: core.Callbacks{
			JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if p.Trigger == core.TriggerSignIn {
					return p.Token, p.Token.Extra.Merge(extra{Role: "admin"})
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				var e extra
				if err := p.Token.Extra.Decode(&e); err != nil {
					return nil, err
				}
				return p.Session, p.Session.Extra.Merge(e)
			},
		},
	})
	b := visit(t, a)
	signIn(t, b)
	if got := string(b.get("/auth/session").Body); !strings.Contains(got, `"role":"admin"`) {
		t.Errorf("session: %s", got)
	}
}

func TestVisitReadsOnceAndRenewsRarely(t *testing.T) {
	t.Parallel()
	reads := 0
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Events:    core.Events{Session: func(context.Context, core.SessionEvent) error { reads++; return nil }},
	})
	b := visit(t, a)
	signIn(t, b)
	page := func() int {
		v := a.Visit(t.Context(), b.request("GET", "/", "", ""))
		for range 3 {
			if s, err := core.SessionFrom(v); err != nil || s == nil || s.UserID != "1" {
				t.Fatalf("session %v, error %v", s, err)
			}
		}
		return len(answerOf(v)["Set-Cookie"])
	}
	if set := page(); set != 0 || reads != 1 {
		t.Errorf("%d cookies set and %d reads, want 0 and 1", set, reads)
	}
	a.clock.Advance(25 * time.Hour)
	if set := page(); set != 1 {
		t.Errorf("%d cookies set after UpdateAge, want 1", set)
	}
}

// TestPlantedSession signs in with a session cookie that an attacker has planted. The new session must have another
// token. If the planted token is a valid session, that session ends.
func TestPlantedSession(t *testing.T) {
	t.Parallel()
	expired, others := start.Add(-time.Second), start.Add(time.Hour)
	for _, row := range []struct {
		name, planted string
		known         *store.Session
	}{
		{"unknown", "planted-by-eve", nil},
		{"another user's", "planted-by-eve", &store.Session{Token: "planted-by-eve", UserID: "2", Expires: others}},
		{"one's own, seen by eve", "planted-by-eve",
			&store.Session{Token: "planted-by-eve", UserID: "1", Expires: others}},
		{"expired", "planted-by-eve", &store.Session{Token: "planted-by-eve", UserID: "2", Expires: expired}},
		{"a whole store", "%' OR 1=1 --", nil},
	} {
		t.Run("database, "+row.name, func(t *testing.T) {
			store := newSessionRows()
			if row.known != nil {
				store.rows[row.planted] = *row.known
			}
			a := newApp(t, core.Config{Store: store, Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
			b := visit(t, a)
			b.cookies[sessionCookie] = row.planted
			signIn(t, b)
			if got := b.cookies[sessionCookie]; got == row.planted || got == "" || store.rows[got].UserID != "1" {
				t.Errorf("signed in as %q under %q", store.rows[got].UserID, got)
			}
			if _, there := store.rows[row.planted]; there || len(store.rows) != 1 {
				t.Errorf("the planted session is still valid: %v", store.rows)
			}
		})
	}
	for name, subject := range map[string]string{"nobody's": "", "another user's": "2", "one's own": "1"} {
		t.Run("jwt, "+name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			planted := "planted-by-eve"
			if subject != "" {
				var err error
				if planted, err = a.EncodeToken(&core.Token{Subject: subject, Name: "Eve"}, sessionCookie, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			b := visit(t, a)
			b.cookies[sessionCookie], b.cookies[sessionCookie+".0"] = planted, planted
			signIn(t, b)
			token, err := a.DecodeToken(b.cookies[sessionCookie], sessionCookie)
			if err != nil || token.Subject != "1" || token.Name != "Ada" || b.cookies[sessionCookie] == planted ||
				b.cookies[sessionCookie+".0"] != "" {
				t.Errorf("signed in as %+v, %v", token, err)
			}
		})
	}
}

// TestCookieOfBeforeTheSignOut sends a session cookie again after the session has ended.
func TestCookieOfBeforeTheSignOut(t *testing.T) {
	t.Parallel()
	revoked := map[string]bool{}
	for name, row := range map[string]struct {
		config core.Config
		ends   bool
	}{
		"database": {core.Config{Store: newSessionRows()}, true},
		"jwt, a list": {core.Config{JWT: core.JWTConfig{
			Revoked: func(_ context.Context, token *core.Token) (bool, error) { return revoked[token.ID], nil },
		}}, true},
		"jwt, as is documented": {core.Config{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords(), (&service{}).provider("op")}
			row.config.Events.SignOut = func(_ context.Context, e core.SignOutEvent) error {
				if e.Token != nil {
					revoked[e.Token.ID] = true
				}
				return nil
			}
			b := visit(t, newApp(t, row.config))
			signIn(t, b)
			kept := b.cookies[sessionCookie]
			b.submit("/auth/signout", nil)
			b.cookies[sessionCookie] = kept
			if ended := string(b.get("/auth/session").Body) == "null"; ended != row.ends {
				t.Errorf("the session ended: %v", ended)
			}
		})
	}
}

// TestStoredExpiryToTheSecond reads a stored session around its expiry. The server's clock decides; the record is
// deleted and the cookie cleared.
func TestStoredExpiryToTheSecond(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		after time.Duration
		alive bool
	}{{time.Hour - time.Second, true}, {time.Hour + time.Second, false}, {1000 * time.Hour, false}} {
		store := newSessionRows()
		a := newApp(t, core.Config{Store: store, Session: core.SessionConfig{MaxAge: time.Hour}, Providers: []core.Provider{
			passwords(), (&service{}).provider("op"),
		}})
		b := visit(t, a)
		signIn(t, b)
		token := b.cookies[sessionCookie]
		a.clock.Advance(row.after)
		v := a.Visit(t.Context(), b.request("GET", "/page", "", ""))
		session, err := v.Session()
		if err != nil || (session != nil) != row.alive {
			t.Errorf("after %v: the hook has the session %v, %v", row.after, session, err)
		}
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v: session valid: %v", row.after, got)
		}
		if _, there := store.rows[token]; there != row.alive || (b.cookies[sessionCookie] != "") != row.alive {
			t.Errorf("after %v: record exists: %v, cookie %q", row.after, there, b.cookies[sessionCookie])
		}
		b.cookies[sessionCookie] = token // a browser that ignores the expiry of cookies
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v, second read: session valid: %v", row.after, got)
		}
	}
}

// TestTimesAreOurs uses a jwt callback that accepts all posted data. It can change claims, but not the expiry or the ID
// of the token.
func TestTimesAreOurs(t *testing.T) {
	t.Parallel()
	hour := core.SessionConfig{MaxAge: time.Hour}
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: hour, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.Trigger != core.TriggerUpdate {
				return p.Token, nil
			}
			var posted core.Members
			if err := json.Unmarshal(p.Update, &posted); err != nil {
				return nil, err
			}
			if p.Token.Extra == nil {
				p.Token.Extra = core.Members{}
			}
			maps.Copy(p.Token.Extra, posted)
			return p.Token, nil
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	body, _ := json.Marshal(map[string]any{"csrfToken": b.csrf(), "data": map[string]any{
		"exp": int64(4102444800), "iat": 1, "jti": "mine", "nbf": 1, "sub": "2", "email": "eve@evil.example", "theme": "dark",
		"EXP": int64(4102444800), "Sub": "2",
	}})
	r := b.send("POST", "/auth/session", "application/json", string(body))
	if r.Status != 200 || strings.Contains(string(r.Body), "evil") {
		t.Fatalf("status %d: %s", r.Status, r.Body)
	}
	token, err := a.DecodeToken(b.cookies[sessionCookie], sessionCookie)
	if err != nil || !token.Expires.Equal(start.Add(time.Hour)) || !token.IssuedAt.Equal(start) || token.ID == "mine" ||
		token.Subject != "1" || token.Email != "ada@example.com" || token.Extra.Text("theme") != "dark" {
		t.Errorf("token %+v, %v", token, err)
	}
	a.clock.Advance(2 * time.Hour)
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("the session is valid after its expiry: %s", got)
	}
}

// TestDenied ends the sessions of a user who is denied later.
func TestDenied(t *testing.T) {
	t.Parallel()
	denied := false
	jwt := func(_ context.Context, p core.JWTParams) (*core.Token, error) {
		if denied {
			return nil, nil
		}
		return p.Token, nil
	}
	revoked := func(context.Context, *core.Token) (bool, error) { return denied, nil }
	for name, config := range map[string]core.Config{
		"the jwt callback returns none": {Callbacks: core.Callbacks{JWT: jwt}},
		"the token is revoked":          {JWT: core.JWTConfig{Revoked: revoked}},
	} {
		t.Run(name, func(t *testing.T) {
			denied = false
			config.Providers = []core.Provider{passwords()}
			a := newApp(t, config)
			b := visit(t, a)
			signIn(t, b)
			denied = true
			v := a.Visit(t.Context(), b.request("GET", "/account", "", ""))
			if _, refusal := v.Require(); refusal == nil {
				t.Error("the guard accepts the session")
			}
			if got := string(b.get("/auth/session").Body); got != "null" || b.cookies[sessionCookie] != "" {
				t.Errorf("the next read returns %s, cookie %q", got, b.cookies[sessionCookie])
			}
		})
	}
}

// TestExpiryToTheSecond reads a session around its expiry, with a browser that ignores the expiry of cookies.
func TestExpiryToTheSecond(t *testing.T) {
	t.Parallel()
	const tolerance = 15 * time.Second // for clocks, as in Auth.js
	for _, row := range []struct {
		after time.Duration
		alive bool
	}{
		{time.Hour - time.Second, true}, {time.Hour + tolerance - time.Second, true},
		{time.Hour + tolerance, false}, {1000 * time.Hour, false},
	} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: core.SessionConfig{MaxAge: time.Hour}})
		b := visit(t, a)
		signIn(t, b)
		a.clock.Advance(row.after)
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v: session valid: %v", row.after, got)
		}
		if held := b.cookies[sessionCookie] != ""; held != row.alive {
			t.Errorf("after %v: cookie unchanged: %v", row.after, held)
		}
	}
}

// TestSessionJSON parses the response of GET session and keeps the members that an application has added.
func TestSessionJSON(t *testing.T) {
	t.Parallel()
	const good = `{"user":{"name":"Ann"},"expires":"2030-01-31T00:00:00.000Z","role":"admin"}`
	var s core.Session
	if err := json.Unmarshal([]byte(good), &s); err != nil {
		t.Fatal(err)
	}
	if s.User.Name != "Ann" || s.Expires.Year() != 2030 || s.Extra.Text("role") != "admin" {
		t.Errorf("read %+v", s)
	}
	if raw, err := json.Marshal(&s); err != nil || string(raw) != good {
		t.Errorf("written %s, %v", raw, err)
	}
	for _, bad := range []string{
		`[]`, `{"expires":"tomorrow"}`, `{"user":{"name":"a","name":"b"}}`, `{"role":1,"role":2}`,
	} {
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s is accepted as a session", bad)
		}
	}
}
