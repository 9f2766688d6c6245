package account_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// withCodes is a site whose emails to a new address have a code.
func withCodes(t *testing.T, configure func(*core.Config)) *site {
	t.Helper()
	return newSite(t, setup{options: account.Options{Code: true}, configure: configure})
}

// code returns the code of the last email to an address.
func (s *site) code(to string) string {
	s.Helper()
	code := s.mail(to).Code
	if len(code) != 6 {
		s.Fatalf("the code is %q", code)
	}
	return code
}

func (b *browser) confirmCode(code string) *core.Response {
	return b.call("account/confirm", url.Values{"code": {code}})
}

// wrong returns another code.
func wrong(code string) string {
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

// TestChangeByCode: the code changes the address like the link, once, in the session that asked.
func TestChangeByCode(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := withCodes(t, configure)
			b, phone, attacker := s.as(ada), s.as(ada), s.as(eve)
			token := b.askFor(adaNew)
			code := s.code(adaNew)
			for cookie, value := range b.cookies {
				if strings.Contains(cookie, "code-") {
					attacker.cookies[cookie] = value
				}
			}
			phone.refused(phone.confirmCode(code), 401, "code_expired")
			b.refused(b.confirmCode(wrong(code)), 401, "code_wrong")
			b.refused(b.confirmCode(""), 401, "code_wrong")
			b.fine(b.confirmCode(code), http.StatusOK)
			if u := s.user("ada"); u.Email != adaNew || !u.EmailVerified.Equal(s.clock()) {
				t.Errorf("the user is %s, verified %v", u.Email, u.EmailVerified)
			}
			b.refused(b.confirmCode(code), 401, "code_expired")
			b.refused(b.confirm(token), 410, "link_invalid")
			attacker.refused(attacker.confirmCode(code), 401, "code_expired")
			if undo := s.mail(ada); undo.Kind != mailkind.AddressChanged || undo.Code != "" {
				t.Errorf("the old address got %s with the code %q", undo.Kind, undo.Code)
			}
			told := s.told()
			for _, want := range []string{"email.changed refused ada", "email.changed ok ada"} {
				if !slices.Contains(told, want) {
					t.Errorf("not audited: %s in %v", want, told)
				}
			}
			if strings.Contains(s.log.String(), code) {
				t.Error("the log has the code")
			}
		})
	}
}

// TestChangeCodeOfAnotherSession: the cookie of a code does not work in another session, also of the same user.
func TestChangeCodeOfAnotherSession(t *testing.T) {
	for _, other := range []string{ada, eve} {
		s := withCodes(t, nil)
		b, thief := s.as(ada), s.as(other)
		b.askFor(adaNew)
		for cookie, value := range b.cookies {
			if strings.Contains(cookie, "code-") {
				thief.cookies[cookie] = value
			}
		}
		thief.refused(thief.confirmCode(s.code(adaNew)), 410, "link_invalid")
		if s.user("ada").Email != ada || s.user("eve").Email != eve {
			t.Errorf("%s changed an address", other)
		}
	}
}

// TestChangeCodePage: the page after the request has an input, the same for an address of another user.
func TestChangeCodePage(t *testing.T) {
	s := withCodes(t, nil)
	for _, address := range []string{adaNew, eve} {
		b := s.as(ada)
		r := b.post("account/email", url.Values{"email": {address}})
		if r.Redirect != origin+"/auth/account/confirm" {
			t.Fatalf("redirected to %s", r.Redirect)
		}
		r = b.post("account/confirm", url.Values{"code": {"12345"}})
		target := strings.TrimPrefix(r.Redirect, origin+"/auth/")
		page := string(b.open(target).Body)
		for _, part := range []string{
			`autocomplete="one-time-code"`, `action="https://app.example/auth/account/confirm"`, "Attempts left: 5.",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %s on %s", address, part, page)
			}
		}
	}
	if m := s.mail(eve); m.Kind != mailkind.Exists || m.Code != "" {
		t.Errorf("the owner of the address got %s with the code %q", m.Kind, m.Code)
	}
	off := newSite(t, setup{})
	b := off.as(ada)
	b.askFor(adaNew)
	if m := off.mail(adaNew); m.Code != "" {
		t.Errorf("a code without the option: %q", m.Code)
	}
	b.refused(b.confirmCode("123456"), 410, "link_invalid")
}

// TestChangeCodeEnds: five tries end a code, and so does a new request. Ten wrong codes end those of the user for all
// addresses, and the link still works.
func TestChangeCodeEnds(t *testing.T) {
	s := withCodes(t, nil)
	b := s.as(ada)
	b.askFor(adaNew)
	old := s.code(adaNew)
	s.wait(time.Minute)
	b.askFor(adaNew)
	code := s.code(adaNew)
	if old != code {
		b.refused(b.confirmCode(old), 401, "code_wrong")
	} else {
		b.refused(b.confirmCode(wrong(code)), 401, "code_wrong")
	}
	for range 4 {
		b.refused(b.confirmCode(wrong(code)), 401, "code_wrong")
	}
	b.refused(b.confirmCode(code), 401, "code_expired")

	b.askFor("third@new.example")
	code = s.code("third@new.example")
	for range 4 {
		b.refused(b.confirmCode(wrong(code)), 401, "code_wrong")
	}
	s.wait(2 * time.Minute)
	token := b.askFor("fourth@new.example")
	b.refused(b.confirmCode(s.code("fourth@new.example")), 429, "too_many")
	b.fine(b.confirm(token), http.StatusOK)
}

// TestCodeAfterFailures is TestLinkAfterFailures with the code in the email.
func TestCodeAfterFailures(t *testing.T) {
	for name, fail := range linkFailures {
		t.Run(name, func(t *testing.T) {
			f := &failures{}
			s := withCodes(t, func(c *core.Config) {
				f.Store = c.Store.(*memory.Store)
				c.Store, c.Plugins = f, append(c.Plugins, f)
			})
			b := s.as(ada)
			b.askFor(adaNew)
			code := s.code(adaNew)
			fail(f)
			if r := b.confirmCode(code); r.Status < 500 || s.user("ada").Email != ada {
				t.Errorf("status %d, the address is %s", r.Status, s.user("ada").Email)
			}
			f.lock, f.event, f.user = nil, nil, nil
			b.fine(b.confirmCode(code), http.StatusOK)
		})
	}
}
