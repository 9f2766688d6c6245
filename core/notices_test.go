package core_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// letterBox is a Mailer that keeps emails.
type letterBox struct{ got []core.Email }

func (b *letterBox) Send(_ context.Context, l core.Email) error {
	b.got = append(b.got, l)
	return nil
}

// noticing is a plugin with an action that reports a change of an account.
type noticing struct {
	box    *letterBox
	notice core.SecurityNotice
	host   *core.PluginHost
}

func (p *noticing) Attach(h *core.PluginHost) error {
	p.host = h
	h.NotifyMethodChanges("toy", p.box)
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "change",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			c.NotifySecurity(ctx, p.notice)
			return c.JSON(ctx, http.StatusOK, nil), nil
		},
	})
	return nil
}

// onlyUser is a store with one user.
type onlyUser struct {
	core.Store
	user *core.User
}

func (s onlyUser) User(context.Context, string) (*core.User, error) { return s.user.Clone(), nil }

// TestSecurityNotice: one call emails the user and reports the audit event; an address that is not verified gets no
// email.
func TestSecurityNotice(t *testing.T) {
	verified := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		user    *store.User
		outside bool // reported by the host, outside of a request
		emails  int
	}{
		"verified":             {&store.User{ID: "u1", Email: "ada@example.com", EmailVerified: verified}, false, 1},
		"outside of a request": {&store.User{ID: "u1", Email: "ada@example.com", EmailVerified: verified}, true, 1},
		"not verified":         {&store.User{ID: "u1", Email: "ada@example.com"}, false, 0},
		"no address":           {&store.User{ID: "u1"}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var events []audit.Event
			user := row.user
			plugin := &noticing{box: &letterBox{}, notice: core.SecurityNotice{
				Kind: mailkind.FactorAdded, UserID: user.ID, Audit: audit.Event{Name: audit.FactorAdded},
			}}
			a := newApp(t, core.Config{
				Store: onlyUser{user: user}, Plugins: []core.Plugin{plugin}, URL: "https://app.test",
				Audit: func(_ context.Context, e audit.Event) {
					if e.Name != audit.Config {
						events = append(events, e)
					}
				},
			})
			if row.outside {
				plugin.host.NotifySecurity(t.Context(), plugin.notice)
			} else {
				b := visit(t, a)
				b.header.Set("User-Agent", "Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/133.0")
				b.ask("change", "")
			}
			if err := a.FlushMail(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(plugin.box.got) != row.emails {
				t.Fatalf("%d emails, want %d", len(plugin.box.got), row.emails)
			}
			if len(events) != 1 || events[0].Name != audit.FactorAdded || events[0].UserID != user.ID ||
				events[0].Outcome != audit.OK {
				t.Errorf("events %+v", events)
			}
			if row.emails == 0 {
				return
			}
			l, device := plugin.box.got[0], "Firefox, Windows"
			if row.outside {
				device = ""
			}
			if l.To != row.user.Email || l.Kind != mailkind.FactorAdded || l.Device != device || l.At.IsZero() ||
				l.Host != "app.test" || (l.Request == nil) != row.outside || l.URL == "" {
				t.Errorf("email to %s, device %q, host %q, URL %q", l.To, l.Device, l.Host, string(l.URL))
			}
		})
	}
}
