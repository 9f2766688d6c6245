package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// oneSession is a store with one session: its token is s1.
type oneSession struct{ brokenStore }

func newOneSession() oneSession {
	return oneSession{brokenStore{func() error { return errors.New("not asked for") }}}
}

func (oneSession) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	if token != "s1" {
		return nil, nil, core.ErrNotFound
	}
	return &store.Session{Token: "s1", UserID: "u1", Expires: start.Add(30 * 24 * time.Hour)},
		&core.User{ID: "u1", Name: "Ada"}, nil
}

// TestCallbackErrorsKeepSessions: an error or panic of a callback does not mean that the user is signed out. Each
// method to read a session responds with status 500 and leaves the cookie unchanged.
func TestCallbackErrorsKeepSessions(t *testing.T) {
	t.Parallel()
	failing := map[string]func() error{
		"error": func() error { return errors.New("dial tcp: connection refused") },
		"panic": func() error { return faultInHere(nil) },
	}
	type row struct {
		name      string
		callbacks func(bad *bool) core.Callbacks
		stored    bool
		log       string
	}
	var rows []row
	for _, kind := range []string{"error", "panic"} {
		fail := failing[kind]
		jwt := func(bad *bool) core.Callbacks {
			return core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if *bad {
					return nil, fail()
				}
				return p.Token, nil
			}}
		}
		session := func(bad *bool) core.Callbacks {
			return core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				if *bad {
					return nil, fail()
				}
				return p.Session, nil
			}}
		}
		word := map[string]string{"error": "connection refused", "panic": "nil map"}[kind]
		rows = append(rows,
			row{"jwt callback, " + kind, jwt, false, word},
			row{"session callback, " + kind, session, false, word},
			row{"session callback of a stored session, " + kind, session, true, word},
		)
	}
	nothing := func(bad *bool) core.Callbacks {
		return core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			if *bad {
				return nil, nil
			}
			return p.Session, nil
		}}
	}
	rows = append(rows,
		row{"session callback without an answer", nothing, false, "Callbacks.Session returned neither"},
		row{"session callback of a stored session without an answer", nothing, true, "Callbacks.Session returned neither"},
	)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			bad := false
			config := core.Config{Providers: []core.Provider{passwords()}, Callbacks: row.callbacks(&bad)}
			if row.stored {
				config.Store, config.Providers = newOneSession(), nil
			}
			a := newApp(t, config)
			b := visit(t, a)
			if row.stored {
				b.cookies[sessionCookie] = "s1"
			} else {
				signIn(t, b)
			}
			token := b.csrf()
			kept := b.cookies[sessionCookie]
			bad = true

			check := func(way string, r *core.Response) {
				t.Helper()
				if r == nil || r.Status != http.StatusInternalServerError ||
					!strings.Contains(string(r.Body), "server configuration") {
					t.Errorf("%s: response %+v", way, r)
				}
				if b.cookies[sessionCookie] != kept {
					t.Fatalf("%s: the cookie was cleared", way)
				}
			}
			check("GET session", b.get("/auth/session"))
			check("update", b.post("/auth/session", url.Values{"csrfToken": {token}, "data": {"x"}}))
			v := a.Visit(t.Context(), b.request("GET", "/account", "", ""))
			if s, err := core.SessionFrom(v); err == nil || s != nil {
				t.Errorf("the hook has the session %v, %v", s, err)
			}
			_, refusal := v.Require()
			check("guard", refusal)
			if set := answerOf(v)["Set-Cookie"]; len(set) != 0 {
				t.Errorf("the hook sets %q", set)
			}
			if log := a.log.String(); !strings.Contains(log, row.log) || !strings.Contains(log, "level=ERROR") {
				t.Errorf("the log says\n%s", log)
			}

			bad = false
			if got := string(b.get("/auth/session").Body); !strings.Contains(got, "Ada") {
				t.Errorf("afterwards GET session returns %s", got)
			}
		})
	}
}

// TestCallbackFaultAtSignIn: a signed-in user stays signed in if a callback fails during another sign-in.
func TestCallbackFaultAtSignIn(t *testing.T) {
	t.Parallel()
	bad := false
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if bad {
				return nil, errors.New("connection refused")
			}
			return p.Token, nil
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	kept := b.cookies[sessionCookie]
	bad = true
	r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Redirect != "https://app.test/auth/error?error=Configuration" || b.cookies[sessionCookie] != kept {
		t.Errorf("status %d, redirect to %s, cookie unchanged: %v", r.Status, r.Redirect, b.cookies[sessionCookie] == kept)
	}
	if page := b.get(strings.TrimPrefix(r.Redirect, "https://app.test")); page.Status != http.StatusInternalServerError {
		t.Errorf("the page has status %d", page.Status)
	}
}

// TestNilTokenEndsTheSession: a nil token is the only result of a callback that signs the user out. It is logged once.
func TestNilTokenEndsTheSession(t *testing.T) {
	t.Parallel()
	end := false
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if end {
				return nil, nil
			}
			return p.Token, nil
		},
	}})
	for name, read := range map[string]func(*browser){
		"session": func(b *browser) { b.get("/auth/session") },
		"hook": func(b *browser) {
			v := a.Visit(t.Context(), b.request("GET", "/account", "", ""))
			if s, err := v.Session(); s != nil || err != nil {
				t.Errorf("the hook has the session %v, %v", s, err)
			}
			b.take(answerOf(v))
		},
		"sign-in": func(b *browser) {
			b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			end = false
			b := visit(t, a)
			signIn(t, b)
			a.log.Reset()
			end = true
			read(b)
			if b.cookies[sessionCookie] != "" {
				t.Error("the session is still valid")
			}
			log := a.log.String()
			if strings.Count(log, "jwt callback") != 1 || strings.Count(log, "level=INFO") != 1 ||
				strings.Contains(log, "level=ERROR") {
				t.Errorf("the log says\n%s", log)
			}
		})
	}
}

// TestBadTokensEndTheSession: an invalid or expired token ends the session; a decoder that panics does not.
func TestBadTokensEndTheSession(t *testing.T) {
	t.Parallel()
	codec := core.JWTConfig{
		Encode: func(context.Context, core.EncodeParams) (string, error) { return "token", nil },
		Decode: func(_ context.Context, p core.DecodeParams) (*core.Token, error) {
			switch p.Token {
			case "panic":
				panic("boom")
			case "error":
				return nil, errors.New("bad token")
			}
			return nil, nil
		},
	}
	for _, row := range []struct {
		name, cookie string
		jwt          core.JWTConfig
		ends         bool
	}{
		{"garbage", "garbage", core.JWTConfig{}, true},
		{"refused by Decode", "error", codec, true},
		{"nothing from Decode", "nothing", codec, true},

		{"panic in Decode", "panic", codec, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{JWT: row.jwt})
			b := visit(t, a)
			b.cookies[sessionCookie] = row.cookie
			r := b.get("/auth/session")
			ended := b.cookies[sessionCookie] == ""
			if ended != row.ends || (r.Status == http.StatusOK) != row.ends {
				t.Errorf("status %d: %s; session ended: %v\n%s", r.Status, r.Body, ended, a.log)
			}
		})
	}
}

// TestSessionUserID: handlers get the ID in the session's user. Browsers get it only if the session callback sets it.
func TestSessionUserID(t *testing.T) {
	t.Parallel()
	shared := &core.User{Name: "Ada"}
	for _, row := range []struct {
		name     string
		callback func(context.Context, core.SessionParams) (*core.Session, error)
		id, user string // for the handler and for the browser
	}{
		{"no callback", nil, "u1", `{"name":"Ada"}`},
		{"callback that changes nothing", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			if p.Session.User.ID != "" {
				t.Errorf("the callback gets the ID %q", p.Session.User.ID)
			}
			return p.Session, nil
		}, "u1", `{"name":"Ada"}`},
		{"callback that shows the id", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User.ID = p.Session.UserID
			return p.Session, nil
		}, "u1", `{"id":"u1","name":"Ada"}`},
		{"callback that shows another id", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User.ID = "public-7"
			return p.Session, nil
		}, "public-7", `{"id":"public-7","name":"Ada"}`},
		{"callback that shows it as a further member", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return p.Session, p.Session.User.Extra.Set("id", 7)
		}, "u1", `{"name":"Ada","id":7}`},
		{"callback with a session of its own", func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return &core.Session{User: shared, Expires: p.Session.Expires}, nil
		}, "u1", `{"name":"Ada"}`},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(row.name+", "+string(strategy), func(t *testing.T) {
				a := newApp(t, core.Config{
					Store: newOneSession(), Session: core.SessionConfig{Strategy: strategy},
					Callbacks: core.Callbacks{Session: row.callback},
				})
				b := visit(t, a)
				b.cookies[sessionCookie] = "s1"
				if strategy == core.StrategyJWT {
					delete(b.cookies, sessionCookie)
					cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""),
						&core.User{ID: "u1", Name: "Ada"})
					if err != nil {
						t.Fatal(err)
					}
					b.keep(cookies[0])
				}
				session, err := core.SessionFrom(a.Visit(t.Context(), b.request("GET", "/account", "", "")))
				if err != nil || session.User.ID != row.id || session.UserID != "u1" {
					t.Fatalf("the handler sees %+v, %v", session, err)
				}
				want := `{"user":` + row.user + `,"expires":"2030-01-31T00:00:00.000Z"}`
				if own, err := session.MarshalJSON(); err != nil || string(own) != want {
					t.Errorf("written by the handler: %s, want %s", own, want)
				}
				if got := string(b.get("/auth/session").Body); got != want {
					t.Errorf("the browser sees %s, want %s", got, want)
				}
			})
		}
	}
	if shared.ID != "" {
		t.Errorf("the application's own user was changed: %q", shared.ID)
	}
}

// unwritable is a store of sessions that can be read and that panics on writes.
type unwritable struct{ *sessionRows }

func (unwritable) CreateSession(context.Context, *store.Session) error { panic("nil pointer") }

func (unwritable) UpdateSession(context.Context, string, time.Time) error { panic("nil pointer") }

func (unwritable) DeleteSession(context.Context, string) (*store.Session, error) {
	panic("nil pointer")
}

// TestStorePanicsOnWrite reads a session whose read writes to a store that panics. The result must be an error and not
// "no session", for the first and for later calls.
func TestStorePanicsOnWrite(t *testing.T) {
	t.Parallel()
	for name, expires := range map[string]time.Duration{
		"to extend a session":          time.Hour,
		"to remove an expired session": -time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			rows := newSessionRows()
			rows.rows["s1"] = store.Session{Token: "s1", UserID: "1", Expires: start.Add(expires)}
			b := visit(t, newApp(t, core.Config{Store: unwritable{rows}}))
			b.cookies[sessionCookie] = "s1"
			v := b.auth.Visit(t.Context(), b.request("GET", "/account", "", ""))
			for range 2 {
				if session, err := v.Session(); session != nil || err == nil {
					t.Errorf("the hook has the session %v, %v", session, err)
				}
			}
		})
	}
	t.Run("to begin one", func(t *testing.T) {
		a := newApp(t, core.Config{Store: unwritable{newSessionRows()}})
		r := visit(t, a).request("POST", "/register", "", "")
		if cookies, err := a.NewSession(t.Context(), r, &core.User{ID: "1"}); cookies != nil || err == nil {
			t.Errorf("NewSession returns %v, %v", cookies, err)
		}
	})
}
