package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// relation is an account-linking case: the users and accounts of an application, an event, and the expected owner
// (docs/protocol.md §14). All three are sentences. An unknown sentence is an error.
type relation struct {
	*attack
	app      *app
	strategy core.Strategy
	// changes modify the configuration.
	changes []func(c *core.Config)
	setups  []func()
	persons map[string]*human
	events  []string

	// first is the first browser of the event. If there are two browsers, second is the other one.
	first, second *browser
	last, before  wire.Answer
	// subject is the subject of the account at the provider in the event.
	provider, subject string

	rows  map[string]string // each user's rows before the event
	held  map[string]string // each person's session cookie before the event
	ids   []string          // the user IDs before the event
	token *core.Token
}

// human is a person with an email address.
type human struct {
	*browser
	name, address string
	// id is the ID of their user, if known.
	id      string
	passkey *authenticator.Credential
	// emailLink is the link of the last email, not opened yet.
	emailLink *url.URL
	// ways are their sign-in methods: "a 1" is a provider and a subject, "passkey" is a passkey.
	ways []string
}

// whoseAccount runs each case under both session strategies, or under the one that it names, and with each variant of
// its sentences.
func whoseAccount(a *attack) {
	var p struct{ ID, Given, Event, Want, Why, Authjs string }
	a.read(&p)
	a.cleartext = true
	want := p.Want
	if want == "as above" {
		want = a.wantBefore(p.ID)
	}
	strategies := []core.Strategy{core.StrategyJWT, core.StrategyDatabase}
	switch both := p.Given + p.Event; {
	case strings.Contains(both, "jwt"), strings.HasPrefix(p.Event, "POST session"):
		strategies = strategies[:1]
	case strings.Contains(both, "database"):
		strategies = strategies[1:]
	}
	for _, strategy := range strategies {
		for _, given := range variants(p.Given) {
			for _, event := range variants(p.Event) {
				a.tellStory(strategy, given, event, want)
			}
		}
	}
}

// tellStory runs one case, and adds its sentences to each problem.
func (a *attack) tellStory(strategy core.Strategy, given, event, want string) {
	told := len(a.problems)
	r := &relation{attack: a, strategy: strategy, persons: map[string]*human{}}
	r.tell(given, event, want)
	for i := range a.problems[told:] {
		a.problems[told+i] = fmt.Sprintf("%s; %s; %s: %s", strategy, given, event, a.problems[told+i])
	}
}

// wantBefore returns the expectation of an earlier payload.
func (a *attack) wantBefore(id string) (want string) {
	for _, raw := range a.file.Payloads {
		var p struct{ ID, Want string }
		a.must(json.Unmarshal(raw, &p))
		if p.ID == id {
			return want
		}
		if p.Want != "as above" {
			want = p.Want
		}
	}
	return want
}

// choices match a sentence that contains two alternatives.
var choices = []*regexp.Regexp{
	regexp.MustCompile(`^(.*\bcallback) (.+) or (.+)$`),
	regexp.MustCompile(`^(profile e-mail \S+) (with an? .+) or (an? .+)$`),
}

// variants expands the alternatives of a sentence.
func variants(sentence string) []string {
	for _, choice := range choices {
		m := choice.FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		if strings.HasPrefix(m[2], "with ") && !strings.HasPrefix(m[3], "with ") {
			m[3] = "with " + m[3]
		}
		return []string{m[1] + " " + m[2], m[1] + " " + m[3]}
	}
	return []string{sentence}
}

// tell runs a case and checks the result.
func (r *relation) tell(given, event, want string) {
	for clause := range strings.SplitSeq(given, ";") {
		if !r.says(givens, strings.TrimSpace(clause)) {
			r.failf("given %q is not understood", clause)
			return
		}
	}
	r.app = r.open(func(c *core.Config) {
		r.configure(c)
		for _, change := range r.changes {
			change(c)
		}
	})
	for _, setup := range r.setups {
		setup()
	}
	r.takeDown()
	if !r.says(happenings, event) {
		r.failf("the event %q is not understood", event)
		return
	}
	for clause := range strings.SplitSeq(want, ";") {
		wanted{r}.hold(strings.TrimSpace(clause))
	}
	r.app.alive()
}

// configure sets the configuration that all cases share: two more OpenID providers, email sign-in, passkeys, and a
// recorder of events.
func (r *relation) configure(c *core.Config) {
	c.InsecureNoLimits, c.EnableWebAuthn, c.Session.Strategy = true, true, r.strategy
	other := *c.Providers[1].(*core.OAuthProvider)
	other.ID, other.Issuer = "c", "https://c.op.example"
	passkey := webauthn.Passkey()
	passkey.InsecureTypedEmail = true
	c.Providers = append(c.Providers, &other, passkey)
	note := func(event string) {
		r.app.mu.Lock()
		defer r.app.mu.Unlock()
		r.events = append(r.events, event)
	}
	c.Events.SignIn = func(context.Context, core.SignInEvent) error { note("signIn"); return nil }
	c.Events.CreateUser = func(context.Context, core.UserEvent) error { note("createUser"); return nil }
	c.Events.UpdateUser = func(context.Context, core.UserEvent) error { note("updateUser"); return nil }
	c.Events.LinkAccount = func(context.Context, core.LinkAccountEvent) error { note("linkAccount"); return nil }
}

// later runs setup when the application is open.
func (r *relation) later(setup func()) { r.setups = append(r.setups, setup) }

// human returns the person with a name.
func (r *relation) human(name string) *human {
	if r.persons[name] == nil {
		address := strings.ToLower(name) + "@x.example"
		if name == "V" {
			address = "v@corp.example"
		}
		r.persons[name] = &human{
			name: name, address: address, browser: r.app.browser(strings.ToLower(name)),
		}
	}
	return r.persons[name]
}

// userIn returns the user ID of the browser's session, or "" without a session.
func (r *relation) userIn(b *browser) string {
	token := b.cookies[sessionCookie]
	if token == "" {
		return ""
	}
	if r.strategy == core.StrategyJWT {
		return r.app.userID(b)
	}
	_, u, err := r.app.store.Store.SessionAndUser(r, token)
	if err != nil {
		return ""
	}
	return u.ID
}

// takeDown records the state before the event.
func (r *relation) takeDown() {
	r.rows, r.held, r.ids = map[string]string{}, map[string]string{}, nil
	for _, u := range r.app.store.users(r) {
		r.rows[u.ID], r.ids = r.app.store.rows(r, u), append(r.ids, u.ID)
	}
	for name, h := range r.persons {
		r.held[name] = h.cookies[sessionCookie]
	}
	r.app.mu.Lock()
	r.events = nil
	r.app.mu.Unlock()
	r.app.mailed()
}

// sentence is a known sentence and its meaning.
type sentence struct {
	pattern *regexp.Regexp
	do      func(r *relation, m []string)
}

func (r *relation) says(known []sentence, text string) bool {
	for _, s := range known {
		if m := s.pattern.FindStringSubmatch(text); m != nil {
			s.do(r, m)
			return true
		}
	}
	return false
}

// ownerID returns the ID of the user who has an account, or "" if no user has it.
func (r *relation) ownerID(provider, subject string) string {
	u, err := r.app.store.Store.UserByAccount(r, provider, subject)
	if err != nil {
		return ""
	}
	return u.ID
}

// isNew reports whether a user was created by the event.
func (r *relation) isNew(id string) bool { return id != "" && !slices.Contains(r.ids, id) }
