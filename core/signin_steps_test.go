package core_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// stepsApp is an app with PagesConfig.EmailFirst, a provider and a password form. Only Ada exists.
func stepsApp(t *testing.T, on bool, providers ...core.Provider) *app {
	t.Helper()
	rows := newPeople()
	if _, err := rows.CreateUser(t.Context(), &core.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	if providers == nil {
		providers = []core.Provider{plainOAuth(), &core.CredentialsProvider{
			ID: "password", Name: "Password", Fields: []core.Field{
				{Name: "email", Label: "Email", Type: "email", Required: true},
				{Name: "password", Label: "Password", Type: "password", Required: true},
			},
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}}
	}
	return newApp(t, core.Config{Store: rows, Providers: providers, Pages: core.PagesConfig{EmailFirst: on}})
}

var (
	nonces = regexp.MustCompile(`nonce="[^"]*"|name="csrfToken" value="[^"]*"`)
	forms  = regexp.MustCompile(`<form action="[^"]*"`)
)

// TestEmailFirst: the first page asks for the address only, and the second for the password. The address is in no URL.
func TestEmailFirst(t *testing.T) {
	t.Parallel()
	b := visit(t, stepsApp(t, true))
	b.header.Set("Accept", "text/html")
	first := string(b.get("/auth/signin?callbackUrl=%2Forders").Body)
	if strings.Contains(first, `type="password"`) || strings.Count(first, `name="email"`) != 1 ||
		len(forms.FindAllString(first, -1)) != 2 {
		t.Fatalf("first page %s", first)
	}
	pages := map[string]string{}
	for _, address := range []string{"ada@example.com", "nobody@example.com"} {
		r := b.submit("/auth/signin", url.Values{"email": {" " + address}, "callbackUrl": {"/orders"}})
		if r.Redirect == "" || strings.Contains(r.Redirect, "example.com") && strings.Contains(r.Redirect, "@") ||
			!strings.Contains(r.Redirect, "step=password") || strings.Contains(r.Redirect, "nobody") {
			t.Fatalf("led to %d %s", r.Status, r.Redirect)
		}
		to, err := url.Parse(r.Redirect)
		if err != nil {
			t.Fatal(err)
		}
		page := string(b.get(to.RequestURI()).Body)
		for _, part := range []string{
			`value="` + address + `" autocomplete="username" readonly`, `type="password"`, "step=email", "Use a different email",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("no %s in %s", part, page)
			}
		}
		if n := len(forms.FindAllString(page, -1)); n != 1 {
			t.Errorf("%d forms", n)
		}
		pages[address] = nonces.ReplaceAllString(strings.ReplaceAll(page, address, ""), "")
	}
	if pages["ada@example.com"] != pages["nobody@example.com"] {
		t.Error("the second page reveals whether an account exists")
	}
	failed := string(b.get("/auth/signin?error=CredentialsSignin&code=credentials").Body)
	if !strings.Contains(failed, `value="nobody@example.com"`) || !strings.Contains(failed, `aria-invalid="true"`) ||
		!regexp.MustCompile(`type="password"[^>]* autofocus`).MatchString(failed) {
		t.Errorf("after a wrong password %s", failed)
	}
	again := string(b.get("/auth/signin?step=email").Body)
	if strings.Contains(again, `type="password"`) || !strings.Contains(again, `value="nobody@example.com"`) {
		t.Errorf("to change the address %s", again)
	}
	if plain := string(b.get("/auth/signin").Body); strings.Contains(plain, "nobody@example.com") {
		t.Error("a new visit shows the address")
	}
}

// TestEmailFirstRefusals: the first page follows after an invalid address, and without a cookie.
func TestEmailFirstRefusals(t *testing.T) {
	t.Parallel()
	a := stepsApp(t, true)
	for name, address := range map[string]string{
		"empty": " ", "long": strings.Repeat("a", 321), "line break": "a@example.com\r\nx: y", "NUL": "a\x00b",
	} {
		b := visit(t, a)
		r := b.submit("/auth/signin", url.Values{"email": {address}})
		if !strings.HasSuffix(r.Redirect, "/auth/signin") {
			t.Errorf("%s: led to %s", name, r.Redirect)
		}
	}
	b := visit(t, a)
	b.header.Set("Accept", "text/html")
	for _, target := range []string{"step=password", "error=CredentialsSignin", "step=email"} {
		if page := string(b.get("/auth/signin?" + target).Body); strings.Contains(page, `type="password"`) {
			t.Errorf("%s without a cookie shows the second page", target)
		}
	}
	r := b.send(http.MethodPost, "/auth/signin", "application/x-www-form-urlencoded", "email=a%40example.com")
	if strings.Contains(r.Redirect, "step=") {
		t.Errorf("without the token: led to %s", r.Redirect)
	}
}

// TestEmailFirstOff: without the option, and with providers that ask for no password, there is one page.
func TestEmailFirstOff(t *testing.T) {
	t.Parallel()
	b := visit(t, stepsApp(t, false))
	b.header.Set("Accept", "text/html")
	r := b.submit("/auth/signin", url.Values{"email": {"ada@example.com"}})
	if !strings.HasSuffix(r.Redirect, "/auth/signin") ||
		len(r.Cookies) != 0 && strings.Contains(r.Cookies[0].Name, "address") {
		t.Errorf("led to %s with %v", r.Redirect, r.Cookies)
	}
	if page := string(b.get("/auth/signin?step=password").Body); !strings.Contains(page, `type="password"`) {
		t.Errorf("page %s", page)
	}
	only := visit(t, stepsApp(t, true, plainOAuth()))
	only.header.Set("Accept", "text/html")
	one, two := only.get("/auth/signin"), visit(t, stepsApp(t, false, plainOAuth()))
	two.header.Set("Accept", "text/html")
	if got, want := nonces.ReplaceAllString(string(one.Body), ""),
		nonces.ReplaceAllString(string(two.get("/auth/signin").Body), ""); got != want {
		t.Errorf("the page of providers differs: %s", got)
	}
}
