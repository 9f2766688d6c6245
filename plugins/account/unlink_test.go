package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// onlyHub makes linked accounts the only sign-in method.
func onlyHub(c *core.Config) {
	c.Providers = slices.DeleteFunc(c.Providers, func(p core.Provider) bool {
		_, is := p.(*core.EmailProvider)
		return is
	})
}

// TestUnlink: users can remove their accounts, except for the last sign-in method.
func TestUnlink(t *testing.T) {
	s := newSite(t, setup{configure: onlyHub})
	s.link("ada", "hub", "ada-2")
	b, other := s.as(ada), s.as(eve)
	accounts := b.overview().Accounts
	if len(accounts) != 2 {
		t.Fatalf("accounts %+v", accounts)
	}
	b.refused(b.call("account/unlink", url.Values{"account": {other.overview().Accounts[0].ID}}), 404, "not_found")
	b.refused(b.call("account/unlink", url.Values{"account": {"nonsense"}}), 404, "not_found")
	b.refused(b.call("account/unlink", nil), 404, "not_found")
	b.fine(b.call("account/unlink", url.Values{"account": {accounts[0].ID}}), http.StatusOK)
	b.refused(b.call("account/unlink", url.Values{"account": {accounts[0].ID}}), 404, "not_found")
	b.refused(b.call("account/unlink", url.Values{"account": {accounts[1].ID}}), 409, "last_method")
	if left := b.overview(); len(left.Accounts) != 1 || left.Accounts[0].Removable {
		t.Errorf("left %+v", left.Accounts)
	}
	if told := s.told(); !slices.Contains(told, "account.unlinked ok ada") {
		t.Errorf("audit events %q", told)
	}
	if len(other.overview().Accounts) != 1 {
		t.Error("the other user's account is gone")
	}
}

// TestUnlinkWithAPassword: a password from before the address was verified is invalid after the verification. It does
// not count as a remaining sign-in method.
func TestUnlinkWithAPassword(t *testing.T) {
	for name, row := range map[string]struct {
		value  string
		proved bool
		opens  bool
	}{
		"one that opens":                  {`{"hash":"x"}`, true, true},
		"of an unverified address":        {`{"hash":"x","unproved":true}`, false, true},
		"that ended with the proof":       {`{"hash":"x","unproved":true}`, true, false},
		"whose record cannot be read":     {`"x"`, true, false},
		"whose record is without a value": {`{}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) {
				onlyHub(c)
				c.Providers = append(c.Providers, &core.CredentialsProvider{ID: "password", Authorize: rejectAll})
			}})
			user := s.user("ada")
			if !row.proved {
				user.EmailVerified = time.Time{}
			}
			s.must(s.store.UpdateUser(t.Context(), user))
			s.must(s.store.CreateRecord(t.Context(), &store.Record{
				Kind: "password", Key: "ada", UserID: "ada", Value: []byte(row.value),
			}))
			b := s.as(ada)
			all := b.overview()
			if shown := slices.Contains(all.Methods, "password"); shown != row.opens {
				t.Errorf("the sign-in methods are %q", all.Methods)
			}
			r := b.call("account/unlink", url.Values{"account": {all.Accounts[0].ID}})
			if row.opens {
				b.fine(r, http.StatusOK)
				return
			}
			b.refused(r, 409, "last_method")
		})
	}
}

// rejectAll is an authorize function that rejects all sign-ins.
func rejectAll(context.Context, map[string]string, *core.Request) (*core.User, error) {
	return nil, nil
}

// TestUnlinkInABrowser: a form redirects to the page, which shows the result once.
func TestUnlinkInABrowser(t *testing.T) {
	s := newSite(t, setup{configure: onlyHub})
	b := s.as(ada)
	r := b.post("account/unlink", url.Values{"account": {b.overview().Accounts[0].ID}})
	if r.Status != http.StatusSeeOther || r.Redirect != origin+"/auth/account" {
		t.Fatalf("answered %d to %s", r.Status, r.Redirect)
	}
	const text = "This is your only sign-in method. Add another one before you remove it."
	if page := string(b.open("account").Body); !strings.Contains(page, text) {
		t.Error("the page does not say why")
	}
	if page := string(b.open("account").Body); strings.Contains(page, text) {
		t.Error("the page says it twice")
	}
}

// TestUnlinkConcurrently: of concurrent requests that each remove a different account, one is rejected to keep the
// last.
func TestUnlinkConcurrently(t *testing.T) {
	for range 20 {
		s := newSite(t, setup{configure: onlyHub})
		ids := []string{"ada-1", "ada-2", "ada-3", "ada-4"}
		for _, id := range ids[1:] {
			s.link("ada", "hub", id)
		}
		var refusals sync.Map
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				if err := s.mine.Unlink(t.Context(), "ada", "hub", id); err != nil {
					refusals.Store(id, err)
				}
			})
		}
		all.Wait()
		n := 0
		refusals.Range(func(_, err any) bool {
			n++
			if !errors.Is(err.(error), account.ErrLastMethod) {
				t.Errorf("refused with %v", err)
			}
			return true
		})
		left, err := s.store.Accounts(t.Context(), "ada")
		if err != nil || len(left) != 1 || n != 1 {
			t.Fatalf("%d accounts are left, %d refused, %v", len(left), n, err)
		}
	}
}

// TestLockLeftBehind: the lock of a process that died expires within half a minute.
func TestLockLeftBehind(t *testing.T) {
	s := newSite(t, setup{})
	s.must(s.store.CreateRecord(t.Context(), &store.Record{
		Kind: "account-lock", Key: "ada", UserID: "ada", Value: []byte(`{}`), Expires: s.clock().Add(30 * time.Second),
	}))
	if err := s.mine.Unlink(t.Context(), "ada", "hub", "ada-1"); err == nil || errors.Is(err, core.ErrNotFound) {
		t.Errorf("while another process has the lock: %v", err)
	}
	s.wait(31 * time.Second)
	if err := s.mine.Unlink(t.Context(), "ada", "hub", "ada-1"); err != nil {
		t.Error(err)
	}
	if _, err := s.store.Record(t.Context(), "account-lock", "ada"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the lock is still there: %v", err)
	}
}

// TestOldSignIn: a change requires a recent sign-in; ending sessions allows an hour.
func TestOldSignIn(t *testing.T) {
	s := newSite(t, setup{options: account.Options{Fresh: 10 * time.Minute}})
	b := s.as(ada)
	account := url.Values{"account": {b.overview().Accounts[0].ID}}
	s.wait(11 * time.Minute)
	r := b.call("account/unlink", account)
	b.refused(r, 401, "reauth_required")
	if got := r.Header.Get("Www-Authenticate"); !strings.Contains(got, "insufficient_user_authentication") ||
		!strings.Contains(got, `max_age="600"`) {
		t.Errorf("challenge %q", got)
	}
	for _, path := range []string{"passkey", "email"} {
		b.refused(b.call("account/"+path, nil), 401, "reauth_required")
	}
	if r := b.post("account/unlink", account); !strings.HasSuffix(r.Redirect, "callbackUrl=%2Fauth%2Faccount") {
		t.Errorf("a browser is sent to %s", r.Redirect)
	}
	if page := string(b.open("account").Body); !strings.Contains(page, "sign in again before") {
		t.Error("the page does not say that a change will ask")
	}
	b.fine(b.call("account/end", url.Values{"session": {"others"}}), http.StatusOK)
	b.signIn(ada)
	b.fine(b.call("account/unlink", account), http.StatusOK)

	s.wait(61 * time.Minute)
	b.refused(b.call("account/end", url.Values{"session": {"others"}}), 401, "reauth_required")
}

// TestFreshByDefault: by default, changes require a sign-in within 15 minutes.
func TestFreshByDefault(t *testing.T) {
	s := newSite(t, setup{})
	s.link("ada", "hub", "ada-2")
	b := s.as(ada)
	accounts := b.overview().Accounts
	s.wait(15 * time.Minute)
	b.fine(b.call("account/unlink", url.Values{"account": {accounts[0].ID}}), http.StatusOK)
	s.wait(time.Second)
	b.refused(b.call("account/unlink", url.Values{"account": {accounts[1].ID}}), 401, "reauth_required")
}
