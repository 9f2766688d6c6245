package password_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestDatabaseDown lets the database fail at each step of each action. After any failure, no sign-in is half complete,
// no user is left without a password, the old password stays valid until the new one is, and the same link works once
// the database is available.
func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		for _, call := range []string{
			"UserByEmail", "Record signup", "InTransaction", "DeleteRecord signup", "CreateUser", "CreateRecord password",
			"CreateSession",
		} {
			t.Run("confirm/"+call, func(t *testing.T) {
				t.Parallel()
				w := site(t, transactions(!hidden))
				b, link := w.asked()
				csrf := b.csrf()
				w.store.took()
				w.store.failing(call)
				r := b.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", encode("csrfToken", csrf,
					"token", link))
				met := w.store.count(call) > 0
				w.store.failing("")
				if met && (r.Status < 500 || b.session() != "") {
					t.Errorf("answered %d %s", r.Status, r.Body)
				}
				if !met {
					return
				}
				if call == "CreateSession" { // the account exists: its owner signs in
					if w.signIn(ada, good) != ada {
						t.Error("the account cannot be used")
					}
					return
				}
				if w.user(ada) != nil {
					t.Error("a user is left")
				}
				b.post("password/confirm", "token", link)
				if b.session() != ada || w.signIn(ada, good) != ada {
					t.Error("the link does not work afterwards")
				}
			})
		}
	}
	for _, call := range []string{
		"Record reset", "User", "Record password", "Sessions", "DeleteRecord reset", "UpdateRecord password",
		"CreateRecord outbox",
	} {
		t.Run("reset/"+call, func(t *testing.T) {
			t.Parallel()
			w := site(t)
			w.signUp(ada, good)
			b := w.open(w.forgot(ada))
			csrf := b.csrf()
			w.store.took()
			w.store.failing(call)
			r := b.send("POST", "/auth/password/reset", "application/x-www-form-urlencoded",
				encode("csrfToken", csrf, "newPassword", better))
			if w.store.count(call) == 0 {
				t.Errorf("%s is not asked", call)
			}
			w.store.failing("")
			if r.Status < 500 || w.signIn(ada, good) != ada || w.signIn(ada, better) != "" {
				t.Errorf("answered %d %s", r.Status, r.Body)
			}
			says(t, b.post("password/reset", "newPassword", better), 200, "signin")
		})
	}
	for _, call := range []string{"CreateRecord signup", "UserByEmail"} {
		t.Run("sign-up/"+call, func(t *testing.T) {
			t.Parallel()
			w := site(t)
			b := w.visit()
			w.store.failing(call)
			r := b.post("password/sign-up", "email", ada, "password", good)
			w.flush()
			w.store.failing("")
			if (call == "UserByEmail") != (r.Status == 202) { // errors after the response are only in the log
				t.Errorf("answered %d %s", r.Status, r.Body)
			}
			if !strings.Contains(w.log.String(), "the engine is down") || len(w.emailsTo(ada)) > 0 {
				t.Error("the error is not in the log, or an email was sent")
			}
		})
	}
	for _, call := range []string{"UserByEmail", "Record password", "CreateSession"} {
		t.Run("sign-in/"+call, func(t *testing.T) {
			t.Parallel()
			w := site(t)
			w.signUp(ada, good)
			b := w.visit()
			csrf := b.csrf()
			w.store.failing(call)
			r := b.send("POST", "/auth/callback/password", "application/x-www-form-urlencoded",
				encode("csrfToken", csrf, "email", ada, "password", good))
			w.store.failing("")
			if strings.Contains(r.Redirect, "CredentialsSignin") || b.session() != "" {
				t.Errorf("an outage is answered as a wrong password: %d %s", r.Status, r.Redirect)
			}
		})
	}
}

// TestSignUpCodeAfterFailures: if the store fails after the code of a sign-up was checked, the code works again.
func TestSignUpCodeAfterFailures(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"UserByEmail", "CreateUser", "CreateRecord password"} {
		for _, tx := range []bool{true, false} {
			w := site(t, withCodes, transactions(tx))
			b := w.visit()
			flow := codeFlows["sign-up"]
			code := string(flow.start(w, b).Code)
			csrf := b.csrf()
			w.store.took()
			w.store.failing(call)
			r := b.send("POST", "/auth/password/confirm-code", "application/x-www-form-urlencoded",
				encode("csrfToken", csrf, "code", code))
			failed := w.store.count(call) > 0
			w.store.failing("")
			b.post("password/confirm-code", "code", code)
			if !failed || r.Status < 500 || b.session() != ada {
				t.Errorf("%s, transactions %t: failed %t, answered %d, then the session is %q", call, tx, failed, r.Status,
					b.session())
			}
		}
	}
}

// TestFailedAnnouncement: a plugin cannot store the event of a reset. The password does not change, and the link works
// afterwards.
func TestFailedAnnouncement(t *testing.T) {
	t.Parallel()
	down := false
	w := site(t, func(_ *password.Options, c *core.Config) {
		c.Plugins = append(c.Plugins, announcer(func(e audit.Event) error {
			if down && e.Name == audit.PasswordSet {
				return core.ErrStoreUnavailable
			}
			return nil
		}))
	})
	w.signUp(ada, good)
	b := w.open(w.forgot(ada))
	csrf := b.csrf()
	down = true
	r := b.send("POST", "/auth/password/reset", "application/x-www-form-urlencoded",
		encode("csrfToken", csrf, "newPassword", better))
	down = false
	if r.Status < 500 || w.signIn(ada, good) != ada || w.signIn(ada, better) != "" {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	says(t, b.post("password/reset", "newPassword", better), 200, "signin")
}

// announcer is a plugin that calls itself before each announced change.
type announcer func(audit.Event) error

func (a announcer) Attach(h *core.PluginHost) error {
	h.OnAnnounce(func(_ context.Context, _ store.RecordStore, e audit.Event) (
		context.Context, func(unknown bool), error,
	) {
		return nil, nil, a(e)
	})
	return nil
}

// TestPasswordIsNotStored: the store panics when it writes the password of a sign-up, or reports that there is one
// already. No user without a password remains, and the link works afterwards.
func TestPasswordIsNotStored(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func() error{
		"a panic":    func() error { panic("the store of this test") },
		"a conflict": func() error { return core.ErrConflict },
	} {
		for _, hidden := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, without transactions %v", name, hidden), func(t *testing.T) {
				t.Parallel()
				w := site(t, transactions(!hidden))
				b, link := w.asked()
				csrf := b.csrf()
				w.store.how = how
				w.store.failing("CreateRecord password")
				r := b.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", encode("csrfToken", csrf,
					"token", link))
				w.store.failing("")
				if r.Status < 500 || b.session() != "" || w.user(ada) != nil {
					t.Errorf("answered %d %s; user %v", r.Status, r.Body, w.user(ada))
				}
				b.post("password/confirm", "token", link)
				if b.session() != ada || w.signIn(ada, good) != ada {
					t.Error("the link does not work afterwards")
				}
			})
		}
	}
}

// asked signs up and returns the browser and the token in the email.
func (w *world) asked() (*browser, string) {
	w.t.Helper()
	b := w.visit()
	b.post("password/sign-up", "email", ada, "password", good)
	return b, token(w.t, w.newestEmail(ada, mailkind.Verify))
}

// TestLostResponse: a store without transactions creates the user of a sign-up but returns an error. No user without a
// password remains, the log mentions none, and the link works afterwards.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	w := site(t, transactions(false))
	b, link := w.asked()
	for _, applied := range []bool{true, false} {
		csrf := b.csrf()
		w.store.applied = applied
		w.store.failing("CreateUser")
		r := b.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", encode("csrfToken", csrf,
			"token", link))
		w.store.failing("")
		if r.Status < 500 || b.session() != "" || w.user(ada) != nil {
			t.Errorf("applied %v: answered %d %s; user %v", applied, r.Status, r.Body, w.user(ada))
		}
	}
	if log := w.log.String(); strings.Contains(log, "without a password") {
		t.Errorf("the log: %s", log)
	}
	b.post("password/confirm", "token", link)
	if b.session() != ada || w.signIn(ada, good) != ada {
		t.Error("the link does not work afterwards")
	}
}

// TestRetryAfterAnOutage: a store without transactions keeps the user of a sign-up and loses the password. The log has
// the error. The owner of the address signs in with a reset link, as the email after the next sign-up suggests.
func TestRetryAfterAnOutage(t *testing.T) {
	t.Parallel()
	w := site(t, transactions(false))
	b, link := w.asked()
	csrf := b.csrf()
	w.store.keeps = true
	w.store.failing("CreateRecord password")
	r := b.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", encode("csrfToken", csrf,
		"token", link))
	w.store.failing("")
	w.store.keeps = false
	log := w.log.String()
	if r.Status < 500 || w.user(ada) == nil || !strings.Contains(log, "could not delete a user without a password") {
		t.Fatalf("answered %d %s; user %v", r.Status, r.Body, w.user(ada))
	}
	says(t, b.post("password/confirm", "token", link), 400, "link_invalid")
	b.post("password/sign-up", "email", ada, "password", good)
	w.newestEmail(ada, mailkind.Exists)
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
	if w.signIn(ada, better) != ada {
		t.Error("the owner of the address cannot sign in")
	}
}

// TestEndOfTheProcess: the process ends during a confirmation and cannot restore anything. On a store with transactions
// the link works afterwards.
func TestEndOfTheProcess(t *testing.T) {
	t.Parallel()
	w := site(t)
	b, link := w.asked()
	csrf := b.csrf()
	w.store.failing("Create") // neither the user nor the restored sign-up
	r := b.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", encode("csrfToken", csrf,
		"token", link))
	w.store.failing("")
	if r.Status < 500 || w.user(ada) != nil {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	b.post("password/confirm", "token", link)
	if b.session() != ada || w.signIn(ada, good) != ada {
		t.Error("the link does not work afterwards")
	}
}

// TestFlushWaits: emails are sent after the response. Flush waits for them until its context is done.
func TestFlushWaits(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.post.hold()
	says(t, w.visit().post("password/sign-up", "email", ada, "password", good), 202, "mail")
	ctx, cancel := contextOf(t)
	cancel()
	if err := w.provider.Flush(ctx); err == nil {
		t.Error("Flush does not wait")
	}
	w.post.release()
	w.newestEmail(ada, mailkind.Verify)
}

// TestMailQueueOfAClient: one client can have a few emails waiting. Its next request gets 503, whether the address
// belongs to a user or not, and other clients are not affected.
func TestMailQueueOfAClient(t *testing.T) {
	t.Parallel()
	w := site(t, func(_ *password.Options, c *core.Config) { c.Mail.Retries = []time.Duration{time.Hour} })
	w.signUp(ada, good)
	w.post.hold()
	b := w.visit()
	csrf := b.csrf()
	ask := func(email string) *core.Response {
		return b.send("POST", "/auth/password/forgot", "application/x-www-form-urlencoded",
			encode("csrfToken", csrf, "email", email))
	}
	w.store.failing("UserByEmail") // emails for unknown addresses wait for their next attempt
	for range 6 {
		says(t, ask("nobody@example.com"), 202, "mail")
	}
	for _, email := range []string{ada, "nobody@example.com"} {
		if r := ask(email); r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: answered %d", email, r.Status)
		}
	}
	w.store.failing("")
	other := w.visit()
	other.from = "198.51.100.7:1"
	says(t, other.post("password/forgot", "email", ada), 202, "mail")
	w.post.release()
	w.newestEmail(ada, mailkind.Reset)
}
