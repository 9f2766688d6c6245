package faults

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
)

// TestFaults makes each store call of each flow fail in each way. A first run without failures finds the calls of a
// flow.
func TestFaults(t *testing.T) {
	list := strings.Split(*named, ",")
	if *named == "all" {
		list = all
	}
	for _, engine := range list {
		t.Run(engine, func(t *testing.T) {
			cases, began := 0, time.Now()
			for _, f := range slices.Concat(flows, programFlows) {
				t.Run(f.name, func(t *testing.T) { cases += f.through(t, open(t, engine)) })
			}
			t.Logf("%s: %d cases in %v", engine, cases, time.Since(began).Round(time.Second))
		})
	}
}

// through runs the flow once without failures, and then once for each call and mode.
func (f *flow) through(t *testing.T, s core.Store) (cases int) {
	t.Helper()
	x := newSite(t, s, f.grace)
	v := f.begin(x)
	x.at.begin(nil, 0, nil)
	answer := v.ask(t.Context(), x.sick)
	names, _ := x.at.end()
	if failed(answer) || len(names) == 0 {
		t.Fatalf("answered %d to %q, %v, after %q: %.600s", answer.Status, answer.Redirect, answer.Err, names, x.log.take())
	}
	for _, m := range modes {
		for step, name := range names {
			if !f.tried(m, names[:step+1]) {
				continue
			}
			cases++
			t.Run(fmt.Sprintf("%s/%d %s", m.name, step, name), func(t *testing.T) {
				t.Parallel()
				c := &incidentCase{flow: f, mode: m, step: step, visit: f.begin(newSite(t, s, f.grace))}
				c.play(s)
			})
		}
	}
	return cases
}

// tried reports whether a mode is tested at the last of these calls.
func (f *flow) tried(m *mode, names []string) bool {
	last := len(names) - 1
	if m.writes { // the first call that writes represents all
		return slices.IndexFunc(names, writing.MatchString) == last
	}
	return *long || m.name == "error" || !f.costly && slices.Contains(short, m.name)
}

// begin runs a new user's flow up to the request with the failure.
func (f *flow) begin(x *site) *visit {
	x.Helper()
	v := &visit{site: x, person: strings.ToLower(rand.Text()), b: x.browser()}
	v.key, x.at.uses = authenticator.New(v.person), f.reads
	f.before(v)
	v.held = v.b.cookies[sessionCookie]
	v.secrets = append(v.secrets, v.held, clientSecret, goodWord, newWord)
	x.log.take()
	return v
}

// ask sends the request.
func (v *visit) ask(ctx context.Context, at *core.Auth) *core.Response {
	if v.calls {
		return v.call(ctx, at, v.bearer)
	}
	method := http.MethodGet
	if v.form != nil {
		method = http.MethodPost
	}
	return v.b.request(ctx, at, method, v.target, v.form)
}

// incidentCase is one store call of one flow that fails in one way.
type incidentCase struct {
	*flow
	*mode
	step int
	// quiet is set if the response does not report the failure.
	quiet bool
	visit *visit
}

// failed reports whether the response reports a failure.
func failed(r *core.Response) bool {
	return r.Err != nil || r.Status >= http.StatusBadRequest || strings.Contains(r.Redirect, "error=") ||
		strings.Contains(r.Redirect, "/auth/error")
}

// play runs the case.
func (c *incidentCase) play(s core.Store) {
	v := c.visit
	v.Helper()
	ctx, leave := context.WithCancel(v.Context())
	defer leave()
	at := v.sick
	if c.hangs {
		at = v.hung
	}
	before := v.everything(s)
	v.at.begin(c.mode, c.step, leave)
	began := time.Now()
	answered := make(chan *core.Response, 1)
	go func() {
		defer close(answered) // also if the process ends at this step
		answered <- v.ask(ctx, at)
	}()
	answer := <-answered
	took := time.Since(began)
	names, hits := v.at.end()
	log := v.log.take()
	_, transactions := s.(store.Transactor)
	v.left = c.hangs && !transactions && slices.Contains(names[:min(c.step+1, len(names))], "create user")
	settled := slices.Index(names, c.settled)
	after := settled >= 0 && c.step > settled
	if hits == 0 {
		// On a busy machine, earlier calls than the hanging one can exceed the timeout, and the response can be sent
		// before the email that follows it is stored.
		if !c.atOnce && !c.hangs && !after {
			v.Fatalf("the flow does not come to the call: %q, answered %s: %.600s", names, told(answer), log)
		}
		return
	}
	c.quiet = c.reads || quietly[names[c.step]] != "" && !c.onwards || after
	if took > time.Minute {
		v.Errorf("it took %v", took)
	}
	for _, secret := range v.secrets {
		if secret != "" && strings.Contains(log, secret) {
			v.Errorf("a secret is in the log: %.600s", log)
		}
	}
	if answer != nil && !c.leaves {
		c.look(answer, log, names)
	}
	if c.halves(s, names[c.step]) {
		return
	}
	if c.mode.name == "error" && answer != nil && failed(answer) && !after && c.repeatable(names) {
		if again := v.ask(v.Context(), v.sick); failed(again) {
			v.Errorf("the request was answered %s, and is answered %s when it is repeated", told(answer), told(again))
		}
	}
	if !v.left || !strings.Contains(log, "undo of a sign-in that failed") {
		c.lookAtRows(s, answer, before)
	}
	who := c.again(v, v.browser())
	if who == "" && v.left { // no account signs in as this user, but a user who verifies the address can
		who = byMail(v, v.browser())
	}
	if who != address(v.person) {
		v.Errorf("the second try signs in %q: answered %s; %.900s", who, told(answer), v.log.take())
	}
}

// repeatable reports whether the client can repeat the request after the failure. Not so if an earlier call has used up
// something that the request contains.
func (c *incidentCase) repeatable(names []string) bool {
	return !c.challenge && !slices.ContainsFunc(names[:c.step], func(name string) bool {
		return name == c.consumes || name == c.once
	})
}

// halves reports whether a store may contain half of a sign-in (docs/accounts.md): a store without transactions, if no
// cleanup code runs any more, or if the database creates the user ID and its response is lost.
func (c *incidentCase) halves(s core.Store, call string) bool {
	_, transactions := s.(store.Transactor)
	return !transactions && (c.dies || call == "create user" && (c.applied || c.leaves))
}

func told(r *core.Response) string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d to %q, %v", r.Status, r.Redirect, r.Err)
}

// look checks the response.
func (c *incidentCase) look(r *core.Response, log string, names []string) {
	v := c.visit
	v.Helper()
	now, success := v.b.cookies[sessionCookie], !failed(r)
	known := now == "" || v.has(now)
	switch {
	case c.signsOut:
		if now != "" && !failed(r) {
			v.Errorf("the visitor is still signed in: %s", told(r))
		}
	case c.mode.name == "duplicate key" && names[c.step] == c.once: // a credential that was used before
		if !wrongCredential(r) {
			v.Errorf("a credential that was used before is answered %s %s", told(r), r.Body)
		}
	case c.program && !success && wrongCredential(r):
		v.Errorf("a failure reads as a wrong credential: %s %s", told(r), r.Body)
	case c.fails && success && !c.quiet:
		v.Errorf("call %d of %q failed, and the answer is %s: %.200s", c.step, names, told(r), r.Body)
	case c.reads && c.fails && success && (string(r.Body) == "null" || r.Redirect != ""):
		v.Errorf("an outage reads as signed out: %s %s", told(r), r.Body)
	case !known && now != v.held:
		v.Errorf("a cookie was set for a session that is not there: %s", told(r))
	case success && c.signsIn && now == "":
		v.Errorf("the answer is a success, without a session: %s", told(r))
	case !success && now != v.held:
		v.Errorf("the session cookie was %.8q and is %.8q: %s", v.held, now, told(r))
	}
	if c.fails && log == "" && quietly[names[c.step]] == "" { // those are logged outside of the request
		v.Errorf("nothing is in the log, after %q at %d, answered %s", names, c.step, told(r))
	}
}

func (v *visit) has(token string) bool {
	_, _, err := v.store.SessionAndUser(v.Context(), token)
	return !errors.Is(err, core.ErrNotFound)
}

// everything returns all stored data of the user as text.
func (v *visit) everything(s core.Store) string {
	var all []string
	for _, email := range []string{address(v.person), "new-" + address(v.person)} {
		u, err := s.UserByEmail(v.Context(), email)
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		accounts, _ := s.(store.AccountStore).Accounts(v.Context(), u.ID)
		passkeys, _ := s.(store.AuthenticatorStore).Authenticators(v.Context(), u.ID)
		sessions, _ := s.(store.SessionLister).Sessions(v.Context(), u.ID)
		raw, _ := json.Marshal([]any{u, len(accounts), len(passkeys), len(sessions)})
		all = append(all, string(raw))
	}
	return strings.Join(all, "\n")
}

// lookAtRows checks the stored data: every user can sign in, and a failed sign-in has left nothing.
func (c *incidentCase) lookAtRows(s core.Store, answer *core.Response, before string) {
	v := c.visit
	v.Helper()
	u, err := s.UserByEmail(v.Context(), address(v.person))
	if err != nil || !u.EmailVerified.IsZero() {
		return
	}
	accounts, err := s.(store.AccountStore).Accounts(v.Context(), u.ID)
	if err == nil && len(accounts) == 0 {
		v.Errorf("a user without an account: %s; before: %s; answered %s", v.everything(s), before, told(answer))
	}
}
