package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// faultCase is one failure at one step of one flow.
type faultCase struct {
	*attack
	flow, step   string
	transactions bool
	mode         *faultMode
	yield        func()

	app      *app
	b        *browser // the user's browser
	key      *authenticator.Credential
	count    uint32 // the passkey's counter
	link     string
	callback string // where the provider redirects the browser
	incident *incident
	took     time.Duration
	held     string // the session cookie before the flow
	events   []string
	secrets  []string
	address  string // of the user who is signed in at the end
}

// faultFlow is a flow: the steps before the failure, the requests during the failure, and the second attempt.
type faultFlow struct {
	before func(c *faultCase)
	act    func(c *faultCase) wire.Answer
	// again signs in again after the store has recovered.
	again func(c *faultCase, b *browser)
	// If signsIn is set, success creates a new session. If signsOut is set, the session ends even if the flow fails.
	signsIn, signsOut bool
}

const visitorAddress = "u1@op.example"

// faultFlows maps the file's words to flows.
var faultFlows = map[string]*faultFlow{
	"oauth first sign-in": {
		before: func(c *faultCase) { c.start() },
		act:    (*faultCase).comeBack, again: (*faultCase).byProvider, signsIn: true,
	},
	"oauth returning": {
		before: func(c *faultCase) {
			c.byProvider(c.app.browser("u1"))
			c.start()
		},
		act: (*faultCase).comeBack, again: (*faultCase).byProvider, signsIn: true,
	},
	"oauth linking": {
		before: func(c *faultCase) {
			c.address = "ada@app.example"
			c.byMail(c.b)
			c.start()
		},
		act: (*faultCase).comeBack, again: func(c *faultCase, _ *browser) { c.byProvider(c.b) },
	},
	"magic link request": {
		before: func(c *faultCase) { c.address = "ada@app.example" },
		act:    func(c *faultCase) wire.Answer { return c.b.submit("/auth/signin/email", "email", c.address) },
		again:  (*faultCase).byMail,
	},
	"magic link return": {
		before: func(c *faultCase) {
			c.address = "ada@app.example"
			if operationOf(c.step) == "updateUser" || operationOf(c.step) == "getUser" { // a user with an unverified address
				c.app.op.describe("u1", map[string]any{"email": c.address})
				c.byProvider(c.app.browser("u1"))
			}
			c.link = c.requestLink(c.b)
		},
		act: func(c *faultCase) wire.Answer { return c.b.get(c.link) }, again: (*faultCase).byMail, signsIn: true,
	},
	"session read": {
		before: func(c *faultCase) {
			c.byProvider(c.b)
			switch {
			case strings.HasSuffix(c.step, "(expired)"):
				c.app.wait(31 * 24 * time.Hour)
			case strings.HasSuffix(c.step, "(due)"):
				c.app.wait(2 * 24 * time.Hour)
			}
		},
		act: (*faultCase).readSession, again: (*faultCase).byProvider,
	},
	"sign-out": {
		before: func(c *faultCase) { c.byProvider(c.b) },
		act:    func(c *faultCase) wire.Answer { return c.b.submit("/auth/signout") },
		again:  (*faultCase).byProvider, signsOut: true,
	},
	"passkey register": {
		before: func(c *faultCase) {
			c.address = "new@app.example"
			if operationOf(c.step) == "listAuthenticatorsByUserId" { // the passkeys of the signed-in user
				c.address = visitorAddress
				c.byProvider(c.b)
			}
		},
		act: func(c *faultCase) wire.Answer { return c.ceremony(c.b, "register") },
		again: func(c *faultCase, b *browser) {
			if c.address == visitorAddress {
				c.byProvider(b)
				return
			}
			c.byPasskey(b)
		},
		signsIn: true,
	},
	"passkey sign-in": {
		before: func(c *faultCase) {
			c.address = "new@app.example"
			c.byPasskey(c.app.browser("u1"))
		},
		act:   func(c *faultCase) wire.Answer { return c.ceremony(c.b, "authenticate") },
		again: (*faultCase).byPasskey, signsIn: true,
	},
}

var qualified = regexp.MustCompile(`^(.*?) \((?:expired|due)\)$`)

// operationOf returns the operation of a step, without its number.
func operationOf(step string) string {
	if m := qualified.FindStringSubmatch(step); m != nil {
		return m[1]
	}
	return step
}

// configure sets the configuration that all cases share.
func (c *faultCase) configure(config *core.Config) {
	config.Session.Strategy, config.InsecureNoLimits, config.EnableWebAuthn = core.StrategyDatabase, true, true
	if !c.transactions {
		config.Store = withoutTransactions(c.app.store)
	}
	passkey := webauthn.Passkey()
	passkey.InsecureTypedEmail = true
	config.Providers = append(config.Providers, passkey)
	for _, p := range config.Providers {
		if p, ok := p.(*core.EmailProvider); ok {
			send := p.Send
			p.ConfirmLink = core.False
			p.Send = func(ctx context.Context, m core.Email) error {
				return c.app.store.done(ctx, "send mail", func(ctx context.Context) error { return send(ctx, m) })
			}
		}
	}
	note := func(event string, u *core.User) {
		c.app.mu.Lock()
		defer c.app.mu.Unlock()
		id := ""
		if u != nil {
			id = u.ID
		}
		c.events = append(c.events, event+" "+id)
	}
	config.Events.SignIn = func(_ context.Context, e core.SignInEvent) error { note("signIn", e.User); return nil }
	config.Events.CreateUser = func(_ context.Context, e core.UserEvent) error { note("createUser", e.User); return nil }
	config.Events.LinkAccount = func(_ context.Context, e core.LinkAccountEvent) error {
		note("linkAccount", e.User)
		return nil
	}
}

// play runs the case.
func (c *faultCase) play() {
	c.address, c.key = visitorAddress, authenticator.New("passkey")
	flow := faultFlows[c.flow]
	c.app = c.openWith(func(x *app, config *core.Config) { c.app = x; c.configure(config) })
	c.b = c.app.browser("u1")
	flow.before(c)
	c.held = c.b.cookies[sessionCookie]
	c.secrets = append(c.secrets, c.held, "at-u1", clientSecret)
	before := c.app.store.everything(c)
	c.app.logged()
	c.forgetEvents()

	answer, answered := c.underFault(flow)
	log := c.app.logged()
	c.look(flow, answer, answered, before, log)
	c.recovered(flow)
}

func (c *faultCase) forgetEvents() {
	c.app.mu.Lock()
	defer c.app.mu.Unlock()
	c.events = nil
}

// underFault sends the flow's requests during the failure. answered reports whether the client received a response.
func (c *faultCase) underFault(flow *faultFlow) (answer wire.Answer, answered bool) {
	visiting, leave := context.WithCancel(c)
	defer leave()
	gone, end := context.WithTimeout(c, 30*time.Second)
	defer end()
	c.incident = &incident{mode: c.mode, operation: operationOf(c.step), leave: leave, gone: gone, yield: c.yield}
	c.app.visiting = visiting
	defer func() { c.app.visiting = nil }()
	c.app.store.bring(c.incident.trouble)
	defer c.app.store.bring(nil)
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(gaveUp); !ok || !c.mode.leaves {
				panic(v)
			}
		}
	}()
	answer, c.took = c.app.timed(func() wire.Answer { return flow.act(c) })
	return answer, true
}

// start starts a sign-in with provider a and authorizes it there.
func (c *faultCase) start() {
	location := c.b.submit("/auth/signin/a").Header.Get("Location")
	if !atOP(location) {
		panic(gaveUp{fmt.Errorf("no sign-in began: %q", location)})
	}
	_, answer := c.app.op.authorize(location, "u1")
	c.callback = "/auth/callback/a?" + query(answer)
	c.secrets = append(c.secrets, answer[0][1])
}

func (c *faultCase) comeBack() wire.Answer { return c.b.get(c.callback) }

// byProvider signs in with provider a.
func (c *faultCase) byProvider(b *browser) { b.subject = "u1"; c.app.signInAt(b, "a") }

// requestLink requests an email and returns its link.
func (c *faultCase) requestLink(b *browser) (target string) {
	b.submit("/auth/signin/email", "email", c.address)
	mails := c.app.mailed()
	if len(mails) == 0 {
		panic(gaveUp{fmt.Errorf("no email to %s: %.300s", c.address, c.app.logged())})
	}
	link, err := url.Parse(string(mails[len(mails)-1].URL))
	c.must(err)
	c.secrets = append(c.secrets, link.Query().Get("token"))
	return link.RequestURI()
}

// byMail signs in with a new email link.
func (c *faultCase) byMail(b *browser) { b.get(c.requestLink(b)) }

// ceremony requests a challenge and responds to it. If the options fail, their response is returned.
func (c *faultCase) ceremony(b *browser, action string) wire.Answer {
	target := "/auth/webauthn-options/passkey?action=" + action
	if action == "register" && b.cookies[sessionCookie] == "" {
		target += "&email=" + url.QueryEscape(c.address)
	}
	options := b.get(target)
	var body struct{ Options struct{ Challenge string } }
	if json.Unmarshal(options.Body, &body) != nil || body.Options.Challenge == "" {
		return options
	}
	c.count++
	x := authenticator.Ceremony{Challenge: body.Options.Challenge, Origin: home, RPID: "app.example", Counter: c.count}
	data := c.key.Authenticate
	if action == "register" {
		data = c.key.Register
	}
	form := url.Values{"action": {action}, "data": {data(x)}}
	return b.ask("POST", "/auth/callback/passkey", formType, form.Encode(), [2]string{"Origin", home})
}

// byPasskey signs in with the passkey. If the site does not know the passkey, it registers it.
func (c *faultCase) byPasskey(b *browser) {
	if c.ceremony(b, "authenticate"); b.who() == "" {
		c.ceremony(b, "register")
	}
}

// readSession reads the session with the action, and requests a guarded page.
func (c *faultCase) readSession() wire.Answer {
	answer := c.b.get("/auth/session")
	if c.mode.fails && !c.mode.applied { // otherwise the second read has nothing to do
		if page := c.b.get("/private"); strings.Contains(string(page.Body), wire.Secret) && c.brings() {
			c.failf("the guarded page is shown: %d", page.Status)
		}
	}
	return answer
}

// brings reports whether the failure occurred, so that the flow cannot have succeeded.
func (c *faultCase) brings() bool { return c.incident.count() > 0 }
