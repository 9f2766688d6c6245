package account_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBounces: if emails to the user's address bounce, the page asks the user to verify or to change it. No other
// user sees that, and it ends when the user verifies the address, or after 90 days.
func TestBounces(t *testing.T) {
	for name, end := range map[string]func(b *browser){
		"verified again": func(b *browser) {
			b.fine(b.call("account/email", url.Values{"email": {ada}}), http.StatusAccepted)
			b.fine(b.call("account/confirm", url.Values{"token": {b.tokenIn(b.mail(ada))}}), http.StatusOK)
		},
		"later": func(b *browser) { b.wait(91 * 24 * time.Hour); b.signIn(ada) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{})
			b, other := s.as(ada), s.as(eve)
			b.refused(b.call("account/email", url.Values{"email": {ada}}), http.StatusBadRequest, "email_same")
			for range 2 {
				s.must(s.auth.ReportBounce(t.Context(), "Ada@Example.com"))
			}
			if told := s.told(); !slices.Contains(told, "email.bounced failed ada") {
				t.Errorf("audit events %q", told)
			}
			const hint = "Emails to this address come back."
			page := string(b.open("account").Body)
			if !b.overview().User.EmailBounces || !strings.Contains(page, hint) ||
				!strings.Contains(page, "Send verification email") {
				t.Error("the page does not say that emails come back")
			}
			if other.overview().User.EmailBounces || strings.Contains(string(other.open("account").Body), hint) {
				t.Error("another user is asked")
			}
			end(b)
			if b.overview().User.EmailBounces || strings.Contains(string(b.open("account").Body), hint) {
				t.Error("the page still asks")
			}
		})
	}
}

// TestBouncesOfANewUser: a report about an address without a user is replaced when the address has one.
func TestBouncesOfANewUser(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	s.must(s.auth.ReportBounce(t.Context(), adaNew))
	s.wait(time.Minute)
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if b.overview().User.EmailBounces {
		t.Error("an earlier report is shown")
	}
	s.wait(time.Minute)
	s.must(s.auth.ReportBounce(t.Context(), adaNew))
	if !b.overview().User.EmailBounces {
		t.Error("the new report is not shown")
	}
}

// TestBouncesOfAnEarlierAddress: a report about an address that the user has replaced is not shown.
func TestBouncesOfAnEarlierAddress(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	s.must(s.auth.ReportBounce(t.Context(), ada))
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if b.overview().User.EmailBounces {
		t.Error("the page asks about the new address")
	}

	s = newSite(t, setup{})
	b = s.as(ada)
	s.must(s.auth.ReportBounce(t.Context(), ada))
	u := s.user("ada")
	u.Email, u.EmailVerified = adaNew, time.Time{} // by the application, which has not verified it
	s.must(s.store.UpdateUser(t.Context(), u))
	if b.overview().User.EmailBounces {
		t.Error("the page asks about an address that the application has set")
	}
}
