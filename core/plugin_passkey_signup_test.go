package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// passkeySignUp is a plugin that creates users with a passkey, without verifying the address.
type passkeySignUp struct {
	host *core.PluginHost
	made core.PasskeyRegistration // the default is for "passkey" and "sign-up"
	// store replaces NewUserPasskey.Store.
	store func(ctx context.Context, tx core.Store, p *core.NewUserPasskey, userID string) error
	// kept is the passkey of the last request. again signs in with it.
	kept  *core.NewUserPasskey
	again bool
	seen  core.SignInParams
}

func (s *passkeySignUp) Attach(h *core.PluginHost) error {
	s.host = h
	add := func(method, verb string, handle func(context.Context, *core.ActionRequest) (*core.Response, error)) {
		h.AddAction(core.Action{Method: method, Name: "new", Verb: verb, Handle: handle})
	}
	add("GET", "options", func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		return c.NewPasskeyOptions(ctx, s.registration(c))
	})
	add("GET", "verify", func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		_, err := c.VerifyNewPasskey(ctx, s.registration(c))
		return nil, err
	})
	add("POST", "create", s.create)
	return nil
}

func (s *passkeySignUp) registration(c *core.ActionRequest) core.PasskeyRegistration {
	r := s.made
	if r.Handle == nil {
		r.Handle = make([]byte, 16)
	}
	if purpose := c.Field("purpose"); purpose != "" {
		r.Purpose = purpose
	}
	return r
}

func (s *passkeySignUp) create(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var made *core.NewUserPasskey
	if s.again {
		made = s.kept
	} else {
		var err error
		if made, err = c.VerifyNewPasskey(ctx, s.registration(c)); err != nil {
			return nil, err
		}
	}
	s.kept = made
	user := &core.User{ID: "new-" + c.Field("name"), Email: c.Field("name") + "@new.example"}
	return c.SignIn(ctx, core.SignIn{User: user, Passkey: made, Create: func(ctx context.Context) (*core.User, error) {
		var stored *core.User
		err := s.host.Transactor.InTransaction(ctx, func(ctx context.Context, tx core.Store) (err error) {
			if stored, err = tx.CreateUser(ctx, user); err != nil {
				return err
			}
			if s.store != nil {
				return s.store(ctx, tx, made, stored.ID)
			}
			return made.Store(ctx, tx, stored.ID)
		})
		return stored, err
	}})
}

// newPasskeySignUps returns a site with the plugin. change may change the passkey provider.
func newPasskeySignUps(
	t *testing.T, strategy core.Strategy, change ...func(*core.WebAuthnProvider),
) (*town, *passkeySignUp) {
	t.Helper()
	s := &passkeySignUp{made: core.PasskeyRegistration{
		Provider: "passkey", Address: "ada@new.example", Purpose: "sign-up",
	}}
	w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
		c.Plugins = append(c.Plugins, s)
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			s.seen = p
			return core.Allow(), nil
		}
		for _, f := range change {
			f(c.Providers[4].(*core.WebAuthnProvider))
		}
	})
	return w, s
}

// newUser registers a passkey of that name for a new user.
func (w *town) newUser(b *browser, name string) *core.Response {
	w.Helper()
	if r := b.get("/auth/new/options"); r.Status != 200 || !strings.Contains(string(r.Body), `"action":"register"`) {
		w.Fatalf("options: %d %s", r.Status, r.Body)
	}
	form := assertion("register", name)
	form.Set("name", name)
	return b.submit("/auth/new/create", form)
}

// TestNewUserWithPasskey: the user, account and passkey are stored. The browser gets a session of the new user instead
// of that of another user, and the other user gets nothing.
func TestNewUserWithPasskey(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, s := newPasskeySignUps(t, strategy)
			b := w.browser()
			w.signedIn(b, w.through(b, "plain", "1", victim, ""))
			before := w.who(b)
			if r := w.newUser(b, "ada"); r.Err != nil {
				t.Fatal(r.Err)
			}
			if who := w.who(b); who != "new-ada" || before == who {
				t.Errorf("signed in as %q, before as %q", who, before)
			}
			if s.seen.Account.Type != core.TypeWebAuthn || s.seen.User.Email != "ada@new.example" {
				t.Errorf("Callbacks.SignIn got %+v", s.seen)
			}
			if keys, err := w.Authenticators(t.Context(), before); err != nil || len(keys) != 0 {
				t.Errorf("the other user has %v, %v", keys, err)
			}
			again := w.browser()
			w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "ada"))
			if who := w.who(again); who != "new-ada" {
				t.Errorf("the passkey signs in as %q", who)
			}
		})
	}
}

// TestNewPasskeyPurpose: a challenge is accepted for its purpose, in its session, and once.
func TestNewPasskeyPurpose(t *testing.T) {
	t.Parallel()
	w, s := newPasskeySignUps(t, core.StrategyJWT)
	refused := func(name string, r *core.Response, b *browser) {
		t.Helper()
		if r.Err == nil || w.who(b) != "" {
			t.Errorf("%s: %d %s, signed in as %q", name, r.Status, r.Redirect, w.who(b))
		}
	}
	b := w.browser()
	b.get("/auth/new/options")
	refused("the callback of the provider", b.submit("/auth/callback/passkey", assertion("register", "a")), b)
	b.get("/auth/webauthn-options/passkey?action=register&email=ada%40x.example")
	form := assertion("register", "a")
	form.Set("name", "a")
	refused("a challenge of the provider", b.submit("/auth/new/create", form), b)
	b.get("/auth/new/options?purpose=other")
	refused("another purpose", b.submit("/auth/new/create", form), b)
	b.get("/auth/new/options")
	refused("an authentication", b.submit("/auth/new/create", url.Values{
		"action": {"authenticate"}, "data": form["data"], "name": {"a"},
	}), b)
	for _, bad := range []core.PasskeyRegistration{
		{Provider: "passkey", Purpose: "p", Handle: make([]byte, 15)},
		{Provider: "passkey", Purpose: "p", Handle: make([]byte, 65)},
		{Provider: "passkey"}, {Provider: "plain", Purpose: "p"}, {Provider: "none", Purpose: "p"},
	} {
		before := s.made
		s.made = bad
		if r := b.get("/auth/new/options"); r.Status < 400 {
			t.Errorf("%+v: %d", bad, r.Status)
		}
		s.made = before
	}
	// Without a purpose, a challenge of the provider would be accepted.
	b.get("/auth/webauthn-options/passkey?action=register&email=ada%40x.example")
	s.made.Purpose = ""
	refused("no purpose", b.submit("/auth/new/create", form), b)
	s.made.Purpose = "sign-up"
	if r := b.get("/auth/new/verify"); r.Err == nil {
		t.Error("a GET verifies a passkey")
	}
	if r := w.newUser(b, "a"); r.Err != nil {
		t.Error(r.Err)
	}
	// An authentication with a stored passkey is no registration.
	c := w.browser()
	c.get("/auth/webauthn-options/passkey?action=authenticate")
	s.kept, s.made.Purpose = nil, "sign-up"
	refused("an authentication", c.submit("/auth/new/create", assertion("authenticate", "a")), c)
	if s.kept != nil {
		t.Error("an authentication was verified as a registration")
	}
	// The verified passkey belongs to its request.
	s.store = func(context.Context, core.Store, *core.NewUserPasskey, string) error { return core.ErrNotFound }
	if r := w.newUser(c, "unstored"); r.Err == nil || s.kept == nil {
		t.Fatal("the passkey was stored")
	}
	s.again, s.store = true, nil
	refused("a passkey of another request", c.submit("/auth/new/create", url.Values{"name": {"other"}}), c)
}

// TestNewPasskeyIsStored: a passkey that a user has is refused, and Create must store the passkey for the user.
func TestNewPasskeyIsStored(t *testing.T) {
	t.Parallel()
	w, s := newPasskeySignUps(t, core.StrategyDatabase)
	b := w.browser()
	if r := w.newUser(b, "same"); r.Err != nil {
		t.Fatal(r.Err)
	}
	s.made.Address = "eve@new.example"
	c := w.browser()
	form := assertion("register", "same")
	form.Set("name", "eve")
	c.get("/auth/new/options")
	if r := c.submit("/auth/new/create", form); !errors.Is(r.Err, core.ErrConflict) || w.who(c) != "" {
		t.Errorf("a known passkey: %v, signed in as %q", r.Err, w.who(c))
	}
	for i, store := range []func(context.Context, core.Store, *core.NewUserPasskey, string) error{
		func(context.Context, core.Store, *core.NewUserPasskey, string) error { return nil },
		func(ctx context.Context, tx core.Store, p *core.NewUserPasskey, _ string) error {
			return p.Store(ctx, tx, "another")
		},
		func(ctx context.Context, tx core.Store, p *core.NewUserPasskey, id string) error {
			return p.Store(ctx, bare{tx}, id)
		},
	} {
		s.store = store
		if r := w.newUser(c, fmt.Sprint("n", i)); r.Err == nil || w.who(c) != "" {
			t.Errorf("%d: a user without a passkey is signed in as %q", i, w.who(c))
		}
	}
}

// bare is a store without passkeys.
type bare struct{ core.Store }

// TestPasskeySignUpElsewhere: with WebAuthnProvider.SignUp, the routes of the provider do not register new users, and
// do not reveal which addresses have an account. A signed-in user adds a passkey.
func TestPasskeySignUpElsewhere(t *testing.T) {
	t.Parallel()
	w, _ := newPasskeySignUps(t, core.StrategyJWT, func(p *core.WebAuthnProvider) { p.SignUp = "new/start" })
	b := w.browser()
	if r := b.get("/auth/webauthn-options/passkey?action=register&email=ada%40x.example"); r.Status != 400 ||
		string(r.Body) != `{"error":"Sign up at https://app.test/auth/new/start"}` {
		t.Errorf("a registration: %d %s", r.Status, r.Body)
	}
	if r := b.get("/auth/webauthn-options/passkey?email=ada%40x.example"); !strings.Contains(string(r.Body),
		`"action":"authenticate"`) {
		t.Errorf("an unknown address: %s", r.Body)
	}
	if page := string(b.get("/auth/signin").Body); !strings.Contains(page, `/auth/new/start"`) {
		t.Errorf("the sign-in page has no link: %s", page)
	}
	if r := w.newUser(b, "ada"); r.Err != nil {
		t.Fatal(r.Err)
	}
	c := w.browser()
	if r := c.get("/auth/webauthn-options/passkey?email=ada%40new.example"); strings.Contains(string(r.Body), "YWRh") {
		t.Errorf("the options reveal the passkey: %s", r.Body)
	}
	if r := w.passkey(b, "action=register", "register", "second"); r.Err != nil {
		t.Error(r.Err)
	}
}
