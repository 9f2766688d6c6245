package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// countedRows is a store of sessions that counts lookups and fails on demand.
type countedRows struct {
	*sessionRows
	lookUps int
	down    int // the number of lookups that fail from now on
}

// UserByAccount finds no account.
func (s *countedRows) UserByAccount(context.Context, string, string) (*core.User, error) {
	return nil, store.ErrNotFound
}

func (s *countedRows) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	s.lookUps++
	if s.down > 0 {
		s.down--
		return nil, nil, errors.New("connection refused")
	}
	return s.sessionRows.SessionAndUser(ctx, token)
}

// planted is an Auth with a valid session and several invalid ones.
type planted struct {
	*app
	store                    *countedRows
	good, big, ended, revoke string
}

func newPlanted(t *testing.T, strategy core.Strategy) *planted {
	p := &planted{store: &countedRows{sessionRows: newSessionRows()}}
	p.app = newApp(t, core.Config{
		Store: p.store, Session: core.SessionConfig{Strategy: strategy},
		Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState)},
		JWT: core.JWTConfig{Revoked: func(_ context.Context, token *core.Token) (bool, error) {
			return token.Name == "Eve", nil
		}},
	})
	if strategy == core.StrategyDatabase {
		p.good, p.ended, p.revoke = "good", "ended", "unknown"
		p.store.rows["good"] = store.Session{Token: "good", UserID: "1", Expires: start.Add(30 * 24 * time.Hour)}
		p.store.rows["ended"] = store.Session{Token: "ended", UserID: "1", Expires: start.Add(-time.Hour)}
		return p
	}
	encode := func(token *core.Token, lasts time.Duration) string {
		sealed, err := p.EncodeToken(token, sessionCookie, lasts)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	p.good = encode(&core.Token{Subject: "1", Name: "Ada"}, time.Hour)
	p.ended = encode(&core.Token{Subject: "1", Name: "Ada"}, -time.Hour)
	p.revoke = encode(&core.Token{Subject: "9", Name: "Eve"}, time.Hour)
	p.big = encode(&core.Token{Subject: "1", Name: "Ada", Picture: "https://app.test/" + strings.Repeat("x", 4000)},
		time.Hour)
	return p
}

// cookies returns a Cookie header. GOOD, ENDED, UNKNOWN and the halves BIG0 and BIG1 are tokens, and N is the name.
func (p *planted) cookies(header string) string {
	pairs := []string{"GOOD", p.good, "ENDED", p.ended, "UNKNOWN", p.revoke, "N", sessionCookie}
	if p.big != "" {
		pairs = append([]string{"BIG0", p.big[:3936], "BIG1", p.big[3936:]}, pairs...)
	}
	return strings.NewReplacer(pairs...).Replace(header)
}

// TestSessionWithPlantedCookies sends additional cookies with the exact name of the session cookie, as browsers do if
// a sibling subdomain has set one for a longer path. The session continues, and its cookies are not cleared.
func TestSessionWithPlantedCookies(t *testing.T) {
	t.Parallel()
	both := []core.Strategy{core.StrategyJWT, core.StrategyDatabase}
	for _, row := range []struct {
		name, cookies string
		strategies    []core.Strategy
		signedIn      bool
		lookUps       int // at most
	}{
		{"alone", "N=GOOD", both, true, 1},
		{"junk in front", "N=junk; N=GOOD", both, true, 3},
		{"junk behind", "N=GOOD; N=junk", both, true, 2},
		{"an empty one in front", "N=; N=GOOD", both, true, 1},
		{"an expired one in front", "N=ENDED; N=GOOD", both, true, 3},
		{"a revoked one in front", "N=UNKNOWN; N=GOOD", both, true, 3},
		{"three in front", "N=a; N=b; N=c; N=GOOD", both, true, 5},
		{"the same twice", "N=GOOD; N=GOOD", both, true, 1},
		{"in another header line", "N=junk\nN=GOOD", both, true, 3},
		{"more than are looked at", "N=a; N=b; N=c; N=d; N=GOOD", both, false, 5},
		{"a thousand", strings.Repeat("N=a; ", 500) + strings.Repeat("N=b; ", 500), both, false, 3},
		{"none good", "N=a; N=ENDED; N=UNKNOWN", both, false, 5},

		{"chunks", "N.0=BIG0; N.1=BIG1", both[:1], true, 0},
		{"a first chunk in front", "N.0=junk; N.0=BIG0; N.1=BIG1", both[:1], true, 0},
		{"both chunks in front", "N.0=junk; N.1=junk; N.0=BIG0; N.1=BIG1", both[:1], true, 0},
		{"a last chunk behind", "N.0=BIG0; N.1=BIG1; N.1=junk", both[:1], true, 0},
		{"whole ones in front of chunks", "N=junk; N=UNKNOWN; N.0=BIG0; N.1=BIG1", both[:1], true, 0},
	} {
		for _, strategy := range row.strategies {
			t.Run(row.name+", "+string(strategy), func(t *testing.T) {
				p := newPlanted(t, strategy)
				b := visit(t, p)
				b.header["Cookie"] = strings.Split(p.cookies(row.cookies), "\n")
				token, err := p.Token(t.Context(), b.request("GET", "/", "", ""))
				if got := token != nil; strategy == core.StrategyJWT && (got != row.signedIn || err != nil) {
					t.Errorf("Token returns a token: %t, %v", got, err)
				}
				v := p.Visit(t.Context(), b.request("GET", "/page", "", ""))
				if session, err := v.Session(); err != nil || (session != nil) != row.signedIn {
					t.Errorf("the hook has %v, %v", session, err)
				}
				p.store.lookUps = 0
				r := b.get("/auth/session")
				if got := strings.Contains(string(r.Body), "Ada"); got != row.signedIn {
					t.Errorf("signed in: %t: %.200s", got, r.Body)
				}
				if strategy == core.StrategyDatabase && p.store.lookUps > row.lookUps {
					t.Errorf("%d lookups, want at most %d", p.store.lookUps, row.lookUps)
				}
				for _, c := range r.Cookies {
					if gone := c.HasMaxAge && c.MaxAge == 0; c.Name == sessionCookie && gone == row.signedIn &&
						!strings.Contains(row.cookies, "BIG") {
						t.Errorf("cleared: %t: %.80s", gone, c)
					}
				}
			})
		}
	}
}

// TestPlantedCookiesDuringAnOutage: while the store cannot find the valid one of two cookies, the response is status
// 500 and clears no cookie.
func TestPlantedCookiesDuringAnOutage(t *testing.T) {
	t.Parallel()
	for _, fails := range []int{1, 100} { // counted from the first lookup
		p := newPlanted(t, core.StrategyDatabase)
		p.store.down = fails
		b := visit(t, p)
		b.header.Set("Cookie", p.cookies("N=GOOD; N=junk"))
		if r := b.get("/auth/session"); r.Status != 500 {
			t.Errorf("GET session: status %d: %s", r.Status, r.Body)
		} else {
			for _, c := range r.Cookies {
				if c.Name == sessionCookie {
					t.Errorf("the response sets %s", c)
				}
			}
		}
	}
}

// TestNewSessionWithPlantedCookies replaces the session of the browser, whichever of the cookies contains it.
func TestNewSessionWithPlantedCookies(t *testing.T) {
	t.Parallel()
	p := newPlanted(t, core.StrategyDatabase)
	b := visit(t, p)
	b.header.Set("Cookie", p.cookies("N=junk; N=GOOD"))
	if _, err := p.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, there := p.store.rows["good"]; there {
		t.Error("the previous session is still valid")
	}
}

// TestSignOutWithPlantedCookies ends every session in the request. Otherwise the browser would continue with another
// one.
func TestSignOutWithPlantedCookies(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, down := range []int{0, 100} {
			p := newPlanted(t, strategy)
			p.store.rows["second"] = store.Session{Token: "second", UserID: "2", Expires: start.Add(time.Hour)}
			b := visit(t, p)
			token := b.csrf()
			b.header.Set("Cookie", p.cookies("N=junk; N=GOOD; N=second; ")+csrfCookie+"="+url.QueryEscape(b.cookies[csrfCookie]))
			clear(b.cookies)
			p.store.down = down
			r := b.post("/auth/signout", url.Values{"csrfToken": {token}})
			gone := false
			for _, c := range r.Cookies {
				gone = gone || c.Name == sessionCookie && c.HasMaxAge && c.MaxAge == 0
			}
			if !gone || r.Redirect != "https://app.test" {
				t.Errorf("%s, %d failed lookups: status %d, redirect to %q, cookie cleared: %t",
					strategy, down, r.Status, r.Redirect, gone)
			}
			_, good := p.store.rows["good"]
			_, second := p.store.rows["second"]
			if strategy == core.StrategyDatabase && down == 0 && (good || second) {
				t.Errorf("sessions are left: %v", p.store.rows)
			}
		}
	}
}

// TestPlantedSessionGivesNoRights plants check cookies together with the ended session that they were created for. The
// flow must not count as started by the user of the valid session in the request. Otherwise the attacker's account
// would be linked to that user.
func TestPlantedSessionGivesNoRights(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		p := newPlanted(t, strategy)
		op := &service{}
		eve := visit(t, p)
		eve.cookies[sessionCookie] = p.revoke
		location := eve.submit("/auth/signin/op", nil).Redirect
		back := op.grant(t, location)
		victim := visit(t, p)
		lines := []string{p.cookies("N=UNKNOWN; N=GOOD")}
		for name, value := range eve.cookies {
			if name != sessionCookie {
				lines = append(lines, name+"="+url.QueryEscape(value))
			}
		}
		victim.header["Cookie"] = lines
		r := victim.get(back)
		if r.Err == nil || !strings.Contains(r.Err.Error(), "under another session") {
			t.Errorf("%s: status %d, redirect to %q: %v", strategy, r.Status, r.Redirect, r.Err)
		}
	}
}

// TestIncompleteChunks clears chunks without a first chunk, like a token that cannot be read. Otherwise the browser
// would send them with every request.
func TestIncompleteChunks(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for cookies, cleared := range map[string]string{
			"N.1=stale": "N.1", "N.3=x; N.1=y": "N.1 N.3", "N=; N.2=x": "N N.2",
			"N=": "", "N.1=": "", "N.01=x": "", "Nx=y": "",
		} {
			p := newPlanted(t, strategy)
			for _, path := range []string{"session", "signout"} {
				b := visit(t, p)
				token := b.csrf()
				b.header["Cookie"] = []string{p.cookies(cookies), csrfCookie + "=" + url.QueryEscape(b.cookies[csrfCookie])}
				clear(b.cookies)
				var r *core.Response
				if path == "session" {
					r = b.get("/auth/session")
				} else {
					r = b.post("/auth/signout", url.Values{"csrfToken": {token}})
				}
				var names []string
				for _, c := range r.Cookies {
					if strings.HasPrefix(c.Name, sessionCookie) && c.HasMaxAge && c.MaxAge == 0 {
						names = append(names, "N"+strings.TrimPrefix(c.Name, sessionCookie))
					}
				}
				if got := strings.Join(names, " "); got != cleared || path == "session" && string(r.Body) != "null" {
					t.Errorf("%s, %s with %q: cleared %q, want %q: %s", strategy, path, cookies, got, cleared, r.Body)
				}
			}
			if p.store.lookUps > 0 {
				t.Errorf("%s, %q: %d lookups", strategy, cookies, p.store.lookUps)
			}
		}
	}
}
