package password_test

import (
	"context"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/ui"
)

// challenged is a site with a CAPTCHA service that accepts the token "<action>-right".
func challenged(t *testing.T, change ...func(o *password.Options, c *core.Config)) *world {
	t.Helper()
	return site(t, append(change, func(_ *password.Options, c *core.Config) {
		c.Callbacks.Challenge = &challenge.Challenge{
			Widget: ui.Challenge{
				Script: "https://captcha.example/api.js", Class: "captcha", SiteKey: "site",
				FrameSources: []string{"https://captcha.example"},
			},
			Field: "captcha",
			Verify: func(_ context.Context, p challenge.Params) error {
				if p.Token != p.Action+"-right" {
					return challenge.ErrRefused
				}
				return nil
			},
		}
	})...)
}

// TestChallenge: a sign-up, a reset, another email and a sign-in need a token for that action, and send nothing
// without it.
func TestChallenge(t *testing.T) {
	const ada = "ada@example.com"
	w := challenged(t)
	b := w.visit()
	for _, row := range []struct{ action, path, token string }{
		{"sign-up", "password/sign-up", ""}, {"sign-up", "password/sign-up", "reset-right"},
		{"reset", "password/forgot", ""}, {"reset", "password/forgot", "sign-up-right"},
	} {
		says(t, b.post(row.path, "email", ada, "password", good, "captcha", row.token), 403, "challenge_failed")
		page := w.person().post(row.path, "email", ada, "password", good, "captcha", row.token)
		body, policy := string(page.Body), page.Header.Get("Content-Security-Policy")
		if page.Status != 403 || !strings.Contains(body, `role="alert"`) || !strings.Contains(body, ada) ||
			!strings.Contains(body, `data-action="`+row.action+`"`) ||
			!strings.HasSuffix(policy, "; frame-src https://captcha.example") {
			t.Errorf("%s: %d %s %s", row.path, page.Status, policy, body)
		}
	}
	if all := w.emailsTo(ada); len(all) > 0 {
		t.Fatalf("%d emails without a token", len(all))
	}
	says(t, b.post("password/sign-up", "email", ada, "password", good, "captcha", "sign-up-right"), 202, "mail")
	b.post("password/confirm", "token", token(t, w.newestEmail(ada, mailkind.Verify)))
	if b.session() != ada {
		t.Fatal("the sign-up was not confirmed")
	}
	signIn := w.visit()
	signIn.post("callback/password", "email", ada, "password", good)
	if signIn.session() != "" {
		t.Error("a sign-in without a token")
	}
	signIn.post("callback/password", "email", ada, "password", good, "captcha", "sign-in-right")
	if signIn.session() != ada {
		t.Error("no sign-in with a token")
	}
	says(t, b.post("password/forgot", "email", ada, "captcha", "reset-right"), 202, "mail")
	w.newestEmail(ada, mailkind.Reset)
}

// TestChallengeResend: the page after an email has the widget in the form that sends another one.
func TestChallengeResend(t *testing.T) {
	const ada = "ada@example.com"
	for _, row := range []struct{ action, path, sent, again string }{
		{"sign-up", "password/sign-up", "/auth/password/sent", "password/resend"},
		{"reset", "password/forgot", "/auth/password/sent?for=reset", "password/forgot"},
	} {
		w := challenged(t)
		b := w.person()
		b.post(row.path, "email", ada, "password", good, "captcha", row.action+"-right")
		page := b.get(row.sent)
		if !strings.Contains(string(page.Body), `data-action="`+row.action+`"`) ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "frame-src https://captcha.example") {
			t.Errorf("%s has no widget: %s", row.sent, page.Body)
		}
		before := len(w.emailsTo(ada))
		b.post(row.again, "email", ada)
		if after := len(w.emailsTo(ada)); after != before {
			t.Errorf("%s: an email without a token", row.again)
		}
		if r := b.post(row.again, "email", ada, "captcha", row.action+"-right"); !strings.Contains(r.Redirect, "/sent") {
			t.Errorf("%s: %d %s", row.again, r.Status, r.Redirect)
		}
	}
}
