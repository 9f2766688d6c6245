package people_test

import (
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

// cli is an app of the sites here.
var cli = tokens.App{
	ID: "acme-cli", Name: "Acme CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
	Scopes: []tokens.Scope{{Name: "orders:read"}},
}

// appSite is an application in two processes that share a store. Apps sign users in.
type appSite struct {
	*testing.T
	auths   [2]*core.Auth
	plugins [2]*tokens.Tokens
	sdk     sdk
	mu      sync.Mutex
	now     time.Time
}

func (s *appSite) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *appSite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func newAppSite(t *testing.T, kept core.Store, strategy core.Strategy) *appSite {
	t.Helper()
	s := &appSite{T: t, now: time.Now().UTC().Truncate(time.Second)}
	s.sdk.key = ed25519.NewKeyFromSeed([]byte("a seed with thirty-two characters"[:ed25519.SeedSize]))
	app := cli
	app.IDTokens = map[string][]string{"sdk": {"app"}}
	for i := range s.auths {
		s.plugins[i] = tokens.New(tokens.Options{Apps: []tokens.App{app}})
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock,
			Logger:  slog.New(slog.DiscardHandler),
			Session: core.SessionConfig{Strategy: strategy},
			Plugins: []core.Plugin{s.plugins[i], account.New(account.Options{})}, Providers: []core.Provider{s.sdk.provider()},
			Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptKey: {Network: limit.Rate{Burst: 10_000, Every: time.Second}},
			}},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// send sends a request to a process.
func (s *appSite) send(process int, method, target string, form url.Values, header ...string) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
		RemoteAddr: "192.0.2.7:4711",
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.ContentLength = strings.NewReader(form.Encode()), int64(len(form.Encode()))
	}
	return s.auths[process%2].Handle(s.Context(), r)
}

// appTokens is a token response, or the error of one.
type appTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Error   string
}

// token posts to the token endpoint of a process.
func (s *appSite) token(process int, form url.Values) (t appTokens) {
	form.Set("client_id", "acme-cli")
	response := s.send(process, "POST", "/auth/token", form)
	if err := json.Unmarshal(response.Body, &t); err != nil || (response.Status == 200) != (t.Error == "") {
		s.Errorf("the token endpoint: %d %s", response.Status, response.Body)
	}
	return t
}

func (s *appSite) refresh(process int, token string) appTokens {
	return s.token(process, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

// accepted reports whether both processes accept an access token. It fails if they differ.
func (s *appSite) accepted(token string) bool {
	s.Helper()
	var all [2]bool
	for i, auth := range s.auths {
		visit := auth.Visit(s.Context(), &core.Request{
			Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
			Header: http.Header{"Authorization": {"Bearer " + token}},
		})
		_, refusal := visit.RequirePrincipal(core.Scopes("orders:read"))
		if all[i] = refusal == nil; refusal != nil && refusal.Status != http.StatusUnauthorized {
			s.Errorf("the API: %d %s", refusal.Status, refusal.Body)
		}
	}
	if all[0] != all[1] {
		s.Errorf("the processes accept a token: %v", all)
	}
	return all[0]
}

// works fails if an access token works, or does not, against expectation.
func (s *appSite) works(what, token string, want bool) {
	s.Helper()
	if got := s.accepted(token); got != want {
		s.Errorf("%s works: %t, want %t", what, got, want)
	}
}

// appBrowser is a signed-in browser.
type appBrowser struct {
	*appSite
	cookies, csrf string
}

func (s *appSite) browser(user *core.User) *appBrowser {
	s.Helper()
	set, err := s.auths[0].NewSession(s.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
	}, user, core.SessionOptions{AuthTime: s.clock()})
	check(s.T, err)
	var csrf struct{ CSRFToken string }
	at := s.send(0, "GET", "/auth/csrf", nil)
	check(s.T, json.Unmarshal(at.Body, &csrf))
	var cookies []string
	for _, c := range append(set, at.Cookies...) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	return &appBrowser{s, strings.Join(cookies, "; "), csrf.CSRFToken}
}

// post submits a form of a page.
func (b *appBrowser) post(process int, target string, form url.Values, want int) *core.Response {
	b.Helper()
	form.Set("csrfToken", b.csrf)
	r := b.send(process, "POST", target, form, "Cookie", b.cookies, "Origin", "https://app.example", "Accept", "text/html")
	if r.Status != want {
		b.Fatalf("POST %s: %d %s", target, r.Status, r.Body)
	}
	return r
}

// code lets the app sign in, and returns the code and its verifier.
func (b *appBrowser) code() (code, verifier string) {
	b.Helper()
	verifier = oauth2.GenerateVerifier()
	to := b.post(1, "/auth/authorize", allowForm(verifier), http.StatusSeeOther)
	address, err := url.Parse(to.Redirect)
	check(b.T, err)
	return address.Query().Get("code"), verifier
}

// allowForm is the user's consent.
func allowForm(verifier string) url.Values {
	return url.Values{
		"client_id": {"acme-cli"}, "redirect_uri": {"http://127.0.0.1:7777/callback"}, "response_type": {"code"},
		"state": {"x"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
		"decision": {"allow"},
	}
}

// signIn signs the user in in the app.
func (b *appBrowser) signIn() appTokens {
	b.Helper()
	code, verifier := b.code()
	t := b.token(0, codeForm(code, verifier))
	if t.Access == "" {
		b.Fatalf("the code: %+v", t)
	}
	return t
}

func codeForm(code, verifier string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier},
		"redirect_uri": {"http://127.0.0.1:7777/callback"},
	}
}

// TestApps signs apps in, refreshes their tokens and ends them, on the store of each database, with both strategies and
// in two processes.
func TestApps(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		b := newAppSite(t, kept, strategy).browser(ada)
		b.codeOnce()
		b.deviceOnce()
		b.rotation()
		b.refreshAtOnce()
		b.ends(ada.ID)
	})
}

// codeOnce uses a code many times: at most one request gets tokens, and the second use ends them.
func (b *appBrowser) codeOnce() {
	first := b.signIn()
	b.works("an access token", first.Access, true)
	code, verifier := b.code()
	var all [20]appTokens
	won := together(len(all), func(i int) bool {
		all[i] = b.token(i, codeForm(code, verifier))
		return all[i].Access != ""
	})
	if won > 1 {
		b.Errorf("%d requests got tokens for a code", won)
	}
	for _, t := range all {
		if t.Access != "" {
			b.works("a token whose code was used twice", t.Access, false)
		} else if t.Error != "invalid_grant" {
			b.Errorf("the code again: %s", t.Error)
		}
	}
	b.works("the token of another code", first.Access, true)
}

// deviceOnce approves a device code in one process, and polls in both.
func (b *appBrowser) deviceOnce() {
	var device struct {
		Code string `json:"device_code"`
		User string `json:"user_code"`
	}
	r := b.send(0, "POST", "/auth/device/authorization", url.Values{"client_id": {"acme-cli"}})
	check(b.T, json.Unmarshal(r.Body, &device))
	poll := func(process int) appTokens {
		return b.token(process, url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device.Code},
		})
	}
	if t := poll(1); t.Error != "authorization_pending" {
		b.Errorf("before the approval: %+v", t)
	}
	b.post(1, "/auth/device", url.Values{"code": {device.User}, "decision": {"allow"}}, http.StatusOK)
	var all [20]appTokens
	won := together(len(all), func(i int) bool {
		all[i] = poll(i)
		return all[i].Access != ""
	})
	if won != 1 {
		b.Errorf("%d polls got tokens: %+v", won, all)
	}
	for _, t := range all {
		if t.Access != "" {
			b.works("the device", t.Access, true)
		}
	}
}

// rotation uses refresh tokens in turn, again within ten seconds, and after them.
func (b *appBrowser) rotation() {
	first := b.signIn()
	lost := b.refresh(0, first.Refresh)
	b.wait(9 * time.Second)
	second := b.refresh(1, first.Refresh)
	b.works("the retry", second.Access, true)
	b.works("the lost response", lost.Access, false)
	third := b.refresh(0, second.Refresh)
	b.works("the next", third.Access, true)
	if t := b.refresh(1, first.Refresh); t.Error != "invalid_grant" {
		b.Errorf("the token before the last: %+v", t)
	}
	b.works("after a token was used again", third.Access, false)

	first = b.signIn()
	second = b.refresh(1, first.Refresh)
	b.wait(11 * time.Second)
	if t := b.refresh(0, first.Refresh); t.Error != "invalid_grant" {
		b.Errorf("after eleven seconds: %+v", t)
	}
	b.works("after a late retry", second.Access, false)
}

// refreshAtOnce sends one refresh token as often as the tests in races_test.go: one of the successors works. The CPU
// time grows with the square of the number, because each success makes all others try again.
func (b *appBrowser) refreshAtOnce() {
	first := b.signIn()
	var all [32]appTokens
	won := together(len(all), func(i int) bool {
		all[i] = b.refresh(i, first.Refresh)
		return all[i].Access != ""
	})
	live := 0
	for _, t := range all {
		switch {
		case t.Error != "" && t.Error != "temporarily_unavailable":
			b.Errorf("a refresh: %s", t.Error)
		case t.Error == "" && b.accepted(t.Access):
			live++
			b.works("the last successor", b.refresh(1, t.Refresh).Access, true)
		}
	}
	if won == 0 || live != 1 {
		b.Errorf("%d of %d successors work", live, won)
	}
}

// ends lists the apps on the account page, and ends one there and the others with all sessions.
func (b *appBrowser) ends(userID string) {
	ctx := b.Context()
	b.wait(time.Second) // the list begins with the app that was used last
	one := b.signIn()
	page := b.send(0, "GET", "/auth/account", nil, "Cookie", b.cookies, "Accept", "text/html")
	if page.Status != http.StatusOK || !strings.Contains(string(page.Body), "Acme CLI") {
		b.Errorf("the account page: %d", page.Status)
	}
	grants, err := b.plugins[1].Of(ctx, userID)
	check(b.T, err)
	b.post(1, "/auth/apps/end", url.Values{"id": {grants[0].ID}}, http.StatusSeeOther)
	if t := b.refresh(0, one.Refresh); t.Error != "invalid_grant" {
		b.Errorf("an app that was ended refreshes: %+v", t)
	}
	b.works("an app that was ended", one.Access, false)
	two := b.signIn()
	if _, err := b.auths[1].EndSessions(ctx, userID, core.EndOptions{}); err != nil {
		b.Error(err)
	}
	b.works("after the end of all sessions", two.Access, false)
	if grants, err := b.plugins[0].Of(ctx, userID); err != nil || len(grants) > 0 {
		b.Errorf("the grants are %v, %v", grants, err)
	}
}
