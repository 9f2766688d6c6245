package browser_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// withAdmins makes ada an administrator who can use every form. The other users are grace, a
// user without a name and one without an address.
func withAdmins(t *testing.T) func(*core.Config) {
	return func(c *core.Config) {
		for _, u := range []core.User{
			{ID: "grace", Name: "Grace Hopper", Email: grace}, {ID: "long", Email: longAddress}, {ID: "plain", Name: longName},
		} {
			if _, err := c.Store.CreateUser(t.Context(), &u); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Store.UpdateUser(t.Context(), &core.User{
			ID: "ada", Name: "Ada", Email: ada, EmailVerified: time.Now(),
		}); err != nil {
			t.Fatal(err)
		}
		anyPassword(c)
		nothing := func(context.Context, string) error { return nil }
		keys := apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}})
		c.Plugins = []core.Plugin{
			account.New(account.Options{Mail: mailbox.New(), Activity: true, Download: true}), keys, &twoFactors{},
			admin.New(admin.Options{
				Guard: func(_ context.Context, s *core.Session) error {
					if s.UserID != "ada" {
						return core.ErrForbidden
					}
					return nil
				},
				IsAdmin:   func(_ context.Context, id string) (bool, error) { return id == "ada", nil },
				SendReset: nothing, ResetFactors: nothing, Invite: nothing, VerifyEmail: true, Impersonate: true,
				Create: func(context.Context, string) (*core.User, error) { return nil, core.ErrConflict },
				ResetLink: func(context.Context, string) (core.Secret, error) {
					return core.Secret("https://app.example.com/auth/password/reset?token=" + strings.Repeat("x", 43)), nil
				},
				Delete: func(context.Context, *core.User) error { return nil },
				ScheduleDelete: func(context.Context, string) (time.Time, error) {
					return time.Now().Add(time.Hour), nil
				},
			}),
		}
	}
}

// twoFactors is a plugin with a page whose button adds a second factor to the session.
type twoFactors struct{}

func (*twoFactors) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{Method: "POST", Name: "factor",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.Redirect("/auth/admin"), c.RenewSession(ctx, amr.OTP)
		}})
	return nil
}

const (
	makeForm  = `form[action$="/admin/create"]`
	linkForm  = `form[action$="/admin/reset-link"]`
	useForm   = `form[action$="/admin/impersonate"]`
	banForm   = `form[action$="/admin/ban"]`
	endForm   = `.acting form`
	wholeForm = `document.querySelectorAll("details").forEach(d => { d.open = true })`
)

// TestAdminLooks opens the pages of administration, the banner of an impersonation and the account page with the recent
// activity in light and dark mode, on a phone and right to left. No page may be wider than its window or larger than
// 16 kB, and axe must find nothing.
func TestAdminLooks(t *testing.T) {
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
	}{
		{"", "en", lightAndDark, 1000, 760},
		{"-phone", "de", "dark", 320, 640},
		{"-arabic", "ar", "light", 320, 640},
	} {
		t.Run("look"+look.name, func(t *testing.T) {
			v := visit(t, serveLanguages(t, ada, withAdmins(t)))
			v.looks(look.language, look.scheme, look.width, look.height)
			shows := func(page string) {
				t.Helper()
				if dir := run(v, chromedp.Evaluate[string](`document.dir`)); (dir == "rtl") != (look.language == "ar") {
					t.Errorf("%s is written %s", page, dir)
				}
				v.fits()
				v.kept("admin-" + page + look.name)
			}
			v.enters()
			v.open("/auth/account")
			shows("account")
			v.open("/auth/account/activity")
			shows("activity")
			v.open("/auth/account")
			v.do(chromedp.Evaluate[chromedp.Void](`(() => {
				const form = document.createElement("form")
				form.method = "POST"
				form.action = "/auth/factor"
				form.append(document.querySelector("input[name=csrfToken]").cloneNode())
				document.body.append(form)
				form.id = "factor"
			})()`))
			v.follow(chromedp.Evaluate[chromedp.Void](`document.querySelector("#factor").submit()`))
			v.at("/auth/admin")
			shows("list")
			v.do(write(makeForm+" input[name=email]", grace), write(makeForm+" input[name=reason]", "Ticket 6"))
			v.follow(click(makeForm + " button"))
			v.do(chromedp.WaitVisible(chromedp.CSS("[role=alert]")))
			shows("refused")
			v.open("/auth/admin?q=nobody")
			shows("none")
			v.open("/auth/admin/user?user=plain")
			v.do(chromedp.Evaluate[chromedp.Void](wholeForm))
			shows("plain")
			v.do(write(linkForm+" input[name=reason]", "Ticket 6"))
			v.follow(click(linkForm + " button"))
			v.do(chromedp.WaitVisible(chromedp.CSS("#reset-link")))
			shows("reset-link")
			v.open("/auth/admin/user?user=ada")
			shows("self")
			v.open("/auth/admin/user?user=long")
			v.do(chromedp.Evaluate[chromedp.Void](wholeForm))
			shows("user")
			v.do(write(useForm+" input[name=reason]", "Ticket 7"))
			v.follow(click(useForm + " button"))
			v.open("/auth/account")
			v.do(chromedp.WaitVisible(chromedp.CSS(".acting")))
			shows("acting")
			acting := v
			for _, page := range []struct{ address, name, path string }{
				{longAddress, "supported", "/auth/account"},
				{ada, "user-supported", "/auth/admin/user?user=long"},
			} {
				v = visit(t, acting.site)
				v.looks(look.language, look.scheme, look.width, look.height)
				v.open("/auth/signin")
				v.enterAs(page.address)
				v.open(page.path)
				if n := run(v, chromedp.Evaluate[int](`document.querySelectorAll("#sessions li").length`)); n < 2 {
					t.Errorf("%s lists %d sessions", page.path, n)
				}
				shows(page.name)
			}
			v = acting
			v.open("/auth/signout")
			shows("acting-signout")
			v.follow(click(endForm + " button"))
			v.do(chromedp.Evaluate[chromedp.Void](wholeForm))
			v.do(write(banForm+" input[name=reason]", "Spam"))
			v.follow(click(banForm + " button"))
			v.do(chromedp.Evaluate[chromedp.Void](wholeForm))
			shows("banned")
		})
	}
}
