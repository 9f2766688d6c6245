package main

import (
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/ui"
)

var token = regexp.MustCompile(`name="csrfToken" value="([0-9a-f]{64})"`)

// TestForms signs in with the application's own pages: the form shows a wrong password and keeps the address, and a
// right one redirects to the requested page.
func TestForms(t *testing.T) {
	t.Setenv("AUTH_SECRET", "a-secret-of-more-than-thirty-two-bytes")
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	auth, err := open(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	handler = routes(auth)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	page := func(method, path string, form url.Values) (status int, at, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		res, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Request.URL.Path, string(body)
	}
	_, at, form := page("GET", "/account", nil)
	field := token.FindStringSubmatch(form)
	if at != "/signin" || field == nil || !strings.Contains(form, `value="/account"`) {
		t.Fatalf("at %s: %s", at, form)
	}
	fields := url.Values{"csrfToken": field[1:], "redirectTo": {"/account"}, "email": {"ada@example.com"}}
	for password, want := range map[string]string{"wrong": "CredentialsSignin", "": "CredentialsSignin"} {
		fields.Set("password", password)
		status, at, form := page("POST", "/signin", fields)
		if status != http.StatusUnprocessableEntity || at != "/signin" ||
			!strings.Contains(form, `value="ada@example.com"`) ||
			!strings.Contains(html.UnescapeString(form), ui.SignInMessage(want)) {
			t.Errorf("%q: %d at %s: %s", password, status, at, form)
		}
	}
	forged := url.Values{"csrfToken": {"x"}, "email": {"ada@example.com"}, "password": {"engine"}}
	if status, _, text := page("POST", "/signin", forged); status != http.StatusUnprocessableEntity {
		t.Errorf("without a token: %d %s", status, text)
	}
	fields.Set("password", "engine")
	if _, at, text := page("POST", "/signin", fields); at != "/account" || !strings.Contains(text, "Ada Lovelace") {
		t.Errorf("signed in, at %s: %s", at, text)
	}
	_, _, text := page("GET", "/signout", nil)
	field = token.FindStringSubmatch(text)
	if field == nil {
		t.Fatalf("no form: %s", text)
	}
	_, at, text = page("POST", "/auth/signout", url.Values{"csrfToken": field[1:], "callbackUrl": {"/"}})
	if at != "/" || !strings.Contains(text, "not signed in") {
		t.Errorf("signed out, at %s: %s", at, text)
	}
}

// TestPort starts the program on a port of the environment.
func TestPort(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	t.Setenv("AUTH_SECRET", "a-secret-of-more-than-thirty-two-bytes")
	t.Setenv("PORT", port)
	go main() // until the tests end
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		answer, err := http.Get("http://localhost:" + port + "/")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("status %d", answer.StatusCode)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
