package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

const (
	secret  = "the-secret-of-both-sides-and-of-no-other-one"
	older   = "a-secret-that-both-sides-used-before-this-one"
	session = "authjs.session-token"
)

// both are the two servers and the provider.
type both struct {
	*testing.T
	ours, theirs string
	auth         *core.Auth
}

// start starts both servers. The newest secret of each is the first.
func start(t *testing.T, ours, theirs []string) *both {
	t.Helper()
	provider := httptest.NewServer(http.HandlerFunc(provide))
	t.Cleanup(provider.Close)
	b := &both{T: t, theirs: reference(t, map[string]any{"secrets": theirs, "provider": provider.URL})}
	server := httptest.NewUnstartedServer(nil)
	server.Start()
	t.Cleanup(server.Close)
	b.ours = server.URL
	config := core.Config{
		TrustHost: core.True, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Providers: []core.Provider{
			&core.CredentialsProvider{Authorize: func(
				_ context.Context, form map[string]string, _ *core.Request,
			) (*core.User, error) {
				if form["password"] != "engine" {
					return nil, nil
				}
				return &core.User{ID: "u1", Name: "Ada", Email: form["email"]}, nil
			}},
			&core.OAuthProvider{
				ID: "mock", Name: "Mock", Type: core.TypeOAuth, ClientID: "client", ClientSecret: "secret",
				Checks:        []core.Check{core.CheckPKCE, core.CheckState},
				Authorization: core.Endpoint{URL: provider.URL + "/authorize"},
				Token:         core.Endpoint{URL: provider.URL + "/token"},
				Userinfo:      core.Endpoint{URL: provider.URL + "/userinfo"},
			},
		},
		Callbacks: core.Callbacks{
			JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				var posted map[string]json.RawMessage
				if p.Trigger == core.TriggerUpdate && json.Unmarshal(p.Update, &posted) == nil {
					for name, raw := range posted {
						if err := p.Token.Extra.Set(name, raw); err != nil {
							return nil, err
						}
					}
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				if note, ok := p.Token.Extra["note"]; ok {
					return p.Session, p.Session.Extra.Set("note", note)
				}
				return p.Session, nil
			},
		},
	}
	for _, s := range ours {
		config.Secrets = append(config.Secrets, core.Secret(s))
	}
	var err error
	if b.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(b.auth).Mount(mux)
	server.Config.Handler = mux
	return b
}

// provide is an OAuth service with one user. It checks neither code nor verifier, because the tests check only whether
// the requests of a flow belong together.
func provide(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/token":
		if r.FormValue("code_verifier") == "" || r.FormValue("code") != "code-1" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"at","token_type":"bearer"}`)
	case "/userinfo":
		_, _ = io.WriteString(w, `{"id":"m1","name":"Grace","email":"grace@example.com"}`)
	}
}

// browser has one cookie jar for both servers, because cookies ignore the port.
type browser struct {
	*both
	client *http.Client
}

func (b *both) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	return &browser{b, &http.Client{
		Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *browser) get(address string) (string, *http.Response) {
	b.Helper()
	return b.do(http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil))
}

func (b *browser) post(address string, form url.Values) (string, *http.Response) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return b.do(r, err)
}

func (b *browser) do(r *http.Request, err error) (string, *http.Response) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(body), response
}

func (b *browser) csrf(side string) string {
	b.Helper()
	body, _ := b.get(side + "/auth/csrf")
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.CSRFToken == "" {
		b.Fatalf("%s/auth/csrf answered %s", side, body)
	}
	return answer.CSRFToken
}

func (b *browser) signIn(side string) {
	b.Helper()
	_, response := b.post(side+"/auth/callback/credentials", url.Values{
		"csrfToken": {b.csrf(side)}, "email": {"ada@example.com"}, "password": {"engine"},
	})
	if response.StatusCode != http.StatusFound || strings.Contains(response.Header.Get("Location"), "error") {
		b.Fatalf("sign-in answered %s to %s", response.Status, response.Header.Get("Location"))
	}
}

// cookie returns the decoded value of a cookie.
func (b *browser) cookie(name string) string {
	u, err := url.Parse(b.ours)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == name {
			value, err := url.PathUnescape(c.Value)
			if err != nil {
				b.Fatal(err)
			}
			return value
		}
	}
	return ""
}

// directions returns both orders of the two servers.
func (b *both) directions() map[string][2]string {
	return map[string][2]string{"begun by the reference": {b.theirs, b.ours}, "begun by Latchkey": {b.ours, b.theirs}}
}

// TestSessions: a session of one server is used, updated and ended by the other.
func TestSessions(t *testing.T) {
	both := start(t, []string{secret}, []string{secret})
	for name, sides := range both.directions() {
		t.Run(name, func(t *testing.T) {
			b := both.browser()
			b.T = t
			b.signIn(sides[0])
			for _, side := range sides {
				body, _ := b.get(side + "/auth/session")
				if !strings.Contains(body, `"name":"Ada"`) || !strings.Contains(body, `"email":"ada@example.com"`) {
					t.Errorf("%s: session %s", side, body)
				}
			}
			// Long enough to split the cookie.
			note := strings.Repeat("long ", 1500)
			raw, err := json.Marshal(map[string]any{"csrfToken": b.csrf(sides[1]), "data": map[string]string{"note": note}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sides[1]+"/auth/session", bytes.NewReader(raw))
			if err == nil {
				r.Header.Set("Content-Type", "application/json")
			}
			if body, response := b.do(r, err); response.StatusCode != http.StatusOK || !strings.Contains(body, note) {
				t.Errorf("update answered %s: %.200s", response.Status, body)
			}
			if b.cookie(session+".1") == "" || b.cookie(session) != "" {
				t.Error("the cookie was not split")
			}
			if body, _ := b.get(sides[0] + "/auth/session"); !strings.Contains(body, note) {
				t.Errorf("after the update: %.200s", body)
			}
			_, response := b.post(sides[1]+"/auth/signout", url.Values{"csrfToken": {b.csrf(sides[1])}})
			if response.StatusCode != http.StatusFound {
				t.Errorf("sign-out answered %s", response.Status)
			}
			for _, side := range sides {
				if body, _ := b.get(side + "/auth/session"); strings.TrimSpace(body) != "null" {
					t.Errorf("%s, signed out: %.200s", side, body)
				}
			}
		})
	}
}

// TestCSRF: each server accepts the CSRF tokens of the other, and rejects made-up ones.
func TestCSRF(t *testing.T) {
	both := start(t, []string{secret}, []string{secret})
	for name, sides := range both.directions() {
		t.Run(name, func(t *testing.T) {
			b := both.browser()
			b.T = t
			token := b.csrf(sides[0])
			if got := b.csrf(sides[1]); got != token {
				t.Errorf("the other side made another token: %s, %s", token, got)
			}
			b.signIn(sides[0])
			_, response := b.post(sides[1]+"/auth/signout", url.Values{"csrfToken": {strings.Repeat("0", 64)}})
			location := response.Header.Get("Location")
			if response.StatusCode == http.StatusFound &&
				!strings.Contains(location, "csrf") && !strings.Contains(location, "MissingCSRF") {
				t.Errorf("a made-up token was taken: %s", location)
			}
			if body, _ := b.get(sides[0] + "/auth/session"); !strings.Contains(body, "Ada") {
				t.Error("a made-up token signed out")
			}
			b.post(sides[1]+"/auth/signout", url.Values{"csrfToken": {token}})
			if body, _ := b.get(sides[0] + "/auth/session"); strings.TrimSpace(body) != "null" {
				t.Error("the token of one side does not sign out on the other")
			}
		})
	}
}

// TestFlows: a provider sign-in that one server starts is completed by the other, with its state and PKCE cookies. Of
// several concurrent flows, Latchkey stores the first one in Auth.js's cookies. Auth.js cannot complete the others.
func TestFlows(t *testing.T) {
	both := start(t, []string{secret}, []string{secret})
	for _, tabs := range []int{0, 1, 4} {
		for name, sides := range both.directions() {
			t.Run(fmt.Sprintf("%s, %d tabs before", name, tabs), func(t *testing.T) { crosses(t, both, sides, tabs) })
		}
	}
}

// crosses starts a sign-in on the first server, after those of other tabs, and completes it on the second.
func crosses(t *testing.T, x *both, sides [2]string, tabs int) {
	t.Helper()
	b := x.browser()
	b.T = t
	for range tabs { // on the first server, also if Auth.js starts the newest flow
		b.post(b.ours+"/auth/signin/mock", url.Values{"csrfToken": {b.csrf(b.ours)}})
	}
	_, response := b.post(sides[0]+"/auth/signin/mock", url.Values{"csrfToken": {b.csrf(sides[0])}})
	location, err := response.Location()
	if err != nil || location.Path != "/authorize" {
		t.Fatalf("sign-in redirects to %v, %v", location, err)
	}
	state := location.Query().Get("state")
	_, response = b.get(sides[1] + "/auth/callback/mock?" + url.Values{"code": {"code-1"}, "state": {state}}.Encode())
	further := tabs > 0 && sides[1] == b.theirs
	if at := response.Header.Get("Location"); further && strings.Contains(at, "error=Configuration") {
		return // a second flow has its own cookie, which Auth.js does not read
	} else if response.StatusCode != http.StatusFound || strings.Contains(at, "error") {
		t.Fatalf("callback answered %s to %s", response.Status, at)
	}
	for _, side := range sides {
		if body, _ := b.get(side + "/auth/session"); !strings.Contains(body, "Grace") {
			t.Errorf("%s: session %s", side, body)
		}
	}
	if tabs == 0 && b.cookie("authjs.state")+b.cookie("authjs.pkce.code_verifier") != "" {
		t.Error("the check cookies are still there")
	}
}

// call calls an action of the Auth.js application.
func (b *both) call(path string, argument any) (string, int) {
	b.Helper()
	raw, err := json.Marshal(argument)
	if err != nil {
		b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.theirs+path, bytes.NewReader(raw))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(body), response.StatusCode
}

// TestTokens: each server reads the other's tokens, under the newest secret and older ones, and under no other secret.
func TestTokens(t *testing.T) {
	both := start(t, []string{secret, older}, []string{secret, older})
	claims := map[string]any{
		"sub": "u1", "name": "Zoë ☃ \"quoted\" <b>", "email": "ada@example.com",
		"picture": nil, "n": 9007199254740991, "nested": map[string]any{"a": []any{1.5, true, nil}},
	}
	for _, salt := range []string{session, "__Secure-authjs.session-token", "a cookie of one's own"} {
		for name, row := range map[string]struct {
			make string
			with string
			ok   bool
		}{
			"newest secret":  {"/encode", secret, true},
			"older secret":   {"/encode", older, true},
			"another secret": {"/encode", "nobody-knows-this-secret-on-either-side!", false},
			"A256GCM":        {"/encode-gcm", secret, true},
		} {
			t.Run(fmt.Sprintf("theirs to ours/%s/%s", salt, name), func(t *testing.T) {
				raw, _ := both.call(row.make, map[string]any{"token": claims, "secret": row.with, "salt": salt, "maxAge": 3600})
				var sealed string
				if err := json.Unmarshal([]byte(raw), &sealed); err != nil {
					t.Fatalf("the reference answered %s", raw)
				}
				token, err := both.auth.DecodeToken(sealed, salt)
				if (err == nil) != row.ok {
					t.Fatalf("decoded %v, want %v: %v", err == nil, row.ok, err)
				}
				if row.ok {
					same(t, token, claims)
				}
			})
		}
		t.Run("ours to theirs/"+salt, func(t *testing.T) {
			token := &core.Token{}
			raw, err := json.Marshal(claims)
			if err != nil {
				t.Fatal(err)
			}
			if err := token.UnmarshalJSON(raw); err != nil {
				t.Fatal(err)
			}
			sealed, err := both.auth.EncodeToken(token, salt, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			body, status := both.call("/decode", map[string]any{
				"token": sealed, "secret": []string{secret, older}, "salt": salt,
			})
			back := &core.Token{}
			if err := back.UnmarshalJSON([]byte(body)); err != nil || status != http.StatusOK {
				t.Fatalf("the reference answered %d: %s", status, body)
			}
			same(t, back, claims)
			_, status = both.call("/decode", map[string]any{"token": sealed, "secret": older, "salt": salt})
			if status == http.StatusOK {
				t.Error("the reference reads it under another secret")
			}
		})
	}
}

// same compares claims, without those that issuing adds.
func same(t *testing.T, token *core.Token, claims map[string]any) {
	t.Helper()
	raw, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"iat", "exp", "jti"} {
		delete(got, name)
	}
	want, _ := json.Marshal(claims)
	if have, _ := json.Marshal(got); string(have) != string(want) {
		t.Errorf("claims\n got %s\nwant %s", have, want)
	}
}

// TestRotation: a session survives a secret rotation that only one server has made so far.
func TestRotation(t *testing.T) {
	both := start(t, []string{secret, older}, []string{older})
	b := both.browser()
	b.signIn(both.theirs)
	if body, _ := b.get(both.ours + "/auth/session"); !strings.Contains(body, "Ada") {
		t.Errorf("begun under the older secret: %s", body)
	}
}
