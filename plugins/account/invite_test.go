package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/internal/flaky"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestInvite: an invitation sends an email and allows an address to sign up, until it is used or expires.
func TestInvite(t *testing.T) {
	s := newSite(t, setup{})
	ctx := t.Context()
	if _, err := s.mine.Invitation(ctx, "zoe@example.com"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	s.must(s.mine.Invite(ctx, account.Invitation{Email: "Zoe@Example.com", Data: json.RawMessage(`{"team":1}`)}))
	m := s.mail("zoe@example.com")
	if m.Kind != mailkind.Invite || m.URL != origin+"/auth/signin" || m.Host != "app.example" {
		t.Errorf("the email is %+v", m)
	}
	i, err := s.mine.Invitation(ctx, " zoe@example.COM")
	s.must(err)
	if string(i.Data) != `{"team":1}` || i.For != 7*24*time.Hour {
		t.Errorf("the invitation is %+v", i)
	}
	s.must(s.mine.Invite(ctx, account.Invitation{
		Email: "zoe@example.com", Data: json.RawMessage(`{"team":2}`), For: time.Hour,
	}))
	if i, err = s.mine.Invitation(ctx, "zoe@example.com"); err != nil || string(i.Data) != `{"team":2}` {
		t.Errorf("the second invitation: %+v, %v", i, err)
	}
	s.wait(time.Hour)
	if _, err := s.mine.Invitation(ctx, "zoe@example.com"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("after it has expired: %v", err)
	}
}

// TestInvalidInvitations: errors describe what is wrong with an invitation.
func TestInvalidInvitations(t *testing.T) {
	s := newSite(t, setup{})
	for name, row := range map[string]struct {
		invitation account.Invitation
		says       string
	}{
		"no address": {account.Invitation{}, "Invitation.Email"},
		"no JSON":    {account.Invitation{Email: ada, Data: []byte("{")}, "Invitation.Data"},
		"too much":   {account.Invitation{Email: ada, Data: []byte(`"` + strings.Repeat("a", 5000) + `"`)}, "4096 bytes"},
	} {
		if err := s.mine.Invite(t.Context(), row.invitation); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.sent()); n != 0 {
		t.Errorf("%d emails were sent", n)
	}
}

// TestInvitationIsUsedUp: the user who is created with the address uses the invitation, with any sign-in method.
func TestInvitationIsUsedUp(t *testing.T) {
	s := newSite(t, setup{})
	s.must(s.mine.Invite(t.Context(), account.Invitation{Email: "zoe@example.com"}))
	b := s.browse()
	b.post("signin/email", map[string][]string{"email": {"zoe@example.com"}})
	link := s.mail("zoe@example.com").URL
	r := b.open(strings.TrimPrefix(link, origin+"/auth/"))
	if r.Err != nil || !b.signedIn() {
		t.Fatalf("the link is answered %d, %v", r.Status, r.Err)
	}
	if _, err := s.mine.Invitation(t.Context(), "zoe@example.com"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the invitation is still there: %v", err)
	}
}

// TestInvitationIsUsedUpLater: a user who exists before the first sign-in uses the invitation too. Such users sign up
// with a password, or their first sign-in failed after the user was created.
func TestInvitationIsUsedUpLater(t *testing.T) {
	s := newSite(t, setup{})
	s.must(s.mine.Invite(t.Context(), account.Invitation{Email: ada}))
	if b := s.as(ada); !b.signedIn() {
		t.Fatal("not signed in")
	}
	if _, err := s.mine.Invitation(t.Context(), ada); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the invitation is still there: %v", err)
	}
}

// TestInvitationSurvivesOtherUsers: an attacker who signs up with the invited address, in a profile that its provider
// does not vouch for, does not use the invitation.
func TestInvitationSurvivesOtherUsers(t *testing.T) {
	for name, row := range map[string]struct {
		vouched string
		used    bool
	}{
		"nobody vouches": {"", false}, "for another address": {ada, false}, "the provider vouches": {"zoe@example.com", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(
				t,
				setup{configure: func(c *core.Config) { c.Plugins = append(c.Plugins, hubOf{c.Store, row.vouched}) }},
			)
			s.must(s.mine.Invite(t.Context(), account.Invitation{Email: "zoe@example.com"}))
			stranger := s.browse()
			if r := stranger.post("come-in", nil); r.Err != nil || !stranger.signedIn() {
				t.Fatalf("the sign-up is answered %d, %v", r.Status, r.Err)
			}
			_, err := s.mine.Invitation(t.Context(), "zoe@example.com")
			if (err != nil) != row.used || err != nil && !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the invitation: %v", err)
			}
		})
	}
}

// hubOf signs up a user with an address that the provider hub vouches for.
type hubOf struct {
	users   core.Store
	vouched string
}

func (p hubOf) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{Method: "POST", Name: "come-in", Handle: func(
		ctx context.Context, c *core.ActionRequest,
	) (*core.Response, error) {
		u, err := p.users.CreateUser(ctx, &core.User{ID: "new", Email: "zoe@example.com"})
		if err != nil {
			return nil, err
		}
		hub := &core.Account{
			UserID: u.ID, Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "9", VerifiedEmail: p.vouched,
		}
		if err := p.users.LinkAccount(ctx, hub); err != nil {
			return nil, err
		}
		return c.SignIn(ctx, core.SignIn{User: u, Created: true})
	}})
	return nil
}

// TestInvitationAfterFailure: if the new invitation of an address cannot be stored, the earlier one is still valid.
func TestInvitationAfterFailure(t *testing.T) {
	f := &flaky.Failing{}
	s := newSite(t, setup{configure: func(c *core.Config) { f.Store = c.Store.(*memory.Store); c.Store = f }})
	s.must(s.mine.Invite(t.Context(), account.Invitation{Email: "zoe@example.com"}))
	f.Fail = func(call string) bool { return call == "CreateRecord invite" || call == "UpdateRecord invite" }
	if err := s.mine.Invite(t.Context(), account.Invitation{Email: "zoe@example.com"}); err == nil {
		t.Error("no error")
	}
	f.Fail = nil
	if _, err := s.mine.Invitation(t.Context(), "zoe@example.com"); err != nil {
		t.Errorf("the earlier invitation: %v", err)
	}
}
