package password_test

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/password"
)

// withoutTransactions is a store without transactions.
type withoutTransactions struct {
	core.Store
	store.SessionStore
	store.SessionLister
	store.RecordStore
	store.UserDeleter
}

func plain(s *troubled) core.Store { return withoutTransactions{s, s, s, s, s} }

// transactions configures a store with or without transactions.
func transactions(there bool) func(*password.Options, *core.Config) {
	return func(_ *password.Options, c *core.Config) {
		if !there {
			c.Store = plain(c.Store.(*troubled))
		}
	}
}

func encode(fields ...string) string {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return form.Encode()
}

// answer returns everything in a response that a client can compare, without random texts and times.
func answer(r *core.Response) string {
	var names []string
	for _, c := range r.Cookies {
		names = append(names, c.Name+regexp.MustCompile(`=[^;]*`).ReplaceAllString(strings.TrimPrefix(c.String(), c.Name),
			""))
	}
	slices.Sort(names)
	var header []string
	for name, values := range r.Header {
		if name == "X-Auth-Reference" { // random for each failure
			continue
		}
		header = append(header, name+": "+strings.Join(values, "|"))
	}
	slices.Sort(header)
	body := regexp.MustCompile(`"reference":"[^"]*"|nonce="[^"]*"|value="[0-9a-f|]*"`).ReplaceAll(r.Body, nil)
	return strings.Join([]string{
		strconv.Itoa(r.Status), r.Redirect, string(body), strings.Join(names, " "),
		regexp.MustCompile(`nonce-[^']*`).ReplaceAllString(strings.Join(header, "\n"), ""),
	}, "\n")
}

// TestKnownAndUnknownAreAlike makes the same requests for an address with a password, one without, and an unknown one.
// The responses are equal, and so are the calls to the store before the responses.
func TestKnownAndUnknownAreAlike(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"application/json", "text/html"} {
		w := site(t)
		w.signUp(ada, good)
		_, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: "provider@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range []struct {
			name   string
			fields []string
		}{
			{"password/sign-up", []string{"password", better}},
			{"password/sign-up", []string{"password", "short"}},
			{"password/forgot", nil},
			{"callback/password", []string{"password", better}},
			{"callback/password", []string{"password", ""}},
		} {
			t.Run(accept+" "+action.name, func(t *testing.T) {
				var answers []string
				var calls [][]string
				for _, email := range []string{ada, "provider@example.com", "nobody@example.com"} {
					b := w.visit()
					b.accept = accept
					csrf := b.csrf()
					w.flush()
					w.store.took()
					w.post.hold()
					r := b.send("POST", "/auth/"+action.name, "application/x-www-form-urlencoded", encode(
						append([]string{"csrfToken", csrf, "email", email}, action.fields...)...))
					// Background emails are not part of the response. Their first call is the lookup of the user.
					calls = append(calls, before(w.store.took(), action.name != "callback/password"))
					w.post.release()
					w.flush()
					answers = append(answers, strings.ReplaceAll(answer(r), email, "<address>"))
				}
				for i := 1; i < len(answers); i++ {
					if answers[i] != answers[0] {
						t.Errorf("responses differ:\n%s\n---\n%s", answers[0], answers[i])
					}
					if !slices.Equal(calls[i], calls[0]) {
						t.Errorf("calls differ: %v and %v", calls[0], calls[i])
					}
				}
			})
		}
	}
}

// before returns the calls that a response waits for. The calls of background emails start with the lookup of a user.
func before(calls []string, outbox bool) []string {
	if i := slices.Index(calls, "UserByEmail"); outbox && i >= 0 {
		calls = calls[:i]
	}
	return calls
}

// TestHashesAreComputedAlike detects hash computations with a queue that is full for one client: every request that
// needs a hash gets 503.
func TestHashesAreComputedAlike(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	w := site(t, func(o *password.Options, _ *core.Config) {
		o.MaxConcurrent = 1
		o.LegacyHashes = []password.Verifier{password.Func(func(e string) bool { return e == "held" },
			func(string, []byte) (bool, error) { <-held; return false, nil })}
	})
	u, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: "held@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.provider.Import(t.Context(), u.ID, "held"); err != nil {
		t.Fatal(err)
	}
	w.signUp(ada, good)
	w.store.took()
	w.provider.Patience(time.Hour) // on a busy machine the first would time out before the last arrives
	var all sync.WaitGroup
	defer all.Wait()
	defer close(held)
	for range 1 + 8 { // one computes, and as many wait as one client may have
		all.Go(func() { w.visit().post("callback/password", "email", "held@example.com", "password", good) })
	}
	for w.provider.Waiting() < 8 {
		if t.Context().Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	for _, email := range []string{ada, "nobody@example.com"} {
		for _, fields := range [][]string{
			{"callback/password", "password", good}, {"password/sign-up", "password", better},
		} {
			r := w.visit().post(fields[0], append([]string{"email", email}, fields[1:]...)...)
			if r.Status != 503 || r.Header.Get("Retry-After") != "3" {
				t.Errorf("%s for %s: answered %d, %v", fields[0], email, r.Status, r.Err)
			}
		}
	}
}

// TestKnownAddressGetsAnEmail: the owner of a known address gets an email about a sign-up, and the response does not
// wait for it.
func TestKnownAddressGetsAnEmail(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	mallory := w.visit()
	says(t, mallory.post("password/sign-up", "email", "ADA@example.com", "password", evil, "name", "Win a car"), 202,
		"mail")
	l := w.newestEmail(ada, mailkind.Exists)
	if string(l.URL) != "https://app.test/auth/signin" || strings.Contains(string(l.URL), "token") {
		t.Error("the email links to another page")
	}
	if w.signIn(ada, evil) != "" || w.user(ada).Name == "Win a car" {
		t.Error("the sign-up has changed the account")
	}
	if n, err := w.store.DeleteExpired(t.Context(), w.Now().AddDate(1, 0, 0)); err != nil || n > 3 {
		t.Errorf("%d records are left, %v", n, err)
	}
}

// TestUnknownAddressGetsNoEmail requests a reset for an unknown address.
func TestUnknownAddressGetsNoEmail(t *testing.T) {
	t.Parallel()
	w := site(t)
	says(t, w.visit().post("password/forgot", "email", "nobody@example.com"), 202, "mail")
	if n := len(w.emailsTo("nobody@example.com")); n != 0 {
		t.Errorf("%d emails", n)
	}
}

// TestMailFails: if all emails fail, the responses are the same, no unsent link remains, and the log has the errors.
// Once emails work again, a repeated request sends one immediately.
func TestMailFails(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	w.store.took()
	w.post.fails = errors.New("mailbox full")
	says(t, w.visit().post("password/sign-up", "email", "bob@example.com", "password", good), 202, "mail")
	says(t, w.visit().post("password/sign-up", "email", ada, "password", better), 202, "mail")
	says(t, w.visit().post("password/forgot", "email", ada), 202, "mail")
	w.flush()
	for text, want := range map[string]int{
		`level=ERROR msg="auth: an email was not sent" error="mailbox full"`: 3, "will be tried again": 6,
	} {
		if n := strings.Count(w.log.String(), text); n != want {
			t.Errorf("%q is in the log %d times, want %d: %s", text, n, want, w.log)
		}
	}
	if all, err := w.store.UserRecords(t.Context(), w.user(ada).ID, "reset"); err != nil || len(all) != 0 {
		t.Errorf("%d links are left, %v", len(all), err)
	}
	if n := w.store.count("DeleteRecord signup"); n != 2 {
		t.Errorf("%d of two sign-ups are removed", n)
	}
	w.post.fails = nil
	b := w.visit()
	b.post("password/sign-up", "email", "bob@example.com", "password", good)
	b.post("password/confirm", "token", token(t, w.newestEmail("bob@example.com", mailkind.Verify)))
	if b.session() != "bob@example.com" {
		t.Error("the second sign-up does not work")
	}
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
	w.clean(good, better)
}

// TestMailerThatPanics: a panic counts as a failed email. No unsent link remains, and no link is in the log.
func TestMailerThatPanics(t *testing.T) {
	t.Parallel()
	w := site(t)
	w.signUp(ada, good)
	w.store.took()
	w.post.panics = true
	says(t, w.visit().post("password/sign-up", "email", "bob@example.com", "password", good), 202, "mail")
	says(t, w.visit().post("password/sign-up", "email", ada, "password", better), 202, "mail")
	says(t, w.visit().post("password/forgot", "email", ada), 202, "mail")
	w.flush()
	if n := strings.Count(w.log.String(), "(*postbox).Send"); n != 9 {
		t.Errorf("the log has %d panics of the mailer: %s", n, w.log)
	}
	if all, err := w.store.UserRecords(t.Context(), w.user(ada).ID, "reset"); err != nil || len(all) != 0 {
		t.Errorf("%d links are left, %v", len(all), err)
	}
	if n := w.store.count("DeleteRecord signup"); n != 2 {
		t.Errorf("%d of two sign-ups are removed", n)
	}
	w.post.panics = false
	says(t, w.open(w.forgot(ada)).post("password/reset", "newPassword", better), 200, "signin")
	w.clean(good, better, "https://app.test/auth/password/")
}

// TestRefusedEmailsCount: failed emails count for the limit of a mailbox, because a service may deliver emails that it
// rejects. After some time there is another one.
func TestRefusedEmailsCount(t *testing.T) {
	t.Parallel()
	for action, while := range map[string]time.Duration{
		"password/forgot": 2 * time.Minute, "password/sign-up": 5 * time.Minute,
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			w := site(t, func(_ *password.Options, c *core.Config) {
				c.InsecureNoLimits, c.Mail.Retries = false, []time.Duration{}
			})
			w.signUp(ada, good)
			w.advance(time.Hour)
			w.post.fails = errors.New("451 try again later")
			tried := func() int {
				before := w.post.failed
				for range 20 {
					w.visit().post(action, "email", ada, "password", better)
				}
				w.flush()
				return w.post.failed - before
			}
			first := tried()
			w.advance(while)
			if second := tried(); first == 0 || first > 10 || second != 1 {
				t.Errorf("%d emails were tried, and %d later", first, second)
			}
		})
	}
}

// TestSignUpsMailOneAddressSeldom: emails to one address are limited even if sign-ups are not, because an attacker can
// send sign-ups from many networks.
func TestSignUpsMailOneAddressSeldom(t *testing.T) {
	t.Parallel()
	w := site(t, func(_ *password.Options, c *core.Config) {
		c.InsecureNoLimits = false
		c.Limits.Rates = map[limit.Attempt]limit.Rates{
			limit.AttemptSignUp: {Network: limit.Rate{Burst: 1000, Every: time.Second}},
		}
	})
	const tries = 12
	refused := 0
	for range tries {
		if r := w.visit().post("password/sign-up", "email", ada, "password", good); r.Status == 429 {
			refused++
		}
	}
	if sent := len(w.emailsTo(ada)); refused == 0 || sent == 0 || sent > tries-refused {
		t.Errorf("%d emails, %d of %d sign-ups refused", sent, refused, tries)
	}
}
