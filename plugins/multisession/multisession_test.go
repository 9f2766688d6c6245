package multisession_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/plugins/multisession"
)

// TestAddAndSwitch checks that accounts are added, listed and switched, and that each keeps its session.
func TestAddAndSwitch(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		if r := b.get("/auth/accounts"); r.Redirect == "" || !strings.Contains(r.Redirect, "/auth/signin") {
			s.Errorf("without accounts the page redirects to %q", r.Redirect)
		}
		b.signIn("ada")
		before := b.session()
		token := b.cookies[sessionCookie]
		time.Sleep(time.Minute)
		b.add("bob", "cleo")
		if got := b.names(); got != "cleo*, ada, bob" {
			s.Errorf("the accounts are %q", got)
		}
		time.Sleep(time.Minute)
		if r := b.switchTo("ada"); r.Status != http.StatusSeeOther || r.Redirect != "https://app.test/home" {
			s.Errorf("the switch has status %d and redirects to %q", r.Status, r.Redirect)
		}
		if b.cookies[sessionCookie] != token {
			s.Error("the session cookie has another token after the switch")
		}
		after := b.session()
		if after == nil || after.UserID != "ada" || after.ID != before.ID || !after.AuthTime.Equal(before.AuthTime) ||
			!slices.Equal(after.Methods, before.Methods) {
			s.Errorf("the session is %+v, before it was %+v", after, before)
		}
		if got := b.names(); got != "ada*, bob, cleo" && got != "ada*, cleo, bob" {
			s.Errorf("the accounts are %q", got)
		}
		for _, want := range []string{"session.kept ada", "session.kept bob", "session.resumed ada"} {
			if s.audited(want) == 0 {
				s.Errorf("there is no event %q", want)
			}
		}
		for _, e := range b.list() {
			if strings.Contains(e.ID, "ada") || e.ID == token {
				s.Errorf("the reference %q says too much", e.ID)
			}
		}
		if r := b.get("/auth/accounts", "Accept", "application/json"); bytes.Contains(r.Body, []byte(token)) {
			s.Error("the JSON contains a token")
		}
		if r := b.post("/auth/accounts/switch", url.Values{"account": {"nobody"}}, "Accept", "application/json"); code(r) !=
			"account_unknown" {
			s.Errorf("an unknown account: %d %s", r.Status, r.Body)
		}
	})
}

// TestAddingLinksNothing checks that a sign-in after "Add an account" is that of another user, which the same sign-in
// without it is not.
func TestAddingLinksNothing(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.post("/auth/accounts/add", nil)
		b.oauth("zoe")
		if got := b.user(); got == "" || got == "ada" {
			s.Errorf("the user is %q", got)
		}
		accounts, err := s.rows.Accounts(s.Context(), "ada")
		if err != nil || len(accounts) != 0 {
			s.Errorf("ada has the accounts %v (%v)", accounts, err)
		}
		linking := s.browser()
		linking.signIn("bob")
		linking.oauth("yan")
		if got := linking.user(); got != "bob" {
			s.Errorf("without the button, the user is %q", got)
		}
	})
}

// TestSignInKeepsOtherAccount checks a sign-in as another user without the button: the earlier session is kept, that of
// the same user is replaced.
func TestSignInKeepsOtherAccount(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		form := b.token()
		b.signIn("bob")
		if got := b.names(); got != "bob*, ada" {
			s.Errorf("the accounts are %q", got)
		}
		if b.token() == form {
			s.Error("the CSRF token of ada is that of bob")
		}
		b.switchTo("ada")
		time.Sleep(time.Second)
		b.signIn("bob") // the kept session of bob is replaced by a new one
		if got := b.names(); got != "bob*, ada" {
			s.Errorf("the accounts are %q", got)
		}
		if !b.session().AuthTime.Equal(time.Now().Truncate(time.Second)) {
			s.Error("bob has the earlier session")
		}
		before := b.copied()
		b.signIn("bob") // again
		if got := before.user(); got != "" {
			s.Errorf("the replaced session of the same user is that of %q", got)
		}
	})
}

// TestEarlierSessionOfUserEnds checks that a sign-in ends the kept session of the same user: otherwise it could be
// used after the sign-out.
func TestEarlierSessionOfUserEnds(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		first := b.copied()
		b.add("bob")
		b.post("/auth/accounts/add", nil)
		b.signIn("ada")
		if got := first.user(); got != "" {
			s.Errorf("the earlier session is that of %q", got)
		}
		b.post("/auth/signout", nil)
		if got := b.names(); got != "bob" {
			s.Errorf("after the sign-out of ada the accounts are %q", got)
		}
	})
}

// TestSignOut checks the sign-out of one account, of another and of all, and that no other account becomes active.
func TestSignOut(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		ada := b.copied()
		b.add("bob", "cleo", "dan")
		dan := b.copied()
		b.post("/auth/signout", nil)
		if got := b.names(); b.user() != "" || got != "ada, bob, cleo" {
			s.Errorf("after the sign-out the user is %q, the accounts are %q", b.user(), got)
		}
		if got := dan.user(); got != "" {
			s.Errorf("the session of dan is that of %q", got)
		}
		if page := b.get("/auth/signin"); !bytes.Contains(page.Body, []byte(`href="/auth/accounts"`)) {
			s.Error("the sign-in page has no link to the accounts")
		}
		if page := s.browser().get("/auth/signin"); bytes.Contains(page.Body, []byte(`href="/auth/accounts"`)) {
			s.Error("the sign-in page of another browser has a link to the accounts")
		}
		b.switchTo("bob")
		b.post("/auth/accounts/sign-out", url.Values{"account": {b.ref("ada")}})
		if got := b.names(); got != "bob*, cleo" {
			s.Errorf("after the sign-out of ada the accounts are %q", got)
		}
		if got := ada.user(); got != "" {
			s.Errorf("the session of ada is that of %q", got)
		}
		if s.audited("signout ada") != 1 {
			s.Error("the sign-out of ada has no event")
		}
		b.post("/auth/accounts/sign-out", url.Values{"account": {b.ref("bob")}})
		if got := b.names(); got != "cleo" {
			s.Errorf("after the sign-out of bob the accounts are %q", got)
		}
		b.switchTo("cleo")
		b.add("eve")
		copied := b.copied()
		b.post("/auth/accounts/sign-out-all", nil)
		if got := b.names(); got != "" || b.user() != "" {
			s.Errorf("after the sign-out of all accounts they are %q", got)
		}
		for name := range b.cookies {
			if strings.Contains(name, "account") {
				s.Errorf("the cookie %s is left", name)
			}
		}
		if got := copied.names(); got != "cleo?" {
			s.Errorf("a copy of the browser has the accounts %q", got)
		}
	})
}

// TestEndedAccount checks that an account whose session was ended stays listed and asks for a sign-in.
func TestEndedAccount(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob", "cleo")
		if _, err := s.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
			s.Fatal(err)
		}
		if got := b.names(); got != "cleo*, ada?, bob" {
			s.Errorf("the accounts are %q", got)
		}
		r := b.post("/auth/accounts/switch", url.Values{"account": {b.ref("ada")}}, "Accept", "application/json")
		if code(r) != "sign_in_again" || b.user() != "cleo" {
			s.Errorf("the switch: %d %s, the user is %q", r.Status, r.Body, b.user())
		}
		r = b.switchTo("ada")
		if to, _ := url.Parse(r.Redirect); to.Path != "/auth/signin" || to.Query().Get("email") != "ada@example.com" {
			s.Errorf("the switch redirects to %q", r.Redirect)
		}
		if got := b.names(); got != "ada?, bob, cleo" {
			s.Errorf("before the sign-in the accounts are %q", got)
		}
		b.signIn("ada")
		if got := b.names(); !strings.HasPrefix(got, "ada*") || strings.Contains(got, "?") {
			s.Errorf("the accounts are %q", got)
		}
	})
}

// TestExpiry checks that an account expires without being renewed, and that it stays listed for a while.
func TestExpiry(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada", "1")
		b.post("/auth/accounts/add", nil)
		b.signIn("bob", "1")
		for range 31 {
			time.Sleep(24 * time.Hour)
			b.session() // renews the active session
			b.names()
		}
		if got := b.names(); got != "bob*, ada?" {
			s.Errorf("after a month the accounts are %q", got)
		}
		name := sessionCookie + "-account1"
		if left := time.Until(b.set[name].Expires); left < 28*24*time.Hour || left > 31*24*time.Hour {
			s.Errorf("the cookie of ada expires in %v", left)
		}
	}, func(c *core.Config) { c.Session.MaxAge = 30 * 24 * time.Hour })
}

// TestRememberMe checks that each account keeps the choice of "Keep me signed in".
func TestRememberMe(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada", "1")
		expires := b.set[sessionCookie].Expires
		if expires.IsZero() {
			s.Fatal("the cookie of ada has no expiry")
		}
		b.add("bob") // without the choice
		if got := b.set[sessionCookie].Expires; !got.IsZero() {
			s.Errorf("the cookie of bob expires %v", got)
		}
		time.Sleep(time.Hour)
		b.post("/auth/accounts/switch", url.Values{"account": {b.ref("ada")}})
		if got := b.set[sessionCookie].Expires; !got.Equal(expires) {
			s.Errorf("the cookie of ada expires %v, before it was %v", got, expires)
		}
		if got := b.set[sessionCookie+"-account1"].Expires; !got.IsZero() {
			s.Errorf("the kept cookie of bob expires %v", got)
		}
		b.post("/auth/accounts/switch", url.Values{"account": {b.ref("bob")}})
		if got := b.set[sessionCookie].Expires; !got.IsZero() {
			s.Errorf("the cookie of bob expires %v after the switch", got)
		}
	})
}

// TestCookies checks the attributes of the cookies.
func TestCookies(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada", "1")
		b.add("bob")
		kept, browser := b.set[sessionCookie+"-account1"], b.set["__Host-latchkey.accounts"]
		want := b.set[sessionCookie]
		want.Name, want.Value, want.Expires = kept.Name, kept.Value, kept.Expires
		if kept != want || kept.Expires.IsZero() {
			s.Errorf("the cookie of ada is %+v", kept)
		}
		if !browser.HTTPOnly || !browser.Secure || browser.SameSite != "Lax" || browser.Path != "/" || browser.Domain != "" {
			s.Errorf("the cookie of the browser is %+v", browser)
		}
	})
}

// TestOtherTabs checks that a form of one account is refused after a switch to another one.
func TestOtherTabs(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		form := url.Values{"csrfToken": {b.token()}}
		b.add("bob")
		if r := b.send(b.request(http.MethodPost, "/auth/signout", form)); r.Status < 300 || b.user() != "bob" {
			s.Errorf("a form of ada after adding bob: %d, the user is %q", r.Status, b.user())
		}
		form.Set("csrfToken", b.token())
		b.switchTo("ada")
		b.send(b.request(http.MethodPost, "/auth/signout", form))
		if b.user() != "ada" {
			s.Errorf("a form of bob signed ada out")
		}
	})
}

// TestForeignRequests checks that other sites neither read nor change the accounts.
func TestForeignRequests(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob")
		ref := b.ref("ada")
		for _, header := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://front.test"},
			{"Origin", "null"},
		} {
			r := b.get("/auth/accounts", append(header, "Accept", "application/json")...)
			if r.Status != http.StatusForbidden || bytes.Contains(r.Body, []byte("ada")) {
				s.Errorf("%v: the list has status %d", header, r.Status)
			}
			for _, action := range []string{"switch", "add", "sign-out", "sign-out-all"} {
				r := b.post("/auth/accounts/"+action, url.Values{"account": {ref}}, append(header, "Accept", "application/json")...)
				if r.Status != http.StatusForbidden {
					s.Errorf("%v: %s has status %d", header, action, r.Status)
				}
			}
		}
		for _, action := range []string{"switch", "add", "sign-out", "sign-out-all"} {
			b.send(b.request(http.MethodPost, "/auth/accounts/"+action, url.Values{"account": {ref}}))
			if r := b.get("/auth/accounts/" + action); r.Status != http.StatusMethodNotAllowed && r.Status < 400 {
				s.Errorf("GET %s has status %d", action, r.Status)
			}
		}
		if got := b.names(); got != "bob*, ada" {
			s.Errorf("the accounts are %q", got)
		}
		r := b.get("/auth/accounts", "Accept", "application/json")
		if got := r.Header.Get("Cross-Origin-Resource-Policy"); got != "same-origin" {
			s.Errorf("Cross-Origin-Resource-Policy is %q", got)
		}
	}, func(c *core.Config) { c.TrustedOrigins = []string{"https://front.test"} })
}

// TestPlantedCookies checks that cookies of another browser are no accounts of this one.
func TestPlantedCookies(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		attacker := s.browser()
		attacker.signIn("eve")
		attacker.add("fay")
		b := s.browser()
		b.signIn("ada")
		b.add("bob")
		first := sessionCookie + "-account1"
		for what, cookies := range map[string]map[string]string{
			"another number": {sessionCookie + "-account2": attacker.cookies[first]},
			"the same":       {first: attacker.cookies[first]},
			"a raw token":    {sessionCookie + "-account3": attacker.cookies[sessionCookie]},
			"all numbers": {
				first: attacker.cookies[first], sessionCookie + "-account2": attacker.cookies[first],
				sessionCookie + "-account4": attacker.cookies[first],
			},
		} {
			planted := b.copied()
			maps.Copy(planted.cookies, cookies)
			if got := planted.names(); strings.Contains(got, "eve") || strings.Contains(got, "fay") {
				s.Errorf("%s: the accounts are %q", what, got)
			}
			r := planted.post("/auth/accounts/switch", url.Values{"account": {attacker.ref("eve")}})
			if r.Status != http.StatusNotFound || planted.user() != "bob" {
				s.Errorf("%s: the switch has status %d, the user is %q", what, r.Status, planted.user())
			}
		}
		// The genuine cookie counts next to a planted one of the same name.
		r := b.request(http.MethodGet, "/auth/accounts", nil, "Accept", "application/json")
		r.Header.Set("Cookie", first+"="+attacker.cookies[first]+"; "+r.Header.Get("Cookie"))
		if got := string(b.send(r).Body); !strings.Contains(got, "ada") || strings.Contains(got, "eve") {
			s.Errorf("next to a planted cookie: %s", got)
		}
		// The browser's own cookie with the session of the attacker, but not the code.
		code, rest, _ := strings.Cut(b.cookies[first], ".")
		id, _, _ := strings.Cut(rest, ".")
		forged := b.copied()
		forged.cookies[first] = code + "." + id + "." + attacker.cookies[sessionCookie]
		if got := forged.names(); got != "bob*" {
			s.Errorf("with a changed token the accounts are %q", got)
		}
	})
}

// TestBan checks that a banned user cannot continue, and that other accounts do.
func TestBan(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob", "cleo")
		s.ban("ada", true)
		if r := b.switchTo("ada"); !strings.Contains(r.Redirect, "/auth/signin") || b.user() == "ada" {
			s.Errorf("the switch redirects to %q, the user is %q", r.Redirect, b.user())
		}
		if r := b.switchTo("bob"); r.Redirect != "https://app.test/home" || b.user() != "bob" {
			s.Errorf("the switch to bob redirects to %q", r.Redirect)
		}
	})
}

// TestDeletedUser checks that a deleted user is not in the list, and that other accounts are.
func TestDeletedUser(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob", "cleo")
		if _, err := s.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
			s.Fatal(err)
		}
		if err := s.rows.DeleteUser(s.Context(), "ada"); err != nil {
			s.Fatal(err)
		}
		if got := b.names(); s.strategy == core.StrategyDatabase && got != "cleo*, bob" {
			s.Errorf("the accounts are %q", got)
		}
		if b.switchTo("bob"); b.user() != "bob" {
			s.Errorf("the user is %q", b.user())
		}
	})
}

// TestTooMany checks the limits, and that the refusal changes nothing.
func TestTooMany(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob", "cleo", "dan", "eve")
		before := b.names()
		r := b.post("/auth/accounts/add", nil, "Accept", "application/json")
		if code(r) != "accounts_full" || r.Status != http.StatusConflict || b.names() != before {
			s.Errorf("a sixth account: %d %s, the accounts are %q", r.Status, r.Body, b.names())
		}
		if page := b.post("/auth/accounts/add", nil); !bytes.Contains(page.Body, []byte("No further account fits")) {
			s.Errorf("the page does not say so: %d", page.Status)
		}
		if b.switchTo("ada"); b.user() != "ada" {
			s.Error("five accounts cannot be switched")
		}
		if got := len(b.list()); got != 5 {
			s.Errorf("there are %d accounts after a switch", got)
		}
		// An account that is signed out makes room for itself.
		if _, err := s.auth.EndSessions(s.Context(), "bob", core.EndOptions{}); err != nil {
			s.Fatal(err)
		}
		if r := b.switchTo("bob"); !strings.Contains(r.Redirect, "/auth/signin") {
			s.Errorf("the switch redirects to %q", r.Redirect)
		}
		if b.signIn("bob"); b.user() != "bob" || len(b.list()) != 5 {
			s.Errorf("the user is %q, the accounts are %q", b.user(), b.names())
		}
	})
}

// TestSmallHeader checks the number of accounts with the header limits of routers: no request gets larger than the
// limit, and no response larger than a proxy reads.
func TestSmallHeader(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{4096, 8192, 0} {
		both(t, func(s *site) {
			b := s.browser()
			b.limit = limit
			b.signIn(people[0])
			n := 1
			for _, id := range people[1:] {
				r := b.post("/auth/accounts/add", nil, "Accept", "application/json")
				if r.Status == http.StatusConflict {
					break
				}
				if r := b.signIn(id); headerOf(r) > 4000 {
					s.Errorf("a sign-in has a header of %d bytes", headerOf(r))
				}
				if b.user() != id {
					s.Fatalf("%s is not signed in", id)
				}
				n++
			}
			for range 2 {
				for _, id := range people[:n] {
					if r := b.switchTo(id); headerOf(r) > 4000 || r.Status != http.StatusSeeOther {
						s.Errorf("a switch has status %d and a header of %d bytes", r.Status, headerOf(r))
					}
				}
			}
			size := len(b.request(http.MethodGet, "/", nil).Header.Get("Cookie"))
			if limit > 0 && size > limit-2000 {
				s.Errorf("the cookies of %d accounts have %d bytes", n, size)
			}
			want := 5
			if limit == 4096 && s.strategy == core.StrategyJWT {
				want = 2
			}
			if n < want || n > 5 {
				s.Errorf("with a limit of %d there are %d accounts", limit, n)
			}
			s.Logf("limit %d: %d accounts, %d bytes of cookies", limit, n, size)
		})
	}
}

// headerOf returns about the size of a response's header.
func headerOf(r *core.Response) int {
	n := 500 + len(r.Redirect)
	for i := range r.Cookies {
		n += len("Set-Cookie: \r\n") + len(r.Cookies[i].String())
	}
	return n
}

// TestStoreFails checks that nothing changes while the store is unavailable, except that a sign-out deletes cookies.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		if s.strategy == core.StrategyJWT {
			return // reads no sessions
		}
		b := s.browser()
		b.signIn("ada")
		b.add("bob")
		ref, before := b.ref("ada"), maps.Clone(b.cookies)
		s.rows.failing(true)
		if r := b.get("/auth/accounts"); r.Status < 500 {
			s.Errorf("the list has status %d", r.Status)
		}
		for _, action := range []string{"add", "switch"} {
			if r := b.post("/auth/accounts/"+action, url.Values{"account": {ref}}); r.Status < 500 {
				s.Errorf("%s has status %d", action, r.Status)
			}
		}
		if !maps.Equal(before, b.cookies) {
			s.Error("the cookies have changed")
		}
		s.rows.failing(false)
		if got := b.names(); got != "bob*, ada" {
			s.Errorf("the accounts are %q", got)
		}
	})
}

// TestBearer checks that a program with a bearer token does not use the accounts of cookies.
func TestBearer(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob")
		bearer := []string{"Authorization", "Bearer " + b.cookies[sessionCookie], "Accept", "application/json"}
		if r := b.get("/auth/accounts", bearer...); code(r) != "browser_required" {
			s.Errorf("the list: %d %s", r.Status, r.Body)
		}
		for _, action := range []string{"add", "switch", "sign-out", "sign-out-all"} {
			if r := b.post("/auth/accounts/"+action, url.Values{"account": {b.ref("ada")}}, bearer...); code(r) !=
				"browser_required" {
				s.Errorf("%s: %d %s", action, r.Status, r.Body)
			}
		}
	}, func(c *core.Config) { c.Session.Bearer = true })
}

// TestGuest checks that a guest is no further account, and that a switch does not lose one.
func TestGuest(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.post("/auth/accounts/add", nil)
		b.post("/auth/guest", nil)
		id := b.user()
		if id == "" || id == "ada" {
			s.Fatalf("the guest is %q", id)
		}
		if got := b.names(); got != "ada" {
			s.Errorf("the accounts are %q", got)
		}
		for _, action := range []string{"add", "switch"} {
			r := b.post("/auth/accounts/"+action, url.Values{"account": {b.ref("ada")}}, "Accept", "application/json")
			if code(r) != "guest" || b.user() != id {
				s.Errorf("%s: %d %s", action, r.Status, r.Body)
			}
		}
		b.signIn("bob") // merges the guest
		if got := b.names(); got != "bob*, ada" {
			s.Errorf("the accounts are %q", got)
		}
	}, func(c *core.Config) { c.Plugins = append(c.Plugins, guest.New(guest.Options{})) })
}

// TestConfiguration checks the configuration errors.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*core.Config){
		"without CSRF tokens":  func(c *core.Config) { c.CSRF = core.InsecureSkipCSRFCheck() },
		"with the same origin": func(c *core.Config) { c.CSRF = core.CSRFTokenOrSameOrigin() },
		"twice":                func(c *core.Config) { c.Plugins = append(c.Plugins, multisession.New()) },
	} {
		s := newSite(t, core.StrategyJWT)
		config := s.config()
		config.Plugins = []core.Plugin{multisession.New()}
		change(&config)
		if _, err := core.New(config); err == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
	s := newSite(t, core.StrategyJWT)
	config := s.config()
	config.Plugins = []core.Plugin{s.accounts}
	if _, err := core.New(config); err == nil {
		t.Error("one plugin for two Auths: there is no error")
	}
	if _, err := multisession.New().Of(t.Context()); err == nil {
		t.Error("a plugin that is not attached lists accounts")
	}
}

// TestPage checks the page and the component.
func TestPage(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		b := s.browser()
		b.signIn("ada")
		b.add("bob")
		page := string(b.get("/auth/accounts?callbackUrl=/home").Body)
		for _, want := range []string{
			"BOB", "ADA", "ada@example.com", "Active", "Add an account", "Sign out of all accounts", b.ref("ada"),
			`value="https://app.test/home"`,
		} {
			if !strings.Contains(page, want) {
				s.Errorf("the page does not contain %q", want)
			}
		}
		v := s.auth.Visit(s.Context(), b.request(http.MethodGet, "/", nil))
		var out bytes.Buffer
		if err := s.accounts.Switcher().Render(v, &out); err != nil {
			s.Fatal(err)
		}
		for _, want := range []string{"ada@example.com", "bob@example.com", `action="/auth/accounts/switch"`, "Manage"} {
			if !strings.Contains(out.String(), want) {
				s.Errorf("the component does not contain %q: %s", want, out.String())
			}
		}
		if err := s.accounts.Switcher().Render(s.Context(), &out); err == nil {
			s.Error("the component renders without the hook")
		}
		out.Reset()
		none := s.auth.Visit(s.Context(), s.browser().request(http.MethodGet, "/", nil))
		if err := s.accounts.Switcher().Render(none, &out); err != nil || out.Len() != 0 {
			s.Errorf("without a user the component renders %q (%v)", out.String(), err)
		}
	})
}

// TestProcesses checks a browser whose requests go to two processes.
func TestProcesses(t *testing.T) {
	t.Parallel()
	both(t, func(s *site) {
		other := s.process()
		b := s.browser()
		b.signIn("ada")
		b.at(other).add("bob")
		b.add("cleo")
		b.at(other).switchTo("ada")
		if got := fmt.Sprint(b.user(), " ", b.at(other).user()); got != "ada ada" {
			s.Errorf("the users are %s", got)
		}
		b.at(other).post("/auth/accounts/sign-out", url.Values{"account": {b.ref("bob")}})
		if got := b.names(); got != "ada*, cleo" {
			s.Errorf("the accounts are %q", got)
		}
	})
}
