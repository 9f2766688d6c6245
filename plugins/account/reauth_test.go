package account_test

import (
	"context"
	stdhtml "html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
)

const againCookie = "__Host-latchkey.account-again"

var (
	againForm   = regexp.MustCompile(`(?s)<section id="again".*?<form action="([^"]*)"[^>]*>(.*?)</form>`)
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// offered returns the form that the account page offers after re-authentication. action is empty if there is none.
func (b *browser) offered() (action string, form url.Values) {
	b.Helper()
	page := b.open("account")
	if page.Err != nil {
		b.Fatal(page.Err)
	}
	found := againForm.FindSubmatch(page.Body)
	if found == nil {
		return "", nil
	}
	form = url.Values{}
	for _, f := range hiddenField.FindAllSubmatch(found[2], -1) {
		form.Set(string(f[1]), stdhtml.UnescapeString(string(f[2])))
	}
	form.Del("csrfToken")
	return strings.TrimPrefix(string(found[1]), "/auth/"), form
}

// begins posts a form when the last sign-in is too old. It expects redirects to the sign-in page and back.
func (b *browser) begins(path string, form url.Values) {
	b.Helper()
	r := b.post(path, form)
	if r.Status != http.StatusSeeOther || !strings.Contains(r.Redirect, "/auth/reauth?") ||
		!strings.HasSuffix(r.Redirect, "callbackUrl=%2Fauth%2Faccount") {
		b.Fatalf("%s is answered %d, to %q: %v", path, r.Status, r.Redirect, r.Err)
	}
}

func addPasskeys(c *core.Config) {
	c.EnableWebAuthn = true
	c.Providers = append(c.Providers, &core.WebAuthnProvider{ID: "passkey", Name: "Passkey", Verifier: believer{}})
}

func withDeletion() setup {
	return setup{options: account.Options{Delete: func(context.Context, *core.User) error { return nil }}}
}

// TestAgain: a change that was requested when the last sign-in was too old waits for re-authentication and then for the
// button.
func TestAgain(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			how := withDeletion()
			how.configure = configure
			s := newSite(t, how)
			s.link("ada", "hub", "ada-2")
			b := s.as(ada)
			accounts := b.overview().Accounts
			goOn := func() { // presses the button after the sign-in
				t.Helper()
				if action, _ := b.offered(); action != "" {
					t.Errorf("offered %s before the sign-in", action)
				}
				b.signIn(ada)
				action, form := b.offered()
				if r := b.post(action, form); action == "" || r.Err != nil || strings.Contains(r.Redirect, "/signin") {
					t.Errorf("%s redirects to %q: %v", action, r.Redirect, r.Err)
				}
				if action, _ := b.offered(); action != "" {
					t.Errorf("offered %s again", action)
				}
			}
			s.wait(16 * time.Minute)
			b.begins("account/email", url.Values{"email": {"Ada@New.example"}})
			if n := len(s.sent()); n != 0 {
				t.Errorf("%d emails before the sign-in", n)
			}
			goOn()
			s.mail(adaNew)

			s.wait(16 * time.Minute)
			b.begins("account/unlink", url.Values{"account": {accounts[1].ID}})
			if n := len(b.overview().Accounts); n != 2 {
				t.Fatalf("%d accounts before the sign-in", n)
			}
			goOn()
			if left := b.overview().Accounts; len(left) != 1 || left[0].ID != accounts[0].ID {
				t.Errorf("left are %+v", left)
			}

			s.wait(16 * time.Minute)
			b.begins("account/delete", url.Values{"phrase": {"delete my account"}})
			goOn()
			if b.signedIn() {
				t.Error("the account is still there")
			}
		})
	}
}

// TestAgainWithSessionsAndPasskeys: each change is offered with the submitted values.
func TestAgainWithSessionsAndPasskeys(t *testing.T) {
	for name, row := range map[string]struct {
		path string
		form url.Values
		has  func(s *site, b *browser) bool // whether the change was made
	}{
		"everywhere else": {"account/end", url.Values{"session": {"others"}}, func(_ *site, b *browser) bool {
			return len(b.overview().Sessions) == 1
		}},
		"one passkey": {"account/passkey", url.Values{"id": {"first"}, "remove": {"true"}}, func(_ *site, b *browser) bool {
			return len(b.overview().Passkeys) == 0
		}},
		"its name": {"account/passkey", url.Values{"id": {"first"}, "name": {"Work <1>"}}, func(_ *site, b *browser) bool {
			return b.overview().Passkeys[0].Name == "Work <1>"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: addPasskeys})
			b, _ := s.as(ada), s.as(ada)
			b.passkey("register", "laptop")
			s.wait(61 * time.Minute)
			if row.form.Get("id") != "" {
				row.form.Set("id", b.overview().Passkeys[0].ID)
			}
			b.begins(row.path, row.form)
			b.signIn(ada)
			if row.has(s, b) {
				t.Fatal("the change was made before the button was pressed")
			}
			action, form := b.offered()
			if action != row.path {
				t.Fatalf("offered %q %v, want %s %v", action, form, row.path, row.form)
			}
			b.post(action, form)
			if !row.has(s, b) {
				t.Error("the change was not made")
			}
		})
	}
}

// TestAgainIsTheSameUsers: if another user signs in, the change is not made, and that user does not learn about it.
func TestAgainIsTheSameUsers(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	s.wait(16 * time.Minute)
	b.begins("account/email", url.Values{"email": {adaNew}})
	if sealed := b.cookies[againCookie]; sealed == "" || strings.Contains(sealed, "new.example") {
		t.Fatalf("the browser has the cookie %q", sealed)
	}
	b.signIn(eve)
	page := string(b.open("account").Body)
	if !strings.Contains(page, "different account") || strings.Contains(page, adaNew) || againForm.MatchString(page) {
		t.Errorf("eve sees %s", page)
	}
	if b.cookies[againCookie] != "" {
		t.Error("the browser still has the cookie")
	}
	b.signIn(ada)
	if action, _ := b.offered(); action != "" {
		t.Errorf("offered %s after another user signed in", action)
	}
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d emails", n)
	}
}

// TestAgainEnds: changes are not offered again if their object is gone, a value is too long, or they are too old.
func TestAgainEnds(t *testing.T) {
	for name, row := range map[string]struct {
		form   url.Values
		path   string
		before func(s *site)
		says   string
	}{
		"too old":      {url.Values{"email": {adaNew}}, "email", func(s *site) { s.wait(15 * time.Minute) }, "Your account"},
		"too long":     {url.Values{"email": {strings.Repeat("a", 321)}}, "email", nil, "no longer exists"},
		"no session":   {url.Values{"session": {"nonsense"}}, "end", nil, "no longer exists"},
		"no account":   {url.Values{"account": {"nonsense"}}, "unlink", nil, "no longer exists"},
		"the last one": {url.Values{"account": {"first"}}, "unlink", nil, "no longer exists"},
		"no passkey":   {url.Values{"id": {"nonsense"}}, "passkey", nil, "no longer exists"},
		"no provider":  {url.Values{"provider": {"nonsense"}}, "link", nil, "no longer exists"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{})
			b := s.as(ada)
			s.wait(61 * time.Minute)
			b.begins("account/"+row.path, row.form)
			if row.before != nil {
				row.before(s)
			}
			b.signIn(ada)
			page := string(b.open("account").Body)
			if againForm.MatchString(page) || !strings.Contains(page, row.says) {
				t.Errorf("the page: %s", page)
			}
		})
	}
	s := newSite(t, setup{})
	b := s.as(ada)
	s.wait(16 * time.Minute)
	b.refused(b.call("account/email", url.Values{"email": {adaNew}}), http.StatusUnauthorized, "reauth_required")
	if b.cookies[againCookie] != "" {
		t.Error("stored for a program")
	}
}

// TestLinkWithAnOldSignIn: the page requires re-authentication before it redirects to a provider.
func TestLinkWithAnOldSignIn(t *testing.T) {
	s := newSite(t, setup{configure: addPasskeys})
	s.must(s.store.UnlinkAccount(t.Context(), "hub", "ada-1"))
	b := s.as(ada)
	if page := string(b.open("account").Body); !strings.Contains(page, `/auth/signin/hub"`) {
		t.Error("no button to add an account")
	}
	s.wait(16 * time.Minute)
	page := string(b.open("account").Body)
	if strings.Contains(page, `/auth/signin/hub"`) || strings.Contains(page, `data-passkey-options="`) {
		t.Error("the page links to a provider although the account would not be linked")
	}
	b.begins("account/link", url.Values{"provider": {"hub"}})
	b.signIn(ada)
	if action, form := b.offered(); action != "signin/hub" || form.Get("callbackUrl") != "/auth/account" {
		t.Errorf("offered %s %v", action, form)
	}
	if r := b.post("account/link", url.Values{"provider": {"passkey"}}); r.Redirect != origin+"/auth/account" {
		t.Errorf("a recent sign-in redirects to %q, %v", r.Redirect, r.Err)
	}
	adds := regexp.MustCompile(`(?s)id="again".*data-passkey-options="/.*id="methods"`)
	if page := b.open("account").Body; !adds.Match(page) {
		t.Errorf("no passkey is offered: %s", page)
	}
	b.refused(b.call("account/link", url.Values{"provider": {"nobody"}}), http.StatusNotFound, "not_found")
}
