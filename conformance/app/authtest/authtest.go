// Package authtest signs users in from tests, without a browser and without a provider.
//
//	client := authtest.SignIn(t, auth, server.URL, &core.User{ID: "1", Name: "Ada"})
//	res, err := client.Get(server.URL + "/account")
package authtest

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// SignIn returns a client whose cookies carry a session of the user at baseURL, the address of the application under
// test. The client follows no redirects, so that a test sees them. Under the database strategy the user must be in the
// store.
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

// Unlimited returns the configuration with limits switched off, for tests that sign in by forms: many of them come from
// one address, with one name. SignIn and Cookies are not limited anyway. The configuration of production keeps its own.
func Unlimited(c core.Config) core.Config {
	c.InsecureNoLimits, c.Limits = true, core.Limits{KnownBrowsers: core.Off}
	c.Callbacks.Limit, c.Callbacks.Forgive = nil, nil
	return c
}

// recent counts as now under every clock of Config.Now: NewSession takes a time in the future for now.
var recent = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Cookies returns the cookies of a session of the user at baseURL, for requests made by hand. The session counts as a
// recent sign-in.
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
