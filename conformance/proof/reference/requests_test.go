package reference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// TestEndpoints sends a request for every row of the table. The method must be supported, and no other may be listed.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(page(t), "\n## Endpoints\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := regexp.MustCompile("`(GET|POST) ([a-z-]+)(/<provider>)?`").FindAllStringSubmatch(table, -1)
	if len(named) < 14 {
		t.Fatalf("%d endpoints", len(named))
	}
	listed := map[string]bool{}
	for _, m := range named {
		listed[m[1]+" "+m[2]] = true
	}
	s := open(t, core.Config{
		Store: newRows(), EnableWebAuthn: true, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{service(), passkeys()},
	})
	ids := map[string]string{"webauthn-options": "/webauthn", "callback": "/plain", "backchannel-logout": "/plain"}
	for _, method := range []string{"GET", "POST"} {
		for _, action := range []string{
			"session", "csrf", "providers", "signin", "callback", "signout", "error", "verify-request", "webauthn-options",
			"backchannel-logout",
		} {
			r := s.ask(method, "/auth/"+action+ids[action], nil)
			is := !errors.Is(r.Err, core.ErrUnknownAction) || action == "backchannel-logout" && method == "POST"
			if is != listed[method+" "+action] {
				t.Errorf("%s %s: answered %d, %v; listed %t", method, action, r.Status, r.Err, listed[method+" "+action])
			}
		}
	}
}

// TestCookieNames runs the flows: each cookie must have a row, and each row a cookie.
func TestCookieNames(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for name, row := range cells(t) {
		if strings.HasPrefix(name, "CookiesConfig.") {
			rows[strings.Trim(row[0], "`")] = true
		}
	}
	if came := everyCookie(t); !maps.Equal(rows, on(slices.Collect(maps.Keys(came)))) {
		t.Errorf("docs/reference.md has %v, there are %v", rows, slices.Sorted(maps.Keys(came)))
	}
}

func on(names []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// started returns an Auth whose configuration comes only from the environment.
func started(t *testing.T, change core.Config, env map[string]string) *site {
	t.Helper()
	for name, value := range map[string]string{"AUTH_SECRET": string(secret), "AUTH_URL": "https://app.test"} {
		if _, set := env[name]; !set {
			env[name] = value
		}
	}
	change.Secrets = []core.Secret{}
	change.Getenv = func(name string) string { return env[name] }
	return open(t, change)
}

const newer = "another-secret-of-more-than-32-bytes"

// bare returns a configuration with a provider that needs environment variables.
func bare() core.Config {
	p := service()
	p.ClientID, p.ClientSecret = "", ""
	return core.Config{Providers: []core.Provider{p}}
}

// needs reports whether New rejects a configuration without the variable, and accepts it with the variable.
func needs(c core.Config, env map[string]string, variable string) bool {
	c.Getenv = func(name string) string {
		if name == variable {
			return ""
		}
		return env[name]
	}
	missing := refuses(c, "")
	c.Getenv = func(name string) string { return env[name] }
	return missing && !refuses(c, "")
}

var clientOutside = map[string]string{
	"AUTH_PLAIN_ID": "from outside", "AUTH_PLAIN_SECRET": "s", "AUTH_PLAIN_ISSUER": "https://op.example",
}

// variables are core's environment variables: the meaning on the page, and a check of it.
var variables = map[string]struct {
	stands string
	holds  func(t *testing.T) bool
}{
	"AUTH_SECRET": {"`Config.Secrets`", func(t *testing.T) bool {
		return seals(started(t, core.Config{}, map[string]string{"AUTH_SECRET": newer}), newer)
	}},
	"AUTH_SECRET_1`, `AUTH_SECRET_2`, `AUTH_SECRET_3": {"newer secrets in front of it", func(t *testing.T) bool {
		env := map[string]string{"AUTH_SECRET_1": "1" + newer, "AUTH_SECRET_3": newer}
		return seals(started(t, core.Config{}, env), newer)
	}},
	"AUTH_URL": {"`Config.URL`", func(t *testing.T) bool {
		return isAt(t, map[string]string{"AUTH_URL": "https://b.test"}, "https://b.test/auth/")
	}},
	"NEXTAUTH_URL": {"the old name of `AUTH_URL`", func(t *testing.T) bool {
		return isAt(t, map[string]string{"AUTH_URL": "", "NEXTAUTH_URL": "https://b.test"}, "https://b.test/auth/")
	}},
	"AUTH_TRUST_HOST": {"`Config.TrustHost`", func(t *testing.T) bool {
		return trusts(started(t, core.Config{}, map[string]string{"AUTH_URL": "", "AUTH_TRUST_HOST": "true"}))
	}},
	"VERCEL`, `CF_PAGES": {"`Config.TrustHost`: these platforms set the headers themselves", func(t *testing.T) bool {
		return trusts(started(t, core.Config{}, map[string]string{"AUTH_URL": "", "VERCEL": "1"})) &&
			trusts(started(t, core.Config{}, map[string]string{"AUTH_URL": "", "CF_PAGES": "1"})) &&
			!trusts(started(t, core.Config{}, map[string]string{"AUTH_URL": ""}))
	}},
	"AUTH_REDIRECT_PROXY_URL": {"`Config.RedirectProxyURL`", func(t *testing.T) bool {
		env := map[string]string{"AUTH_REDIRECT_PROXY_URL": "https://auth.example/auth"}
		q := asksFor(started(t, core.Config{Providers: []core.Provider{service()}}, env))
		return q.Get("redirect_uri") == "https://auth.example/auth/callback/plain"
	}},
	"AUTH_<ID>_ID": {"client id", func(t *testing.T) bool {
		return asksFor(started(t, bare(), maps.Clone(clientOutside))).Get("client_id") == "from outside"
	}},
	"AUTH_<ID>_SECRET": {"client secret", func(*testing.T) bool {
		return needs(bare(), clientOutside, "AUTH_PLAIN_SECRET")
	}},
	"AUTH_<ID>_ISSUER": {"issuer, or base URL", func(*testing.T) bool {
		c := bare()
		p := c.Providers[0].(*core.OAuthProvider)
		p.Type, p.Authorization, p.Token, p.Userinfo = core.TypeOIDC, core.Endpoint{}, core.Endpoint{}, core.Endpoint{}
		return needs(c, clientOutside, "AUTH_PLAIN_ISSUER")
	}},
}

// TestEnvironment sets each variable that core reads, and checks the effect that the page states.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	all := cells(t)
	for name, row := range variables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if cell := all[name]; len(cell) < 1 || cell[0] != row.stands {
				t.Fatalf("docs/reference.md says that it sets %q", cell)
			}
			if !row.holds(t) {
				t.Errorf("it does not set %s", row.stands)
			}
		})
	}
}

// isAt reports whether links begin with this address.
func isAt(t *testing.T, env map[string]string, base string) bool {
	s := started(t, core.Config{Providers: []core.Provider{service()}}, env)
	return strings.Contains(string(s.ask("GET", "/auth/providers", nil).Body), base)
}

// asksFor returns the parameters of an authorization request.
func asksFor(s *site) url.Values {
	s.t.Helper()
	to, err := url.Parse(s.submit("/auth/signin/plain", nil).Redirect)
	if err != nil {
		s.t.Fatal(err)
	}
	return to.Query()
}

// seals reports whether new tokens are encrypted with this secret.
func seals(s *site, with core.Secret) bool {
	sealed, err := s.auth.EncodeToken(&core.Token{Subject: "1"}, "salt", time.Hour)
	if err != nil {
		return false
	}
	_, err = open(s.t, core.Config{Secrets: []core.Secret{with}}).auth.DecodeToken(sealed, "salt")
	return err == nil
}

func trusts(s *site) bool { return s.ask("GET", "/auth/csrf", nil).Status == 200 }

// TestLimits checks the table of limits: the burst, and the time until the next attempt.
func TestLimits(t *testing.T) {
	t.Parallel()
	all := cells(t)
	for attempt, row := range map[limit.Attempt]string{
		limit.AttemptCredentials: "credentials`: a form of name and password",
		limit.AttemptInARow:      "in-a-row`: consecutive wrong attempts with such a form",
		limit.AttemptEmail:       "email`: a sign-in link is about to be sent",
		limit.AttemptEmailToken:  "email-token`: an emailed link or code is about to be redeemed",
		limit.AttemptWebAuthn:    "webauthn-options`: a passkey challenge",
		limit.AttemptCode:        "code`: a code or second factor is about to be checked",
		limit.AttemptKey:         "key`: an API key or another token of a program is about to be checked",
		limit.AttemptKeyUse:      "key-use`: a request has a valid API key or another token of a program",
		limit.AttemptDevice:      "device`: a device asks for the code that its user types in the browser",
		limit.AttemptChallenge:   "challenge`: the token of a CAPTCHA service is about to be verified",
		limit.AttemptMail:        "mail`: another email is about to be sent",
		limit.AttemptSignUp:      "sign-up`: an account is requested",
	} {
		// By column: attempts with the same address or name and different clients, identical attempts, and attempts with
		// different addresses or names.
		for i, next := range []func(n int) limit.Params{
			func(n int) limit.Params { return limit.Params{Identifier: "ada", Peer: peer(n)} },
			func(int) limit.Params { return limit.Params{Identifier: "ada", Peer: peer(1)} },
			func(n int) limit.Params { return limit.Params{Identifier: fmt.Sprint(n), Peer: peer(1)} },
		} {
			if len(all[row]) != 3 {
				t.Fatalf("docs/reference.md has the row %q", all[row])
			}
			says := all[row][i]
			if i == 1 && says == "" { // one client in total, for any name
				says = all[row][2]
			}
			if is := allowed(t, attempt, next); is != says {
				t.Errorf("docs/reference.md allows %s %q in column %d, the limiter %q", attempt, says, i+1, is)
			}
		}
	}
}

func peer(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, byte(n >> 8), byte(n)}), 32)
}

// allowed makes attempts until one is rejected, and returns the number of accepted attempts and the waiting time. 300
// accepted attempts count as unlimited.
func allowed(t *testing.T, attempt limit.Attempt, next func(n int) limit.Params) string {
	t.Helper()
	limiter := limit.New(func() time.Time { return start }, nil)
	for n := range 300 {
		p := next(n)
		p.Attempt, p.PeerIsVisitor, p.Guessable = attempt, true, true
		wait, err := limiter.Limit(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if wait > 0 {
			return fmt.Sprintf("%d, every %s", n, spoken(wait))
		}
	}
	return ""
}

func spoken(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch {
		case d == unit.of:
			return unit.name
		case d%unit.of == 0:
			return fmt.Sprintf("%d %ss", d/unit.of, unit.name)
		}
	}
	return d.String()
}

// TestPagesOfTheApplication compares the parameters of redirects to the application's pages with the documentation.
func TestPagesOfTheApplication(t *testing.T) {
	t.Parallel()
	mail := &core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }}
	s := open(t, core.Config{
		Store: newRows(), Providers: []core.Provider{passwords(), mail},
		Pages: core.PagesConfig{SignIn: "/in", SignOut: "/out", Error: "/sorry", VerifyRequest: "/mail"},
	})
	gets := func(r *core.Response) string {
		to, err := url.Parse(r.Redirect)
		if err != nil || r.Redirect == "" {
			t.Fatalf("answered %d to %q", r.Status, r.Redirect)
		}
		return strings.Join(slices.Sorted(maps.Keys(to.Query())), " ")
	}
	s.header.Set("Accept", "text/html")
	_, refusal := s.auth.Visit(t.Context(), s.request("GET", "/private", nil)).Require()
	s.header.Del("Accept")
	verify := s.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}}).Redirect
	for row, is := range map[string]string{
		"PagesConfig.SignIn": gets(s.ask("GET", "/auth/signin", nil)) + "; " + gets(refusal) + "; " +
			gets(s.submit("/auth/callback/credentials", url.Values{"password": {"wrong"}})),
		"PagesConfig.SignOut":       gets(s.ask("GET", "/auth/signout", nil)),
		"PagesConfig.Error":         gets(s.ask("GET", "/auth/error?error=AccessDenied", nil)),
		"PagesConfig.VerifyRequest": gets(s.ask("GET", strings.TrimPrefix(verify, "https://app.test"), nil)),
	} {
		cell := cells(t)[row]
		if len(cell) < 2 {
			t.Fatalf("docs/reference.md has the row %q", cell)
		}
		parts := strings.Split(cell[1], ";")
		for i, part := range parts {
			names := []string{}
			before, _, _ := strings.Cut(part, ":")
			for _, m := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(before, -1) {
				names = append(names, m[1])
			}
			slices.Sort(names)
			parts[i] = strings.Join(names, " ")
		}
		if says := strings.Join(parts, "; "); says != is {
			t.Errorf("docs/reference.md says that %s gets %q, it gets %q", row, says, is)
		}
	}
}

// TestHeaders compares the headers of all responses and pages with docs/protocol.md.
func TestHeaders(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "### §1.7 ")
	text, _, _ = strings.Cut(text, "\n## ")
	text = strings.Join(strings.Fields(text), " ")
	s := open(t, core.Config{})
	for _, target := range []string{"session", "csrf", "signin", "providers", "error", "nope"} {
		header := s.ask("GET", "/auth/"+target, nil).Header
		for name := range header {
			line := name + ": " + header.Get(name)
			varies := name == "Content-Security-Policy" || name == core.ReferenceHeader
			if name == "Content-Type" || varies && strings.Contains(text, name) {
				continue
			}
			if !strings.Contains(text, "`"+line+"`") {
				t.Errorf("GET %s has %s, which is not in docs/protocol.md §1.7", target, line)
			}
		}
	}
	for _, m := range regexp.MustCompile("`([A-Z][A-Za-z-]+): ([^`]+)`").FindAllStringSubmatch(text, -1) {
		header := s.ask("GET", "/auth/signin", nil).Header
		if m[1] == "Expires" || m[1] == "Pragma" {
			header = s.ask("GET", "/auth/session", nil).Header
		}
		if m[1] == "Vary" {
			trusting := open(t, core.Config{TrustedOrigins: []string{"https://front.test"}})
			header = trusting.ask("GET", "/auth/signin", nil).Header
		}
		if header.Get(m[1]) != m[2] {
			t.Errorf("docs/protocol.md §1.7 says %s: %s, there is %q", m[1], m[2], header.Get(m[1]))
		}
	}
}

// TestNewSession: NewSession calls exactly the functions that its doc comment lists.
func TestNewSession(t *testing.T) {
	t.Parallel()
	ran := map[string]bool{}
	s := open(t, core.Config{
		Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
				ran["the signIn callback"] = true
				return core.Allow(), nil
			},
			JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				ran["the jwt callback"] = true
				return p.Token, nil
			},
		},
		Events: core.Events{SignIn: func(context.Context, core.SignInEvent) error { ran["the event"] = true; return nil }},
	})
	if _, err := s.auth.NewSession(t.Context(), s.request("POST", "/register", nil), ada); err != nil {
		t.Fatal(err)
	}
	if len(ran) != 1 || !ran["the jwt callback"] {
		t.Errorf("%v ran, the comment of NewSession says that Callbacks.JWT is called alone", ran)
	}
}
