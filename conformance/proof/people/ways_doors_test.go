package people_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// coming returns the last request of a sign-in at the hub.
func (b *browser) coming(address string) *lastRequest {
	b.Helper()
	r := b.post(http.StatusFound, "signin/hub")
	at, err := url.Parse(r.Redirect)
	check(b.T, err)
	return b.opening("callback/hub?" + url.Values{"code": {address}, "state": {at.Query().Get("state")}}.Encode())
}

func beginAccount(s *site, address string) (*browser, *lastRequest) {
	b := s.browse()
	return b, b.coming(address)
}

// comes signs in with the hub.
func (s *site) comes(address string) (*browser, *core.Response) {
	s.Helper()
	b := s.browse()
	r := s.auth.Handle(s.Context(), b.coming(address).request())
	b.keep(r.Cookies)
	return b, r
}

// afterAccount: there is one user with the account. On a database without transactions, the user may exist without the
// account. Then only the owner of the mailbox can sign in as this user.
func afterAccount(s *site, b *browser, address string, again *core.Response) {
	_, atOnce := s.store.(store.Transactor)
	if b, _ := s.comes(address); b.signedIn() {
		s.same(address, address)
		return
	}
	if s.refused(again, "OAuthAccountNotLinked"); atOnce || b.signedIn() {
		s.Error("the account no longer signs in")
	}
	b, last := beginMail(s, address)
	r := s.auth.Handle(s.Context(), last.request())
	if b.keep(r.Cookies); !b.signedIn() {
		s.Fatalf("nor by mail: %s %v", r.Redirect, r.Err)
	}
	r = s.auth.Handle(s.Context(), b.coming(address).request())
	b.keep(r.Cookies)
	s.same(address, address)
}

// same checks that a hub account belongs to the user with an address.
func (s *site) same(account, address string) {
	s.Helper()
	u, err := s.store.UserByAccount(s.Context(), "hub", account)
	if owner := s.user(address); err != nil || owner == nil || owner.ID != u.ID {
		s.Errorf("the account is that of %v, the address that of %v, %v", u, owner, err)
	}
}

func beginLink(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	return b, b.coming("hub-" + address)
}

func afterLink(s *site, b *browser, address string, _ *core.Response) {
	if !b.signedIn() {
		s.Error("the session has ended")
	}
	if b, _ := s.comes("hub-" + address); b.signedIn() {
		s.same("hub-"+address, address)
		return
	}
	s.Error("the account does not sign in")
}

func beginMail(s *site, address string) (*browser, *lastRequest) {
	b := s.browse()
	b.post(http.StatusFound, "signin/email", "email", address)
	mail, err := s.mails.Wait(s.Context(), address)
	check(s.T, err)
	return b, b.opening(strings.TrimPrefix(mail.URL, origin+"/auth/"))
}

func afterMail(s *site, b *browser, address string, again *core.Response) {
	if !b.signedIn() {
		s.refused(again, "error=Verification")
		var last *lastRequest
		b, last = beginMail(s, address)
		b.keep(s.auth.Handle(s.Context(), last.request()).Cookies)
	}
	if u := s.user(address); !b.signedIn() || u == nil || u.EmailVerified.IsZero() {
		s.Errorf("signed in: %v, as %v", b.signedIn(), u)
	}
}

// passkey returns the last request of a ceremony.
func (b *browser) passkey(action, credential string) *lastRequest {
	b.Helper()
	if r := b.request("GET", "webauthn-options/passkey?action="+action, nil); r.Status != http.StatusOK {
		b.Fatalf("options: %d %s", r.Status, r.Body)
	}
	id := base64.RawURLEncoding.EncodeToString([]byte(credential))
	return b.posting("callback/passkey", "action", action, "data", `{"id":"`+id+`"}`)
}

func beginPasskey(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	return b, b.passkey("register", address)
}

// opens reports whether a passkey signs in.
func (s *site) opens(credential string) bool {
	s.Helper()
	b := s.browse()
	r := s.auth.Handle(s.Context(), b.passkey("authenticate", credential).request())
	if r.Status >= http.StatusInternalServerError {
		s.Errorf("a passkey is answered %d %s: %v", r.Status, r.Body, r.Err)
	}
	b.keep(r.Cookies)
	return b.signedIn()
}

// afterPasskey: the passkey signs in, or another one can be registered in the same session.
func afterPasskey(s *site, b *browser, address string, _ *core.Response) {
	if s.opens(address) {
		return
	}
	r := s.auth.Handle(s.Context(), b.passkey("register", "second "+address).request())
	b.keep(r.Cookies)
	if !s.opens("second " + address) {
		s.Errorf("no passkey can be registered any more: %d %s %v", r.Status, r.Redirect, r.Err)
	}
}

func beginByPasskey(s *site, address string) (*browser, *lastRequest) {
	b, last := beginPasskey(s, address)
	b.keep(s.auth.Handle(s.Context(), last.request()).Cookies)
	b = s.browse()
	return b, b.passkey("authenticate", address)
}

func afterByPasskey(s *site, _ *browser, address string, _ *core.Response) {
	if !s.opens(address) {
		s.Error("the passkey no longer signs in")
	}
}

func beginDelete(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	s.auth.Handle(s.Context(), b.coming(address).request())
	return b, b.posting("account/delete", "phrase", "delete my account")
}

// afterDelete: sessions are deleted before the user. If the account still exists, the user signs in again and presses
// the button. Then all data of the user is deleted, and the address and the account can be used again.
func afterDelete(s *site, b *browser, address string, _ *core.Response) {
	if u := s.user(address); u != nil {
		s.same(address, address)
		if s.comes(address); s.user(address).ID != u.ID {
			s.Error("the account has opened another user")
		}
		var last *lastRequest // a sign-in at the hub may be silent and is not recent enough
		b, last = beginMail(s, address)
		b.keep(s.auth.Handle(s.Context(), last.request()).Cookies)
		b.post(http.StatusOK, "account/delete", "phrase", "delete my account")
	}
	if s.user(address) != nil || b.signedIn() {
		s.Errorf("the user is there: %v, signed in: %v", s.user(address) != nil, b.signedIn())
	}
	b, r := s.comes(address)
	if !b.signedIn() {
		s.Errorf("the account cannot be used again: %s %v", r.Redirect, r.Err)
		return
	}
	s.same(address, address)
}
