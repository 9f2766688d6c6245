package core_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

const conditional = "action=register&mediation=conditional"

// creationPage is a plugin that shows whether the page of a signed-in user may create a passkey without a prompt.
type creationPage struct{}

func (creationPage) Attach(h *core.PluginHost) error {
	h.RequireRecentSignInToLink(15 * time.Minute)
	h.AddAction(core.Action{
		Method: "GET", Name: "creating", Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			session, err := c.Session(ctx)
			if err != nil {
				return nil, err
			}
			return c.JSON(ctx, 200, c.PasskeyCreation(session)), nil
		},
	})
	return nil
}

// TestConditionalCreate requests options for a passkey that the browser creates without a prompt.
func TestConditionalCreate(t *testing.T) {
	t.Parallel()
	password := func(w *town, b *browser) *core.Response {
		w.users["u"] = core.User{ID: "u", Email: "ada@x.example"}
		return b.submit("/auth/callback/credentials", url.Values{"id": {"u"}})
	}
	byMail := func(w *town, b *browser) *core.Response { return w.byMail(b, victim) }
	byProvider := func(w *town, b *browser) *core.Response { return w.through(b, "plain", "1", victim, "") }
	signedOut := func(*town, *browser) *core.Response { return &core.Response{} }
	withoutFacts := func(c *core.Config, _ *core.WebAuthnProvider) { c.Plugins = nil }
	for name, row := range map[string]struct {
		enter  func(w *town, b *browser) *core.Response
		wait   time.Duration
		change func(c *core.Config, p *core.WebAuthnProvider)
		want   bool
		asked  bool // the query is that of a registration with a prompt
	}{
		"after a password":    {enter: password, want: true},
		"five minutes later":  {enter: password, wait: 5 * time.Minute, want: true},
		"later than that":     {enter: password, wait: 5*time.Minute + time.Second},
		"after an email link": {enter: byMail},
		"after a provider":    {enter: byProvider},
		"not signed in":       {enter: signedOut},
		"without facts":       {enter: password, change: withoutFacts},
		"linking is too late": {enter: password, wait: time.Minute + time.Second, change: linkWithin(time.Minute)},
		"linking is possible": {enter: password, wait: time.Minute, change: linkWithin(time.Minute), want: true},
		"the option is off":   {enter: password, asked: true, change: conditionalOff},
		"off, an hour later":  {enter: password, wait: time.Hour, asked: true, change: conditionalOff},
		"off, not signed in":  {enter: signedOut, change: conditionalOff},
		"after a new passkey": {enter: func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=register&email=eve%40x.example", "register", "key")
		}},
	} {
		for _, strategy := range bothStrategies {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				verifier := &ceremoniesOf{}
				var events []audit.Event
				w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
					c.Plugins = append(c.Plugins, creationPage{})
					p := c.Providers[4].(*core.WebAuthnProvider)
					p.Verifier = verifier
					c.Audit = func(_ context.Context, e audit.Event) { events = append(events, e) }
					if row.change != nil {
						row.change(c, p)
					}
				})
				b := w.browser()
				if r := row.enter(w, b); r.Err != nil {
					t.Fatal(r.Err)
				}
				before := b.session()
				w.app.clock.Advance(row.wait)
				r := b.get("/auth/webauthn-options/passkey?" + conditional)
				if got := r.Status < 400; got != (row.want || row.asked) {
					t.Fatalf("options: %d %s", r.Status, r.Body)
				}
				if shown := strings.Contains(string(b.get("/auth/creating").Body), "mediation=conditional"); shown != row.want {
					t.Errorf("the page may create a passkey: %v", shown)
				}
				if silent := strings.Contains(string(r.Body), `"residentKey":"required"`); silent != row.want {
					t.Fatalf("the options are %s", r.Body)
				}
				if !row.want {
					return
				}
				verifier.seen, events = nil, nil
				if r := b.submit("/auth/callback/passkey", assertion("register", "made")); r.Err != nil {
					t.Fatal(r.Err)
				}
				if len(verifier.seen) != 1 || !verifier.seen[0].Conditional || verifier.seen[0].UserVerification {
					t.Errorf("the verifier was asked for %+v", verifier.seen)
				}
				after := b.session()
				if after == nil || after.ID != before.ID || !after.AuthTime.Equal(before.AuthTime) ||
					!slices.Equal(after.Methods, before.Methods) {
					t.Errorf("the session is %+v, was %+v", after, before)
				}
				for _, e := range events {
					if len(e.Methods) > 0 {
						t.Errorf("the passkey counts as an authentication: %+v", e)
					}
				}
				w.passkey(b, "action=register", "register", "asked")
				if last := verifier.seen[len(verifier.seen)-1]; last.Conditional || !last.UserVerification {
					t.Errorf("a registration with a prompt is %+v", last)
				}
			})
		}
	}
}

func conditionalOff(_ *core.Config, p *core.WebAuthnProvider) { p.ConditionalCreate = core.False }

// linkWithin is a configuration in which users link accounts within d after their sign-in.
func linkWithin(d time.Duration) func(*core.Config, *core.WebAuthnProvider) {
	return func(c *core.Config, _ *core.WebAuthnProvider) { c.Plugins = append(c.Plugins, recentLinks(d)) }
}

type recentLinks time.Duration

func (d recentLinks) Attach(h *core.PluginHost) error {
	h.RequireRecentSignInToLink(time.Duration(d))
	return nil
}
