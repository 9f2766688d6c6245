package account_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestOverview: users see their own account, without credentials and without data of other users.
func TestOverview(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	s.as(eve)
	o := b.overview()
	if o.User.Email != ada || !o.User.EmailVerified || o.User.Name != "Ada" {
		t.Errorf("the user is %+v", o.User)
	}
	if !slices.Equal(o.Methods, []string{"email", "hub"}) {
		t.Errorf("methods %q", o.Methods)
	}
	if len(o.Accounts) != 1 || o.Accounts[0].Name != "Hub" || !o.Accounts[0].Removable {
		t.Errorf("accounts %+v", o.Accounts)
	}
	if len(o.Sessions) != 1 || !o.Sessions[0].Current {
		t.Errorf("sessions %+v", o.Sessions)
	}
	body := string(b.ask("account").Body)
	token := b.cookies["__Secure-authjs.session-token"]
	for _, secret := range []string{"top-secret-token", "ada-1", `"id":"ada"`, token} {
		if strings.Contains(body, secret) {
			t.Errorf("the response contains %q:\n%s", secret, body)
		}
	}
	for _, part := range []string{`"passkeys":[]`, `"second":[]`} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
}

// TestUnauthenticatedUsersSignInFirst: browsers without a session are redirected to the sign-in page and back, also
// from forms. Programs get an error.
func TestUnauthenticatedUsersSignInFirst(t *testing.T) {
	s := newSite(t, setup{})
	b := s.browse()
	for _, r := range []*core.Response{b.open("account"), b.post("account/unlink", nil), b.post("account/email", nil)} {
		want := origin + "/auth/signin?error=SessionRequired&callbackUrl=%2Fauth%2Faccount"
		if r.Status != http.StatusSeeOther || r.Redirect != want {
			t.Errorf("answered %d to %s", r.Status, r.Redirect)
		}
	}
	if r := b.ask("account"); r.Status != http.StatusUnauthorized {
		t.Errorf("a program is answered %d", r.Status)
	}
}

// TestPage renders the page for a browser.
func TestPage(t *testing.T) {
	s := newSite(t, setup{})
	r := s.as(ada).open("account")
	body := string(r.Body)
	for _, part := range []string{"<h1>Your account</h1>", ada, "Firefox on Linux", "This device", "New email"} {
		if !strings.Contains(body, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(body, "Delete account") {
		t.Error("the page offers to delete the account, and Options.Delete is nil")
	}
	if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
}
