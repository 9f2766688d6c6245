package password_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// disavowing is a plugin that sends notices, and reverses a change as the account page does for the link "This wasn't
// me".
type disavowing struct {
	links  []core.SecurityNotice // made for emails
	notice core.SecurityNotice   // reversed by the action
	err    error                 // of links
}

func (p *disavowing) Attach(h *core.PluginHost) error {
	h.AddNoticeLink(func(_ context.Context, n core.SecurityNotice) (string, time.Time, error) {
		p.links = append(p.links, n)
		return "toy/not-me?token=1", h.Now().Add(time.Hour), p.err
	})
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "notify",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			c.NotifySecurity(ctx, p.notice)
			return c.JSON(ctx, http.StatusOK, nil), nil
		},
	})
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "reverse",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, nil), c.ReverseNotice(ctx, p.notice)
		},
	})
	return nil
}

// TestDisavowedPassword: the email about a changed password has the link of the account page. Reversing the change
// removes the password that was set then, and no password that is older.
func TestDisavowedPassword(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		kind    mailkind.Kind
		at      time.Duration // of the notice, after the change
		removed bool
	}{
		"the change":     {mailkind.PasswordChanged, 0, true},
		"a later change": {mailkind.PasswordChanged, time.Hour, false},
		"another kind":   {mailkind.PasskeyAdded, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plugin := &disavowing{}
			w := site(t, func(_ *password.Options, c *core.Config) { c.Plugins = append(c.Plugins, plugin) })
			w.signUp(ada, good)
			w.open(w.forgot(ada)).post("password/reset", "newPassword", better)
			l := w.newestEmail(ada, mailkind.PasswordChanged)
			if string(l.URL) != "https://app.test/auth/toy/not-me?token=1" || l.Expires.IsZero() || len(plugin.links) != 1 {
				t.Fatalf("the link is %s, made %d times", string(l.URL), len(plugin.links))
			}
			plugin.notice = plugin.links[0]
			plugin.notice.Kind, plugin.notice.At = row.kind, plugin.notice.At.Add(row.at)
			if r := w.visit().post("toy/reverse"); r.Status != 200 {
				t.Fatalf("answered %d %s", r.Status, r.Body)
			}
			_, err := w.store.Record(t.Context(), "password", w.user(ada).ID)
			if errors.Is(err, core.ErrNotFound) != row.removed {
				t.Errorf("the password: %v, want it removed: %v", err, row.removed)
			}
		})
	}
}

// TestGuessedCodes: the email about guessed codes of a second factor has a link that starts a password reset and works
// for a day. The link of a user without a password is that of other notices.
func TestGuessedCodes(t *testing.T) {
	t.Parallel()
	plugin := &disavowing{}
	w := site(t, func(_ *password.Options, c *core.Config) { c.Plugins = append(c.Plugins, plugin) })
	w.signUp(ada, good)
	plugin.notice = core.SecurityNotice{Kind: mailkind.FactorGuessed, UserID: w.user(ada).ID}
	w.visit().post("toy/notify")
	l := w.newestEmail(ada, mailkind.FactorGuessed)
	_, token, found := strings.Cut(string(l.URL), "https://app.test/auth/password/reset?token=")
	if !found || !l.Expires.Equal(w.Now().Add(24*time.Hour)) || len(plugin.links) != 0 {
		t.Fatalf("the link is %s until %v", string(l.URL), l.Expires)
	}
	w.advance(23 * time.Hour)
	b := w.open(token)
	if r := b.post("password/reset", "newPassword", better); r.Status != http.StatusOK || b.session() != "" {
		t.Errorf("the reset is answered %d %s, session %q", r.Status, r.Body, b.session())
	}
	if w.signIn(ada, good) != "" || w.signIn(ada, better) != ada {
		t.Error("the password is not the new one")
	}
	if r := w.open(token).post("password/reset", "newPassword", evil); r.Status == http.StatusOK {
		t.Error("the link works twice")
	}
	if err := w.provider.Remove(t.Context(), w.user(ada).ID); err != nil {
		t.Fatal(err)
	}
	w.visit().post("toy/notify")
	if l := w.newestEmail(ada, mailkind.FactorGuessed); string(l.URL) != "https://app.test/auth/toy/not-me?token=1" {
		t.Errorf("without a password the link is %s", string(l.URL))
	}
}

// TestDisavowalFails: if the link "This wasn't me" cannot be made, the password stays, and the user can try again.
func TestDisavowalFails(t *testing.T) {
	t.Parallel()
	plugin := &disavowing{err: errEngine}
	w := site(t, func(_ *password.Options, c *core.Config) { c.Plugins = append(c.Plugins, plugin) })
	b := w.signUp(ada, good)
	if r := b.post("password/change", "current", good, "newPassword", better); r.Status < 500 {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	if w.signIn(ada, good) != ada {
		t.Error("the password has changed")
	}
	plugin.err = nil
	says(t, b.post("password/change", "current", good, "newPassword", better), 200, "done")
}
