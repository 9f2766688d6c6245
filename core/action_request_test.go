package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
)

// TestPluginGuards checks the response to each error of a guard or of the action itself, for a browser and for an API
// client.
func TestPluginGuards(t *testing.T) {
	t.Parallel()
	signedIn := func(context.Context, *core.Session) error { return nil }
	plain := &core.Problem{Status: http.StatusTeapot, Code: "teapot", Cause: core.ErrForbidden}
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
		again  bool
	}{
		"lets them in": {nil, 200, "", false},
		"forbids":      {core.ErrForbidden, 403, "forbidden", false},
		"asks again":   {&core.StepUp{MaxAge: 10 * time.Minute}, 401, "reauth_required", true},
		"fails":        {errors.New("connection refused"), 500, "", false},
		"has its word": {plain, 418, "teapot", false},
	} {
		guarded, asks := says("POST", "toy", "do-it"), says("POST", "toy", "do-it")
		guarded.Require = []core.Guard{func(context.Context, *core.Session) error { return c.err }}
		asks.Require = []core.Guard{signedIn}
		asks.Handle = func(ctx context.Context, call *core.ActionRequest) (*core.Response, error) {
			if c.err != nil {
				return nil, c.err
			}
			return guarded.Handle(ctx, call)
		}
		for by, guarded := range map[string]core.Action{"a guard": guarded, "the action": asks} {
			t.Run(by+" "+name, func(t *testing.T) {
				t.Parallel()
				a := newApp(t, core.Config{Plugins: []core.Plugin{answers(says("GET", "toy", ""), guarded)},
					Providers: []core.Provider{passwords()}})
				b := visit(t, a)
				b.submit("/auth/callback/credentials", map[string][]string{"email": {"ada@example.com"}, "password": {"engine"}})
				token := b.csrf()
				const form = "application/x-www-form-urlencoded"
				r := b.send("POST", "/auth/toy/do-it", form, "csrfToken="+token)
				if r.Status != c.status {
					t.Fatalf("status %d %s, %v", r.Status, r.Body, r.Err)
				}
				if c.code != "" && documentOf(t, r).Code != c.code {
					t.Errorf("the document is %s", r.Body)
				}
				challenge := r.Header.Get("Www-Authenticate")
				if c.again != strings.Contains(challenge, `max_age="600"`) {
					t.Errorf("the challenge is %q", challenge)
				}
				if !c.again {
					return
				}
				b.header.Set("Accept", "text/html")
				r = b.send("POST", "/auth/toy/do-it", form, "csrfToken="+token)
				if r.Status != http.StatusSeeOther || !strings.HasSuffix(r.Redirect, "callbackUrl=%2Fauth%2Ftoy") {
					t.Errorf("a browser got %d, redirected to %s", r.Status, r.Redirect)
				}
			})
		}
	}
}

// TestPluginSignsOut checks that ActionRequest.SignOut also ends the session in the store, and that a GET cannot call
// it.
func TestPluginSignsOut(t *testing.T) {
	t.Parallel()
	leave := core.Action{Name: "toy", Verb: "leave"}
	leave.Handle = func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if err := c.SignOut(ctx); err != nil {
			return nil, err
		}
		if s, err := c.Session(ctx); s != nil || err != nil {
			return nil, errors.New("there is still a session")
		}
		return c.JSON(ctx, http.StatusOK, "bye"), nil
	}
	get, post := leave, leave
	get.Method, post.Method = "GET", "POST"
	rows := newPeople()
	rows.users["ada"] = core.User{ID: "ada", Email: "ada@example.com"}
	a := newApp(t, core.Config{
		Store: rows.as(power{true, true, true, true}), Plugins: []core.Plugin{answers(get, post)},
		Session: core.SessionConfig{Strategy: core.StrategyDatabase},
	})
	b := visit(t, a)
	cookies, err := a.NewSession(t.Context(), b.request("GET", "/", "", ""), &core.User{ID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		b.cookies[c.Name] = c.Value
	}
	if r := b.get("/auth/toy/leave"); r.Status != http.StatusInternalServerError || len(rows.sessions) != 1 {
		t.Errorf("GET returned %d, %d sessions remain", r.Status, len(rows.sessions))
	}
	r := b.send("POST", "/auth/toy/leave", "application/x-www-form-urlencoded", "csrfToken="+b.csrf())
	if r.Status != http.StatusOK || len(rows.sessions) != 0 || b.cookies[sessionCookie] != "" {
		t.Errorf("POST returned %d, %d sessions remain, %v", r.Status, len(rows.sessions), r.Err)
	}
}

// TestChangesNeedPost checks that a GET action, which has no CSRF token, cannot sign in, sign out or end sessions.
func TestChangesNeedPost(t *testing.T) {
	t.Parallel()
	changes := map[string]func(context.Context, *core.ActionRequest) error{
		"SignIn": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.SignIn(ctx, core.SignIn{User: &core.User{ID: "ada"}})
			return err
		},
		"SignInApp": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.SignInApp(ctx, &core.SignIn{})
			return err
		},
		"CompleteSignIn": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.CompleteSignIn(ctx, &core.PendingSignIn{})
			return err
		},
		"VerifyPasskey": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.VerifyPasskey(ctx, "ada")
			return err
		},
		"SignOut": func(ctx context.Context, c *core.ActionRequest) error { return c.SignOut(ctx) },
		"EndSessions": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.EndSessions(ctx, core.EndOptions{})
			return err
		},
		"EndOtherSessions": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.EndOtherSessions(ctx)
			return err
		},
		"RenewSession": func(ctx context.Context, c *core.ActionRequest) error { return c.RenewSession(ctx, amr.OTP) },
		"ReverseNotice": func(ctx context.Context, c *core.ActionRequest) error {
			return c.ReverseNotice(ctx, core.SecurityNotice{UserID: "ada"})
		},
		"StartPasswordReset": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.StartPasswordReset(ctx, "ada")
			return err
		},
		"Impersonate": func(ctx context.Context, c *core.ActionRequest) error { return c.Impersonate(ctx, "ada") },
		"EndImpersonation": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.EndImpersonation(ctx)
			return err
		},
		"KeepSession": func(ctx context.Context, c *core.ActionRequest) error { return c.KeepSession(ctx, "") },
		"SwitchSession": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.SwitchSession(ctx, "")
			return err
		},
		"EndKeptSession": func(ctx context.Context, c *core.ActionRequest) error { return c.EndKeptSession(ctx, "") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, h := factual(t, core.StrategyDatabase, func(c *core.Config) {
				c.Plugins = []core.Plugin{asking{}, answers(core.Action{Method: "GET", Name: "toy",
					Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
						return c.Redirect("/there"), change(ctx, c)
					}})}
			})
			signedIn(t, a, "1") // another browser
			b := signedIn(t, a, "1")
			before := maps.Clone(b.cookies)
			r := b.get("/auth/toy")
			if r.Err == nil || !strings.Contains(r.Err.Error(), "a GET action cannot") {
				t.Errorf("status %d, %v", r.Status, r.Err)
			}
			if len(h.people.sessions) != 2 || !maps.Equal(b.cookies, before) {
				t.Errorf("%d sessions remain, the cookies are %v", len(h.people.sessions), b.cookies)
			}
		})
	}
}

// TestEndSessionsAudit checks that the audit event of a plugin that ends sessions describes the request.
func TestEndSessionsAudit(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *core.ActionRequest) error{
		"EndSessions": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.EndSessions(ctx, core.EndOptions{})
			return err
		},
		"EndOtherSessions": func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.EndOtherSessions(ctx)
			return err
		},
	} {
		var got []audit.Event
		a, _ := factual(t, core.StrategyDatabase, func(c *core.Config) {
			c.Audit = func(_ context.Context, e audit.Event) { got = append(got, e) }
			c.Plugins = []core.Plugin{asking{}, answers(core.Action{Method: "POST", Name: "toy",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					return c.Redirect("/there"), end(ctx, c)
				}})}
		})
		b := signedIn(t, a, "1")
		b.header.Set("User-Agent", "Test/1.0")
		got = nil
		if r := b.submit("/auth/toy", nil); r.Err != nil {
			t.Error(name, r.Err)
		}
		n := slices.IndexFunc(got, func(e audit.Event) bool { return e.Name == audit.SessionsEnded })
		if n < 0 || got[n].Agent != "Test/1.0" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestHostKnowsTheSite checks PluginHost.Providers, which includes the providers of plugins in order, and
// PluginHost.URL.
func TestHostKnowsTheSite(t *testing.T) {
	t.Parallel()
	var host *core.PluginHost
	part := partFunc(func(h *core.PluginHost) error {
		host = h
		h.AddProvider(&core.CredentialsProvider{ID: "added", Name: "Added",
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil }})
		return nil
	})
	newApp(t, core.Config{URL: "https://app.test", BasePath: "/base/auth", Plugins: []core.Plugin{part},
		Providers: []core.Provider{(&service{}).provider("op")}})
	all := host.Providers()
	added := core.ProviderInfo{ID: "added", Name: "Added", Type: core.TypeCredentials}
	if len(all) != 2 || all[0].ID != "op" || all[1] != added {
		t.Errorf("providers %+v", all)
	}
	if got, err := host.URL("toy/see", "a", "b c"); err != nil || got != "https://app.test/base/auth/toy/see?a=b+c" {
		t.Errorf("the address is %q, %v", got, err)
	}
	newApp(t, core.Config{TrustHost: core.True, Plugins: []core.Plugin{part}})
	if got, err := host.URL("toy"); err == nil || got != "" || !strings.Contains(err.Error(), "AUTH_URL") {
		t.Errorf("without an origin: %q, %v", got, err)
	}
}

// TestPluginLogsNoUser checks that an API client without a session gets 401 and no log line, and that a request which a
// guard forbids is logged.
func TestPluginLogsNoUser(t *testing.T) {
	t.Parallel()
	guarded := says("GET", "guarded", "")
	guarded.Require = []core.Guard{func(context.Context, *core.Session) error { return core.ErrForbidden }}
	a := newApp(t, core.Config{
		Plugins: []core.Plugin{answers(guarded)}, Providers: []core.Provider{passwords()}, InsecureNoLimits: true,
	})
	b := visit(t, a)
	if r := b.get("/auth/guarded"); r.Status != 401 || a.log.String() != "" {
		t.Errorf("status %d, log %s", r.Status, a.log.String())
	}
	signIn(t, b)
	if r := b.get("/auth/guarded"); r.Status != 403 || !strings.Contains(a.log.String(), "forbidden") {
		t.Errorf("status %d, log %s", r.Status, a.log.String())
	}
}
