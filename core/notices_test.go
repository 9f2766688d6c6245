package core_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
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
	change func(ctx context.Context) error // if not nil, the notice is stored before it
	host   *core.PluginHost
}

func (p *noticing) Attach(h *core.PluginHost) error {
	p.host = h
	h.NotifyMethodChanges("toy", p.box)
	h.AddPasswordReset(nil, func(context.Context, string) (string, time.Time, error) {
		return "toy/reset?token=secret", time.Time{}, nil
	})
	h.AddAction(core.Action{
		Method: "POST", Name: "toy", Verb: "change",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			if p.change != nil {
				if err := c.NotifyChange(ctx, p.notice, p.change); err != nil {
					return nil, err
				}
				return c.JSON(ctx, http.StatusOK, nil), nil
			}
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

// noticeStore contains a user, accounts, and records that can be listed.
type noticeStore struct {
	listed
	store.AccountStore
	user     *core.User
	accounts []*store.Account
}

func (s *noticeStore) User(context.Context, string) (*core.User, error) { return s.user.Clone(), nil }

func (s *noticeStore) Accounts(context.Context, string) ([]*store.Account, error) {
	return s.accounts, nil
}

// TestNotifyChange: a notice is stored before its change. If the change fails, no email is sent. If the process ends
// after the change, another process sends the email; it finds out whether a sign-in method was added.
func TestNotifyChange(t *testing.T) {
	refused := &core.Problem{Status: http.StatusConflict, Code: "conflict"}
	lost := errors.New("the connection to the store broke off")
	account := &store.Account{Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "1"}
	for name, row := range map[string]struct {
		kind   mailkind.Kind
		result error
		made   bool // the account is there
		ends   bool // the process ends within the change
		sent   int
		later  int // sent by another process
	}{
		"made":                           {mailkind.FactorAdded, nil, true, false, 1, 0},
		"refused":                        {mailkind.FactorAdded, refused, false, false, 0, 0},
		"failed":                         {mailkind.FactorAdded, lost, false, false, 0, 0},
		"the process ends":               {mailkind.FactorAdded, nil, true, true, 0, 1},
		"an account, made":               {mailkind.AccountLinked, nil, true, false, 1, 0},
		"an account, refused":            {mailkind.AccountLinked, refused, false, false, 0, 0},
		"an account, failed, not linked": {mailkind.AccountLinked, lost, false, false, 0, 0},
		"an account, failed, but linked": {mailkind.AccountLinked, lost, true, false, 0, 1},
		"an account, ends, not linked":   {mailkind.AccountLinked, nil, false, true, 0, 0},
		"an account, ends, but linked":   {mailkind.AccountLinked, nil, true, true, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
				kept := &noticeStore{listed: listed{newShelf()}, user: &core.User{
					ID: "u1", Email: "ada@example.com", EmailVerified: clock,
				}}
				open := func() (*app, *noticing) {
					p := &noticing{box: &letterBox{}, notice: core.SecurityNotice{Kind: row.kind, UserID: "u1", Provider: "hub"}}
					return newApp(t, core.Config{
						Store: kept, Plugins: []core.Plugin{p}, URL: "https://app.test", CleanUp: core.False,
						Now: func() time.Time { return clock }, Session: core.SessionConfig{Strategy: core.StrategyJWT},
					}), p
				}
				a, p := open()
				kept.accounts = []*store.Account{account}
				methods, err := p.host.SignInMethods(t.Context(), "u1")
				if err != nil || len(methods) != 1 {
					t.Fatal(methods, err)
				}
				kept.accounts, p.notice.Method = nil, methods[0].ID
				p.change = func(context.Context) error {
					if len(kept.records) != 1 {
						t.Errorf("%d records before the change", len(kept.records))
					}
					if row.made {
						kept.accounts = []*store.Account{account}
					}
					if row.ends {
						panic("the process ends")
					}
					return row.result
				}
				visit(t, a).ask("change", "")
				synctest.Wait()
				check := func(a *app, p *noticing, want int) {
					t.Helper()
					if err := a.FlushMail(t.Context()); err != nil || len(p.box.got) != want {
						t.Errorf("%d emails, want %d, %v", len(p.box.got), want, err)
					}
				}
				check(a, p, row.sent)
				clock = clock.Add(time.Minute) // the claim lasts
				b, q := open()
				check(b, q, 0)
				clock = clock.Add(2 * time.Minute)
				check(b, q, row.later)
				if len(kept.records) != 0 {
					t.Errorf("%d records are left", len(kept.records))
				}
			})
		})
	}
}

// TestNoticeOfMovedAddress: the notice goes to the address at the time of the change. If the user has another one when
// it is delivered, it has no link that resets the password.
func TestNoticeOfMovedAddress(t *testing.T) {
	for moved, url := range map[bool]core.Secret{
		false: "https://app.test/auth/toy/reset?token=secret", true: "https://app.test/auth/toy",
	} {
		user := &core.User{ID: "u1", Email: "ada@example.com", EmailVerified: time.Unix(1, 0)}
		p := &noticing{box: &letterBox{}, notice: core.SecurityNotice{Kind: mailkind.FactorGuessed, UserID: "u1"}}
		a := newApp(t, core.Config{Store: onlyUser{user: user}, Plugins: []core.Plugin{p}, URL: "https://app.test"})
		p.change = func(context.Context) error {
			if moved {
				user.Email = "eve@example.com"
			}
			return nil
		}
		visit(t, a).ask("change", "")
		if err := a.FlushMail(t.Context()); err != nil || len(p.box.got) != 1 {
			t.Fatalf("%d emails, %v", len(p.box.got), err)
		}
		if l := p.box.got[0]; l.To != "ada@example.com" || l.URL != url {
			t.Errorf("moved %v: email to %s with %s", moved, l.To, string(l.URL))
		}
	}
}
