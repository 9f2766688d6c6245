package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

// credentialStory is a sequence of requests to an application with second factors, re-authentication, codes by email,
// API keys, access tokens and apps. The steps are sentences. An unknown sentence is an error.
type credentialStory struct {
	*attack
	app      *app
	admins   *admin.Admin // of admin.json
	factors  *secondfactor.Factors
	keys     *apikey.Keys
	tokens   *tokens.Tokens
	clients  map[string]*client
	networks int
	// last is the last response, and all are the responses to the last concurrent requests.
	last wire.Answer
	all  []wire.Answer
	// values are the values that steps have kept, by name.
	values map[string]string
	phone  string // the secret of the last authenticator app

	mu sync.Mutex
	// told are the audit events and the bodies of errors. They and the log must not contain one of the secrets.
	told    bytes.Buffer
	audited []string
	secrets map[string]bool
	// roots are the administrators.
	roots map[string]bool
}

// client is a browser, or a program without cookies.
type client struct {
	*browser
	network string
	// request and answer are the authorization request at the provider and its response.
	request, redirectURI string
	answer               [][2]string
}

// verifier is the PKCE verifier of the apps, and challenge its challenge.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// credentials runs each story under both session strategies.
func credentials(a *attack) { stories(a, false) }

// organizations is credentials with an API that requires a permission in an organization.
func organizations(a *attack) { stories(a, true) }

func stories(a *attack, inOrganization bool) {
	var p struct {
		ID, Why  string
		Do, Want []string
	}
	a.read(&p)
	a.cleartext = true
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		before := len(a.problems)
		s := newCredentialStory(a, strategy, inOrganization)
		for _, sentence := range slices.Concat(p.Do, prefixed("expect ", p.Want)) {
			if s.tell(sentence); len(a.problems) > before {
				a.problems[len(a.problems)-1] = fmt.Sprintf("%s, %s: %s", strategy, sentence, a.problems[len(a.problems)-1])
				return
			}
		}
		s.leaks()
	}
}

func prefixed(prefix string, texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, prefix+text)
	}
	return all
}

// newCredentialStory opens the application. Its users are ada and eve, and the administrators root and grace.
func newCredentialStory(a *attack, strategy core.Strategy, inOrganization bool) *credentialStory {
	scopes := []tokens.Scope{{Name: "orders:read"}, {Name: "orders:write"}}
	s := &credentialStory{
		attack: a, clients: map[string]*client{}, values: map[string]string{"verifier": verifier},
		secrets: map[string]bool{}, roots: map[string]bool{"root": true, "grace": true},
		factors: secondfactor.New(secondfactor.Options{}),
		keys: apikey.New(apikey.Options{
			Prefix: "acme", Scopes: []apikey.Scope{{Name: "orders:read"}, {Name: "orders:write"}},
		}),
		tokens: tokens.New(tokens.Options{Apps: []tokens.App{
			{ID: "cli", Name: "CLI", Device: true, Scopes: scopes, RedirectURIs: []string{
				"http://127.0.0.1/callback", "com.example.app:/callback", "https://app.example/link",
			}, IDTokens: map[string][]string{"b": {"ios.example", "android.example"}, "f": {"apple.example"}}},
			{ID: "other", Name: "Other", Device: true, Scopes: scopes, RedirectURIs: []string{"http://127.0.0.1/callback"}},
		}}),
	}
	s.app = a.openWith(func(x *app, c *core.Config) {
		x.api = "/api"
		orgs := organization.New(organization.Options{
			Mail: x, Keys: orgkeys.Of(s.keys),
			Select: func(r *core.Request) string { return r.Header.Get("X-Organization") },
		})
		if inOrganization {
			x.apiGuard = orgs.PermissionOrScope("orders:read")
		}
		c.Session.Strategy, c.Session.Bearer = strategy, true
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.Audit = s.note
		for _, p := range c.Providers {
			if email, ok := p.(*core.EmailProvider); ok {
				email.Code = true
			}
		}
		c.Plugins = []core.Plugin{
			s.factors, s.keys, s.tokens, orgs, account.New(account.Options{}),
			accesstoken.New(accesstoken.Options{
				Audiences: []accesstoken.Audience{
					{ID: home, Scopes: []string{"orders:read", "orders:write"}},
					{ID: "https://billing.example", Scopes: []string{"orders:read"}},
				},
				OwnAudience: home,
			}),
		}
		if a.file.name == "admin.json" {
			s.admins = s.administration()
			c.Plugins = append(c.Plugins, s.admins)
		}
		for _, id := range []string{"ada", "eve", "root", "grace"} {
			_, err := x.store.CreateUser(a, &core.User{
				ID: id, Name: id, Email: id + "@app.example", EmailVerified: x.clock().Add(-time.Hour),
			})
			a.must(err)
			a.must(x.store.LinkAccount(a, &core.Account{
				UserID: id, Type: core.TypeOIDC, Provider: "b", ProviderAccountID: id,
			}))
		}
	})
	return s
}

// note records an audit event.
func (s *credentialStory) note(_ context.Context, e audit.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.told, "%+v\n", e)
	s.audited = append(s.audited, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.Reason)))
}

// hide records a secret.
func (s *credentialStory) hide(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[secret] = true
}

// leaks searches the log, the audit events and the errors for secrets. Short ones must be a whole word.
func (s *credentialStory) leaks() {
	text := s.app.logged()
	s.mu.Lock()
	defer s.mu.Unlock()
	text += s.told.String()
	delete(s.secrets, "")
	for secret := range s.secrets {
		if strings.Contains(text, secret) && regexp.MustCompile(`\b`+regexp.QuoteMeta(secret)+`\b`).MatchString(text) {
			s.failf("a log line, an audit event or an error contains %q: %.2000s", secret, text)
		}
	}
}

// tell runs a sentence.
func (s *credentialStory) tell(sentence string) {
	if m := repeatPattern.FindStringSubmatch(sentence); m != nil {
		s.repeat(m)
		return
	}
	for _, known := range credentialSteps {
		if m := known.pattern.FindStringSubmatch(sentence); m != nil {
			known.do(s, m)
			return
		}
	}
	if want, ok := strings.CutPrefix(sentence, "expect "); ok {
		for _, known := range credentialWants {
			if m := known.pattern.FindStringSubmatch(want); m != nil {
				known.check(s, m)
				return
			}
		}
	}
	s.failf("the sentence is not understood")
}

// client returns the client with a name. Each has its own network.
func (s *credentialStory) client(name string) *client {
	if s.clients[name] == nil {
		s.clients[name] = &client{browser: s.app.browser(strings.ToLower(name)), network: s.network()}
	}
	return s.clients[name]
}

// network returns a new client address.
func (s *credentialStory) network() string {
	s.networks++
	return netip.AddrFrom4([4]byte{198, 51, byte(s.networks >> 8), byte(s.networks)}).String()
}

// copied returns a client with the same cookies in another network, for concurrent requests.
func (s *credentialStory) copied(c *client) *client {
	b := *c.browser
	b.cookies = maps.Clone(b.cookies)
	return &client{browser: &b, network: s.network()}
}

// fill replaces the names of values in braces. An unknown name is an error.
func (s *credentialStory) fill(text string) string {
	pairs := []string{"{challenge}", challenge, "{long}", strings.Repeat("x", 8000)}
	for name, value := range s.values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	if s.phone != "" {
		for steps := -3; steps <= 3; steps++ {
			code := totp(s.phone, s.app.clock().Unix()/30+int64(steps))
			s.hide(code)
			pairs = append(pairs, "{code:"+strconv.Itoa(steps)+"}", code)
		}
	}
	return s.attack.fill(pairs...)(text)
}

// jsonOf returns the text of a member of the last JSON response. The path has names and indexes, separated by dots.
func (s *credentialStory) jsonOf(path string) string {
	var v any
	s.must(decode(s.last.Body, &v))
	for part := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(in) {
				s.failf("the response has no %s: %s", path, s.last.Body)
				return ""
			}
			v = in[i]
		}
	}
	if v == nil {
		s.failf("the response has no %s: %s", path, s.last.Body)
		return ""
	}
	return fmt.Sprint(v)
}
