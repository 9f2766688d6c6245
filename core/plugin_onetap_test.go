package core_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// tapped is a plugin with a prompt, whose action signs in the user of an ID token. noCookies is Action.NoCookies.
func tapped(noCookies bool) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		h.OfferOneTap("op", ui.OneTapPrompt{Action: "tap", Library: "https://gsi.example/gsi/client"})
		h.AddAction(core.Action{Method: "POST", Name: "tap", NoCookies: noCookies, Handle: func(
			ctx context.Context, c *core.ActionRequest,
		) (*core.Response, error) {
			verified, err := c.VerifyIDToken(ctx, "op", c.Field("token"), "n-1", nil)
			if err != nil {
				return nil, err
			}
			return c.SignIn(ctx, *verified)
		}})
		return nil
	})
}

// idTokenOf returns an ID token of a person for a client.
func idTokenOf(op *smallOP, person, client string) string {
	now := op.clock.Now().Unix()
	return jws(`{"alg":"EdDSA"}`, map[string]any{
		"iss": "https://op.example/common", "aud": client, "sub": person, "iat": now, "exp": now + 60, "nonce": "n-1",
		"name": person,
	})
}

// TestSignInByIDToken signs in with ID tokens in a browser. The token must be for the client ID of the provider. While
// another user is signed in, nothing is linked, and the browser asks whether to continue.
func TestSignInByIDToken(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			op, kept := &smallOP{}, newPeople()
			with, _ := kept.records()
			a := openOP(t, op, core.Config{
				Store: with, Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{tapped(false)},
			})
			v := visit(t, a)
			v.header.Set("Accept", "text/html")
			post := func(token string) *core.Response {
				return v.submit("/auth/tap", url.Values{"token": {token}, "callbackUrl": {"/cart"}})
			}
			if r := post(idTokenOf(op, "ann", "other")); r.Status != http.StatusBadRequest || len(kept.users) != 0 {
				t.Errorf("for another client: %d %s", r.Status, r.Body)
			}
			if r := post(idTokenOf(op, "ann", "id")); r.Redirect != "https://app.test/cart" || len(kept.users) != 1 {
				t.Errorf("%d %s %v", r.Status, r.Redirect, r.Err)
			}
			if r := post(idTokenOf(op, "ann", "id")); r.Redirect != "https://app.test/cart" || len(kept.users) != 1 {
				t.Errorf("the same user: %d %s %v", r.Status, r.Redirect, r.Err)
			}
			r := post(idTokenOf(op, "eve", "id"))
			if r.Status != http.StatusOK || !strings.Contains(string(r.Body), `action="https://app.test/auth/signin/op"`) ||
				len(kept.users) != 1 || len(kept.accounts) != 1 {
				t.Errorf("another user: %d %s %v, %d users", r.Status, r.Redirect, r.Err, len(kept.users))
			}
		})
	}
	t.Run("without cookies", func(t *testing.T) {
		t.Parallel()
		op, kept := &smallOP{}, newPeople()
		with, _ := kept.records()
		a := openOP(t, op, core.Config{Store: with, Plugins: []core.Plugin{tapped(true)}})
		r := visit(t, a).send("POST", "/auth/tap", "application/x-www-form-urlencoded",
			url.Values{"token": {idTokenOf(op, "ann", "id")}}.Encode())
		if r.Status != http.StatusInternalServerError || r.Err == nil || !strings.Contains(r.Err.Error(), "to SignInApp") ||
			len(kept.users) != 0 {
			t.Errorf("%d %v, %d users", r.Status, r.Err, len(kept.users))
		}
	})
}

// TestOneTapPage: only the sign-in page permits what the prompt needs, and its script is served only with a plugin.
func TestOneTapPage(t *testing.T) {
	t.Parallel()
	op := &smallOP{}
	with, _ := newPeople().records()
	a := openOP(t, op, core.Config{Store: with, Plugins: []core.Plugin{tapped(false)}})
	v := visit(t, a)
	page := v.get("/auth/signin")
	policy := page.Header.Get("Content-Security-Policy")
	for _, part := range []string{
		"; style-src https://gsi.example/gsi/style 'nonce-", "; connect-src https://gsi.example/gsi/ 'self'",
		"; frame-src https://gsi.example/gsi/",
	} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy is %s, without %s", policy, part)
		}
	}
	if page.Header.Get("Referrer-Policy") != "strict-origin-when-cross-origin" ||
		page.Header.Get("Cross-Origin-Opener-Policy") != "same-origin-allow-popups" ||
		!strings.Contains(string(page.Body), `data-client="id"`) {
		t.Errorf("the page: %v %s", page.Header, page.Body)
	}
	other := v.get("/auth/signout")
	if strings.Contains(other.Header.Get("Content-Security-Policy"), "gsi.example") ||
		other.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("another page: %v", other.Header)
	}
	if r := v.get("/auth/onetap.script"); r.Status != http.StatusOK {
		t.Errorf("the script: %d", r.Status)
	}
	lists := func(a *app) bool {
		return slices.ContainsFunc(a.Routes(), func(r core.Route) bool { return r.Path == "/auth/onetap.script" })
	}
	if !lists(a) {
		t.Error("the script is not listed")
	}
	plain := openOP(t, op, core.Config{Store: with})
	without := visit(t, plain)
	if r := without.get("/auth/onetap.script"); r.Status != http.StatusBadRequest {
		t.Errorf("the script without a plugin: %d", r.Status)
	}
	if lists(plain) {
		t.Error("the script is listed without a plugin")
	}
	r := without.get("/auth/signin")
	policy = r.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-src") && !strings.Contains(policy, "default-src") ||
		strings.Contains(policy, "gsi.example") || r.Header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the page without a plugin: %v", r.Header)
	}
}
