package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/app/authenticator"
	"github.com/latchkey-go/latchkey/conformance/rig/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// relation is who has what at an application, what somebody does, and whose it is then (docs/protocol.md §14). What is
// given, what happens and what is wanted are sentences; one that is not understood fails.
type relation struct {
	*attack
	app      *app
	strategy core.Strategy
	// changes are those of the configuration.
	changes []func(c *core.Config)
	setups  []func()
	persons map[string]*human
	events  []string

	// first is the first browser of the event, second the other one of two.
	first, second *browser
	last, before  wire.Answer
	// subject is the account at the provider that the event came with.
	provider, subject string

	rows  map[string]string // of each user before the event
	held  map[string]string // the session cookie of each person before the event
	ids   []string          // of the users before the event
	token *core.Token
}

// human is somebody with an address.
type human struct {
	*browser
	name, address string
	// id is that of their user, as far as it is known.
	id      string
	passkey *authenticator.Credential
	// letter is the link that was mailed last, unopened.
	letter *url.URL
	// ways are how they sign in: "a 1", a provider and a subject, "passkey".
	ways []string
}

// whoseAccount tells each story under both strategies, or under the one that it names, and in each variant of its
// sentences.
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

// tellStory tells one story, and says with each problem which it was.
func (a *attack) tellStory(strategy core.Strategy, given, event, want string) {
	told := len(a.problems)
	r := &relation{attack: a, strategy: strategy, persons: map[string]*human{}}
	r.tell(given, event, want)
	for i := range a.problems[told:] {
		a.problems[told+i] = fmt.Sprintf("%s; %s; %s: %s", strategy, given, event, a.problems[told+i])
	}
}

// wantBefore is what the payload before wants.
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

// choices are the sentences that stand for two, by what comes before the first, and both.
var choices = []*regexp.Regexp{
	regexp.MustCompile(`^(.*\bcallback) (.+) or (.+)$`),
	regexp.MustCompile(`^(profile e-mail \S+) (with an? .+) or (an? .+)$`),
}

// variants are the sentences that a sentence stands for.
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

// tell tells a story and looks at its end.
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

// configure is what all stories have in common: two OpenID providers beside the others, sign-in by mail and passkeys,
// and a record of events.
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

// later does something when the application is open.
func (r *relation) later(setup func()) { r.setups = append(r.setups, setup) }

// human is the person of a name.
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

// userIn is the id of the user whom a browser's session is of, "" for nobody.
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

// through signs in at a provider as a subject of whom it says this.
func (r *relation) through(b *browser, provider, subject string, members map[string]any) wire.Answer {
	r.app.op.describe(subject, members)
	b.subject = subject
	r.provider, r.subject = provider, subject
	return r.app.signInAt(b, provider)
}

// profile is what a provider says of an address, and nothing of its being verified unless it is told.
func profile(address string, more map[string]any) map[string]any {
	members := map[string]any{"email": address, "email_verified": absent}
	if address == "" {
		members["email"] = absent
	}
	for name, value := range more {
		members[name] = value
	}
	return members
}

// byMail asks for a letter and opens its link, in one browser.
func (r *relation) byMail(b *browser, address string) wire.Answer {
	link := r.letterTo(b, address)
	if link == nil {
		return wire.Answer{}
	}
	return r.opened(b, link.RequestURI())
}

// letterTo asks for a letter and returns its link.
func (r *relation) letterTo(b *browser, address string) *url.URL {
	answer := b.submit("/auth/signin/email", "email", address)
	letters := r.app.mailed()
	if len(letters) != 1 {
		r.failf("%d letters to %s: %d to %q", len(letters), address, answer.Status, answer.Header.Get("Location"))
		return nil
	}
	link, err := url.Parse(string(letters[0].URL))
	r.must(err)
	return link
}

// button is in the page that asks before a link is used.
var button = regexp.MustCompile(`name="csrfToken"`)

// opened opens a link, and presses the button where there is one.
func (r *relation) opened(b *browser, target string) wire.Answer {
	answer := b.get(target)
	if answer.Status == http.StatusOK && button.Match(answer.Body) {
		answer = b.submit(target)
	}
	return answer
}

// byPasskey registers a passkey, or signs in with the one that a person has.
func (r *relation) byPasskey(h *human, b *browser, address string) {
	action := "authenticate"
	query := "action=authenticate"
	if h.passkey == nil {
		action, query = "register", "action=register&email="+url.QueryEscape(address)
	}
	var body struct{ Options struct{ Challenge string } }
	_ = json.Unmarshal(b.get("/auth/webauthn-options/passkey?"+query).Body, &body)
	x := authenticator.Ceremony{Challenge: body.Options.Challenge, Origin: home, RPID: "app.example", Counter: 1}
	data := ""
	if h.passkey == nil {
		h.passkey = authenticator.New("passkey of " + h.name)
		data = h.passkey.Register(x)
	} else {
		x.Counter = 2
		data = h.passkey.Authenticate(x)
	}
	form := url.Values{"action": {action}, "data": {data}}
	b.ask("POST", "/auth/callback/passkey", formType, form.Encode(), [2]string{"Origin", home})
}

// settled notes the user of a person whose sign-in was part of what is given.
func (r *relation) settled(h *human, b *browser) {
	if h.id = r.userIn(b); h.id == "" {
		r.failf("%s could not sign in: %.300s", h.name, r.app.logged())
	}
}

// waysOf has a person sign in once more by each of their ways, in other browsers, and returns the users.
func (r *relation) waysOf(h *human) (users []string) {
	for _, way := range h.ways {
		b := r.app.browser(h.name)
		if provider, subject, ok := strings.Cut(way, " "); ok {
			r.app.op.mu.Lock()
			b.subject = subject
			r.app.op.mu.Unlock()
			r.app.signInAt(b, provider)
		} else {
			r.byPasskey(h, b, h.address)
		}
		users = append(users, r.userIn(b))
	}
	return users
}

// takeDown notes how everything is before the event.
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

// sentence is a sentence that is understood, and what it comes to.
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

// changeProvider changes a provider of the configuration.
func (r *relation) changeProvider(id string, change func(p *core.OAuthProvider)) {
	r.changes = append(r.changes, func(c *core.Config) {
		for _, p := range c.Providers {
			if p, ok := p.(*core.OAuthProvider); ok && p.ID == id {
				change(p)
				return
			}
		}
		panic(gaveUp{fmt.Errorf("there is no provider %q", id)})
	})
}

// signInCallback is what the callback does.
func (r *relation) signInCallback(what string) {
	var answer func() (core.SignInResult, error)
	switch what {
	case "returns false", "denies":
		answer = func() (core.SignInResult, error) { return core.Deny(), nil }
	case "returns true", "allows":
		answer = func() (core.SignInResult, error) { return core.Allow(), nil }
	case "panics":
		answer = func() (core.SignInResult, error) { panic("the callback panics") }
	case "returns an error", "fails":
		answer = func() (core.SignInResult, error) { return core.Allow(), errors.New("the callback fails") }
	case "returns nothing", "returns nil":
		answer = func() (core.SignInResult, error) { return core.SignInResult{}, nil }
	default:
		target := strings.Trim(strings.TrimPrefix(what, "returns "), `"`)
		answer = func() (core.SignInResult, error) { return core.GoTo(target), nil }
	}
	r.changes = append(r.changes, func(c *core.Config) {
		c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { return answer() }
	})
}

// copying copies what a browser posts into the token or the session, as careless applications do.
func (r *relation) copying(into string) {
	r.changes = append(r.changes, func(c *core.Config) {
		if into == "token" {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				var posted map[string]any
				if json.Unmarshal(p.Update, &posted) == nil {
					for name, value := range posted {
						if err := p.Token.Extra.Set(name, value); err != nil {
							return nil, err
						}
					}
				}
				return p.Token, nil
			}
			return
		}
		c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			var posted map[string]any
			if json.Unmarshal(p.Update, &posted) == nil {
				for name, value := range posted {
					if err := p.Session.Extra.Set(name, value); err != nil {
						return nil, err
					}
				}
			}
			return p.Session, nil
		}
	})
}

// ownerID is the id of the user who has an account, "" for nobody.
func (r *relation) ownerID(provider, subject string) string {
	u, err := r.app.store.Store.UserByAccount(r, provider, subject)
	if err != nil {
		return ""
	}
	return u.ID
}

// isNew reports whether a user was not there before the event.
func (r *relation) isNew(id string) bool { return id != "" && !slices.Contains(r.ids, id) }
