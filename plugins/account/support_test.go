package account_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// support is a plugin in which every user may impersonate the others.
type support struct{}

func (support) Attach(h *core.PluginHost) error {
	h.AllowImpersonation("support/end", func(context.Context, *core.Session, string) error { return nil })
	h.AddAction(core.Action{Method: "POST", Name: "support", Verb: "start",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.Redirect("/"), c.Impersonate(ctx, c.Field("user"))
		}})
	h.AddAction(core.Action{Method: "POST", Name: "support", Verb: "end", Impersonated: true,
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			_, err := c.EndImpersonation(ctx)
			return c.Redirect("/"), err
		}})
	return nil
}

// TestImpersonatedSession checks that the user sees the session of an administrator, without the administrator's
// browser, and can end it.
func TestImpersonatedSession(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) {
				configure(c)
				c.Plugins = append(c.Plugins, support{})
			}})
			user, helper := s.as(ada), s.as(eve)
			helper.agent = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"
			helper.fine(helper.call("support/start", url.Values{"user": {"ada"}}), 200)
			if got := helper.overview(); got.User.Email != ada || !got.Sessions[0].Support || got.Sessions[1].Support {
				t.Fatalf("the administrator sees %+v", got)
			}
			sessions := user.overview().Sessions
			if len(sessions) != 2 || sessions[0].Support || !sessions[1].Support || sessions[1].Agent != "" ||
				sessions[1].Network != "" {
				t.Fatalf("the user sees %+v", sessions)
			}
			page := string(user.open("account").Body)
			for _, want := range []string{"An administrator is using your account", "Since January 2, 2030"} {
				if !strings.Contains(page, want) {
					t.Errorf("the page does not contain %q", want)
				}
			}
			if strings.Contains(page, "Windows") {
				t.Error("the page shows the browser of the administrator")
			}
			helper.refused(helper.call("account/end", url.Values{"session": {sessions[0].ID}}), 403, "impersonated")
			user.fine(user.call("account/end", url.Values{"session": {sessions[1].ID}}), 200)
			if got := user.overview().Sessions; len(got) != 1 || helper.signedIn() {
				t.Errorf("after the end, the user sees %+v", got)
			}
		})
	}
}
