package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
)

const phrase = "delete my account"

// TestDelete: deletion removes the user and all data, ends all sessions and sends an email.
func TestDelete(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			var asked []string
			s := newSite(t, setup{configure: configure, options: account.Options{
				Delete: func(_ context.Context, u *core.User) error { asked = append(asked, u.ID); return nil },
			}})
			b, phone, other := s.as(ada), s.as(ada), s.as(eve)
			for _, wrong := range []string{"", "delete", "delete my accounts", "löschen"} {
				b.refused(b.call("account/delete", url.Values{"phrase": {wrong}}), 400, "phrase_wrong")
			}
			if len(asked) != 0 {
				t.Fatal("Options.Delete was called before the phrase was right")
			}
			r := b.post("account/delete", url.Values{"phrase": {" Delete  my account "}})
			b.fine(r, http.StatusOK)
			if !strings.Contains(string(r.Body), "Account deleted") || !slices.Equal(asked, []string{"ada"}) {
				t.Errorf("asked for %q, the page is\n%s", asked, r.Body)
			}
			if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the user is still there: %v", err)
			}
			if left, err := s.store.UserRecords(t.Context(), "ada", ""); err != nil || len(left) != 0 {
				t.Errorf("%d records are left, %v", len(left), err)
			}
			if b.signedIn() || phone.signedIn() || !other.signedIn() {
				t.Error("the wrong browsers are signed in")
			}
			if m := s.mail(ada); m.Kind != mailkind.Deleted || m.URL != "" || m.Email.Peer.String() != "192.0.2.7/32" {
				t.Errorf("the email is %s with %q, from %s", m.Kind, m.URL, m.Email.Peer)
			}
			if told := s.told(); !slices.Contains(told, "user.deleted ok ada") {
				t.Errorf("audit events %q", told)
			}
		})
	}
}

// TestDeleteRefused: the application can reject a deletion, with or without a reason for the user.
func TestDeleteRefused(t *testing.T) {
	for _, row := range []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"with a reason", &core.Problem{Status: 409, Code: "open_invoice", Detail: "Pay first."}, 409, "open_invoice"},
		{"a failure", errors.New("connection refused"), 500, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, setup{options: account.Options{
				Delete: func(context.Context, *core.User) error { return row.err },
			}})
			b := s.as(ada)
			r := b.call("account/delete", url.Values{"phrase": {phrase}})
			if row.code != "" {
				b.refused(r, row.status, row.code)
			} else if r.Status != row.status || strings.Contains(string(r.Body), "refused") {
				t.Errorf("answered %d %s", r.Status, r.Body)
			}
			if s.user("ada").Email != ada || !b.signedIn() {
				t.Error("something was deleted")
			}
		})
	}
}

// TestDeleteNeedsARecentSignIn: deletion requires a recent sign-in, and Options.Delete.
func TestDeleteNeedsARecentSignIn(t *testing.T) {
	s := newSite(t, setup{options: account.Options{Delete: func(context.Context, *core.User) error { return nil }}})
	b := s.as(ada)
	s.wait(16 * time.Minute)
	b.refused(b.call("account/delete", url.Values{"phrase": {phrase}}), 401, "reauth_required")

	off := newSite(t, setup{})
	if r := off.as(ada).call("account/delete", url.Values{"phrase": {phrase}}); r.Status != http.StatusNotFound {
		t.Errorf("answered %d", r.Status)
	}
}

// TestDeleteEndsLateSessions: a session that starts after the user's sessions were ended, but before the user is
// deleted, ends too.
func TestDeleteEndsLateSessions(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			var s *site
			var late *browser
			s = newSite(t, setup{
				options: account.Options{Delete: func(context.Context, *core.User) error { return nil }},
				configure: func(c *core.Config) {
					configure(c)
					c.Audit = func(_ context.Context, e audit.Event) {
						if e.Name == audit.SessionsEnded && late == nil {
							late = s.as(ada)
						}
					}
				},
			})
			b := s.as(ada)
			b.fine(b.post("account/delete", url.Values{"phrase": {phrase}}), http.StatusOK)
			if late == nil || late.signedIn() {
				t.Error("a session of the deleted user continues")
			}
		})
	}
}
