package factors_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

func TestMain(m *testing.M) {
	recoverycode.Rounds = 10 // with 10,000, hashing would take most of the CPU time
	os.Exit(m.Run())
}

const (
	origin = "https://localhost"
	// private is a page that requires a session.
	private = "/private"
	// right is the password of all users, and rightHash its cheap hash.
	right     = "three quiet horses"
	rightHash = `$argon2id$v=19$m=64,t=2,p=1$HiH7pzj9BO38VYLcN3Kp1A$rCavIUL/wz0ibkcbLfKAKWOYI243CzYtR7EXvLLsEpQ`
	// appKey is the secret of all authenticator apps that are imported.
	appKey = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
)

// site is an application with all sign-in methods, which every adapter serves.
type site struct {
	*testing.T
	auth      *core.Auth
	factors   *secondfactor.Factors
	passwords *password.Provider
	account   *account.Account
	store     *memory.Store
	mails     *mailbox.Mailbox
	addrs     map[string]string // by adapter

	signIns *counts
}

// counts counts sign-in events by the user's address.
type counts struct {
	sync.Mutex
	all map[string]int
}

// in returns the site for a subtest.
func (s *site) in(t *testing.T) *site {
	own := *s
	own.T = t
	return &own
}

// newSite starts a site. verifiesUsers is set if passkeys verify the user.
func newSite(t *testing.T, strategy core.Strategy, o secondfactor.Options, verifiesUsers core.OptionalBool) *site {
	t.Helper()
	s := &site{
		T: t, store: memory.New(), mails: mailbox.New(), addrs: map[string]string{},
		signIns: &counts{all: map[string]int{}}, factors: secondfactor.New(o),
	}
	dev, err := idp.Start(idp.Options{RedirectURIs: []string{origin + "/auth/callback/dev"}})
	s.must(err)
	t.Cleanup(func() { _ = dev.Close() })
	s.passwords = password.New(password.Options{
		Mail: s.mails, Hash: password.Params{Memory: 64}, SignUp: password.ByInvitation,
	})
	s.account = account.New(account.Options{Mail: s.mails})
	keys := webauthn.Passkey()
	keys.RequireUserVerification = verifiesUsers
	client := &http.Client{Transport: services{}}
	s.auth, err = core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Session: core.SessionConfig{Strategy: strategy, Bearer: true}, EnableWebAuthn: true,
		Plugins: []core.Plugin{s.factors, s.account},
		Events: core.Events{SignIn: func(_ context.Context, e core.SignInEvent) error {
			s.signIns.Lock()
			defer s.signIns.Unlock()
			s.signIns.all[e.User.Email]++
			return nil
		}},
		Providers: []core.Provider{
			s.passwords, webauthn.WithSignUp(keys, webauthn.SignUpOptions{Mail: s.mails}),
			&core.EmailProvider{From: "no-reply@app.example", Send: s.mails.Send, Code: true},
			&core.OAuthProvider{
				ID: "hub", Name: "Hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret", HTTPClient: client,
				Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
				Token:         core.Endpoint{URL: "https://hub.example/token"},
				Userinfo:      core.Endpoint{URL: "https://hub.example/user"},
			},
			&core.OAuthProvider{
				ID: "bird", Name: "Bird", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret", HTTPClient: client,
				RequestToken:  core.Endpoint{URL: "https://bird.example/request"},
				Authorization: core.Endpoint{URL: "https://bird.example/authorize"},
				Token:         core.Endpoint{URL: "https://bird.example/access"},
				Userinfo:      core.Endpoint{URL: "https://bird.example/me"},
			},
			providers.OIDC("dev", dev.Issuer(), providers.Options{
				ClientID: dev.ClientID(), ClientSecret: core.Secret(dev.ClientSecret()),
			}),
		},
	})
	s.must(err)
	for _, adapter := range wire.Adapters() {
		l, err := wire.Listen(t.Context(), false)
		s.must(err)
		stop, err := wire.Serve(adapter, wire.Site{Auth: s.auth, Mounted: true, Private: private}, l)
		s.must(err)
		t.Cleanup(func() { _ = stop() })
		s.addrs[adapter] = l.Addr().String()
	}
	return s
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// started returns the number of sign-in events of a user.
func (s *site) started(email string) int {
	s.signIns.Lock()
	defer s.signIns.Unlock()
	return s.signIns.all[email]
}

// person is a user with an account for each sign-in method.
type person struct {
	*core.User
	passkey *authenticator.Credential
}

// newPerson creates a user who can sign in with all methods. Passkeys are registered separately.
func (s *site) newPerson(email string) *person {
	s.Helper()
	u, err := s.store.CreateUser(s.Context(), &core.User{
		ID: core.NewID(), Name: "Ada", Email: email, EmailVerified: time.Now().Add(-time.Hour),
	})
	s.must(err)
	s.must(s.passwords.Import(s.Context(), u.ID, rightHash))
	sum := sha256.Sum256([]byte("latchkey development user " + email))
	for provider, id := range map[string]string{"hub": email, "bird": email, "dev": hex.EncodeToString(sum[:10])} {
		a := &core.Account{UserID: u.ID, Type: core.TypeOAuth, Provider: provider, ProviderAccountID: id}
		if provider == "dev" {
			a.Type = core.TypeOIDC
		}
		s.must(s.store.LinkAccount(s.Context(), a))
	}
	return &person{User: u}
}

// sessions returns the number of stored sessions of a user.
func (s *site) sessions(p *person) int {
	s.Helper()
	u, err := s.store.UserByEmail(s.Context(), p.Email)
	if errors.Is(err, core.ErrNotFound) { // an invited person
		return 0
	}
	s.must(err)
	all, err := s.store.Sessions(s.Context(), u.ID)
	s.must(err)
	return len(all)
}

// services is the transport to an OAuth and an OAuth 1.0a provider. The authorization code, the verifier and the access
// tokens are the user's address.
type services struct{}

// RoundTrip implements [http.RoundTripper].
func (services) RoundTrip(r *http.Request) (*http.Response, error) {
	kind, body := "application/json", ""
	switch r.URL.Host + r.URL.Path {
	case "hub.example/token":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		body = fmt.Sprintf(`{"token_type":"bearer","access_token":%q}`, r.PostForm.Get("code"))
	case "hub.example/user":
		address := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		body = fmt.Sprintf(`{"sub":%q,"email":%q}`, address, address)
	case "bird.example/request":
		kind = "application/x-www-form-urlencoded"
		body = "oauth_token=request&oauth_token_secret=s&oauth_callback_confirmed=true"
	case "bird.example/access":
		kind = "application/x-www-form-urlencoded"
		body = "oauth_token=" + url.QueryEscape(signed(r, "oauth_verifier")) + "&oauth_token_secret=s"
	case "bird.example/me":
		body = fmt.Sprintf(`{"id":%q,"email":%q}`, signed(r, "oauth_token"), signed(r, "oauth_token"))
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Request: r,
		Body: io.NopCloser(bytes.NewReader([]byte(body))),
	}, nil
}

// signed returns a protocol parameter of an OAuth 1.0a request.
func signed(r *http.Request, name string) string {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	text, _ := url.QueryUnescape(value)
	return text
}

// codeNow returns the code of an authenticator app, computed independently of the plugin.
func codeNow(secret string, steps int64) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		return err.Error()
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30+steps)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// browser stores cookies and follows no redirects.
type browser struct {
	*site
	client  *http.Client
	cookies map[string]string
	bearer  string // the value of Authorization: Bearer; then no cookies are sent
}

func (s *site) browse(adapter string) *browser {
	to := s.addrs[adapter]
	return &browser{site: s, cookies: map[string]string{}, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == "localhost:80" {
				addr = to
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}},
	}}
}

// page is a response.
type page struct {
	status   int
	location string
	body     []byte
}

const (
	html = "text/html,application/xhtml+xml"
	data = "application/json"
)

// send sends a request: to the site, or to the development provider if target is one of its URLs.
func (b *browser) send(method, target, accept string, form url.Values) *page {
	b.Helper()
	target = strings.TrimPrefix(target, origin)
	own := strings.HasPrefix(target, "/")
	if own {
		target = "http://localhost" + target
	}
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(b.Context(), method, target, body)
	b.must(err)
	r.Header.Set("Accept", accept)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
	}
	switch {
	case b.bearer != "":
		r.Header.Set("Authorization", "Bearer "+b.bearer)
	case own:
		for name, value := range b.cookies {
			r.Header.Add("Cookie", name+"="+value)
		}
		if cookies := r.Header["Cookie"]; len(cookies) > 1 {
			r.Header.Set("Cookie", strings.Join(cookies, "; "))
		}
	}
	res, err := b.client.Do(r)
	b.must(err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	b.must(err)
	if own {
		for _, c := range res.Cookies() {
			ended := c.MaxAge < 0 || c.Value == "" || !c.Expires.IsZero() && c.Expires.Before(time.Now())
			if b.cookies[c.Name] = c.Value; ended {
				delete(b.cookies, c.Name)
			}
		}
	}
	return &page{res.StatusCode, res.Header.Get("Location"), text}
}

func (b *browser) open(path string) *page { b.Helper(); return b.send("GET", path, html, nil) }
func (b *browser) ask(path string) *page  { b.Helper(); return b.send("GET", "/auth/"+path, data, nil) }

// post sends a form like a page.
func (b *browser) post(path string, fields ...string) *page {
	b.Helper()
	return b.send("POST", "/auth/"+path, html, b.form(fields))
}

// call sends a form like a program.
func (b *browser) call(path string, fields ...string) *page {
	b.Helper()
	return b.send("POST", "/auth/"+path, data, b.form(fields))
}

func (b *browser) form(fields []string) url.Values {
	b.Helper()
	var token struct{ CSRFToken string }
	b.must(json.Unmarshal(b.ask("csrf").body, &token))
	form := url.Values{"csrfToken": {token.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// signedIn reports whether the browser has a session: by the session route and by a page that requires one.
func (b *browser) signedIn() bool {
	b.Helper()
	session := string(b.ask("session").body) != "null"
	if opened := string(b.open(private).body) == wire.Secret; opened != session {
		b.Errorf("a session: %v, the private page: %v", session, opened)
	}
	return session
}

// vouch gives the browser a session that the application creates without a gate.
func (b *browser) vouch(p *person) {
	b.Helper()
	cookies, err := b.auth.NewSession(b.Context(), b.request(), p.User, core.SessionOptions{AuthTime: time.Now()})
	b.must(err)
	b.keep(cookies)
}

func (b *browser) request() *core.Request {
	return &core.Request{Method: "GET", Target: "/", Hosts: []string{"localhost"}, Scheme: "https"}
}

func (b *browser) keep(cookies []core.Cookie) {
	b.Helper()
	for _, c := range cookies {
		parsed, err := http.ParseSetCookie(c.String())
		b.must(err)
		b.cookies[c.Name] = parsed.Value
	}
}

// ceremony runs a WebAuthn ceremony and returns the response to it.
func (b *browser) ceremony(p *person, action string) *page {
	b.Helper()
	var options struct {
		Options struct{ Challenge string }
	}
	b.must(json.Unmarshal(b.ask("webauthn-options/passkey?action="+action).body, &options))
	x := authenticator.Ceremony{
		Challenge: options.Options.Challenge, Origin: origin, RPID: "localhost", UserHandle: []byte(p.ID),
	}
	response := p.passkey.Authenticate(x)
	if action == "register" {
		response = p.passkey.Register(x)
	}
	return b.post("callback/passkey", "action", action, "data", response)
}

// registers gives a user a passkey.
func (s *site) registers(p *person) {
	s.Helper()
	b := s.browse("stdlib")
	b.vouch(p)
	p.passkey = authenticator.New(p.Email)
	if r := b.ceremony(p, "register"); r.status >= http.StatusBadRequest || strings.Contains(r.location, "error") {
		s.Fatalf("a passkey: %d %s %s", r.status, r.location, r.body)
	}
	all, err := s.store.Authenticators(s.Context(), p.ID)
	if s.must(err); len(all) != 1 {
		s.Fatalf("%d passkeys", len(all))
	}
}
