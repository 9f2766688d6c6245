// Package authtest signs users in from tests, without a browser and without a provider.
//
//	client := authtest.SignIn(t, auth, server.URL, &core.User{ID: "1", Name: "Ada"})
//	res, err := client.Get(server.URL + "/account")
//
// [WithKey] does the same for the clients of an API, which send a key.
package authtest

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// SignIn returns a client that is signed in as user at baseURL, the address of the application under test. The client
// does not follow redirects, so that a test can check them. Under the database strategy the user must be in the store.
func SignIn(t testing.TB, auth *core.Auth, baseURL string, user *core.User) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(baseURL)
	if err != nil {
		t.Fatalf("authtest: baseURL: %v", err)
	}
	jar.SetCookies(at, Cookies(t, auth, baseURL, user))
	return &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// WithKey returns a client that sends an API key, or another bearer token, with its requests to baseURL, the address of
// the application under test. Create the key with the plugin's own function, for example Create of plugins/apikey.
// Requests to other origins do not have the key. The client has no cookies and does not follow redirects.
func WithKey(t testing.TB, baseURL string, key core.Secret) *http.Client {
	t.Helper()
	at, err := url.Parse(baseURL)
	if err != nil || at.Host == "" {
		t.Fatalf("authtest: baseURL is %q: use an address such as %q", baseURL, "http://127.0.0.1:8080")
	}
	return &http.Client{
		Transport:     &keyTransport{at.Scheme, at.Host, string(key)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// keyTransport adds a key to the requests to an origin.
type keyTransport struct{ scheme, host, key string }

// RoundTrip implements [http.RoundTripper].
func (k *keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == k.scheme && r.URL.Host == k.host && r.Header.Get("Authorization") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Unlimited returns a copy of c without rate limits, for tests that sign in with forms: all their requests have the
// same IP address, and often the same user name. SignIn and Cookies need no copy, because they are never limited.
func Unlimited(c core.Config) core.Config {
	c.InsecureNoLimits, c.Limits = true, core.Limits{KnownBrowsers: core.False}
	c.Callbacks.Limit, c.Callbacks.Forgive = nil, nil
	return c
}

// recent is a time in the future. NewSession replaces it by the current time of Config.Now.
var recent = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Cookies returns the session cookies of user at baseURL, for a test that builds its own requests. The session counts
// as a recent sign-in.
func Cookies(t testing.TB, auth *core.Auth, baseURL string, user *core.User) []*http.Cookie {
	t.Helper()
	at, err := url.Parse(baseURL)
	if err != nil {
		t.Fatalf("authtest: baseURL: %v", err)
	}
	set, err := auth.NewSession(t.Context(), &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{at.Host}, Scheme: at.Scheme, Header: http.Header{},
	}, user, core.SessionOptions{AuthTime: recent})
	if err != nil {
		t.Fatalf("authtest: sign in: %v", err)
	}
	var cookies []*http.Cookie
	for _, c := range set {
		parsed, err := http.ParseSetCookie(c.String())
		if err != nil {
			t.Fatalf("authtest: cookie: %v", err)
		}
		cookies = append(cookies, parsed)
	}
	return cookies
}
