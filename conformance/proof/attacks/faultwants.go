package main

import (
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// signedOut reports whether the response shows that no user is signed in.
func signedOut(answer wire.Answer) bool {
	return answer.Status == 200 && strings.TrimSpace(string(answer.Body)) == "null"
}

// failed reports whether the response reports a failure.
func failed(answer wire.Answer) bool { return answer.Status >= 400 || errorIn(answer) != "" }

// look compares the result of the failure with the expected result.
func (c *faultCase) look(flow *faultFlow, answer wire.Answer, answered bool, before, log string) {
	if !c.brings() {
		if !c.mode.writes { // a flow that only reads continues without writes
			c.failf("the flow does not come to the step")
		}
		return
	}
	if c.took > time.Minute {
		c.failf("it took %v", c.took.Round(time.Millisecond))
	}
	for _, secret := range c.secrets {
		if secret != "" && strings.Contains(log, secret) {
			c.failf("a secret is in the log: %.300s", log)
		}
	}
	now := c.b.cookies[sessionCookie]
	if now != "" && now != c.held {
		if _, _, err := c.app.store.Store.SessionAndUser(c, now); err != nil {
			c.failf("a cookie was set for a session that is not there: %v", err)
		}
	}
	if answered {
		c.lookAtAnswer(flow, answer, now, log)
	} else if c.mode.dies && !c.transactions {
		return // no code was left to clean up
	}
	c.app.idle()
	c.lookAtRows(flow, answer, answered, before)
}

// lookAtAnswer checks the response.
func (c *faultCase) lookAtAnswer(flow *faultFlow, answer wire.Answer, now, log string) {
	success := !failed(answer)
	switch {
	case flow.signsOut:
		if now != "" {
			c.failf("the visitor is still signed in")
		}
	case c.mode.fails && success:
		c.failf("it failed, and the answer is %d to %q: %.100s", answer.Status, answer.Header.Get("Location"), answer.Body)
	case success && flow.signsIn && now == "":
		c.failf("the answer is a success, without a session: %d to %q", answer.Status, answer.Header.Get("Location"))
	case !success && now != c.held:
		c.failf("the session cookie was %.8q and is %.8q", c.held, now)
	case c.flow == "session read" && signedOut(answer) && c.mode.fails:
		c.failf("an outage reads as signed out")
	}
	if c.mode.fails && c.mode != hanging && !strings.Contains(log, "level=ERROR") {
		c.failf("nothing is in the log at level error: %.300s", log)
	}
}

// lookAtRows checks the stored rows and the events.
func (c *faultCase) lookAtRows(flow *faultFlow, answer wire.Answer, answered bool, before string) {
	after := c.app.store.everything(c)
	refused := !answered || failed(answer)
	if c.transactions && refused && flow.signsIn && after != before && c.mode.happen != nil && !c.wroteBeforehand() {
		c.failf("a sign-in that failed has written: %s\nbefore: %s", after, before)
	}
	for _, u := range c.app.store.users(c) {
		rows := c.app.store.rows(c, u)
		if !strings.Contains(rows, "\naccount ") && u.EmailVerified.IsZero() && (!c.mode.dies || c.transactions) {
			c.failf("a user without an account: %s", rows)
		}
	}
	c.app.mu.Lock()
	events := slices.Clone(c.events)
	c.app.mu.Unlock()
	seen := map[string]bool{}
	for _, event := range events {
		name, id, _ := strings.Cut(event, " ")
		if c.transactions && seen[event] { // without transactions an event belongs to one write, and a retry writes again
			c.failf("the event %s came twice", event)
		}
		seen[event] = true
		if _, err := c.app.store.Store.User(c, id); err != nil && c.transactions {
			c.failf("the event %s is about a user who is not there", name)
		}
		if name == "signIn" && answered && failed(answer) {
			c.failf("the event signIn of a sign-in that failed")
		}
	}
}

// wroteBeforehand reports whether the flow wrote before the transaction of the sign-in: a passkey's counter, or the
// deletion of a used token.
func (c *faultCase) wroteBeforehand() bool {
	return c.flow == "passkey sign-in" || c.flow == "magic link return" || c.mode.leaves
}

// recovered tries again in another browser, and checks the session's user.
func (c *faultCase) recovered(flow *faultFlow) {
	if c.mode.dies { // a new process with the same store
		x := c.app
		c.app = c.openWith(func(fresh *app, config *core.Config) {
			fresh.store, fresh.op, fresh.now = x.store, x.op, x.clock()
			config.Store, config.Now, config.HTTPClient = x.store, fresh.clock, x.op.client()
			c.app = fresh
			c.configure(config)
		})
		cookies := c.b.cookies
		c.b = c.app.browser("u1")
		c.b.cookies = cookies
	}
	if c.mode.dies && !c.transactions {
		return // docs/accounts.md: such a store can contain half of a first sign-in
	}
	b := c.app.browser("u1")
	flow.again(c, b)
	who := b.who()
	if c.flow == "oauth linking" {
		who = c.b.who()
		if owner := c.app.owner("a", "u1"); owner != c.address {
			c.failf("afterwards the account is of %q: %.300s", owner, c.app.logged())
		}
	}
	if who != c.address {
		c.failf("the second try signs in %q: %.400s", who, c.app.logged())
	}
	if n := len(c.app.store.users(c)); n > 1 && c.flow != "magic link return" {
		c.failf("there are %d users of one person", n)
	}
}
