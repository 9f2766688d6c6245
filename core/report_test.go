package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestMistakesAreNoErrors: errors that users or attackers cause are not logged at level ERROR; errors that the operator
// must fix are.
func TestMistakesAreNoErrors(t *testing.T) {
	t.Parallel()
	right := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}
	wrong := url.Values{"email": {"ada@example.com"}, "password": {"wrong"}}
	signInResult := func(result core.SignInResult, err error) core.Config {
		return core.Config{Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { return result, err },
		}}
	}
	credentials := func(form url.Values) func(*browser) {
		return func(b *browser) { b.submit("/auth/callback/credentials", form) }
	}
	for _, row := range []struct {
		name   string
		config core.Config
		do     func(*browser)
		level  string
	}{
		{"wrong password", core.Config{}, credentials(wrong), "INFO"},
		{"denied by the callback", signInResult(core.Deny(), nil), credentials(right), "INFO"},
		{"denied with a cause", signInResult(core.Deny(), core.NewError(core.ErrAccessDenied, errors.New("not on the list"))),
			credentials(right), "INFO"},
		{"missing CSRF token", core.Config{}, func(b *browser) { b.post("/auth/signout", nil) }, "WARN"},
		{"unknown action", core.Config{}, func(b *browser) { b.get("/auth/nope") }, "INFO"},
		{"unknown provider", core.Config{}, func(b *browser) { b.get("/auth/callback/nope") }, "INFO"},
		{"bad callback URL", core.Config{}, func(b *browser) { b.get("/auth/signin?callbackUrl=nope") }, "INFO"},
		{"a body that is none", core.Config{},
			func(b *browser) { b.send("POST", "/auth/signout", "application/json", "{") }, "INFO"},
		{"garbage as a session", core.Config{},
			func(b *browser) { b.cookies[sessionCookie] = "x"; b.get("/auth/session") }, "WARN"},
		{"sign-out with garbage", core.Config{},
			func(b *browser) { b.cookies[sessionCookie] = "x"; b.submit("/auth/signout", nil) }, "INFO"},
		{"check cookie missing", core.Config{}, func(b *browser) { b.get("/auth/callback/op?code=c&state=s") }, "WARN"},
		{"check cookie missing, state made up", core.Config{},
			func(b *browser) { begin(b); b.get("/auth/callback/op?code=c&state=made-up") }, "WARN"},
		{"an address that is none", core.Config{},
			func(b *browser) { b.submit("/auth/signin/email", url.Values{"email": {"nobody"}}) }, "INFO"},
		{"parameters that fit into no address", core.Config{},
			func(b *browser) { b.submit("/auth/signin/op?scope="+strings.Repeat("a", 9000), nil) }, "INFO"},
		{"no address", core.Config{}, func(b *browser) { b.submit("/auth/signin/email", nil) }, "INFO"},
		{"a link that the mail cut off", core.Config{},
			func(b *browser) { b.get("/auth/callback/email?email=ada@example.com") }, "INFO"},
		{"provider: denied", core.Config{}, func(b *browser) {
			b.get("/auth/callback/op?error=access_denied&state=" + begin(b))
		}, "INFO"},
		{"a host that is not listed", core.Config{TrustedHosts: []string{"app.test"}},
			func(b *browser) { b.origin = "https://evil.example"; b.get("/auth/session") }, "WARN"},

		{"provider: the registration is wrong", core.Config{}, func(b *browser) {
			b.get("/auth/callback/op?error=unauthorized_client&state=" + begin(b))
		}, "ERROR"},
		{"the callback fails", signInResult(core.Allow(), errors.New("connection refused")), credentials(right), "ERROR"},
		{"the callback panics", core.Config{Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { panic("boom") },
		}}, credentials(right), "ERROR"},
		{"a panic under a visitor's class", core.Config{JWT: core.JWTConfig{
			Encode: func(context.Context, core.EncodeParams) (string, error) { return "x", nil },
			Decode: func(context.Context, core.DecodeParams) (*core.Token, error) { panic("boom") },
		}}, func(b *browser) { b.cookies[sessionCookie] = "x"; b.get("/auth/session") }, "ERROR"},
		{"the store fails", core.Config{Store: brokenStore{func() error { return errors.New("connection refused") }}},
			func(b *browser) { b.cookies[sessionCookie] = "x"; b.get("/auth/session") }, "ERROR"},
		{"no origin", core.Config{TrustHost: core.False}, func(b *browser) { b.get("/auth/session") }, "ERROR"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords(), (&service{}).provider("op")}
			if row.config.Store == nil {
				row.config.Store = &tokenStore{}
				row.config.Providers = append(row.config.Providers,
					&core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }})
			}
			a := newApp(t, row.config)
			a.log.Reset()
			row.do(visit(t, a))
			log := a.log.String()
			if n := strings.Count(log, "\n"); n != 1 || !strings.Contains(log, "level="+row.level+" ") {
				t.Errorf("want one line at %s, the log says\n%s", row.level, log)
			}
		})
	}
}

// begin starts a sign-in with the provider and returns its state, or "" if none was sent.
func begin(b *browser) string {
	r := b.submit("/auth/signin/op", nil)
	u, _ := url.Parse(r.Redirect)
	return url.QueryEscape(u.Query().Get("state"))
}

var (
	loggedReference = regexp.MustCompile(`reference=([0-9a-z]{8})\b`)
	shownReference  = regexp.MustCompile(`(?:<code>|"reference":")([0-9a-z]{8})\b`)
)

func referenceIn(t *testing.T, pattern *regexp.Regexp, text string) string {
	t.Helper()
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no reference in\n%s", text)
	}
	return found[1]
}

// TestReferencesSurviveRedirects: the page that a failure redirects to shows the reference of the log message.
func TestReferencesSurviveRedirects(t *testing.T) {
	t.Parallel()
	failing := core.Callbacks{JWT: func(context.Context, core.JWTParams) (*core.Token, error) {
		return nil, errors.New("connection refused")
	}}
	for _, row := range []struct {
		name  string
		fresh bool // a browser without cookies, as after a link in an email
		do    func(*browser) *core.Response
	}{
		{"error page", false, func(b *browser) *core.Response {
			return b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		}},
		{"sign-in page", false, func(b *browser) *core.Response {
			return b.get("/auth/callback/op?error=server_error&state=" + begin(b))
		}},
		{"first request of a browser", true,
			func(b *browser) *core.Response { return b.get("/auth/callback/op?code=c&state=s") }},
		{"error page without a redirect", true,
			func(b *browser) *core.Response { return b.get("/auth/signin?callbackUrl=nope") }},
		{"JSON", true, func(b *browser) *core.Response { return b.get("/auth/session?callbackUrl=ftp:x") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}, Callbacks: failing})
			b := visit(t, a)
			b.header.Set("User-Agent", "Browser/1")
			if !row.fresh {
				b.get("/auth/signin")
			}
			a.log.Reset()
			r := row.do(b)
			logged := referenceIn(t, loggedReference, a.log.String())
			if r.Redirect != "" {
				r = b.get(strings.TrimPrefix(r.Redirect, "https://app.test"))
			}
			if shown := referenceIn(t, shownReference, string(r.Body)); shown != logged {
				t.Errorf("the page shows %s, the log says\n%s", shown, a.log)
			}

			other := visit(t, a)
			other.header.Set("User-Agent", "Browser/2")
			page := string(other.get("/auth/error?error=Configuration").Body)
			if referenceIn(t, shownReference, page) == logged {
				t.Error("two browsers have one code")
			}
		})
	}
}

// TestReferenceOfOwnPages: the application's own pages get the reference of the log message.
func TestReferenceOfOwnPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Pages: core.PagesConfig{Error: "/oops"}})
	b := visit(t, a)
	b.get("/auth/signin")
	b.get("/auth/callback/nope")
	v := a.Visit(t.Context(), b.request("GET", "/oops?error=Configuration", "", ""))
	if got, want := core.ReferenceFrom(v), referenceIn(t, loggedReference, a.log.String()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := core.ReferenceFrom(t.Context()); got != "" {
		t.Errorf("without the hook: %q", got)
	}
}

// TestMistakesOfEveryDayShowNoReference: a wrong password shows no reference, because it need not be reported.
func TestMistakesOfEveryDayShowNoReference(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}}))
	for _, page := range []string{
		"/auth/signin", "/auth/signin?error=CredentialsSignin", "/auth/signin?error=SessionRequired", "/auth/error",
	} {
		if r := b.get(page); shownReference.Match(r.Body) {
			t.Errorf("%s shows a reference", page)
		}
	}
}

// TestPanicsAreOneLine: a panic is logged in one line with a short stack: first the place of the panic, then calls of
// the application, then calls of core.
func TestPanicsAreOneLine(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
			return core.Allow(), faultInHere(nil)
		},
	}})
	r := visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Status != http.StatusFound {
		t.Errorf("got status %d", r.Status)
	}
	log := a.log.String()
	order := []string{
		"panic in signIn callback: assignment to entry in nil map at ", "faultInHere (", "report_test.go:",
		"TestPanicsAreOneLine", "core.guarded",
	}
	rest := log
	for _, part := range order {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Fatalf("no %q behind the parts before it in\n%s", part, log)
		}
		rest = after
	}
	if strings.Contains(log, `\n`) || strings.Contains(log, "/usr") || len(log) > 2500 ||
		strings.Count(log, "called by") > 10 {
		t.Errorf("the log says\n%s", log)
	}
}

//go:noinline
func faultInHere(m map[string]int) error {
	m["role"] = 1
	return nil
}

// TestGuardThatDoesNotKnow: if a guard cannot read the session, a browser gets the error page and an API client JSON,
// both with status 500 and the reference. Neither is redirected to a page of the application, which may have the same
// guard.
func TestGuardThatDoesNotKnow(t *testing.T) {
	t.Parallel()
	broken := brokenStore{func() error { return errors.New("connection refused") }}
	none := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
		return nil, errors.New("no such tenant")
	})
	for _, row := range []struct {
		name, accept, kind string
		configured         bool
	}{
		{"browser", "text/html", "text/html", true},
		{"API client", "application/json", "application/json", true},
		{"anything", "*/*", "application/json", true},
		{"browser, no configuration", "text/html", "text/html", false},
		{"API client, no configuration", "application/json", "application/json", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Store: broken, Pages: core.PagesConfig{Error: "/oops"}})
			s := a.Auth
			if !row.configured {
				s = none
			}
			b := visit(t, s)
			b.header.Set("Accept", row.accept)
			b.cookies[sessionCookie] = "s1"
			v := s.Visit(t.Context(), b.request("GET", "/account", "", ""))
			_, r := v.Require()
			if r == nil || r.Status != http.StatusInternalServerError || r.Redirect != "" || r.Err == nil ||
				!strings.HasPrefix(r.Header.Get("Content-Type"), row.kind) {
				t.Fatalf("responded %+v", r)
			}
			shown := referenceIn(t, shownReference, string(r.Body))
			if shown != core.ReferenceFrom(v) || row.configured && shown != referenceIn(t, loggedReference, a.log.String()) {
				t.Errorf("the response shows %s, the visit has %s, the log says\n%s", shown, core.ReferenceFrom(v), a.log)
			}
			if strings.Contains(string(r.Body), "refused") || r.Header.Get("Cache-Control") == "" ||
				!strings.Contains(r.Header.Get("Vary"), "Accept") {
				t.Errorf("header %v, body %s", r.Header, r.Body)
			}
		})
	}
}

// TestCanceledRequests: a request that the client canceled is not logged as a store failure; one that failed otherwise
// is.
func TestCanceledRequests(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		leave bool
		err   error
		level string
	}{
		{"the visitor left", true, context.Canceled, "INFO"},
		{"the visitor left an outage", true, errors.New("connection refused"), "ERROR"},
		{"the store gave up", false, context.Canceled, "ERROR"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{
				Providers: []core.Provider{(&service{}).provider("op")}, Store: brokenStore{func() error { return row.err }},
			})
			b := visit(t, a)
			b.cookies[sessionCookie] = "s1"
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if row.leave {
				cancel()
			}
			a.log.Reset()
			a.Handle(ctx, b.request("GET", "/auth/session", "", ""))
			if log := a.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "level="+row.level+" ") {
				t.Errorf("want one line at %s, the log says\n%s", row.level, log)
			}
		})
	}
}
