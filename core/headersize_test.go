package core_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// headerLength returns the length of a response header as net/http writes it, behind a server that adds a few fields.
func headerLength(r *core.Response) int {
	n := len("HTTP/1.1 302 Found\r\nDate: Sat, 01 Jan 2030 00:00:00 GMT\r\nContent-Length: 12345\r\n" +
		"Server: nginx/1.22.1\r\nConnection: keep-alive\r\n\r\n")
	for name := range r.Header {
		n += len(name) + len(": \r\n") + len(r.Header.Get(name))
	}
	for _, c := range r.Cookies {
		n += len("Set-Cookie: \r\n") + len(c.String())
	}
	return n
}

// measured is a browser that measures every response and every request.
type measured struct {
	*browser
	t       *testing.T
	answer  int
	request int
}

func (m *measured) look(what string, r *core.Response) *core.Response {
	m.t.Helper()
	if n := headerLength(r); n >= 4000 {
		m.t.Errorf("%s: the response header has %d bytes", what, n)
	} else {
		m.answer = max(m.answer, n)
	}
	n := 0
	for name, value := range m.cookies {
		n += len(name) + len("=; ") + len(strings.ReplaceAll(url.QueryEscape(value), "+", "%20"))
		if len(name)+len(value) > 4096 {
			m.t.Errorf("%s: the cookie %s has %d bytes", what, name, len(value))
		}
	}
	m.request = n
	return r
}

// kinds returns providers of every kind, each with all its checks.
func kinds(s *service) []core.Provider {
	var all []core.Provider
	for id, checks := range map[string][]core.Check{
		"default": nil, "three": {core.CheckPKCE, core.CheckState, core.CheckNonce}, "pkce": {core.CheckPKCE},
		"nonce": {core.CheckNonce}, "state": {core.CheckState},
		"a-provider-with-a-name-as-long-as-the-labels-of-host-names-are": {core.CheckPKCE, core.CheckState, core.CheckNonce},
	} {
		all = append(all, s.provider(id, checks...))
	}
	post := s.provider("post", core.CheckPKCE, core.CheckState, core.CheckNonce)
	post.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	proxied := s.provider("proxied", core.CheckPKCE, core.CheckState, core.CheckNonce)
	proxied.RedirectProxyURL = "https://proxy.example/auth"
	wide := s.provider("wide", core.CheckPKCE, core.CheckState, core.CheckNonce)
	wide.Authorization.Params = url.Values{"claims": {strings.Repeat("c", 900)}}
	return append(all, post, proxied, wide, oauth1Provider("one"))
}

// oauth1Provider returns an OAuth 1.0a service with tokens of the maximum length.
func oauth1Provider(id string) *core.OAuthProvider {
	n := 0
	return &core.OAuthProvider{
		ID: id, Type: core.TypeOAuth, ClientID: "key", ClientSecret: "secret",
		RequestToken:  core.Endpoint{URL: "https://one.example/request"},
		Authorization: core.Endpoint{URL: "https://one.example/authorize"},
		Token:         core.Endpoint{URL: "https://one.example/token"},
		Userinfo:      core.Endpoint{URL: "https://one.example/user"},
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			n++
			body := `{"id":"u1","name":"Ann"}`
			if r.Method == http.MethodPost {
				body = fmt.Sprintf("oauth_token=token-%d&oauth_token_secret=%s&oauth_callback_confirmed=true", n,
					strings.Repeat("s", 300))
			}
			return answered(r, http.StatusOK, body), nil
		})},
	}
}

// TestHeadersStayShort starts sign-ins at every pair of provider kinds, four in one browser, and completes them. No
// response header reaches 4,000 bytes. The browser's cookies stay below 6,600 bytes with four pending flows, below
// 3,900 with one, and below the limit of the router if it has one. The newest flow is never lost.
func TestHeadersStayShort(t *testing.T) {
	t.Parallel()
	ids := []string{
		"default", "three", "pkce", "nonce", "state", "a-provider-with-a-name-as-long-as-the-labels-of-host-names-are",
		"post", "proxied", "wide", "one",
	}
	for n, row := range []struct {
		name     string
		signedIn bool
		strategy core.Strategy
		callback string
		kept     bool
		all      bool // every pair; otherwise each row tests another quarter of them
		limit    int
	}{
		{"nobody signed in", false, core.StrategyJWT, "/", false, false, 0},
		{"signed in, jwt", true, core.StrategyJWT, "/account", true, false, 0},
		{"signed in, database", true, core.StrategyDatabase, "/account", true, false, 0},
		{"callback URL that a flow has", true, core.StrategyJWT, "/" + strings.Repeat("a", 370), true, false, 0},
		{"callback URL at the bound", false, core.StrategyJWT, "/" + strings.Repeat("a", 820), true, false, 0},
		{"callback URL at the bound, signed in", true, core.StrategyJWT, "/" + strings.Repeat("a", 820), true, true, 0},
		{"callback URL beyond the bound", true, core.StrategyJWT, "/" + strings.Repeat("a/", 900), false, false, 0},
		{"callback URL that is not taken", true, core.StrategyJWT, "/?" + strings.Repeat("%C3%A4", 300), false, false, 0},
		{"a router that reads 4,096 bytes", true, core.StrategyDatabase, "/account", true, false, 4096},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &service{}
			answer, request := 0, 0
			config := core.Config{
				Providers: kinds(s), Session: core.SessionConfig{Strategy: row.strategy},
				RedirectProxyTargets: []string{"https://app.test"},
			}
			if row.strategy == core.StrategyDatabase {
				config.Store = newPeople().as(power{})
			}
			app := newApp(t, config)
			for i := range ids {
				for j := range ids {
					if !row.all && (i+j)%4 != n%4 {
						continue
					}
					m := &measured{browser: visit(t, app), t: t}
					m.hasPage, m.limit = true, row.limit
					if row.signedIn {
						m.get(s.grant(t, m.submit("/auth/signin/default", nil).Redirect))
					}
					m.look("page", m.get("/auth/signin?callbackUrl="+url.QueryEscape(row.callback)))
					if kept := m.cookies["__Secure-authjs.callback-url"]; row.kept && kept != "https://app.test"+row.callback {
						t.Fatalf("the callback URL is not remembered: %q", kept)
					}
					var answers []string
					for n, id := range []string{ids[i], ids[j], ids[i], ids[j]} {
						r := m.look(fmt.Sprintf("%s and %s, start %d", ids[i], ids[j], n),
							m.submit("/auth/signin/"+id, url.Values{"callbackUrl": {row.callback}}))
						if r.Err != nil {
							t.Fatal(r.Err)
						}
						if id == "default" {
							answers = append(answers, s.grant(t, r.Redirect))
						}
						most := map[bool]int{true: 3900, false: 6600}[n == 0]
						if row.limit > 0 {
							most = row.limit - 1000
						}
						if m.request >= most {
							t.Errorf("%s and %s, %d under way: the cookies have %d bytes", ids[i], ids[j], n+1, m.request)
						} else if n > 0 {
							request = max(request, m.request)
						}
					}
					answer = max(answer, m.answer)
					for n, back := range slices.Backward(answers) {
						if r := m.look("callback", m.get(back)); r.Err != nil && ids[j] == "default" && n == len(answers)-1 {
							t.Errorf("%s and %s: the newest sign-in fails: %v", ids[i], ids[j], r.Err)
						}
					}
					m.look("error", m.get("/auth/callback/three?code=x&state=y"))
					m.look("sign-out", m.submit("/auth/signout", url.Values{"callbackUrl": {row.callback}}))
				}
			}
			t.Logf("longest answer %d, longest cookies %d", answer, request)
		})
	}
}

// TestCallbackURLBounds: a long callback URL is used by the request that contains it, a longer one is not used.
func TestCallbackURLBounds(t *testing.T) {
	t.Parallel()
	const cookie = "__Secure-authjs.callback-url"
	for _, row := range []struct {
		name             string
		target           string
		kept, isFollowed bool
	}{
		{"short", "/account", true, true},
		{"as long as is remembered", "/" + strings.Repeat("a", 820), true, true},
		{"longer than is remembered", "/" + strings.Repeat("a", 840), false, true},
		{"characters that a cookie needs three for", "/" + strings.Repeat("a/", 250), false, true},
		{"as long as is followed", "/" + strings.Repeat("a", 1960), false, true},
		{"longer than is followed", "/" + strings.Repeat("a/", 700), false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{(&service{}).provider("a")}}))
			b.submit("/auth/signout", url.Values{"callbackUrl": {"/before"}})
			r := b.submit("/auth/signout", url.Values{"callbackUrl": {row.target}})
			want, kept := "https://app.test", "https://app.test"
			if row.isFollowed {
				want += row.target
			}
			if row.kept {
				kept += row.target
			}
			if r.Redirect != want || b.cookies[cookie] != kept {
				t.Errorf("redirects to %.40s, the cookie says %.40s", r.Redirect, b.cookies[cookie])
			}
		})
	}
}

// TestPasskeysAmongFlows: the sign-in page requests a passkey challenge automatically. The challenge and the flows of
// other tabs displace each other only beyond the limits.
func TestPasskeysAmongFlows(t *testing.T) {
	t.Parallel()
	for tabs := range 5 {
		s := &service{}
		m := &measured{browser: visit(t, newApp(t, core.Config{
			Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT}, EnableWebAuthn: true,
			Providers: []core.Provider{
				s.provider("a", core.CheckPKCE, core.CheckState, core.CheckNonce),
				&core.WebAuthnProvider{ID: "passkey", Verifier: anyPasskey{}},
			},
		})), t: t}
		m.get("/auth/signin?callbackUrl=/" + strings.Repeat("a", 500))
		var answers []string
		for range tabs {
			answers = append(answers, s.grant(t, m.submit("/auth/signin/a", nil).Redirect))
		}
		r := m.look("challenge", m.get("/auth/webauthn-options/passkey?action=authenticate"))
		if r.Err != nil || m.cookies["__Secure-authjs.challenge"] == "" {
			t.Fatalf("%d tabs: no challenge: %v", tabs, r.Err)
		}
		if tabs > 1 && m.request >= 6600 {
			t.Errorf("%d tabs and a passkey: the cookies have %d bytes", tabs, m.request)
		}
		answers = append(answers, s.grant(t, m.look("start", m.submit("/auth/signin/a", nil)).Redirect))
		if tabs > 0 && m.request >= 6600 {
			t.Errorf("%d tabs, a passkey and a flow: the cookies have %d bytes", tabs, m.request)
		}
		for n, answer := range slices.Backward(answers) {
			if r := m.look("callback", m.get(answer)); r.Err != nil && n >= len(answers)-2 {
				t.Errorf("%d tabs: flow %d: %v", tabs, n, r.Err)
			}
		}
	}
}
