package core_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
)

// withFacts gives the sessions of a town facts.
func withFacts(c *core.Config) { c.Plugins = append(c.Plugins, asking{}) }

// reauthenticating makes all providers ask for a password at every sign-in.
func reauthenticating(c *core.Config) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.OAuthProvider); ok {
			p.Reauthenticates = core.True
		}
	}
}

// TestMethods checks the methods of a session for each sign-in method.
func TestMethods(t *testing.T) {
	t.Parallel()
	const wantsUser = amr.User
	for name, row := range map[string]struct {
		enter func(w *town, b *browser) *core.Response
		want  []amr.Method
	}{
		"a provider": {func(w *town, b *browser) *core.Response { return w.through(b, "plain", "1", victim, "") },
			[]amr.Method{amr.Federated}},
		"a link": {func(w *town, b *browser) *core.Response { return w.byMail(b, victim) },
			[]amr.Method{amr.Mail}},
		"a password": {func(w *town, b *browser) *core.Response {
			w.users["u"] = core.User{ID: "u"}
			return b.submit("/auth/callback/credentials", url.Values{"id": {"u"}})
		}, []amr.Method{amr.Password}},
		"a new passkey": {func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=register&email="+url.QueryEscape(victim), "register", "key")
		}, []amr.Method{amr.SoftwareKey, wantsUser}},
		"a passkey": {func(w *town, b *browser) *core.Response {
			w.passkey(visit(w.T, w.app), "action=register&email="+url.QueryEscape(victim), "register", "key")
			for id, key := range w.passkeys {
				key.CredentialDeviceType = "singleDevice"
				w.passkeys[id] = key
			}
			return w.passkey(b, "action=authenticate", "authenticate", "key")
		}, []amr.Method{amr.HardwareKey, wantsUser}},
		"NewSession": {func(w *town, b *browser) *core.Response {
			w.users["u"] = core.User{ID: "u"}
			cookies, err := w.app.NewSession(w.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "u"})
			for _, c := range cookies {
				b.keep(c)
			}
			return &core.Response{Err: err}
		}, nil},
	} {
		for _, strategy := range bothStrategies {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{true, true, true, true}, strategy, withFacts)
				b := w.browser()
				if r := row.enter(w, b); r.Err != nil {
					t.Fatal(r.Err)
				}
				authTime := start
				if strings.Contains(name, "NewSession") {
					authTime = time.Time{}
				}
				if s := b.session(); s == nil || !slices.Equal(s.Methods, row.want) || !s.AuthTime.Equal(authTime) {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// TestVerificationAgain signs in with a provider while a user is signed in. With the user's own account this is a new
// authentication and a new session. Another account is linked, which is no authentication.
func TestVerificationAgain(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for _, tx := range []bool{true, false} {
			t.Run(string(strategy)+map[bool]string{true: ", transactions"}[tx], func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{tx, true, true, true}, strategy, withFacts, reauthenticating)
				b := w.browser()
				w.signedIn(b, w.through(b, "plain", "1", victim, ""))
				first, copied := b.session(), visit(t, w.app)
				copied.cookies[sessionCookie] = b.cookies[sessionCookie]

				w.app.clock.Advance(time.Hour)
				w.signedIn(b, w.through(b, "open", "2", stranger, ""))
				linked := b.session()
				if linked.UserID != first.UserID || linked.ID != first.ID || !linked.AuthTime.Equal(start) ||
					!slices.Equal(linked.Methods, first.Methods) {
					t.Errorf("another account was linked: %+v, before %+v", linked, first)
				}

				w.app.clock.Advance(time.Hour)
				w.signedIn(b, w.through(b, "plain", "1", victim, ""))
				again := b.session()
				if again.UserID != first.UserID || again.ID == first.ID || !again.AuthTime.Equal(start.Add(2*time.Hour)) {
					t.Errorf("after re-authentication: %+v", again)
				}
				if strategy == core.StrategyDatabase && (copied.session() != nil || len(w.sessions) != 1) {
					t.Errorf("the previous session still exists, %d sessions in all", len(w.sessions))
				}
			})
		}
	}
}

// TestFactsAndTheAbsoluteEnd checks Session.AbsoluteMaxAge for tokens with and without facts.
func TestFactsAndTheAbsoluteEnd(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			limit := func(c *core.Config) { c.Session.AbsoluteMaxAge = 40 * 24 * time.Hour }
			a, h := factual(t, strategy, limit)
			b := signedIn(t, a, "1")
			plain := newApp(t, core.Config{
				Store: h, Session: core.SessionConfig{Strategy: strategy, AbsoluteMaxAge: 40 * 24 * time.Hour}, Now: a.clock.Now,
			})
			for range 3 {
				a.clock.Advance(13 * 24 * time.Hour)
				if b.session() == nil {
					t.Fatal("the session ended too early")
				}
				b.auth = plain // without facts
			}
			a.clock.Advance(26 * time.Hour)
			if s := b.session(); s != nil {
				t.Errorf("the session is valid after its absolute end: %+v", s)
			}
		})
	}
}

// TestSessionOptions creates sessions with NewSession. They count as a recent sign-in only if the application says when
// it authenticated the user, and Session.AbsoluteMaxAge counts from their start.
func TestSessionOptions(t *testing.T) {
	t.Parallel()
	methods := []amr.Method{amr.Password}
	for name, row := range map[string]struct {
		options []core.SessionOptions
		want    time.Time
		fresh   bool
		methods []amr.Method
	}{
		"none":          {},
		"zero":          {options: []core.SessionOptions{{}}},
		"methods alone": {options: []core.SessionOptions{{Methods: methods}}, methods: methods},
		"now": {
			options: []core.SessionOptions{{AuthTime: start, Methods: methods}}, want: start, fresh: true, methods: methods,
		},
		"an hour ago": {options: []core.SessionOptions{{AuthTime: start.Add(-time.Hour)}}, want: start.Add(-time.Hour)},
		"a month ago": {
			options: []core.SessionOptions{{AuthTime: start.AddDate(0, -1, 0)}}, want: start.AddDate(0, -1, 0),
		},
		"in the future":  {options: []core.SessionOptions{{AuthTime: start.AddDate(1, 0, 0)}}, want: start, fresh: true},
		"before 1970":    {options: []core.SessionOptions{{AuthTime: time.Unix(-5, 0)}}},
		"the Unix epoch": {options: []core.SessionOptions{{AuthTime: time.Unix(0, 0)}}},
	} {
		for _, strategy := range bothStrategies {
			for _, limit := range []time.Duration{0, 48 * time.Hour} {
				t.Run(name+", "+string(strategy)+", "+limit.String(), func(t *testing.T) {
					a, _ := factual(t, strategy, func(c *core.Config) { c.Session.AbsoluteMaxAge = limit })
					b := visit(t, a)
					cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""),
						&core.User{ID: "1", Name: "User 1"}, row.options...)
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range cookies {
						b.keep(c)
					}
					check := func(when string) {
						s := b.session()
						if s == nil || !s.AuthTime.Equal(row.want) || !slices.Equal(s.Methods, row.methods) || s.ID == "" {
							t.Fatalf("%s: %+v", when, s)
						}
					}
					check("at first")
					guard := core.RecentSignIn(10 * time.Minute)
					if err := guard(t.Context(), b.session()); (err == nil) != row.fresh {
						t.Errorf("Fresh returned %v", err)
					}
					a.clock.Advance(25 * time.Hour)
					check("renewed")
					a.clock.Advance(24 * time.Hour)
					if s := b.session(); (s == nil) != (limit > 0) {
						t.Errorf("after two days: %+v", s)
					}
				})
			}
		}
	}
	a, _ := factual(t, core.StrategyJWT)
	_, err := a.NewSession(t.Context(), visit(t, a).request("GET", "/", "", ""), &core.User{ID: "1"},
		core.SessionOptions{}, core.SessionOptions{})
	if err == nil {
		t.Error("NewSession accepts two SessionOptions")
	}
}

// TestAllocationsOfAFactualRead limits the extra allocations of a page request with facts and Session.Revocation: the
// session ID and its methods.
func TestAllocationsOfAFactualRead(t *testing.T) {
	reads := func(change func(*core.Config)) float64 {
		a, _ := factual(t, core.StrategyJWT, change)
		b := signedIn(t, a, "1")
		r := b.request("GET", "/page", "", "")
		return testing.AllocsPerRun(200, func() {
			if s, err := a.Visit(context.Background(), r).Session(); err != nil || s == nil {
				t.Fatal(s, err)
			}
		})
	}
	without := reads(func(c *core.Config) { c.Plugins = nil })
	with := reads(func(c *core.Config) { c.Session.Revocation.On = core.True })
	if with > without+2 && !raced || with > 12 && !raced {
		t.Errorf("%v allocations with facts and Revocation, %v without", with, without)
	}
}

// TestFactsAmongClaims reads the session token in each place where the application receives it.
func TestFactsAmongClaims(t *testing.T) {
	t.Parallel()
	names := []string{"amr", "auth_time", "sid"}
	seen := map[string]core.Members{}
	note := func(where string, token *core.Token) { seen[where] = maps.Clone(token.Extra) }
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.JWT.Revoked = func(_ context.Context, token *core.Token) (bool, error) {
			note("Revoked", token)
			return false, nil
		}
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			note("callback", p.Token)
			return p.Token, p.Token.Extra.Set("both", "sides")
		}
	})
	b := signedIn(t, a, "1")
	first := b.session()
	r := b.request("GET", "/page", "", "")
	token, err := a.Token(t.Context(), r)
	if err != nil || token == nil {
		t.Fatal(token, err)
	}
	note("Token", token)
	for where, claims := range seen {
		for _, name := range names {
			if len(claims[name]) == 0 {
				t.Errorf("%s: no %s in %v", where, name, claims)
			}
		}
	}
	if _, there := first.Token.Extra["sid"]; there || first.Token.Extra.Text("both") != "sides" {
		t.Errorf("the token of a session has %v", first.Token.Extra)
	}
	written, err := json.Marshal(first.Token)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) int { return strings.Index(string(written), `"`+name+`":`) }
	if order := []int{at("amr"), at("auth_time"), at("both"), at("sid")}; order[0] < 0 || !slices.IsSorted(order) {
		t.Errorf("members are not in order: %s", written)
	}
}

// TestFactsOfDecodersOfTheApplication uses JWT.Encode and JWT.Decode functions with their own token format, which
// return the same token twice.
func TestFactsOfDecodersOfTheApplication(t *testing.T) {
	t.Parallel()
	kept := &core.Token{}
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Session.Revocation.On = core.True
		c.JWT.Encode = func(_ context.Context, p core.EncodeParams) (string, error) {
			kept = &core.Token{Subject: p.Token.Subject, IssuedAt: start, Extra: p.Token.Extra}
			return "token", nil
		}
		c.JWT.Decode = func(context.Context, core.DecodeParams) (*core.Token, error) { return kept, nil }
	})
	b := signedIn(t, a, "1")
	claims := maps.Clone(kept.Extra)
	first, again := b.session(), b.session()
	if len(first.ID) != 22 || first.ID != again.ID || !first.AuthTime.Equal(start) || len(first.Methods) != 1 {
		t.Errorf("%+v, then %+v", first, again)
	}
	if !maps.EqualFunc(claims, kept.Extra, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("the application's token was changed: %v", kept.Extra)
	}
	if first.Token == kept {
		t.Error("two requests share a token")
	}
}

// TestMethodsOfATokenAreExact parses lists of methods that another program wrote.
func TestMethodsOfATokenAreExact(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT)
	for written, want := range map[string][]amr.Method{
		`[]`: {}, `["pwd"]`: {"pwd"}, `["hwk","user"]`: {"hwk", "user"}, `[ "hwk" , "user" ]`: {"hwk", "user"},
		`["a,","b"]`: {"a,", "b"}, `["a,b"]`: {"a,b"}, `["a\"","\u0062"]`: {`a"`, "b"}, `[" ,"]`: {" ,"}, `[null]`: {""},
		`["a",1]`: nil, `[["a"]]`: nil, `{"a":"b"}`: nil, `null`: nil, `"pwd"`: nil, `7`: nil,
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			var token core.Token
			claims := `{"sub":"1","auth_time":1893456000,"sid":"s","amr":` + written + `}`
			if err := json.Unmarshal([]byte(claims), &token); err != nil {
				t.Fatal(err)
			}
			sealed, err := a.EncodeToken(&token, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, a)
			b.cookies[sessionCookie] = sealed
			s := b.session()
			if s == nil || !slices.Equal(s.Methods, want) || s.AuthTime.IsZero() == (want != nil) {
				t.Errorf("%+v, want %v", s, want)
			}
		})
	}
}

// TestClaimsAreTheTokensOwn changes the text that a token was parsed from, and one of the token's claims.
func TestClaimsAreTheTokensOwn(t *testing.T) {
	t.Parallel()
	text := []byte(`{"sub":"1","role":"admin","team":"red"}`)
	var token core.Token
	if err := token.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	copy(text, `{"sub":"2","role":"owner","team":"xxx"}`)
	_ = append(token.Extra["role"], `,"team":"blue"}`...)
	if token.Subject != "1" || token.Extra.Text("role") != "admin" || token.Extra.Text("team") != "red" {
		t.Errorf("%s %s", token.Subject, token.Extra)
	}
}
