package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const adaNew = "ada@new.example"

// askFor requests an email change and returns the token that was sent to the new address.
func (b *browser) askFor(address string) string {
	b.Helper()
	b.fine(b.call("account/email", url.Values{"email": {address}}), http.StatusAccepted)
	m := b.mail(strings.ToLower(address))
	if m.Kind != mailkind.AddressChange {
		b.Fatalf("%s got an email of kind %s", address, m.Kind)
	}
	return b.tokenIn(m)
}

func (b *browser) confirm(token string) *core.Response {
	return b.call("account/confirm", url.Values{"token": {token}})
}

// TestChangeOfAddress: the new address is verified in the same session before it is written, and the owner of the old
// address can undo the change.
func TestChangeOfAddress(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: configure})
			b, phone := s.as(ada), s.as(ada)
			token := b.askFor("Ada@New.example")
			if got := s.user("ada").Email; got != ada {
				t.Fatalf("the address is %s before it was verified", got)
			}
			page := b.open("account/confirm?token=" + token)
			if page.Status != http.StatusOK || !strings.Contains(string(page.Body), adaNew) || s.user("ada").Email != ada {
				t.Fatalf("the link's page: %d", page.Status)
			}
			b.fine(b.confirm(token), http.StatusOK)
			if u := s.user("ada"); u.Email != adaNew || !u.EmailVerified.Equal(s.clock()) {
				t.Errorf("the user is %s, verified %v", u.Email, u.EmailVerified)
			}
			if !strings.Contains(string(b.ask("session").Body), adaNew) {
				t.Errorf("the session shows %s", b.ask("session").Body)
			}
			b.refused(b.confirm(token), 410, "link_invalid")

			undo := s.mail(ada)
			if undo.Kind != mailkind.AddressChanged || !undo.Expires.Equal(s.clock().Add(7*24*time.Hour)) {
				t.Errorf("the old address got %s until %s", undo.Kind, undo.Expires)
			}
			s.wait(7*24*time.Hour - time.Second)
			b.signIn(adaNew)
			phone.signIn(adaNew)
			owner := s.browse() // not signed in
			back := s.tokenIn(undo)
			owner.fine(owner.open("account/undo?token="+back), http.StatusOK)
			if s.user("ada").Email != adaNew {
				t.Error("opening the link has changed something")
			}
			owner.fine(owner.call("account/undo", url.Values{"token": {back}}), http.StatusOK)
			if s.user("ada").Email != ada || b.signedIn() || phone.signedIn() {
				t.Error("the change is not undone, or a session is still valid")
			}
			owner.refused(owner.call("account/undo", url.Values{"token": {back}}), 410, "link_invalid")
			want := []string{"email.change.asked ok ada", "email.changed ok ada", "email.undone ok ada"}
			told := s.told()
			for _, w := range want {
				if !slices.Contains(told, w) {
					t.Errorf("audit events %q, want %q", told, w)
				}
			}
		})
	}
}

// TestLinksOfOtherUsers: a link verifies an address only in the session that requested it.
func TestLinksOfOtherUsers(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	token := b.askFor(adaNew)
	for name, other := range map[string]*browser{
		"the same user elsewhere": s.as(ada), "another user": s.as(eve),
	} {
		other.refused(other.confirm(token), 410, "link_invalid")
		if r := other.ask("account/confirm?token=" + token); r.Status != http.StatusGone {
			t.Errorf("%s: the page is answered %d", name, r.Status)
		}
	}
	nobody := s.browse()
	if r := nobody.confirm(token); r.Status != http.StatusUnauthorized {
		t.Errorf("without a session: status %d", r.Status)
	}
	for _, wrong := range []string{"", "x", strings.Repeat("x", 10_000), token + "x", token[1:], "a\x00b"} {
		b.refused(b.confirm(wrong), 410, "link_invalid")
	}
	undo := url.Values{"token": {token}} // a token for another purpose
	b.refused(b.call("account/undo", undo), 410, "link_invalid")
	if s.user("ada").Email != ada {
		t.Fatal("the address has changed")
	}
	b.fine(b.confirm(token), http.StatusOK) // the other attempts have not used up the link
	b.refused(b.confirm(s.tokenIn(s.mail(ada))), 410, "link_invalid")
}

// TestTakenAddress: if the address belongs to another user, only that user learns about it.
func TestTakenAddress(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	free := b.call("account/email", url.Values{"email": {adaNew}})
	taken := b.call("account/email", url.Values{"email": {eve}})
	if free.Status != taken.Status || string(free.Body) != string(taken.Body) {
		t.Errorf("free is answered %d %s, taken %d %s", free.Status, free.Body, taken.Status, taken.Body)
	}
	if m := s.mail(eve); m.Kind != mailkind.Exists || strings.Contains(m.URL, "token") {
		t.Errorf("the owner got %s with %s", m.Kind, m.URL)
	}
	// Another user gets the address before the confirmation. The store decides.
	token := s.tokenIn(s.mail(adaNew))
	s.must(s.store.CreateUser(t.Context(), &core.User{ID: "late", Email: adaNew}))
	b.refused(b.confirm(token), 410, "link_invalid")
	if s.user("ada").Email != ada {
		t.Error("the address has changed")
	}
}

// TestInvalidAddresses: invalid addresses are rejected before an email is sent.
func TestInvalidAddresses(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	for value, code := range map[string]string{
		"": "email_invalid", "nobody": "email_invalid", "a@b@c": "email_invalid", "\xff@example.com": "email_invalid",
		"a\x00@example.com": "email_invalid", strings.Repeat("a", 500) + "@example.com": "email_invalid",
		"a@example.com\r\nBcc: eve@example.com": "email_invalid", " ADA@example.com ": "email_same",
	} {
		b.refused(b.call("account/email", url.Values{"email": {value}}), 400, code)
	}
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d emails were sent", n)
	}
}

// TestLinksExpire: links to the new address expire after a day, links to the old one after seven days.
func TestLinksExpire(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	token := b.askFor(adaNew)
	s.wait(24 * time.Hour)
	b.refused(b.confirm(token), 410, "link_invalid")
	b.signIn(ada)
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	undo := s.tokenIn(s.mail(ada))
	s.wait(7 * 24 * time.Hour)
	if r := s.browse().ask("account/undo?token=" + undo); r.Status != http.StatusGone {
		t.Errorf("answered %d", r.Status)
	}
}

// TestAttackerChangesTheAddressTwice: after several changes, the owner of the first address can still undo them, and
// the owners of the addresses in between cannot.
func TestAttackerChangesTheAddressTwice(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	b.fine(b.confirm(b.askFor("first@evil.example")), http.StatusOK)
	owners := s.tokenIn(s.mail(ada))
	s.wait(time.Minute)
	b.signIn("first@evil.example")
	b.fine(b.confirm(b.askFor("second@evil.example")), http.StatusOK)
	evils := s.tokenIn(s.mail("first@evil.example"))
	b.signIn("second@evil.example")
	pending := b.askFor("third@evil.example")
	s.must(s.store.CreateRecord(t.Context(), &store.Record{Kind: "reset", Key: "k", UserID: "ada", Value: []byte(`{}`)}))

	owner := s.browse()
	owner.fine(owner.call("account/undo", url.Values{"token": {owners}}), http.StatusOK)
	owner.refused(owner.call("account/undo", url.Values{"token": {evils}}), 410, "link_invalid")
	b.signIn(ada) // the attacker still knows the password
	b.refused(b.confirm(pending), 410, "link_invalid")
	if s.user("ada").Email != ada {
		t.Errorf("the address is %s", s.user("ada").Email)
	}
	if left, err := s.store.UserRecords(t.Context(), "ada", "reset"); err != nil || len(left) != 0 {
		t.Errorf("%d links that choose a password are left, %v", len(left), err)
	}
}

// TestEmailsOfOneUserAreLimited: one user can send only a few emails to other people's addresses, from any number of
// networks. A day later the user can change the address again.
func TestEmailsOfOneUserAreLimited(t *testing.T) {
	s := newSite(t, setup{configure: func(c *core.Config) { c.InsecureNoLimits = true }})
	b := s.as(ada)
	for i := range 40 {
		r := b.call("account/email", url.Values{"email": {fmt.Sprintf("stranger-%d@example.com", i)}})
		if i < 10 {
			b.fine(r, http.StatusAccepted)
		} else {
			b.refused(r, http.StatusTooManyRequests, "too_many")
		}
	}
	if n := len(s.sent()); n != 10 {
		t.Errorf("%d emails", n)
	}
	other := s.as(eve)
	other.fine(other.call("account/email", url.Values{"email": {"eve@new.example"}}), http.StatusAccepted)
	s.wait(24 * time.Hour)
	b.signIn(ada)
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
}

// TestRaces: of fifty concurrent requests with one link, one makes the change.
func TestRaces(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	race := func(path, token string) (won int) {
		b.ask("csrf")
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				racer := &browser{site: s, cookies: map[string]string{}, agent: b.agent}
				mu.Lock()
				for name, value := range b.cookies {
					racer.cookies[name] = value
				}
				mu.Unlock()
				r := racer.call(path, url.Values{"token": {token}})
				mu.Lock()
				defer mu.Unlock()
				if r.Status == http.StatusOK {
					won++
				} else if r.Status != http.StatusGone && r.Status != http.StatusUnauthorized {
					// A request after the successful one has the token that was replaced.
					t.Errorf("answered %d %s %v", r.Status, r.Body, r.Err)
				}
			})
		}
		all.Wait()
		return won
	}
	if won := race("account/confirm", b.askFor(adaNew)); won != 1 {
		t.Errorf("%d changed the address", won)
	}
	letters := 0
	for _, m := range s.sent() {
		if m.To == ada {
			letters++
		}
	}
	if letters != 1 {
		t.Errorf("the old address got %d emails", letters)
	}
	if won := race("account/undo", s.tokenIn(s.mail(ada))); won != 1 {
		t.Errorf("%d undid it", won)
	}
}

// linkFailures are failures while an address is confirmed: the account cannot be locked, a plugin cannot store the
// event, or the user cannot be written.
var linkFailures = map[string]func(f *failures){
	"lock":         func(f *failures) { f.lock = core.ErrStoreUnavailable },
	"announcement": func(f *failures) { f.event = core.ErrStoreUnavailable },
	"user":         func(f *failures) { f.user = core.ErrStoreUnavailable },
}

// TestLinkAfterFailures: the address does not change if a step fails, and the link works afterwards.
func TestLinkAfterFailures(t *testing.T) {
	for name, fail := range linkFailures {
		t.Run(name, func(t *testing.T) {
			f := &failures{}
			s := newSite(t, setup{configure: func(c *core.Config) {
				f.Store = c.Store.(*memory.Store)
				c.Store, c.Plugins = f, append(c.Plugins, f)
			}})
			b := s.as(ada)
			token := b.askFor(adaNew)
			fail(f)
			if r := b.confirm(token); r.Status < 500 || s.user("ada").Email != ada {
				t.Errorf("status %d, the address is %s", r.Status, s.user("ada").Email)
			}
			f.lock, f.event, f.user = nil, nil, nil
			b.fine(b.confirm(token), http.StatusOK)
		})
	}
}

// TestLinkDeletedMeanwhile: a link that an undo deletes while the confirmation waits for the account's lock does not
// change the address.
func TestLinkDeletedMeanwhile(t *testing.T) {
	f := &failures{}
	s := newSite(t, setup{configure: func(c *core.Config) {
		f.Store = c.Store.(*memory.Store)
		c.Store = f
	}})
	b := s.as(ada)
	token := b.askFor(adaNew)
	f.waited = func() {
		if n, err := f.DeleteUserRecords(t.Context(), "ada", "email-change"); n != 1 || err != nil {
			t.Errorf("%d links deleted, %v", n, err)
		}
	}
	b.refused(b.confirm(token), 410, "link_invalid")
	if s.user("ada").Email != ada {
		t.Errorf("the address is %s", s.user("ada").Email)
	}
}

// failures is a store, and a plugin that stores events, whose methods return these errors.
type failures struct {
	*memory.Store
	lock, event, user error
	// waited is called when the account is locked. It may be nil.
	waited func()
}

func (f *failures) CreateRecord(ctx context.Context, r *store.Record) error {
	if f.lock != nil && r.Kind == "account-lock" {
		return f.lock
	}
	if f.waited != nil && r.Kind == "account-lock" {
		f.waited()
	}
	return f.Store.CreateRecord(ctx, r)
}

func (f *failures) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	if f.user != nil {
		return nil, f.user
	}
	return f.Store.UpdateUser(ctx, u)
}

func (f *failures) Attach(h *core.PluginHost) error {
	h.OnAnnounce(func(context.Context, store.RecordStore, audit.Event) (context.Context, func(unknown bool), error) {
		return nil, nil, f.event
	})
	return nil
}

// failingMailer fails to send every email.
type failingMailer struct{}

func (failingMailer) Send(context.Context, core.Email) error {
	return errors.New("smtp: 421 5ecret-token")
}

// TestMailThatFails: the user is asked to try again, and the response does not contain the cause.
func TestMailThatFails(t *testing.T) {
	s := newSite(t, setup{mails: failingMailer{}})
	b := s.as(ada)
	r := b.call("account/email", url.Values{"email": {adaNew}})
	b.refused(r, 503, "mail_failed")
	if strings.Contains(string(r.Body), "421") {
		t.Errorf("the response is %s", r.Body)
	}
}

// TestNoAddressBefore: a user without an address adds one, and no email is sent to an old address.
func TestNoAddressBefore(t *testing.T) {
	s := newSite(t, setup{})
	u := s.user("ada")
	b := s.as(ada)
	u.Email, u.EmailVerified = "", time.Time{}
	s.must(s.store.UpdateUser(t.Context(), u))
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if got := s.user("ada"); got.Email != adaNew || got.EmailVerified.IsZero() {
		t.Errorf("the user has %s", got.Email)
	}
	if n := len(s.sent()); n != 1 {
		t.Errorf("%d emails", n)
	}
}

// TestNothingSecretIsLogged: neither the log nor the audit log contains links or addresses.
func TestNothingSecretIsLogged(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	token := b.askFor(adaNew)
	b.confirm(token)
	undo := s.tokenIn(s.mail(ada))
	b.call("account/undo", url.Values{"token": {undo}})
	b.call("account/undo", url.Values{"token": {undo}})
	s.mu.Lock()
	everything := s.log.String() + fmt.Sprintf("%+v", s.audit)
	s.mu.Unlock()
	for _, secret := range []string{token, undo, ada, adaNew} {
		if strings.Contains(everything, secret) {
			t.Errorf("%q is in\n%s", secret, everything)
		}
	}
}

// TestFirstVerification: the session that verifies an address continues, even if it started before the user had a
// verified one.
func TestFirstVerification(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: configure})
			u := s.user("ada")
			u.EmailVerified = time.Time{}
			s.must(s.store.UpdateUser(t.Context(), u))
			s.must(s.store.LinkAccount(t.Context(), &core.Account{ // so that an undo link is sent
				UserID: "ada", Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "7", VerifiedEmail: ada,
			}))
			b := s.as(ada)
			token := b.askFor(adaNew)
			s.wait(time.Minute)
			b.fine(b.confirm(token), http.StatusOK)
			if !strings.Contains(string(b.ask("session").Body), adaNew) {
				t.Errorf("the session is %s", b.ask("session").Body)
			}
			undo := s.browse()
			undo.fine(undo.call("account/undo", url.Values{"token": {s.tokenIn(s.mail(ada))}}), http.StatusOK)
			if u := s.user("ada"); u.Email != ada || !u.EmailVerified.IsZero() {
				t.Errorf("the user has %s, verified %v", u.Email, u.EmailVerified)
			}
		})
	}
}

// TestAddressChangedConcurrently: a link is valid only while the user has the address at the time of the request, and a
// change voids the links to the old address.
func TestAddressChangedConcurrently(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	token, second := b.askFor(adaNew), b.askFor("ada@other.example")
	u := s.user("ada")
	u.Email = "ada@moved.example" // changed by the application
	s.must(s.store.UpdateUser(t.Context(), u))
	b.refused(b.confirm(token), 410, "link_invalid")

	u.Email = ada
	s.must(s.store.UpdateUser(t.Context(), u))
	s.must(s.store.CreateRecord(t.Context(), &store.Record{Kind: "reset", Key: "k", UserID: "ada", Value: []byte(`{}`)}))
	b.fine(b.confirm(second), http.StatusOK)
	if left, err := s.store.UserRecords(t.Context(), "ada", "reset"); err != nil || len(left) != 0 {
		t.Errorf("%d links that choose a password are left, %v", len(left), err)
	}
}

// TestVerifyOwnAddress: an email claim that the application sets in its tokens is not overwritten.
func TestVerifyOwnAddress(t *testing.T) {
	s := newSite(t, setup{configure: func(c *core.Config) {
		strategies["jwt"](c)
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			p.Token.Email = "a***@example.com"
			return p.Token, nil
		}
	}})
	b := s.as(ada)
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if body := string(b.ask("session").Body); !strings.Contains(body, "a***@example.com") {
		t.Errorf("the session is %s", body)
	}
}

// TestEmailsAreCounted: repeated requests cannot flood a mailbox.
func TestEmailsAreCounted(t *testing.T) {
	s := newSite(t, setup{})
	b, sent := s.as(ada), 0
	for range 30 {
		if r := b.call("account/email", url.Values{"email": {"ada@elsewhere.example"}}); r.Status == http.StatusAccepted {
			sent++
		}
	}
	if sent == 0 || sent > 10 {
		t.Errorf("%d emails were sent", sent)
	}
}

// TestNewAddressIsNoRecentSignIn: confirming an address that was requested long ago does not count as a recent sign-in.
// An attacker may use the session by then.
func TestNewAddressIsNoRecentSignIn(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: configure})
			b := s.as(ada)
			token := b.askFor(adaNew)
			s.wait(time.Hour)
			b.fine(b.confirm(token), http.StatusOK)
			if !strings.Contains(string(b.ask("session").Body), adaNew) {
				t.Error("the session shows the old address")
			}
			r := b.call("account/email", url.Values{"email": {"eve@elsewhere.example"}})
			b.refused(r, http.StatusUnauthorized, "reauth_required")
		})
	}
}
