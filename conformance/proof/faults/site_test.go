package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

const (
	home          = "https://app.test"
	sessionCookie = "__Secure-authjs.session-token"
)

// site is an application with one store in several processes. In one the store works, in the others it may fail.
type site struct {
	*testing.T
	store whole
	at    *incident
	clock *clock
	log   *logbook
	well  *core.Auth
	sick  *core.Auth // the store may fail
	hung  *core.Auth // the store may fail, with a short timeout
	box   *postbox
	grace time.Duration // account.Options.DeleteAfter
	// factors and keys are those of well.
	factors *secondfactor.Factors
	keys    *apikey.Keys
}

// clock is set by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) wait(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// newSite returns a site with a store for one case. Its clock starts at the current time, and it deletes accounts after
// grace.
func newSite(t *testing.T, s core.Store, grace time.Duration) *site {
	t.Helper()
	x := &site{
		T: t, store: s.(whole), at: &incident{}, clock: &clock{now: time.Now().Truncate(time.Second)},
		log: &logbook{}, box: &postbox{letters: make(chan core.Email, 64)}, grace: grace,
	}
	x.well = x.process(s, time.Minute) // a long timeout, because a busy machine is slow
	troubled := wrapped(s, x.at)
	if grace > 0 {
		troubled = listing(troubled)
	}
	x.sick = x.process(troubled, slowFor)
	patience := patientFor
	if _, ok := s.(store.Transactor); ok {
		patience = hangFor
	}
	x.hung = x.process(troubled, patience)
	return x
}

// process returns an application with its own Auth on the store.
func (x *site) process(s core.Store, timeout time.Duration) *core.Auth {
	x.Helper()
	passkey := webauthn.Passkey()
	passkey.InsecureTypedEmail = true
	factors, keys := secondfactor.New(secondfactor.Options{}), newKeys()
	config := core.Config{
		URL: home, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s, StoreTimeout: timeout,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(x.log, nil)), Now: x.clock.Now,
		InsecureNoLimits: true, EnableWebAuthn: true, CleanUp: core.False, HTTPClient: &http.Client{Transport: provider{}},
		Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Plugins: []core.Plugin{
			account.New(account.Options{
				Mail: x.box, Fresh: 24 * time.Hour, Delete: func(context.Context, *core.User) error { return nil },
				DeleteAfter: x.grace,
			}),
			factors, keys, newApps(),
		},
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "p", Type: core.TypeOAuth, ClientID: clientID, ClientSecret: clientSecret,
				Authorization: core.Endpoint{URL: issuer + "/authorize"}, Token: core.Endpoint{URL: issuer + "/token"},
				Userinfo: core.Endpoint{URL: issuer + "/userinfo"},
			},
			&core.OAuthProvider{
				ID: "o", Type: core.TypeOIDC, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret,
			},
			&core.EmailProvider{
				ID: "email", From: "no-reply@app.test", ConfirmLink: core.False,
				Send: x.box.Send,
			},
			&core.EmailProvider{ID: "code", From: "no-reply@app.test", Send: x.box.Send, Code: true},
			passkey,
			password.New(password.Options{Mail: x.box, Hash: password.Params{Memory: 64}}),
		},
	}
	auth, err := core.New(config)
	if err != nil {
		x.Fatal(err)
	}
	if x.factors == nil {
		x.factors, x.keys = factors, keys
	}
	return auth
}

// postbox receives emails.
type postbox struct{ letters chan core.Email }

func (p *postbox) Send(_ context.Context, l core.Email) error { p.letters <- l; return nil }

// It waits for an email of one of these kinds to an address.
func (x *site) letter(to string, kinds ...mailkind.Kind) core.Email {
	x.Helper()
	for late := time.After(2 * time.Minute); ; {
		select {
		case l := <-x.box.letters:
			if l.To == to && slices.Contains(kinds, l.Kind) {
				return l
			}
		case <-late:
			x.Fatalf("no email %s to %s: %.6000s", kinds, to, x.log.take())
		}
	}
}

// token returns the token in an email's link.
func token(l core.Email) string {
	u, err := url.Parse(string(l.URL))
	if err != nil {
		return ""
	}
	return u.Query().Get("token")
}

// logbook records the log of a site.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns the log since the last call.
func (l *logbook) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.text.String()
	l.text.Reset()
	return s
}

// browser is a user's browser. It stores cookies and follows no redirects.
type browser struct {
	*site
	cookies map[string]string
}

func (x *site) browser() *browser { return &browser{x, map[string]string{}} }

// asData matches requests of programs, whose responses contain the result.
var asData = regexp.MustCompile(
	`^GET /auth/(session|csrf|apps)|^POST /auth/(account/|api-keys|token|device/|second-factor/codes)`)

// request sends a request to one of the site's processes.
func (b *browser) request(ctx context.Context, at *core.Auth, method, target string, form url.Values) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{"Accept": {"text/html"}, "User-Agent": {"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}},
	}
	if asData.MatchString(method + " " + target) {
		r.Header.Set("Accept", "application/json")
	}
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(pairs, "; "))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", home)
		r.Body = strings.NewReader(form.Encode())
	}
	answer := at.Handle(ctx, r)
	for _, c := range answer.Cookies {
		if c.Value == "" || c.HasMaxAge && c.MaxAge <= 0 {
			delete(b.cookies, c.Name)
			continue
		}
		b.cookies[c.Name] = c.Value
	}
	return answer
}

func (b *browser) get(target string) *core.Response {
	return b.request(b.Context(), b.well, http.MethodGet, target, nil)
}

// posting returns the form of a page with its CSRF token and these fields, as names and values.
func (b *browser) posting(fields ...string) url.Values {
	b.Helper()
	var page struct{ CSRFToken string }
	if err := json.Unmarshal(b.get("/auth/csrf").Body, &page); err != nil {
		b.Fatal(err)
	}
	form := url.Values{"csrfToken": {page.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

func (b *browser) post(target string, fields ...string) *core.Response {
	return b.request(b.Context(), b.well, http.MethodPost, target, b.posting(fields...))
}

// who returns the email of the session's user, or "" without a session.
func (b *browser) who() string {
	var answer struct{ User struct{ Email string } }
	_ = json.Unmarshal(b.get("/auth/session").Body, &answer)
	return answer.User.Email
}

// provider is the transport to the providers. The authorization code is the access token, and both name the user.
type provider struct{}

// RoundTrip implements [http.RoundTripper].
func (provider) RoundTrip(r *http.Request) (*http.Response, error) {
	var answer any
	switch r.URL.Path {
	case "/token":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer = map[string]string{"token_type": "bearer", "access_token": r.PostForm.Get("code")}
	case "/.well-known/openid-configuration":
		answer = metadata
	case "/jwks":
		answer = keySet
	default:
		person := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": person, "name": person, "email": address(person)}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

func address(person string) string { return person + "@example.com" }
