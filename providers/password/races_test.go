package password_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

const racers = 50

// race makes fifty calls at the same moment and returns how often the result was true.
func race(do func(i int) bool) int64 {
	var all sync.WaitGroup
	var won atomic.Int64
	begin := make(chan struct{})
	for i := range racers {
		all.Go(func() {
			<-begin
			if do(i) {
				won.Add(1)
			}
		})
	}
	close(begin)
	all.Wait()
	return won.Load()
}

// patient allows enough concurrent hashes, because a race is about which request succeeds.
func patient(o *password.Options, _ *core.Config) { o.MaxConcurrent = 8 }

// TestFiftyConfirmations opens one link fifty times concurrently: there is one user and one session.
func TestFiftyConfirmations(t *testing.T) {
	t.Parallel()
	for name, hidden := range map[string]bool{"with transactions": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := site(t, patient, transactions(!hidden))
			b := w.visit()
			b.post("password/sign-up", "email", ada, "password", good)
			link := token(t, w.newestEmail(ada, mailkind.Verify))
			csrf := b.csrf()
			won := race(func(int) bool {
				racer := w.visit()
				b.mu.Lock()
				for name, value := range b.cookies {
					racer.cookies[name] = value
				}
				b.mu.Unlock()
				racer.send("POST", "/auth/password/confirm", "application/x-www-form-urlencoded", "csrfToken="+csrf+"&token="+link)
				return racer.session() == ada
			})
			if won != 1 {
				t.Errorf("%d sessions", won)
			}
			if w.signIn(ada, good) != ada {
				t.Error("the winner's account has no password")
			}
		})
	}
}

// TestFiftyResets uses one link fifty times concurrently with fifty passwords: one of them is valid.
func TestFiftyResets(t *testing.T) {
	t.Parallel()
	w := site(t, patient)
	w.signUp(ada, good)
	link := w.forgot(ada)
	secrets := make([]string, racers)
	var browsers [racers]*browser
	for i := range racers {
		secrets[i] = strings.Repeat(string(rune('A'+i)), 3) + " quiet lanterns"
		browsers[i] = w.open(link)
	}
	won := race(func(i int) bool {
		r := browsers[i].post("password/reset", "newPassword", secrets[i])
		if r.Status == 503 { // the queue is full: the link is not used up
			return false
		}
		return r.Status == 200
	})
	good := 0
	for _, secret := range secrets {
		if w.signIn(ada, secret) == ada {
			good++
		}
	}
	if won != 1 || good != 1 {
		t.Errorf("%d resets, %d passwords are valid", won, good)
	}
	if n := len(w.emailsTo(ada)); n != 3 { // verify, reset, changed
		t.Errorf("%d emails", n)
	}
}

// TestFiftyChanges changes one password fifty times concurrently in as many tabs: one succeeds, and its response says
// so.
func TestFiftyChanges(t *testing.T) {
	t.Parallel()
	w := site(t, patient)
	b := w.signUp(ada, good)
	csrf := b.csrf()
	secret := func(i int) string { return strings.Repeat(string(rune('A'+i)), 3) + " quiet lanterns" }
	won := race(func(i int) bool {
		tab := w.visit()
		b.mu.Lock()
		for name, value := range b.cookies {
			tab.cookies[name] = value
		}
		b.mu.Unlock()
		r := tab.send("POST", "/auth/password/change", "application/x-www-form-urlencoded",
			"csrfToken="+csrf+"&current="+strings.ReplaceAll(good, " ", "+")+
				"&newPassword="+strings.ReplaceAll(secret(i), " ", "+"))
		return r.Status == 200
	})
	right := 0
	for i := range racers {
		if w.signIn(ada, secret(i)) == ada {
			right++
		}
	}
	if won != 1 || right != 1 {
		t.Errorf("%d changes, %d passwords are valid", won, right)
	}
}

// TestConcurrentSignUps signs up one address in two browsers, and confirms both concurrently.
func TestConcurrentSignUps(t *testing.T) {
	t.Parallel()
	w := site(t, patient)
	var links []string
	var browsers []*browser
	for range 8 {
		b := w.visit()
		b.post("password/sign-up", "email", ada, "password", good)
		links, browsers = append(links, token(t, w.newestEmail(ada, mailkind.Verify))), append(browsers, b)
	}
	won := race(func(i int) bool {
		if i >= len(links) {
			return false
		}
		browsers[i].post("password/confirm", "token", links[i])
		return browsers[i].session() == ada
	})
	if won != 1 {
		t.Errorf("%d of eight sign-ups have made a user", won)
	}
}

// TestImprovedOnce signs in fifty times concurrently with a hash that will be replaced: all succeed, and the hash is
// replaced.
func TestImprovedOnce(t *testing.T) {
	t.Parallel()
	w := site(
		t,
		patient,
		func(o *password.Options, _ *core.Config) { o.LegacyHashes = []password.Verifier{password.Bcrypt()} },
	)
	u, err := w.store.Store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: ada})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.provider.Import(t.Context(), u.ID, vectors[1].encoded); err != nil {
		t.Fatal(err)
	}
	won := race(func(int) bool {
		b := w.visit()
		for {
			if r := b.post("callback/password", "email", ada, "password", vectors[1].password); r.Status != 503 {
				return b.session() == ada
			}
		}
	})
	record, err := w.store.Store.Record(t.Context(), "password", u.ID)
	if err != nil || won != racers || !strings.Contains(string(record.Value), "$argon2id$") || record.Version != 2 {
		t.Errorf("%d got in, %v, %s of version %d", won, err, record.Value, record.Version)
	}
}
