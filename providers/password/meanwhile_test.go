package password_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestChangedWhileItIsCompared changes a password while it is compared, which an attacker can delay by filling the
// queue. The old password must not sign in after a reset, which has ended all sessions by then.
func TestChangedWhileItIsCompared(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		happens  func(t *testing.T, w *world, u *core.User)
		unproved bool
		in       bool
	}{
		"nothing": {func(*testing.T, *world, *core.User) {}, false, true},
		"a reset": {func(t *testing.T, w *world, _ *core.User) {
			says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
		}, false, false},
		"another sign-in, with a better hash": {func(t *testing.T, w *world, _ *core.User) {
			if w.signIn(ada, good) != ada {
				t.Error("the other sign-in is refused")
			}
		}, false, true},
		"it is taken away": {func(t *testing.T, w *world, u *core.User) {
			if err := w.provider.Remove(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
		}, false, false},
		"it is taken away, and another is set": {func(t *testing.T, w *world, u *core.User) {
			replace(t, w, u, "old, and another")
		}, false, false},
		"it is taken away and set anew": {func(t *testing.T, w *world, u *core.User) {
			replace(t, w, u, "old, and the same")
		}, false, true},
		"the user goes": {func(t *testing.T, w *world, u *core.User) {
			if err := w.store.DeleteUser(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
		}, false, false},
		"the owner proves the address": {func(t *testing.T, w *world, u *core.User) {
			u.EmailVerified = w.Now()
			if _, err := w.store.UpdateUser(t.Context(), u); err != nil {
				t.Error(err)
			}
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared := 0
			w := comparing(t, row.unproved, func(w *world, u *core.User, encoded, typed string) bool {
				if compared++; compared == 1 {
					row.happens(t, w, u)
				}
				return typed == good && encoded != "old, and another"
			})
			if who := w.signIn(ada, good); (who == ada) != row.in {
				t.Errorf("signed in is %q", who)
			}
		})
	}
}

// comparing returns a site with a user whose imported hash is "old…" and is verified by compare.
func comparing(
	t *testing.T, unproved bool, compare func(w *world, u *core.User, encoded, typed string) bool,
) (w *world) {
	t.Helper()
	var u *core.User
	w, u = comparingWith(t, unproved, func(encoded, typed string) bool { return compare(w, u, encoded, typed) },
		func(*password.Options, *core.Config) {})
	return w
}

// comparingWith is like comparing with additional configuration.
func comparingWith(
	t *testing.T, unproved bool, compare func(encoded, typed string) bool,
	change func(o *password.Options, c *core.Config),
) (w *world, u *core.User) {
	t.Helper()
	w = site(t, func(o *password.Options, c *core.Config) {
		o.MaxConcurrent = 2
		o.LegacyHashes = []password.Verifier{password.Func(func(e string) bool { return strings.HasPrefix(e, "old") },
			func(e string, p []byte) (bool, error) { return compare(e, string(p)), nil })}
		change(o, c)
	})
	u = &core.User{ID: core.NewID(), Email: ada, EmailVerified: w.Now()}
	if unproved {
		u.EmailVerified = time.Time{}
	}
	var err error
	if u, err = w.store.CreateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if err := w.provider.Import(t.Context(), u.ID, "old"); err != nil {
		t.Fatal(err)
	}
	return w, u
}

// replace deletes a password and sets another one, whose record has the same version.
func replace(t *testing.T, w *world, u *core.User, encoded string) {
	t.Helper()
	if err := w.provider.Remove(t.Context(), u.ID); err != nil {
		t.Error(err)
	}
	if err := w.provider.Import(t.Context(), u.ID, encoded); err != nil {
		t.Error(err)
	}
}

// TestChangedBeforeTheSessionStarts changes a password after it was compared, in the callback before the session is
// created.
func TestChangedBeforeTheSessionStarts(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		happens func(t *testing.T, w *world, u *core.User)
		in      bool
	}{
		"nothing": {func(*testing.T, *world, *core.User) {}, true},
		"a reset": {func(t *testing.T, w *world, _ *core.User) {
			says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
		}, false},
		"a reset to the same": {func(t *testing.T, w *world, _ *core.User) {
			says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", good), 200, "signin")
		}, true},
		"it is taken away": {func(t *testing.T, w *world, u *core.User) {
			if err := w.provider.Remove(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
		}, false},
		"it is taken away, and another is set": {func(t *testing.T, w *world, u *core.User) {
			replace(t, w, u, "old, and another")
		}, false},
		"another sign-in": {func(t *testing.T, w *world, _ *core.User) {
			if w.signIn(ada, good) != ada {
				t.Error("the other sign-in is refused")
			}
		}, true},
	} {
		for _, sessions := range []core.SessionConfig{
			{Strategy: core.StrategyDatabase},
			{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
		} {
			t.Run(string(sessions.Strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				var u *core.User
				var w *world
				happened := false
				w, u = comparingWith(t, false, func(encoded, typed string) bool {
					return typed == good && encoded != "old, and another"
				}, func(_ *password.Options, c *core.Config) {
					c.Session = sessions
					c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
						if !happened {
							happened = true
							row.happens(t, w, u)
						}
						return core.Allow(), nil
					}
				})
				if who := w.signIn(ada, good); (who == ada) != row.in || !happened {
					t.Errorf("signed in is %q", who)
				}
			})
		}
	}
}

// TestChangesAgainAndAgain changes a password at every comparison. The user is asked to try later.
func TestChangesAgainAndAgain(t *testing.T) {
	t.Parallel()
	compared := 0
	w := comparing(t, false, func(w *world, u *core.User, encoded, typed string) bool {
		compared++
		replace(t, w, u, encoded+"!")
		return typed == good
	})
	b := w.visit()
	says(t, b.post("callback/password", "email", ada, "password", good), 503, "busy")
	if who := b.session(); who != "" || compared != 3 {
		t.Errorf("signed in is %q, after %d comparisons", who, compared)
	}
}

// TestMadeAnewWhileItIsChanged: an administrator deletes a password and sets another one while the user changes it. The
// new record has the same version, and the administrator's password stays.
func TestMadeAnewWhileItIsChanged(t *testing.T) {
	t.Parallel()
	changing := false
	w := comparing(t, false, func(w *world, u *core.User, encoded, typed string) bool {
		if changing {
			replace(t, w, u, "old, and another")
		}
		return typed == good
	})
	b := w.visit()
	says(t, b.post("callback/password", "email", ada, "password", good), 200, "")
	u, err := w.store.UserByEmail(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, w, u, "old") // the version before the sign-in replaced the hash
	changing = true
	says(t, b.post("password/change", "current", good, "newPassword", better), 409, "password_changed")
	changing = false
	if who := w.signIn(ada, better); who != "" {
		t.Errorf("the password that was set meanwhile is gone: %q", who)
	}
}
