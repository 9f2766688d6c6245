package core_test

import (
	"context"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// newSignUps returns, by name, each kind of sign-in that creates a user. Each function signs ada@x.example up in a
// browser.
func newSignUps(w *town) map[string]func(*browser) *core.Response {
	return map[string]func(*browser) *core.Response{
		"oauth": func(b *browser) *core.Response { return w.through(b, "plain", "ada", "ada@x.example", "") },
		"email": func(b *browser) *core.Response { return w.byMail(b, "ada@x.example") },
		"passkey": func(b *browser) *core.Response {
			return w.passkey(b, "action=register&email=ada%40x.example", "register", "key")
		},
		"part": func(b *browser) *core.Response {
			return b.submit("/auth/toy", url.Values{"email": {"ada@x.example"}})
		},
	}
}

// creating is a plugin whose POST toy creates a user by SignIn.Create.
func creating(users core.Store) core.Plugin {
	return answers(core.Action{Method: "POST", Name: "toy",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			fresh := &core.User{ID: "asked-for", Email: c.Field("email")}
			return c.SignIn(ctx, core.SignIn{User: fresh, Create: func(ctx context.Context) (*core.User, error) {
				stored := fresh.Clone()
				stored.ID = "of-the-store" // some stores choose the ID
				return users.CreateUser(ctx, stored)
			}})
		}})
}

// TestDeniedSignUps signs up by every method that creates a user. Where Callbacks.SignIn denies or redirects the second
// request, as it always does in methods with one request, nothing is stored. Where it allows the sign-up, createUser is
// called after the callback and before signIn.
func TestDeniedSignUps(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, can := range []power{{true, true, true, true}, {false, true, true, true}, {false, false, true, true}} {
			for name := range newSignUps(nil) {
				for _, decision := range []string{"allow", "deny", "redirect"} {
					t.Run(string(strategy)+"/"+can.String()+"/"+name+"/"+decision, func(t *testing.T) {
						t.Parallel()
						deniedSignUp(t, strategy, can, name, decision)
					})
				}
			}
		}
	}
}

func deniedSignUp(t *testing.T, strategy core.Strategy, can power, name, decision string) {
	var order []string
	var told string
	w := newTown(t, can, strategy, func(c *core.Config) {
		c.Plugins = append(c.Plugins, creating(c.Store))
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			switch {
			case p.VerificationRequest:
				return core.Allow(), nil
			case decision == "deny":
				return core.Deny(), nil
			case decision == "redirect":
				return core.RedirectTo("/sorry"), nil
			}
			order = append(order, "callback")
			return core.Allow(), nil
		}
		c.Events.CreateUser = func(_ context.Context, e core.UserEvent) error {
			order, told = append(order, "createUser"), e.User.ID
			return nil
		}
		c.Events.SignIn = func(_ context.Context, e core.SignInEvent) error {
			order = append(order, "signIn")
			if e.User.ID != told || !e.NewUser {
				t.Errorf("signIn is called for user %q (new: %v), createUser for %q", e.User.ID, e.NewUser, told)
			}
			return nil
		}
	})
	b := w.browser()
	r := newSignUps(w)[name](b)
	if decision == "allow" {
		if want := []string{"callback", "createUser", "signIn"}; !slices.Equal(order, want) || w.who(b) == "" {
			t.Errorf("%v, want %v; the session is that of %q: %v", order, want, w.who(b), r.Err)
		}
		return
	}
	if n := len(w.users) + len(w.accounts) + len(w.passkeys) + len(w.sessions); n != 0 || len(order) != 0 {
		t.Errorf("the denied sign-up stored %d rows (%v) and called %v", n, w.users, order)
	}
	if who := w.who(b); who != "" {
		t.Errorf("%q is signed in", who)
	}
}

// TestCreatedByPlugin signs up with a plugin that has created the user before it calls SignIn: createUser is called
// anyway, but not for the sign-in of a known user.
func TestCreatedByPlugin(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, created := range []bool{true, false} {
			p := newPeople()
			p.users["u1"] = core.User{ID: "u1", Name: "Ada"}
			var order []string
			a := newApp(t, core.Config{
				Store: p.as(power{}), Session: core.SessionConfig{Strategy: strategy},
				Plugins: []core.Plugin{answers(core.Action{Method: "POST", Name: "toy",
					Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
						return c.SignIn(ctx, core.SignIn{User: &core.User{ID: "u1", Name: "Ada"}, Created: created})
					}})},
				Events: core.Events{
					CreateUser: func(context.Context, core.UserEvent) error { order = append(order, "createUser"); return nil },
					SignIn:     func(context.Context, core.SignInEvent) error { order = append(order, "signIn"); return nil },
				},
			})
			visit(t, a).submit("/auth/toy", nil)
			want := []string{"createUser", "signIn"}
			if !created {
				want = want[1:]
			}
			if !slices.Equal(order, want) {
				t.Errorf("%s, created %v: events %v, want %v", strategy, created, order, want)
			}
		}
	}
}

// TestCreateReturnsNoUser: a Create function that returns neither a user nor an error signs no user in.
func TestCreateReturnsNoUser(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]*core.User{"nil": nil, "no ID": {Name: "Ada"}} {
		a := newApp(t, core.Config{Plugins: []core.Plugin{answers(core.Action{Method: "POST", Name: "toy",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.SignIn(ctx, core.SignIn{
					User: &core.User{ID: "u1"}, Create: func(context.Context) (*core.User, error) { return made, nil },
				})
			}})}})
		b := visit(t, a)
		if r := b.submit("/auth/toy", nil); r.Status != 500 || b.cookies[sessionCookie] != "" {
			t.Errorf("%s: got status %d", name, r.Status)
		}
	}
}
