package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// nativeSignIn is a plugin with an action that signs in the user of an ID token.
func nativeSignIn(gate func(*core.PendingSignIn) string, result *core.Session, failed *error) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		h.TrackAuthentication()
		h.AcceptIDTokens("op")
		h.AddAction(core.Action{Method: "GET", Name: "native", Handle: func(
			ctx context.Context, c *core.ActionRequest,
		) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, nil), nil
		}})
		h.AddAction(core.Action{Method: "POST", Name: "native", Verb: "token", NoCookies: true, Handle: func(
			ctx context.Context, c *core.ActionRequest,
		) (*core.Response, error) {
			verified, err := c.VerifyIDToken(ctx, c.Field("provider"), c.Field("token"), "n-1", []string{"ios"})
			if err == nil {
				if _, misused := c.SignIn(ctx, *verified); misused == nil {
					err = errors.New("SignIn accepts the result")
				}
			}
			if err == nil {
				var session *core.Session
				if session, err = c.SignInApp(ctx, verified); err == nil {
					*result = *session
				}
			}
			*failed = err
			return c.JSON(ctx, http.StatusOK, nil), nil
		}})
		if gate != nil {
			h.AddSignInGate(func(_ context.Context, p *core.PendingSignIn) (string, error) { return gate(p), nil })
		}
		return nil
	})
}

// TestIDTokensOfApps signs in with ID tokens that apps send, under both strategies.
func TestIDTokensOfApps(t *testing.T) {
	t.Parallel()
	problem := func(code string) func(error) bool {
		return func(err error) bool {
			var p *core.Problem
			return errors.As(err, &p) && p.Code == code
		}
	}
	held := func(url string) func(error) bool {
		return func(err error) bool {
			var h *core.HeldError
			return errors.As(err, &h) && h.URL == url
		}
	}
	decides := func(result core.SignInResult) func(*core.Config) {
		return func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { return result, nil }
		}
	}
	for name, row := range map[string]struct {
		claims   map[string]any
		provider string
		down     bool
		change   func(*core.Config)
		gate     func(*core.PendingSignIn) string
		refused  func(error) bool // nil if the user signs in
		users    int
	}{
		"a right token": {users: 1},
		"a gate that passes": {gate: func(p *core.PendingSignIn) string {
			if p.Claims.Text("sub") != "u1" || p.Account.Provider != "op" || p.Linking {
				return "native"
			}
			return ""
		}, users: 1},
		"for another app": {claims: map[string]any{"aud": "id"}, refused: problem("id_token_invalid")},
		"another nonce":   {claims: map[string]any{"nonce": "n-2"}, refused: problem("id_token_invalid")},
		"no keys":         {down: true, refused: problem("provider_unavailable")},
		"another provider": {provider: "x", refused: func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "AcceptIDTokens")
		}},
		"denied": {change: decides(core.Deny()), refused: func(err error) bool {
			return errors.Is(err, core.ErrAccessDenied)
		}},
		"redirected": {change: decides(core.RedirectTo("/x")), refused: held("https://app.test/x")},
		"held": {gate: func(*core.PendingSignIn) string { return "native" }, refused: held("https://app.test/auth/native"),
			users: 1},
	} {
		for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
			t.Run(name+" "+string(strategy), func(t *testing.T) {
				t.Parallel()
				op, kept := &smallOP{down: row.down}, newPeople()
				with, records := kept.records()
				var session core.Session
				var failed error
				config := core.Config{
					Store: with, Session: core.SessionConfig{Strategy: strategy},
					Plugins: []core.Plugin{nativeSignIn(row.gate, &session, &failed)},
				}
				if row.change != nil {
					row.change(&config)
				}
				a := openOP(t, op, config)
				now := op.clock.Now().Unix()
				claims := map[string]any{
					"iss": "https://op.example/common", "aud": "ios", "sub": "u1", "iat": now, "exp": now + 60, "nonce": "n-1",
					"at_hash": "x", "name": "Ann",
				}
				maps.Copy(claims, row.claims)
				provider := row.provider
				if provider == "" {
					provider = "op"
				}
				r := visit(t, a).send("POST", "/auth/native/token", "application/x-www-form-urlencoded", url.Values{
					"provider": {provider}, "token": {jws(`{"alg":"EdDSA"}`, claims)},
				}.Encode())
				if r.Status != http.StatusOK || len(r.Cookies) > 0 {
					t.Errorf("status %d, cookies %v, %s", r.Status, r.Cookies, r.Body)
				}
				if row.refused != nil && !row.refused(failed) || row.refused == nil && failed != nil {
					t.Errorf("the error is %v", failed)
				}
				if row.refused == nil && (session.User == nil || session.User.Name != "Ann" || session.UserID == "" ||
					session.ID != "" || len(session.Methods) != 1) {
					t.Errorf("the session is %+v", session)
				}
				if len(kept.users) != row.users || len(kept.sessions) != 0 || len(records.all) != 0 {
					t.Errorf("users %v, sessions %v, records %v", kept.users, kept.sessions, records.all)
				}
			})
		}
	}
}
