package people_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// flow is a flow whose last request is killed.
type flow struct {
	name string
	// begin runs the flow up to its last request, and returns the browser that sends it.
	begin func(s *site, address string) (*browser, *lastRequest)
	// after checks the stored data and the user's options. The browser has sent the request a second time.
	after func(s *site, b *browser, address string, again *core.Response)
}

// ends are the flows that create or delete something.
var ends = []flow{
	{"a sign-up is confirmed", beginSignUp, afterSignUp},
	{"a new password is chosen", beginReset, afterReset},
	{"an address is changed", beginChange, afterChange},
	{"a change of an address is undone", beginUndo, afterUndo},
	{"a user signs in with an account for the first time", beginAccount, afterAccount},
	{"an account is linked", beginLink, afterLink},
	{"a user signs in with an email link", beginMail, afterMail},
	{"a passkey is registered", beginPasskey, afterPasskey},
	{"a user signs in with a passkey", beginByPasskey, afterByPasskey},
	{"an account is deleted", beginDelete, afterDelete},
	{"an app refreshes its tokens", beginRefresh, afterRefresh},
	{"an API key is replaced", beginRotate, afterRotate},
	{"an organization is created", beginOrganization, afterOrganization},
	{"an invitation is accepted", beginInvitation, afterInvitation},
	{"a request to join is accepted", beginAdmit, afterAdmit},
	{"an organization gets another owner", beginTransfer, afterTransfer},
	{"a member is removed", beginRemove, afterRemove},
	{"a key of an organization is created", beginOrgKey, afterOrgKey},
	{"an organization is deleted", beginOrgDelete, afterOrgDelete},
}

// posting returns the POST of a form.
func (b *browser) posting(path string, fields ...string) *lastRequest {
	form := b.form(fields...)
	r := b.asking("POST", path)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	return &lastRequest{Method: r.Method, Target: r.Target, Header: r.Header, Body: form.Encode()}
}

// opening returns the GET of a link.
func (b *browser) opening(path string) *lastRequest {
	r := b.asking("GET", path)
	r.Header.Set("Accept", "text/html")
	return &lastRequest{Method: r.Method, Target: r.Target, Header: r.Header}
}

// refused checks that the response has this error, on a page or as a status.
func (s *site) refused(r *core.Response, code string) {
	s.Helper()
	if !strings.Contains(string(r.Body)+r.Redirect, code) {
		s.Errorf("answered %d %s %s, want %s", r.Status, r.Redirect, r.Body, code)
	}
}

// in tries to sign in with a password.
func (s *site) in(address, secret string) (*browser, bool) {
	s.Helper()
	b := s.browse()
	b.post(http.StatusFound, "callback/password", "email", address, "password", secret)
	return b, b.signedIn()
}

// user returns the user with an address, or nil.
func (s *site) user(address string) *core.User {
	s.Helper()
	u, err := s.store.UserByEmail(s.Context(), address)
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	check(s.T, err)
	return u
}

// forgets resets a password.
func (s *site) forgets(address, chosen string) {
	s.Helper()
	b := s.browse()
	b.post(http.StatusAccepted, "password/forgot", "email", address)
	b.request("GET", "password/reset?token="+url.QueryEscape(s.token(mailkind.Reset, address)), nil)
	b.post(http.StatusOK, "password/reset", "newPassword", chosen)
}

func beginSignUp(s *site, address string) (*browser, *lastRequest) {
	b := s.browse()
	b.post(http.StatusAccepted, "password/sign-up", "email", address, "password", first)
	return b, b.posting("password/confirm", "token", s.token(mailkind.Verify, address))
}

// afterSignUp: with transactions, the first press of the button creates the complete account. Without them the password
// may be missing, and the user sets it with a password reset.
func afterSignUp(s *site, b *browser, address string, again *core.Response) {
	_, atOnce := s.store.(store.Transactor)
	if b.signedIn() {
		s.browse().signIn(address, first, true)
		return
	}
	s.refused(again, "link_invalid")
	if _, in := s.in(address, first); in {
		return
	}
	switch {
	case atOnce:
		s.Error("the link is used, and there is no account")
	case s.user(address) != nil:
		s.forgets(address, next)
		s.browse().signIn(address, next, true)
	default:
		b, last := beginSignUp(s, address)
		b.keep(s.auth.Handle(s.Context(), last.request()).Cookies)
		if !b.signedIn() {
			s.Error("signing up with the address is no longer possible")
		}
	}
}

// firstHashed is the precomputed hash of first with the site's cost.
const firstHashed = `$argon2id$v=19$m=64,t=2,p=1$HiH7pzj9BO38VYLcN3Kp1A$rCavIUL/wz0ibkcbLfKAKWOYI243CzYtR7EXvLLsEpQ`

func beginReset(s *site, address string) (*browser, *lastRequest) {
	b, u := s.member(address)
	check(s.T, s.passwords.Import(s.Context(), u.ID, firstHashed))
	b.post(http.StatusAccepted, "password/forgot", "email", address)
	b.request("GET", "password/reset?token="+url.QueryEscape(s.token(mailkind.Reset, address)), nil)
	return b, b.posting("password/reset", "newPassword", next)
}

// afterReset: exactly one of the two passwords signs in. With the new one, earlier sessions have ended.
func afterReset(s *site, b *browser, address string, again *core.Response) {
	if again.Status != http.StatusOK {
		s.refused(again, "link_invalid")
	}
	was := b.signedIn()
	_, old := s.in(address, first)
	_, chosen := s.in(address, next)
	switch {
	case old == chosen:
		s.Errorf("the old password works: %v, the new one: %v", old, chosen)
	case chosen && was:
		s.Error("a session has outlived the password")
	case old:
		s.forgets(address, next)
		s.browse().signIn(address, next, true)
	}
}

func beginChange(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	b.post(http.StatusAccepted, "account/email", "email", "new-"+address)
	return b, b.posting("account/confirm", "token", s.token(mailkind.AddressChange, "new-"+address))
}

// afterChange: the user's address is the old or the new one. With the new one, the change can be undone.
func afterChange(s *site, b *browser, address string, again *core.Response) {
	if again.Status != http.StatusOK && again.Status != http.StatusUnauthorized {
		s.refused(again, "link_invalid")
	}
	old, moved := s.user(address), s.user("new-"+address)
	switch {
	case (old == nil) == (moved == nil):
		s.Errorf("the user has the old address: %v, the new one: %v", old != nil, moved != nil)
	case moved != nil:
		ways, err := s.store.(store.RecordStore).UserRecords(s.Context(), moved.ID, "email-undo")
		if err != nil || len(ways) == 0 || moved.EmailVerified.IsZero() {
			s.Errorf("the new address is proved at %v, %d ways back, %v", moved.EmailVerified, len(ways), err)
		}
	default:
		b.post(http.StatusAccepted, "account/email", "email", "new-"+address)
		b.post(http.StatusOK, "account/confirm", "token", s.token(mailkind.AddressChange, "new-"+address))
	}
}

func beginUndo(s *site, address string) (*browser, *lastRequest) {
	b, last := beginChange(s, address)
	r := s.auth.Handle(s.Context(), last.request())
	b.keep(r.Cookies)
	owner := s.browse()
	return owner, owner.posting("account/undo", "token", s.token(mailkind.AddressChanged, address))
}

// afterUndo: the account has the old address again.
func afterUndo(s *site, _ *browser, address string, again *core.Response) {
	if again.Status != http.StatusOK {
		s.refused(again, "link_invalid")
	}
	u := s.user(address)
	if u == nil {
		s.Fatal("the address is not the old one, and the link is used")
	}
	left, err := s.store.(store.SessionLister).Sessions(s.Context(), u.ID)
	if err != nil || len(left) != 0 {
		s.Errorf("%d sessions remain, %v", len(left), err)
	}
}
