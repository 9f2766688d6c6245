package password_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

const ada = "ada@example.com"

func jwt(_ *password.Options, c *core.Config) { c.Session.Strategy = core.StrategyJWT }

// TestSignUpToDeletion signs up, verifies the address, signs in, resets the password and changes it, with both session
// strategies.
func TestSignUpToDeletion(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*password.Options, *core.Config){
		"database": func(*password.Options, *core.Config) {}, "jwt": jwt,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := site(t, change)
			b := w.visit()
			says(t, b.post("password/sign-up", "email", "Ada@Example.com", "password", good, "name", "Ada L."), 202, "mail")
			l := w.newestEmail(ada, mailkind.Verify)
			if w.user(ada) != nil {
				t.Error("a user was made before the proof")
			}
			if l.Host != "app.test" || l.Expires != w.Now().Add(24*time.Hour) {
				t.Errorf("email for host %s until %v", l.Host, l.Expires)
			}
			b.post("password/confirm", "token", token(t, l))
			u := w.user(ada)
			if b.session() != ada || u == nil || u.Name != "Ada L." || u.EmailVerified.IsZero() {
				t.Fatalf("after the proof: session %q, user %v", b.session(), u)
			}
			if w.signIn(ada, good) != ada || w.signIn("ADA@example.COM", good) != ada {
				t.Error("signing in fails")
			}
			for _, wrong := range []string{"", good + " ", " " + good, strings.ToUpper(good), good[:18], better} {
				if w.signIn(ada, wrong) != "" {
					t.Errorf("%q signs in", wrong)
				}
			}
			reset := w.open(w.forgot(ada))
			says(t, reset.post("password/reset", "newPassword", better), 200, "signin")
			if reset.session() != "" {
				t.Error("a reset signs in")
			}
			if w.signIn(ada, good) != "" || w.signIn(ada, better) != ada {
				t.Error("after the reset the old password is valid, or the new one is not")
			}
			if l := w.newestEmail(ada, mailkind.PasswordChanged); l.Peer.String() != "192.0.2.1/32" {
				t.Errorf("the notice is about %s", l.Peer)
			}
			c := w.visit()
			c.post("callback/password", "email", ada, "password", better)
			says(t, c.post("password/change", "current", better, "newPassword", good), 200, "done")
			if c.session() != ada || w.signIn(ada, better) != "" || w.signIn(ada, good) != ada {
				t.Error("after the change the session has ended, the old password is valid, or the new one is not")
			}
			if n := len(w.emailsTo(ada)); n != 4 {
				t.Errorf("%d emails", n)
			}
			w.clean(good, better, token(t, l))
		})
	}
}

// TestPreHijack: mallory signs up with ada's address and mallory's password, and hopes that ada opens the link.
func TestPreHijack(t *testing.T) {
	t.Parallel()
	t.Run("ada presses the link in her browser", func(t *testing.T) {
		t.Parallel()
		w := site(t)
		says(t, w.visit().post("password/sign-up", "email", ada, "password", evil), 202, "mail")
		link := token(t, w.newestEmail(ada, mailkind.Verify))
		b := w.visit()
		if r := b.get("/auth/password/confirm?token=" + link); string(r.Body) != `{"password":true}` {
			t.Errorf("the link is answered %s", r.Body)
		}
		says(t, b.post("password/confirm", "token", link), 401, "password_wrong")
		says(t, b.post("password/confirm", "token", link, "password", good), 401, "password_wrong")
		if b.session() != "" || w.user(ada) != nil || w.signIn(ada, evil) != "" {
			t.Error("mallory's sign-up has become an account")
		}
	})
	t.Run("ada signs up as well", func(t *testing.T) {
		t.Parallel()
		w := site(t)
		mallory := w.visit()
		mallory.post("password/sign-up", "email", ada, "password", evil)
		first := token(t, w.newestEmail(ada, mailkind.Verify))
		w.signUp(ada, good)
		if w.signIn(ada, evil) != "" || w.signIn(ada, good) != ada {
			t.Error("the account has mallory's password")
		}
		// Mallory's browser cannot use the first link either, because the address belongs to ada by now.
		says(t, mallory.post("password/confirm", "token", first), 400, "link_invalid")
		says(t, w.visit().post("password/confirm", "token", first, "password", evil), 400, "link_invalid")
		if w.signIn(ada, evil) != "" {
			t.Error("the account has mallory's password afterwards")
		}
	})
	t.Run("a cookie of another sign-up", func(t *testing.T) {
		t.Parallel()
		w := site(t)
		w.visit().post("password/sign-up", "email", ada, "password", evil)
		link := token(t, w.newestEmail(ada, mailkind.Verify))
		b := w.visit()
		b.post("password/sign-up", "email", "bob@example.com", "password", good)
		says(t, b.post("password/confirm", "token", link), 401, "password_wrong")
	})
	t.Run("an account that was made elsewhere and is not proved", func(t *testing.T) {
		t.Parallel()
		w := site(t)
		made, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada})
		if err != nil {
			t.Fatal(err)
		}
		says(t, w.visit().post("password/sign-up", "email", ada, "password", good), 202, "mail")
		w.newestEmail(ada, mailkind.Exists)
		says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", good), 200, "signin")
		if u := w.user(ada); u.ID != made.ID || u.EmailVerified.IsZero() {
			t.Errorf("the reset has not proved the address: %v", u)
		}
	})
}

// TestTheBrowserThatSignedUp finishes with one click, also after two sign-ups in two tabs. Any other browser must send
// the password.
func TestTheBrowserThatSignedUp(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.visit()
	b.post("password/sign-up", "email", "adda@example.com", "password", good)
	first := token(t, w.newestEmail("adda@example.com", mailkind.Verify))
	b.post("password/sign-up", "email", ada, "password", better)
	second := token(t, w.newestEmail(ada, mailkind.Verify))
	for _, link := range []string{first, second} {
		if r := b.get("/auth/password/confirm?token=" + link); string(r.Body) != `{"password":false}` {
			t.Errorf("the link is answered %s", r.Body)
		}
	}
	b.post("password/confirm", "token", first)
	if b.session() != "adda@example.com" {
		t.Errorf("session of %q", b.session())
	}
	other := w.visit()
	other.post("password/confirm", "token", second, "password", better)
	if other.session() != ada {
		t.Errorf("session of %q in another browser", other.session())
	}
}

// TestLinkIsLeftAlone opens a link ten times like a mail scanner, with all methods that must not change anything.
func TestLinkIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.visit()
	b.post("password/sign-up", "email", ada, "password", good)
	link := token(t, w.newestEmail(ada, mailkind.Verify))
	w.store.took()
	for range 10 {
		w.visit().get("/auth/password/confirm?token=" + link)
		w.person().get("/auth/password/confirm?token=" + link)
		w.visit().post("password/confirm", "token", link) // a scanner that presses buttons does not have the password
	}
	for _, call := range w.store.took() {
		if strings.HasPrefix(call, "Delete") || strings.HasPrefix(call, "Create") {
			t.Errorf("a scanner caused %s", call)
		}
	}
	b.post("password/confirm", "token", link)
	if b.session() != ada {
		t.Error("the link is used up")
	}
	reset := w.forgot(ada)
	for range 10 {
		w.visit().get("/auth/password/reset?token=" + reset)
	}
	says(t, w.open(reset).post("password/reset", "newPassword", better), 200, "signin")
}

// TestLinksEnd uses links twice, too late, for another purpose, and after the object of the link has changed.
func TestLinksEnd(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.visit()
	b.post("password/sign-up", "email", ada, "password", good)
	signUp := token(t, w.newestEmail(ada, mailkind.Verify))
	for name, wrong := range map[string]string{
		"none": "", "made up": "x", "cut": signUp[:20], "longer": signUp + "x", "a kilobyte": strings.Repeat("x", 1024),
		"NUL": "\x00", "no UTF-8": "\xff\xfe",
	} {
		r := b.post("password/confirm", "token", wrong)
		if r.Status != 400 {
			t.Errorf("%s: answered %d %s", name, r.Status, r.Body)
		}
	}
	w.advance(24*time.Hour + time.Second)
	says(t, b.post("password/confirm", "token", signUp), 400, "link_invalid")
	b = w.signUp(ada, good)
	says(t, b.post("password/confirm", "token", token(t, w.emailsTo(ada)[1])), 400, "link_invalid") // used

	other := w.forgot(ada)
	link := w.forgot(ada)
	late := w.open(link)
	w.advance(30*time.Minute + time.Second)
	says(t, late.post("password/reset", "newPassword", better), 400, "link_invalid")
	says(t, w.open(other).post("password/reset", "newPassword", better), 400, "link_invalid")

	first, second := w.open(w.forgot(ada)), w.open(w.forgot(ada))
	says(t, first.post("password/reset", "newPassword", better), 200, "signin")
	says(t, second.post("password/reset", "newPassword", evil), 400, "link_invalid") // the password has changed
	says(t, first.post("password/reset", "newPassword", evil), 400, "link_invalid")  // used

	// A link for one purpose is not valid for another.
	says(t, w.visit().post("password/confirm", "token", w.forgot(ada), "password", better), 400, "link_invalid")
	w.visit().post("password/sign-up", "email", "bob@example.com", "password", good)
	bob := w.open(token(t, w.newestEmail("bob@example.com", mailkind.Verify)))
	says(t, bob.post("password/reset", "newPassword", evil), 400, "link_invalid")

	// The cookie of a link is invalid on another site, when altered, and under another name.
	thief := w.visit()
	says(t, thief.post("password/reset", "newPassword", evil), 400, "link_invalid")
	thief.cookies["__Host-latchkey.password-reset"] = w.open(w.forgot(ada)).cookies["__Host-latchkey.password-reset"] + "x"
	says(t, thief.post("password/reset", "newPassword", evil), 400, "link_invalid")
	thief.cookies["__Host-latchkey.password-reset"] = bob.cookies["__Host-latchkey.password-signup"]
	says(t, thief.post("password/reset", "newPassword", evil), 400, "link_invalid")
	if w.signIn(ada, better) != ada || w.signIn(ada, evil) != "" {
		t.Error("a link that has ended has changed the password")
	}
}

// TestLinkOfAnotherAddress changes the user's address between the email and the link.
func TestLinkOfAnotherAddress(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	link := w.open(w.forgot(ada))
	u := w.user(ada)
	u.Email = "new@example.com"
	if _, err := w.store.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	says(t, link.post("password/reset", "newPassword", evil), 400, "link_invalid")
	if err := w.store.DeleteUser(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	says(t, link.post("password/reset", "newPassword", evil), 400, "link_invalid")
}

// TestChangeWithoutAnID: a session that started before the plugin was used has no ID, so a change could not keep it.
func TestChangeWithoutAnID(t *testing.T) {
	t.Parallel()
	w := site(t, jwt)
	w.signUp(ada, good)
	before, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: w.store,
		Session: core.SessionConfig{Strategy: core.StrategyJWT}, Now: w.Now, CleanUp: core.False,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	here := w.visit()
	r := &core.Request{Hosts: []string{"app.test"}, Scheme: "https"}
	cookies, err := before.NewSession(t.Context(), r, w.user(ada))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		here.cookies[c.Name] = c.Value
	}
	if here.session() != ada {
		t.Fatal("the session of before is not read")
	}
	says(t, here.get("/auth/password/change"), 401, "reauth_required")
	says(t, here.post("password/change", "current", good, "newPassword", better), 401, "reauth_required")
	here.accept = "text/html"
	if r := here.get("/auth/password/change"); !strings.Contains(r.Redirect, "/auth/reauth") {
		t.Errorf("a browser is answered %d to %q", r.Status, r.Redirect)
	}
	here.accept = "application/json"
	here.post("callback/password", "email", ada, "password", good)
	says(t, here.post("password/change", "current", good, "newPassword", better), 200, "done")
}

// TestSessionsEnd: a reset ends all sessions, a change all others.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := site(t)
	here, there := w.signUp(ada, good), w.visit()
	there.post("callback/password", "email", ada, "password", good)
	before := here.cookies["__Secure-authjs.session-token"]
	says(t, here.post("password/change", "current", good, "newPassword", better), 200, "done")
	if here.session() != ada || there.session() != "" {
		t.Errorf("after a change: %q here, %q there", here.session(), there.session())
	}
	if before == "" || here.cookies["__Secure-authjs.session-token"] == before {
		t.Error("the session continues with the same token")
	}
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", good), 200, "signin")
	if here.session() != "" {
		t.Error("a session outlives a reset")
	}
}

// TestChangeNeedsTheCurrentPassword: a change requires the current password and a session.
func TestChangeNeedsTheCurrentPassword(t *testing.T) {
	t.Parallel()
	w := site(t)
	b := w.signUp(ada, good)
	if r := w.visit().post("password/change", "current", good, "newPassword", better); r.Status != 401 {
		t.Errorf("without a session: status %d", r.Status)
	}
	for _, wrong := range []string{"", better, good + "x", strings.Repeat("x", 2000)} {
		says(t, b.post("password/change", "current", wrong, "newPassword", better), 401, "password_wrong")
	}
	says(t, b.post("password/change", "current", good, "newPassword", "short"), 422, "password_short")
	if w.signIn(ada, good) != ada {
		t.Error("the password has changed")
	}
	// A user who signed up at a provider has no password to change. The first password is set with an emailed link.
	link := w.forgot(ada)
	if err := w.provider.Remove(t.Context(), w.user(ada).ID); err != nil {
		t.Fatal(err)
	}
	if r := w.open(link).post("password/reset", "newPassword", evil); r.Status == 200 {
		t.Error("a link of before makes a password again")
	}
	says(t, b.post("password/change", "current", good, "newPassword", better), 401, "password_wrong")
	if w.signIn(ada, good) != "" {
		t.Error("a removed password signs in")
	}
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
	if w.signIn(ada, better) != ada {
		t.Error("the first password, set by email, is not valid")
	}
}

// TestPasswordOfAnUnverifiedAddress: a password that was imported for an unverified address may be an attacker's. It
// becomes invalid when the address is verified in another way.
func TestPasswordOfAnUnverifiedAddress(t *testing.T) {
	t.Parallel()
	w := site(t, func(o *password.Options, _ *core.Config) { o.LegacyHashes = []password.Verifier{password.Bcrypt()} })
	u, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.provider.Import(t.Context(), u.ID, vectors[1].encoded); err != nil {
		t.Fatal(err)
	}
	b := w.visit()
	b.post("callback/password", "email", ada, "password", vectors[1].password)
	if b.session() != ada {
		t.Fatal("the password is not valid at first")
	}
	says(t, b.post("password/change", "current", vectors[1].password, "newPassword", evil), 200, "done")
	u = w.user(ada)
	u.EmailVerified = w.Now() // like a sign-in link
	if _, err := w.store.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if w.signIn(ada, evil) != "" {
		t.Error("an attacker's password is valid after the verification")
	}
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", good), 200, "signin")
	if w.signIn(ada, good) != ada {
		t.Error("the owner's password is not valid")
	}
}

// TestLinkOfAnotherPassword: a link becomes void when the password changes without this plugin, although the link stays
// in the store.
func TestLinkOfAnotherPassword(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	link := w.open(w.forgot(ada))
	record, err := w.store.Store.Record(t.Context(), "password", w.user(ada).ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Store.UpdateRecord(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	says(t, link.post("password/reset", "newPassword", evil), 400, "link_invalid")
}
