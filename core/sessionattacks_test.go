package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestPlantedSession signs in with a session token that somebody put there (ATTACKS SE1): it is never the one that is signed in
// afterwards and, where it was a session of ours, that ends.
func TestPlantedSession(t *testing.T) {
	t.Parallel()
	expired, others := start.Add(-time.Second), start.Add(time.Hour)
	for _, row := range []struct {
		name, planted string
		known         *core.StoredSession
	}{
		{"unknown", "planted-by-eve", nil},
		{"another user's", "planted-by-eve", &core.StoredSession{Token: "planted-by-eve", UserID: "2", Expires: others}},
		{"one's own, seen by eve", "planted-by-eve", &core.StoredSession{Token: "planted-by-eve", UserID: "1", Expires: others}},
		{"expired", "planted-by-eve", &core.StoredSession{Token: "planted-by-eve", UserID: "2", Expires: expired}},
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
				t.Errorf("the planted session goes on: %v", store.rows)
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
			if err != nil || token.Subject != "1" || token.Name != "Ada" || b.cookies[sessionCookie] == planted || b.cookies[sessionCookie+".0"] != "" {
				t.Errorf("signed in as %+v, %v", token, err)
			}
		})
	}
}

// TestCookieOfBeforeTheSignOut brings a session's cookie back after its end (ATTACKS SE2).
func TestCookieOfBeforeTheSignOut(t *testing.T) {
	t.Parallel()
	revoked := map[string]bool{}
	for name, row := range map[string]struct {
		config core.Config
		ends   bool
	}{
		"database":              {core.Config{Store: newSessionRows()}, true},
		"jwt, a list":           {core.Config{JWT: core.JWTConfig{Revoked: func(_ context.Context, token *core.Token) (bool, error) { return revoked[token.ID], nil }}}, true},
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

// TestStoredExpiryToTheSecond reads a stored session around its end (ATTACKS SE3): the server's clock decides, the record goes and the
// cookie is cleared.
func TestStoredExpiryToTheSecond(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		after time.Duration
		alive bool
	}{{time.Hour - time.Second, true}, {time.Hour + time.Second, false}, {1000 * time.Hour, false}} {
		store := newSessionRows()
		a := newApp(t, core.Config{Store: store, Session: core.SessionConfig{MaxAge: time.Hour}, Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
		b := visit(t, a)
		signIn(t, b)
		token := b.cookies[sessionCookie]
		a.clock.Advance(row.after)
		v := core.Begin(t.Context(), a, b.request("GET", "/page", "", ""))
		session, err := v.Session()
		if err != nil || (session != nil) != row.alive {
			t.Errorf("after %v: the hook has %v, %v", row.after, session, err)
		}
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v: alive %v", row.after, got)
		}
		if _, there := store.rows[token]; there != row.alive || (b.cookies[sessionCookie] != "") != row.alive {
			t.Errorf("after %v: record kept %v, cookie %q", row.after, there, b.cookies[sessionCookie])
		}
		b.cookies[sessionCookie] = token // a browser that keeps cookies for ever
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v, again: alive %v", row.after, got)
		}
	}
}

// TestTimesAreOurs lets a careless jwt callback take everything that is posted (ATTACKS SE4). What it may decide it decides, but never
// when a token ends, or what its ID is.
func TestTimesAreOurs(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: core.SessionConfig{MaxAge: time.Hour}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.Trigger != core.TriggerUpdate {
				return p.Token, nil
			}
			var posted core.Members
			if err := json.Unmarshal(p.Session, &posted); err != nil {
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
		"exp": 4102444800, "iat": 1, "jti": "mine", "nbf": 1, "sub": "2", "email": "eve@evil.example", "theme": "dark", "EXP": 4102444800, "Sub": "2",
	}})
	if r := b.send("POST", "/auth/session", "application/json", string(body)); r.Status != 200 || strings.Contains(string(r.Body), "evil") {
		t.Fatalf("answered %d: %s", r.Status, r.Body)
	}
	token, err := a.DecodeToken(b.cookies[sessionCookie], sessionCookie)
	if err != nil || !token.Expires.Equal(start.Add(time.Hour)) || !token.IssuedAt.Equal(start) || token.ID == "mine" || token.Subject != "1" || token.Email != "ada@example.com" || token.Extra.Text("theme") != "dark" {
		t.Errorf("token %+v, %v", token, err)
	}
	a.clock.Advance(2 * time.Hour)
	if got := string(b.get("/auth/session").Body); got != "null" {
		t.Errorf("the session outlives its end: %s", got)
	}
}

// TestDenied ends sessions whose user is denied while they live (ATTACKS SE5).
func TestDenied(t *testing.T) {
	t.Parallel()
	denied := false
	for name, config := range map[string]core.Config{
		"the jwt callback returns none": {Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if denied {
				return nil, nil
			}
			return p.Token, nil
		}}},
		"the token is revoked": {JWT: core.JWTConfig{Revoked: func(context.Context, *core.Token) (bool, error) { return denied, nil }}},
	} {
		t.Run(name, func(t *testing.T) {
			denied = false
			config.Providers = []core.Provider{passwords()}
			a := newApp(t, config)
			b := visit(t, a)
			signIn(t, b)
			denied = true
			v := core.Begin(t.Context(), a, b.request("GET", "/account", "", ""))
			if _, refusal := v.Require(); refusal == nil {
				t.Error("the guard lets through")
			}
			if got := string(b.get("/auth/session").Body); got != "null" || b.cookies[sessionCookie] != "" {
				t.Errorf("the next read is %s, the cookie %q", got, b.cookies[sessionCookie])
			}
		})
	}
}

// TestGuardWithoutAConfiguration asks guard and session while the configuration function fails (ATTACKS SE7).
func TestGuardWithoutAConfiguration(t *testing.T) {
	t.Parallel()
	good := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	signedIn := visit(t, good)
	signIn(t, signedIn)
	_, faulty := core.New(core.Config{Getenv: func(string) string { return "" }})
	for name, choose := range map[string]func() (*core.Auth, error){
		"an error":               func() (*core.Auth, error) { return nil, errors.New("tenant is unknown") },
		"a faulty configuration": func() (*core.Auth, error) { return nil, faulty },
		"nothing":                func() (*core.Auth, error) { return nil, nil },
		"a panic":                func() (*core.Auth, error) { panic("boom") },
		"an Auth and an error":   func() (*core.Auth, error) { return good.Auth, errors.New("half") },
	} {
		t.Run(name, func(t *testing.T) {
			selector := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return choose() })
			b := visit(t, selector)
			b.cookies = signedIn.cookies
			for _, accept := range []string{"text/html", "application/json", ""} {
				b.header.Set("Accept", accept)
				v := core.Begin(t.Context(), selector, b.request("GET", "/account", "", ""))
				session, refusal := v.Require()
				if session != nil || refusal == nil || refusal.Status != http.StatusInternalServerError {
					t.Errorf("%q: the guard says %+v", accept, refusal)
				}
				if _, err := core.SessionFrom(v); err == nil {
					t.Error("nobody noticed")
				}
				if h := answerOf(v); len(h) > 0 {
					t.Errorf("the hook adds %v", h)
				}
			}
			r := b.get("/auth/session")
			var told core.Session
			if err := told.UnmarshalJSON(r.Body); r.Status != http.StatusInternalServerError || err == nil && (told.User != nil || !told.Expires.IsZero()) {
				t.Errorf("answered %d: %s", r.Status, r.Body)
			}
		})
	}
}

// TestAuthorizationHeaders sends what others have stumbled over (ATTACKS SE8).
func TestAuthorizationHeaders(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	good, err := a.EncodeToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		lines  []string
		signed bool
	}{
		{"none", nil, false},
		{"good", []string{"Bearer " + good}, true},
		{"percent-encoded", []string{"Bearer " + strings.ReplaceAll(good, ".", "%2E")}, true},
		{"the scheme alone", []string{"Bearer"}, false},
		{"the scheme and a blank", []string{"Bearer "}, false},
		{"a lone percent sign", []string{"Bearer %"}, false},
		{"broken encoding", []string{"Bearer " + good + "%zz"}, false},
		{"two blanks", []string{"Bearer  " + good}, false},
		{"a tab", []string{"Bearer\t" + good}, false},
		{"a blank behind it", []string{"Bearer " + good + " "}, false},
		{"an encoded line break", []string{"Bearer " + good + "%0A"}, false},
		{"lower case", []string{"bearer " + good}, false},
		{"no blank", []string{"Bearer" + good}, false},
		{"two headers", []string{"Bearer " + good, "Bearer " + good}, false},
		{"two schemes in one", []string{"Basic YTpi, Bearer " + good}, false},
		{"Basic", []string{"Basic " + good}, false},
		{"quoted", []string{`Bearer "` + good + `"`}, false},
		{"empty", []string{""}, false},
		{"bytes beyond ASCII", []string{"Bearer \xff\xfe"}, false},
		{"a megabyte", []string{"Bearer " + strings.Repeat("a", 1<<20)}, false},
		{"a megabyte of percent signs", []string{"Bearer " + strings.Repeat("%41", 1<<19)}, false},
		{"undefined", []string{"Bearer undefined"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := visit(t, a).request("GET", "/", "", "")
			r.Header = http.Header{"Authorization": row.lines}
			if token, err := a.GetToken(t.Context(), r); err != nil || (token != nil) != row.signed || token != nil && token.Subject != "1" {
				t.Errorf("token %v", token)
			}
			_ = a.RawToken(r)
			r.Target = "/auth/session" // a bearer token is for GetToken alone
			if body := string(a.Handle(t.Context(), r).Body); body != "null" {
				t.Errorf("a session out of the header: %s", body)
			}
		})
	}
}

// TestNoCORS asks from another origin, with and without a pre-flight (ATTACKS SE10).
func TestNoCORS(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	for _, path := range []string{"session", "csrf", "providers", "signin", "signout"} {
		for _, method := range []string{"GET", "OPTIONS", "HEAD"} {
			for _, origin := range []string{"https://evil.example", "null", "https://app.test"} {
				b.header = http.Header{"Origin": {origin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type"}}
				r := b.send(method, "/auth/"+path, "", "")
				for name := range r.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s from %s: %s", method, path, origin, name)
					}
				}
				if method != "GET" && r.Status != 400 || r.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s %s: %d, %q", method, path, r.Status, r.Header.Get("X-Content-Type-Options"))
				}
				if path != "signin" && path != "signout" && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
					t.Errorf("%s %s is of type %q", method, path, r.Header.Get("Content-Type"))
				}
			}
		}
	}
	r := b.request("POST", "/auth/session", "application/x-www-form-urlencoded", url.Values{"csrfToken": {"x"}}.Encode())
	r.Header.Set("Origin", "https://evil.example")
	for name := range a.Handle(t.Context(), r).Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("POST session: %s", name)
		}
	}
}
