package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestHeadersOfEveryResponse checks that all responses have headers against caching, content sniffing and referrers,
// and that pages cannot be framed and have no base URL.
func TestHeadersOfEveryResponse(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}}))
	for _, target := range []string{
		"/auth/signin", "/auth/session", "/auth/csrf", "/auth/error?error=x", "/auth/nowhere",
	} {
		r := b.get(target)
		if got := r.Header.Get("Referrer-Policy"); got != "same-origin" {
			t.Errorf("%s: Referrer-Policy %q", target, got)
		}
		policy := r.Header.Get("Content-Security-Policy")
		page := strings.HasPrefix(r.Header.Get("Content-Type"), "text/html")
		for _, directive := range []string{"base-uri 'none'", "frame-ancestors 'none'"} {
			if page && !strings.Contains(policy, directive) {
				t.Errorf("%s: no %s in %q", target, directive, policy)
			}
		}
	}
}

// TestWordsOfTheApplication checks that results of callbacks are used completely, as copies, and only where they apply.
func TestWordsOfTheApplication(t *testing.T) {
	t.Parallel()
	t.Run("a user and an error", func(t *testing.T) {
		b := visit(t, newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: "1"}, errors.New("the directory is away")
			},
		}}}))
		if r := b.submit("/auth/callback/credentials", nil); r.Err == nil || b.cookies[sessionCookie] != "" {
			t.Errorf("signed in although Authorize failed: %v", r.Err)
		}
	})
	t.Run("a user who is shared", func(t *testing.T) {
		shared := &core.User{Name: "Ada"}
		b := visit(t, newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return shared, nil },
		}}}))
		if r := b.submit("/auth/callback/credentials", nil); r.Err != nil || shared.ID != "" {
			t.Errorf("the application's user has become %+v: %v", shared, r.Err)
		}
	})
	t.Run("a callback that writes", func(t *testing.T) {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
			SignIn: func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
				p.User.Name, p.User.ID, p.Account.Provider = "Eve", "2", "other"
				return core.Allow(), nil
			},
		}})
		b := visit(t, a)
		signIn(t, b)
		if got := string(b.get("/auth/session").Body); !strings.Contains(got, "Ada") {
			t.Errorf("the session is of %s", got)
		}
	})
	t.Run("an abort", func(t *testing.T) {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { panic(http.ErrAbortHandler) },
		}})
		b := visit(t, a)
		token := b.csrf()
		defer func() {
			if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // net/http compares so
				t.Errorf("the handler ended with %v", v)
			}
		}()
		b.post("/auth/callback/credentials", url.Values{
			"csrfToken": {token}, "email": {"ada@example.com"}, "password": {"engine"},
		})
		t.Error("the abort was swallowed")
	})
	t.Run("a redirect of another spelling", func(t *testing.T) {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
			Redirect: func(context.Context, core.RedirectParams) (string, error) { return "HTTPS://Other.Example/ä b", nil },
		}})
		r := visit(t, a).submit("/auth/signout", url.Values{"callbackUrl": {"/asked"}})
		if r.Redirect != "https://other.example/%C3%A4%20b" {
			t.Errorf("led to %q", r.Redirect)
		}
	})
	t.Run("an error code with line breaks", func(t *testing.T) {
		b := visit(t, newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "locked\r\n\x00out"}
			},
		}}}))
		r := b.submit("/auth/callback/credentials", nil)
		if strings.Contains(r.Redirect, "%0D") || strings.Contains(r.Redirect, "%00") ||
			!strings.Contains(r.Redirect, "locked") {
			t.Errorf("led to %q", r.Redirect)
		}
	})
}

// TestGuardWantsAUser checks that a session without a user passes neither a page guard nor that of a plugin action.
func TestGuardWantsAUser(t *testing.T) {
	t.Parallel()
	private := says("GET", "private", "")
	private.Require = []core.Guard{core.RecentSignIn(time.Hour)}
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Plugins = append(c.Plugins, answers(private))
		c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User = nil
			return p.Session, nil
		}
	})
	b := signedIn(t, a, "1")
	if s, refused := a.Visit(t.Context(), b.request("GET", "/page", "", "")).Require(); s != nil || refused == nil {
		t.Errorf("the guard let %+v in", s)
	}
	if r := b.get("/auth/private"); r.Status == 200 {
		t.Errorf("the action responded %s", r.Body)
	}
}

// TestContradictoryConfigurations checks that invalid values are rejected with the name of the field.
func TestContradictoryConfigurations(t *testing.T) {
	t.Parallel()
	plain := func(change func(*core.OAuthProvider)) []core.Provider {
		p := plainOAuth()
		change(p)
		return []core.Provider{p}
	}
	for _, row := range []struct {
		name, want string
		config     core.Config
	}{
		{"a negative lifetime", "Session.MaxAge", core.Config{Session: core.SessionConfig{MaxAge: -time.Hour}}},
		{"a lifetime of ages", "Session.MaxAge", core.Config{
			Session: core.SessionConfig{MaxAge: 200 * 365 * 24 * time.Hour},
		}},
		{"tokens of ages", "JWT.MaxAge", core.Config{JWT: core.JWTConfig{MaxAge: 200 * 365 * 24 * time.Hour}}},
		{"an empty secret", "Secrets[1]", core.Config{
			Secrets: []core.Secret{testSecret, ""}, InsecureShortSecrets: true,
		}},
		{"tokens over plain http", "Token.URL", core.Config{Providers: plain(func(p *core.OAuthProvider) {
			p.Token.URL = "http://op.example/token"
		})}},
		{"an address with a user", "Userinfo.URL", core.Config{Providers: plain(func(p *core.OAuthProvider) {
			p.Userinfo.URL = "https://user@op.example/userinfo"
		})}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.config.Secrets == nil {
				row.config.Secrets = []core.Secret{testSecret}
			}
			row.config.Getenv = func(string) string { return "" }
			if _, err := core.New(row.config); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
		})
	}
}

// halfStore has sessions whose user does not exist.
type halfStore struct{ *sessionRows }

func (s halfStore) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	session, _, err := s.sessionRows.SessionAndUser(ctx, token)
	return session, nil, err
}

// TestStoredEdges checks that a stored session needs a user and a token, and that a limit set later shortens it.
func TestStoredEdges(t *testing.T) {
	t.Parallel()
	t.Run("without a user", func(t *testing.T) {
		b := visit(t, newApp(t, core.Config{Store: halfStore{newSessionRows()}, Providers: []core.Provider{passwords()}}))
		signIn(t, b)
		r := b.get("/auth/session")
		if r.Err == nil || !strings.Contains(r.Err.Error(), "neither a session") || b.cookies[sessionCookie] == "" {
			t.Errorf("a store that returns no user counts as a session: %s, %v", r.Body, r.Err)
		}
	})
	t.Run("without a token", func(t *testing.T) {
		rows := newSessionRows()
		b := visit(t, newApp(t, core.Config{Store: rows, Providers: []core.Provider{passwords()},
			Session: core.SessionConfig{GenerateToken: func() (string, error) { return "", nil }}}))
		r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		if r.Err == nil || len(rows.rows) > 0 {
			t.Errorf("a session without a token begins: %v, %d rows", r.Err, len(rows.rows))
		}
	})
	t.Run("a limit that is set later", func(t *testing.T) {
		rows := newSessionRows()
		limited := func(d time.Duration) core.Config {
			return core.Config{Store: rows, Providers: []core.Provider{passwords()},
				Session: core.SessionConfig{AbsoluteMaxAge: d}}
		}
		a := newApp(t, limited(48*time.Hour))
		b := visit(t, a)
		signIn(t, b)
		for _, row := range rows.rows {
			if row.Expires.After(start.Add(48 * time.Hour)) {
				t.Errorf("it would last until %v", row.Expires)
			}
		}
		later := newApp(t, limited(time.Hour))
		later.clock.Advance(2 * time.Hour)
		b.auth = later
		if got := string(b.get("/auth/session").Body); got != "null" {
			t.Errorf("older than any may be: %s", got)
		}
	})
	t.Run("one that the application begins", func(t *testing.T) {
		rows := newSessionRows()
		a := newApp(t, core.Config{Store: rows, Providers: []core.Provider{passwords()}})
		b := visit(t, a)
		signIn(t, b)
		planted := b.cookies[sessionCookie]
		if _, err := a.NewSession(t.Context(), b.request("POST", "/login", "", ""), &core.User{ID: "1"}); err != nil {
			t.Fatal(err)
		}
		if _, there := rows.rows[planted]; there || len(rows.rows) != 1 {
			t.Errorf("the previous session is still there: %d rows", len(rows.rows))
		}
	})
}

// TestSessionOfAnotherUser checks that an administrator who ends the sessions of a user keeps their own session.
func TestSessionOfAnotherUser(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy, revocable)
			admin := signedIn(t, a, "1")
			v := a.Visit(t.Context(), admin.request("GET", "/admin", "", ""))
			s, err := v.Session()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.EndSessions(v, "2", core.EndOptions{One: s.ID}); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("it was ended as one of another user: %v", err)
			}
			if !here(admin) {
				t.Error("the administrator is signed out")
			}
		})
	}
}

// TestNoSessionWithoutAnEpoch checks that no session starts if the time of the last revocation of all the user's
// sessions cannot be read, because the session might be older than it.
func TestNoSessionWithoutAnEpoch(t *testing.T) {
	t.Parallel()
	a, h := factual(t, core.StrategyJWT, revocable)
	b := visit(t, a)
	token := b.csrf()
	h.fail(errors.New("away"))
	r := b.post("/auth/callback/credentials", url.Values{"csrfToken": {token}, "id": {"1"}})
	if r.Err == nil || b.cookies[sessionCookie] != "" {
		t.Errorf("signed in: %v", r.Err)
	}
}

// TestHostsWithoutTrust checks that a request with two hosts is rejected.
func TestHostsWithoutTrust(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustHost: core.False})
	b := visit(t, a)
	b.origin, b.peer = "http://localhost:3000", "127.0.0.1:1234"
	for _, row := range []struct {
		hosts []string
		good  bool
	}{
		{[]string{"localhost:3000"}, true}, {[]string{"localhost:3000", "localhost:3000"}, false},
		{[]string{"localhost:3000", "evil.example"}, false}, {nil, false},
	} {
		r := b.request("GET", "/auth/providers", "", "")
		r.Hosts = row.hosts
		if got := a.Handle(t.Context(), r); (got.Err == nil) != row.good {
			t.Errorf("%q: %d, %v", row.hosts, got.Status, got.Err)
		}
	}
}

// TestChecksOfAnotherProvider checks that state and verifier of a flow are invalid for the callback of another
// provider.
func TestChecksOfAnotherProvider(t *testing.T) {
	t.Parallel()
	for _, checks := range [][]core.Check{
		nil, {core.CheckState}, {core.CheckPKCE}, {core.CheckState, core.CheckPKCE},
	} {
		a := newApp(t, core.Config{Providers: []core.Provider{lenient("honest", checks...), lenient("other", checks...)}})
		b := visit(t, a)
		answer := back(t, b.submit("/auth/signin/honest", nil).Redirect, "eve")
		if r := b.get("/auth/callback/other?" + answer.Encode()); r.Err == nil || b.who() != "" {
			t.Errorf("%v: signed in as %q: %v", checks, b.who(), r.Err)
		}
	}
}

// TestCallbacksWithoutState checks that a callback without state is rejected if a state was sent.
func TestCallbacksWithoutState(t *testing.T) {
	t.Parallel()
	for _, checks := range [][]core.Check{{core.CheckState}, {core.CheckState, core.CheckPKCE}} {
		for _, query := range []string{"code=code-of-eve", "code=code-of-eve&state=", "code=code-of-eve&state=x"} {
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{lenient("p", checks...)}}))
			b.submit("/auth/signin/p", nil)
			if r := b.get("/auth/callback/p?" + query); r.Err == nil || b.who() != "" {
				t.Errorf("%v, %s: signed in as %q: %v", checks, query, b.who(), r.Err)
			}
		}
	}
}

// TestLogoutNeedsOpenID checks that an OAuth provider without OpenID Connect cannot send back-channel logouts.
func TestLogoutNeedsOpenID(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyDatabase, func(c *core.Config) { c.Providers = append(c.Providers, plainOAuth()) })
	r := visit(t, a).post("/auth/backchannel-logout/plain", url.Values{"logout_token": {"a.b.c"}})
	if r.Status != 400 || !errors.Is(r.Err, core.ErrUnknownAction) {
		t.Errorf("%d: %v: %s", r.Status, r.Err, r.Body)
	}
}

// TestRedirectProxyForwards checks that the redirect proxy forwards a callback only to the origin in its own encrypted
// state, and only if that origin is listed.
func TestRedirectProxyForwards(t *testing.T) {
	t.Parallel()
	deployment := func(origin string, targets ...string) *browser {
		b := visit(t, newApp(t, core.Config{
			Providers: []core.Provider{lenient("p", core.CheckState)}, URL: origin + "/auth",
			RedirectProxyURL: "https://proxy.test/auth", RedirectProxyTargets: targets,
		}))
		b.origin = origin
		return b
	}
	preview := deployment("https://preview.test")
	answer := back(t, preview.submit("/auth/signin/p", nil).Redirect, "ada")
	for _, row := range []struct {
		name    string
		targets []string
		state   string
		want    string
	}{
		{"listed", []string{"https://preview.test"}, answer.Get("state"), "https://preview.test/auth/callback/p?"},
		{"not listed", []string{"https://other.test"}, answer.Get("state"), ""},
		{"none is listed", nil, answer.Get("state"), ""},
		{"a state that is not ours", []string{"https://*.test"}, "made-up", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxy := deployment("https://proxy.test", row.targets...)
			query := url.Values{"code": {"code-of-ada"}, "state": {row.state}}
			r := proxy.get("/auth/callback/p?" + query.Encode())
			switch {
			case row.want != "" && !strings.HasPrefix(r.Redirect, row.want):
				t.Errorf("led to %q: %v", r.Redirect, r.Err)
			case row.want == "" && (r.Err == nil || !strings.HasPrefix(r.Redirect, "https://proxy.test/") ||
				strings.Contains(r.Redirect, "code-of-ada")):
				t.Errorf("led to %q: %v", r.Redirect, r.Err)
			}
		})
	}
}

// otherRows finds links by their tokens alone, as tables of other programs may do.
type otherRows struct{ *tokenRows }

func (s otherRows) UseVerificationToken(_ context.Context, _, token string) (*store.VerificationToken, error) {
	for key, row := range s.tokens {
		if row.Token == token {
			delete(s.tokens, key)
			return &row, nil
		}
	}
	return nil, core.ErrNotFound
}

// TestLinksOfOneAddress checks that a link is valid only for the address that it was sent to, even if the store
// compares only the token, and that no link has an empty token.
func TestLinksOfOneAddress(t *testing.T) {
	t.Parallel()
	rows := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	var token string
	a := newApp(t, core.Config{Store: otherRows{rows}, Providers: []core.Provider{&core.EmailProvider{
		ConfirmLink: core.False,
		Send:        func(_ context.Context, m core.Email) error { token = string(m.Token); return nil },
	}}})
	b := visit(t, a)
	b.askForLink("eve@example.com")
	if r := b.get("/auth/callback/email?email=ada%40example.com&token=" + token); !errors.Is(r.Err, core.ErrVerification) {
		t.Errorf("a link of eve's for ada: %v", r.Err)
	}

	_, rows, _ = coded(t, nil)
	sent := 0
	empty := newApp(t, core.Config{Store: rows, Providers: []core.Provider{&core.EmailProvider{
		GenerateToken: func(context.Context) (string, error) { return "", nil },
		Send:          func(context.Context, core.Email) error { sent++; return nil },
	}}})
	r := visit(t, empty).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	if r.Err == nil || sent > 0 || len(rows.tokens) > 0 {
		t.Errorf("a link without a token: %v, %d sent", r.Err, sent)
	}
}

// TestActionsOfSeveralPlugins checks that attempts of plugin actions are counted, and that there is no user without a
// session.
func TestActionsOfSeveralPlugins(t *testing.T) {
	t.Parallel()
	guarded := says("POST", "guess", "")
	guarded.Attempt = limit.AttemptSignUp
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.InsecureNoLimits = false
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		c.Plugins = append(c.Plugins, answers(guarded, core.Action{Method: "POST", Name: "nobody",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.SignIn(ctx, core.SignIn{User: &core.User{Name: "Nobody"}})
			}}))
	})
	b := visit(t, a)
	refused := 0
	for range 20 {
		if r := b.submit("/auth/guess", nil); r.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("twenty attempts were looked at")
	}
	if r := b.submit("/auth/nobody", nil); r.Err == nil || b.cookies[sessionCookie] != "" {
		t.Errorf("a user without an ID is signed in: %v", r.Err)
	}
}

// TestPendingSignInExpires checks that a pending sign-in expires ten minutes after the first gate stopped it.
func TestPendingSignInExpires(t *testing.T) {
	t.Parallel()
	w, _, _ := gatedTown(t, core.StrategyJWT, &toyFactor{name: "first"}, &toyFactor{name: "second"})
	w.users["u1"] = core.User{ID: "u1", Name: "Ada"}
	b := visit(t, w.app)
	if r := b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}); !strings.HasSuffix(r.Redirect, "/first") {
		t.Fatalf("led to %q: %v", r.Redirect, r.Err)
	}
	w.app.clock.Advance(9 * time.Minute)
	r := b.submit("/auth/first", url.Values{"code": {"123456"}})
	if !strings.HasSuffix(r.Redirect, "/auth/second") && !strings.Contains(string(r.Body), "/auth/second") {
		t.Fatalf("led to %q: %v", r.Redirect, r.Err)
	}
	w.app.clock.Advance(2 * time.Minute)
	if r := b.submit("/auth/second", url.Values{"code": {"123456"}}); r.Status != http.StatusConflict {
		t.Errorf("eleven minutes after it was held: %d, %v", r.Status, r.Err)
	}
}

// failingCommit is a store whose transactions fail to commit.
type failingCommit struct {
	least
	store.Transactor
}

type commitFails struct{ store.Transactor }

func (s commitFails) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	return s.Transactor.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		return errors.Join(do(ctx, tx), errors.New("the commit fails"))
	})
}

// TestEventsOfACommit checks that no event is called for a transaction that was not committed.
func TestEventsOfACommit(t *testing.T) {
	t.Parallel()
	told := 0
	w := newTown(t, power{tx: true, lists: true}, core.StrategyJWT, func(c *core.Config) {
		c.Store = failingCommit{c.Store.(least), commitFails{c.Store.(store.Transactor)}}
		c.Events.CreateUser = func(context.Context, core.UserEvent) error { told++; return nil }
		c.Events.LinkAccount = func(context.Context, core.LinkAccountEvent) error { told++; return nil }
	})
	b := visit(t, w.app)
	if r := w.through(b, "plain", "s1", "ada@x.example", ""); r.Err == nil || told > 0 || len(w.users) > 0 {
		t.Errorf("%d events, %d users: %v", told, len(w.users), r.Err)
	}
}

// TestLinkingWithoutRevocations checks that, if the current user cannot be determined because the revocation list is
// unavailable, an account is not linked and no user is created for it.
func TestLinkingWithoutRevocations(t *testing.T) {
	t.Parallel()
	away := false
	w := newTown(t, power{lists: true}, core.StrategyJWT, func(c *core.Config) {
		c.JWT.Revoked = func(context.Context, *core.Token) (bool, error) {
			if away {
				return false, errors.New("away")
			}
			return false, nil
		}
	})
	b := visit(t, w.app)
	if r := w.through(b, "plain", "s1", "ada@x.example", ""); r.Err != nil {
		t.Fatal(r.Err)
	}
	users := len(w.users)
	away = true
	r := w.through(b, "vouching", "s2", "ada@y.example", "")
	if r.Err == nil || len(w.users) != users || len(w.accounts) != 1 {
		t.Errorf("%d users, %d accounts: %v", len(w.users), len(w.accounts), r.Err)
	}
}
