package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/orgkeys"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/providers/password"
)

const origin = "https://app.example"

// cheap is a cost that only test programs may set.
var cheap = password.Params{Memory: 64}

// parts are an application with passwords and an account page.
type parts struct {
	auth      *core.Auth
	store     core.Store
	mine      *account.Account
	passwords *password.Provider
	keys      *apikey.Keys
	apps      *tokens.Tokens
	factors   *secondfactor.Factors
	orgs      *organization.Organizations
	mails     *mailbox.Mailbox
	hooks     *webhooks.Webhooks // nil without an endpoint
	// ahead is how far the clock of the application is ahead.
	ahead *atomic.Int64
}

// build creates the application with a store. by sends the emails of its plugins. endpoint, if it is not empty, is the
// URL that receives webhooks.
func build(kept core.Store, mails *mailbox.Mailbox, by core.Mailer, endpoint string) (p parts, err error) {
	p = parts{store: kept, mails: mails, ahead: &atomic.Int64{}}
	p.passwords = password.New(password.Options{Mail: by, Hash: cheap})
	p.mine = account.New(account.Options{
		Mail: by, Delete: func(context.Context, *core.User) error { return nil },
	})
	p.keys = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}})
	p.apps = tokens.New(tokens.Options{Apps: []tokens.App{cli}})
	p.factors = secondfactor.New(secondfactor.Options{})
	p.orgs = organization.New(organization.Options{Mail: by, Keys: orgkeys.Of(p.keys)})
	plugins := []core.Plugin{p.mine, p.keys, p.apps, p.factors, p.orgs}
	if endpoint != "" {
		p.hooks = webhooks.New(webhooks.Options{Endpoints: []webhooks.Config{{
			ID: "billing", URL: endpoint, Secrets: []core.Secret{hookSecret}, Internal: true,
		}}})
		plugins = append(plugins, p.hooks)
	}
	p.auth, err = core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Session: core.SessionConfig{Strategy: core.StrategyDatabase}, EnableWebAuthn: true,
		Plugins:      plugins,
		Now:          func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) },
		StoreTimeout: time.Minute, // a busy machine is slow although the store works
		Providers: []core.Provider{
			p.passwords, &core.EmailProvider{From: "no-reply@app.example", Send: mails.Send},
			&core.WebAuthnProvider{ID: "passkey", Name: "Passkey", Verifier: believer{}},
			&core.OAuthProvider{
				ID: "hub", Name: "Hub", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				HTTPClient:    &http.Client{Transport: hub{}},
				Authorization: core.Endpoint{URL: "https://hub.example/authorize"},
				Token:         core.Endpoint{URL: "https://hub.example/token"},
				Userinfo:      core.Endpoint{URL: "https://hub.example/user"},
			},
		},
	})
	return p, err
}

// site is an application under test.
type site struct {
	*testing.T
	parts
	key string // of the organization of a flow
}

func newSite(t *testing.T, kept core.Store) *site {
	t.Helper()
	mails := mailbox.New()
	built, err := build(kept, mails, mails, "")
	check(t, err)
	return &site{T: t, parts: built}
}

// renew restarts the application with a store that was opened again.
func (s *site) renew(kept core.Store) {
	s.Helper()
	var err error
	s.parts, err = build(kept, s.mails, s.mails, "")
	check(s.T, err)
}

// token returns the token in the link of the newest email of a kind to an address.
func (s *site) token(kind mailkind.Kind, to string) string {
	s.Helper()
	return s.tokens(kind, to, 1)[0]
}

// tokens returns the tokens in the links of all emails of a kind to an address, newest first. It waits for least
// tokens.
func (s *site) tokens(kind mailkind.Kind, to string, least int) (list []string) {
	s.Helper()
	check(s.T, s.passwords.Flush(s.Context()))
	for _, m := range s.mails.Mails() {
		if m.To == to && m.Kind == kind {
			link, err := url.Parse(m.URL)
			check(s.T, err)
			list = append(list, link.Query().Get("token"))
		}
	}
	if len(list) < least {
		s.Fatalf("%d emails of kind %s to %s", len(list), kind, to)
	}
	return list
}

// browser stores cookies.
type browser struct {
	*site
	cookies map[string]string
	key     string // the user's API key
}

func (s *site) browse() *browser { return &browser{site: s, cookies: map[string]string{}} }

// asking returns a request without a body. Sign-ins are requests of a page, all others are requests of a script.
func (b *browser) asking(method, path string) *core.Request {
	r := &core.Request{
		Method: method, Target: "/auth/" + path, Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Accept": {"application/json"}},
	}
	if strings.HasPrefix(path, "callback/") || strings.HasPrefix(path, "signin/") {
		r.Header.Set("Accept", "text/html")
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	return r
}

func (b *browser) request(method, path string, form url.Values) *core.Response {
	b.Helper()
	r := b.asking(method, path)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		r.Body = strings.NewReader(form.Encode())
	}
	response := b.auth.Handle(b.Context(), r)
	b.keep(response.Cookies)
	return response
}

// keep stores the cookies of a response.
func (b *browser) keep(cookies []core.Cookie) {
	b.Helper()
	for _, c := range cookies {
		parsed, err := http.ParseSetCookie(c.String())
		check(b.T, err)
		if b.cookies[c.Name] = parsed.Value; parsed.MaxAge < 0 || parsed.Value == "" {
			delete(b.cookies, c.Name)
		}
	}
}

// form returns a form with the CSRF token and these names and values.
func (b *browser) form(fields ...string) url.Values {
	b.Helper()
	var token struct{ CSRFToken string }
	check(b.T, json.Unmarshal(b.request("GET", "csrf", nil).Body, &token))
	form := url.Values{"csrfToken": {token.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// post posts a form with these names and values, and checks the status.
func (b *browser) post(status int, path string, fields ...string) *core.Response {
	b.Helper()
	r := b.request("POST", path, b.form(fields...))
	if r.Status != status {
		b.Fatalf("%s is answered %d %s: %v", path, r.Status, r.Body, r.Err)
	}
	return r
}

// signIn signs in with a password, and checks whether it works.
func (b *browser) signIn(address, secret string, works bool) {
	b.Helper()
	b.post(http.StatusFound, "callback/password", "email", address, "password", secret)
	if b.signedIn() != works {
		b.Fatalf("signed in as %s: %v", address, !works)
	}
}

func (b *browser) signedIn() bool {
	b.Helper()
	r := b.request("GET", "session", nil)
	if r.Status != http.StatusOK {
		b.Fatalf("session: %d %v", r.Status, r.Err)
	}
	return string(r.Body) != "null"
}

func (b *browser) overview() (o account.Overview) {
	b.Helper()
	r := b.request("GET", "account", nil)
	if r.Status != http.StatusOK {
		b.Fatalf("account: %d %s %v", r.Status, r.Body, r.Err)
	}
	check(b.T, json.Unmarshal(r.Body, &o))
	return o
}

const (
	old, fresh  = "ada@example.com", "ada@new.example"
	first, next = "three quiet horses", "four loud kettles!"
)

// TestSignUpToDeletion runs the life cycle of an account, from sign-up to deletion, on each database.
func TestSignUpToDeletion(t *testing.T) {
	for _, engine := range stores {
		t.Run(engine.name, func(t *testing.T) {
			s := newSite(t, engine.empty(t))
			laptop, phone := s.browse(), s.browse()

			laptop.post(http.StatusAccepted, "password/sign-up", "email", old, "password", first, "name", "Ada")
			if _, err := s.store.UserByEmail(t.Context(), old); !errors.Is(err, core.ErrNotFound) {
				t.Fatalf("before the proof there is a user: %v", err)
			}
			laptop.post(http.StatusOK, "password/confirm", "token", s.token(mailkind.Verify, old))
			if !laptop.signedIn() {
				t.Fatal("the proof does not sign in")
			}
			phone.signIn(old, "wrong", false)
			phone.signIn(old, first, true)

			sessions := laptop.overview().Sessions
			if len(sessions) != 2 || !sessions[0].Current {
				t.Fatalf("sessions %+v", sessions)
			}
			laptop.post(http.StatusOK, "account/end", "session", sessions[1].ID)
			if phone.signedIn() || !laptop.signedIn() {
				t.Fatal("the wrong session has ended")
			}

			phone.post(http.StatusAccepted, "password/forgot", "email", old)
			token := s.token(mailkind.Reset, old)
			phone.request("GET", "password/reset?token="+url.QueryEscape(token), nil)
			phone.post(http.StatusOK, "password/reset", "newPassword", next)
			if laptop.signedIn() || phone.signedIn() {
				t.Fatal("a new password leaves a session")
			}
			phone.signIn(old, first, false)
			laptop.signIn(old, next, true)
			phone.signIn(old, next, true)

			laptop.post(http.StatusAccepted, "account/email", "email", fresh)
			laptop.post(http.StatusOK, "account/confirm", "token", s.token(mailkind.AddressChange, fresh))
			if got := laptop.overview().User.Email; got != fresh {
				t.Fatalf("the address is %s", got)
			}
			undo := s.browse()
			undo.post(http.StatusOK, "account/undo", "token", s.token(mailkind.AddressChanged, old))
			if laptop.signedIn() || phone.signedIn() {
				t.Fatal("an undo leaves a session")
			}

			laptop.signIn(fresh, next, false)
			laptop.signIn(old, next, true)
			user, err := s.store.UserByEmail(t.Context(), old)
			check(t, err)
			laptop.post(http.StatusOK, "account/delete", "phrase", "delete my account")
			if _, err := s.store.User(t.Context(), user.ID); !errors.Is(err, core.ErrNotFound) || laptop.signedIn() {
				t.Fatalf("the user is still there: %v", err)
			}
			left, err := s.store.(store.RecordStore).UserRecords(t.Context(), user.ID, "")
			if err != nil || len(left) != 0 {
				t.Errorf("%d records are left, %v", len(left), err)
			}
			phone.signIn(old, next, false)
		})
	}
}
