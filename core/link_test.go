package core_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	victim   = "victim@corp.example"
	stranger = "stranger@evil.example"
)

// town is an application with ways in of all kinds:
//
//	plain     an OAuth service that says nothing about addresses
//	vouching  one that says email_verified
//	linking   one that says email_verified and may link by e-mail
//	open      one that says nothing and may link by e-mail
//	email, passkey, credentials (the id of a stored user)
type town struct {
	*testing.T
	*people
	app    *app
	mails  []string
	person string // what the services say of the visitor
}

func (w *town) RoundTrip(r *http.Request) (*http.Response, error) {
	body := w.person
	if r.URL.Path == "/token" {
		body = `{"access_token":"a","token_type":"bearer","email_proved":"` + victim + `"}`
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (w *town) service(id string, links bool) *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: id, Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret", Checks: []core.Check{core.CheckPKCE},
		Authorization: core.Endpoint{URL: "https://" + id + ".example/authorize"},
		Token:         core.Endpoint{URL: "https://" + id + ".example/token"},
		Userinfo:      core.Endpoint{URL: "https://" + id + ".example/userinfo"}, HTTPClient: &http.Client{Transport: w},
		AllowDangerousEmailAccountLinking: links,
	}
}

func newTown(t *testing.T, can power, strategy core.Strategy, change ...func(*core.Config)) *town {
	t.Helper()
	w := &town{T: t, people: newPeople()}
	typed := func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
		return &core.User{ID: form["id"], Name: "Somebody", Email: victim}, nil
	}
	passkey := &core.WebAuthnProvider{ID: "passkey", Verifier: anyPasskey{}}
	c := core.Config{
		Store: w.as(can), EnableWebAuthn: true,
		Providers: []core.Provider{
			w.service("plain", false), w.service("vouching", false),
			w.service("linking", true), w.service("open", true), passkey,
			&core.EmailProvider{ID: "email", From: "no-reply@app.test", Send: func(_ context.Context, m core.SignInMail) error {
				w.mails = append(w.mails, string(m.URL))
				return nil
			}},
			&core.CredentialsProvider{Authorize: typed},
		},
	}
	c.Session.Strategy = strategy
	for _, change := range change {
		change(&c)
	}
	w.app = newApp(t, c)
	return w
}

// through signs a browser in at a service. claims are further members of the profile, with a comma in front.
func (w *town) through(b *browser, provider, sub, email, claims string) *core.Response {
	w.Helper()
	start := b.submit("/auth/signin/"+provider, nil)
	if start.Err != nil {
		w.Fatal(start.Err)
	}
	target, err := url.Parse(start.Redirect)
	if err != nil {
		w.Fatal(err)
	}
	answer := url.Values{"code": {"c"}}
	if state := target.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	w.person = fmt.Sprintf(`{"sub":%q,"name":"Somebody","email":%q%s}`, sub, email, claims)
	return b.get("/auth/callback/" + provider + "?" + answer.Encode())
}

const vouched = `,"email_verified":true`

// byMail asks for a link and opens it in the same browser.
func (w *town) byMail(b *browser, email string) *core.Response {
	w.Helper()
	if r := b.submit("/auth/signin/email", url.Values{"email": {email}}); r.Err != nil {
		w.Fatal(r.Err)
	}
	return b.get(strings.TrimPrefix(w.mails[len(w.mails)-1], "https://app.test"))
}

// anyPasskey believes every answer.
type anyPasskey struct{}

func (anyPasskey) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*store.Authenticator, error) {
	var answer struct{ ID string }
	err := json.Unmarshal(data, &answer)
	raw, _ := base64.RawURLEncoding.DecodeString(answer.ID)
	return &store.Authenticator{CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5"}, err
}

func (anyPasskey) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

// passkey asks for options with that query and answers with a passkey of that name.
func (w *town) passkey(b *browser, query, action, name string) *core.Response {
	w.Helper()
	if r := b.get("/auth/webauthn-options/passkey?" + query); r.Status >= 400 ||
		!strings.Contains(string(r.Body), `"action":"`+action+`"`) {
		w.Fatalf("options answered %d: %s", r.Status, r.Body)
	}
	data := fmt.Sprintf(`{"id":%q}`, base64.RawURLEncoding.EncodeToString([]byte(name)))
	return b.submit("/auth/callback/passkey", url.Values{"action": {action}, "data": {data}})
}

// who is the user id of a browser's session, "" for none.
func (w *town) who(b *browser) string {
	w.Helper()
	v := b.auth.Visit(w.Context(), b.request("GET", "/", "", ""))
	s, err := v.Session()
	b.take(answerOf(v))
	if err != nil {
		w.Fatal(err)
	}
	if s == nil {
		return ""
	}
	return s.UserID
}

func (w *town) browser() *browser {
	b := visit(w.T, w.app)
	b.hasPage = true
	return b
}

// signedIn fails unless the browser is signed in, and returns as whom.
func (w *town) signedIn(b *browser, r *core.Response) string {
	w.Helper()
	id := w.who(b)
	if r.Err != nil || id == "" {
		w.Fatalf("not signed in: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	return id
}

// made is a user whom the application made, without a proof, with a session of theirs.
func (w *town) made(b *browser) string {
	w.Helper()
	w.users["made"] = core.User{ID: "made", Name: "Invited", Email: victim}
	cookies, err := w.app.NewSession(w.Context(), b.request("GET", "/", "", ""), &core.User{ID: "made", Email: victim})
	if err != nil {
		w.Fatal(err)
	}
	for _, c := range cookies {
		b.keep(c)
	}
	return "made"
}

// given is a user who has the address without a proof.
type given struct {
	name string
	// before makes the user of the address in a stranger's or the owner's browser and returns their id.
	before func(w *town, b *browser) string
	// keeps reports whether the proof leads to that user.
	keeps func(can power, s core.Strategy, forgets bool) bool
	// again signs in as the person who made the user; nil: there is no way but the session.
	again func(w *town, b *browser) *core.Response
}

// proofCase is how the address is proved, and where.
type proofCase struct {
	can      power
	strategy core.Strategy
	// byMail: by a link, not by a provider that vouches.
	byMail bool
	// forgets: the store has no room for what a provider vouched for.
	forgets bool
}

func (c proofCase) String() string {
	by := map[bool]string{true: "by mail", false: "by provider"}[c.byMail]
	room := map[bool]string{true: "/no room for what vouched"}[c.forgets]
	return fmt.Sprintf("%s/%s/%s%s", c.can, c.strategy, by, room)
}

// proofCases are those of the n-th given: stores of all powers under both strategies. How the proof comes, and whether
// the store forgets, follow from the others so that any two of the five meet in each given, as do the three that the
// rules look at (strategy, ends, forgets); of four givens in a row each has another quarter of all cases.
func proofCases(n int) (all []proofCase) {
	for _, can := range powers() {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			jwt := strategy == core.StrategyJWT
			byMail := (can.ends != jwt) != (n%2 == 1)
			forgets := (can.tx != jwt) != (n/2%2 == 1)
			all = append(all, proofCase{can, strategy, byMail, forgets})
		}
	}
	return all
}

func (g given) run(t *testing.T, c proofCase) {
	w := newTown(t, c.can, c.strategy, func(c *core.Config) {
		c.Providers[4].(*core.WebAuthnProvider).InsecureTypedEmail = true
	})
	w.forgets = c.forgets
	before, after := w.browser(), w.browser()
	first := g.before(w, before)
	had := w.has(first)
	owner := ""
	if c.byMail {
		owner = w.signedIn(after, w.byMail(after, victim))
	} else {
		owner = w.signedIn(after, w.through(after, "linking", "p1", victim, vouched))
	}
	if u := w.users[owner]; u.Email != victim || u.EmailVerified.IsZero() {
		t.Fatalf("the address is not proved: %s", w.has(owner))
	}
	if keeps := g.keeps(c.can, c.strategy, c.forgets); (owner == first) != keeps {
		t.Fatalf("the same user: %v, want %v; they had %s, have %s", owner == first, keeps, had, w.has(first))
	}
	if owner != first {
		want := strings.Replace(had, `"`+victim+`"`, `""`, 1)
		if w.has(first) != want {
			t.Errorf("the user had %s and has %s", had, w.has(first))
		}
		if who := w.who(before); who != first {
			t.Errorf("the session from before shows %q, not %q", who, first)
		}
	}
	if g.again != nil {
		b := w.browser()
		if id := w.signedIn(b, g.again(w, b)); id != first {
			t.Errorf("signed in again as %q, not %q", id, first)
		}
	}
	own := owner == first && g.again != nil
	if c.strategy == core.StrategyDatabase && owner == first && (w.who(before) == first) != own {
		t.Errorf("the session from before shows %q", w.who(before))
	}
	if !own { // the user who had it proves nothing by it, and loses nothing either
		w.oldSessionIsNoWayIn(before, owner)
	}
}

// oldSessionIsNoWayIn tries to get into the user of the address from a session of before the proof.
func (w *town) oldSessionIsNoWayIn(before *browser, owner string) {
	w.Helper()
	w.through(before, "vouching", "s9", stranger, vouched)
	w.passkey(before, "action=register&email=x@evil.example", "register", "key9")
	b := w.browser()
	w.through(b, "vouching", "s9", stranger, vouched)
	if w.who(b) == owner {
		w.Error("linked from a session of before the proof: the stranger is in")
	}
	for key, a := range w.accounts {
		if a.UserID == owner && strings.Contains(key, "passkey/") {
			w.Error("a passkey registered from a session of before the proof opens the user")
		}
	}
	b = w.browser()
	if id := w.signedIn(b, w.byMail(b, victim)); id != owner {
		w.Errorf("the owner of the address is %q now, was %q", id, owner)
	}
}

// TestFirstProofOfAnAddress: a visitor who proves an address that a user has without a proof gets that user when no
// other person can have a way into it, and a user of their own otherwise. On stores of all powers, under both
// strategies, whichever way the proof comes.
func TestFirstProofOfAnAddress(t *testing.T) {
	t.Parallel()
	never := func(power, core.Strategy, bool) bool { return false }
	vouches := func(can power, _ core.Strategy, forgets bool) bool { return can.lists && !forgets }
	byPlain := func(w *town, b *browser) *core.Response { return w.through(b, "plain", "s1", victim, "") }
	for n, g := range []given{
		{"an account that nobody vouched for", func(w *town, b *browser) string {
			return w.signedIn(b, byPlain(w, b))
		}, never, byPlain},
		{"an account whose claim is false", func(w *town, b *browser) string {
			return w.signedIn(b, w.through(b, "vouching", "s1", victim, `,"email_verified":false`))
		}, never, func(w *town, b *browser) *core.Response {
			return w.through(b, "vouching", "s1", victim, `,"email_verified":false`)
		}},
		{"an account whose claim is a text", func(w *town, b *browser) string {
			return w.signedIn(b, w.through(b, "vouching", "s1", victim, `,"email_verified":"true"`))
		}, never, nil},
		{"an account vouched for, beside one of another address", func(w *town, b *browser) string {
			id := w.signedIn(b, byPlain(w, b))
			w.signedIn(b, w.through(b, "vouching", "s2", stranger, vouched))
			return id
		}, never, func(w *town, b *browser) *core.Response { return w.through(b, "vouching", "s2", stranger, vouched) }},
		{
			"an application's user with a stranger's account, vouched for under another address",
			func(w *town, b *browser) string {
				id := w.made(b)
				w.signedIn(b, w.through(b, "vouching", "s2", stranger, vouched))
				return id
			},
			never,
			func(w *town, b *browser) *core.Response { return w.through(b, "vouching", "s2", stranger, vouched) },
		},
		{"a passkey registered under the typed address", func(w *town, b *browser) string {
			return w.signedIn(b, w.passkey(b, "action=register&email="+victim, "register", "key"))
		}, never, func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=authenticate", "authenticate", "key")
		}},
		{"an application's user with a stranger's passkey", func(w *town, b *browser) string {
			id := w.made(b)
			w.signedIn(b, w.passkey(b, "action=register", "register", "key"))
			return id
		}, never, func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=authenticate", "authenticate", "key")
		}},
		{"an account vouched for", func(w *town, b *browser) string {
			return w.signedIn(b, w.through(b, "vouching", "v1", victim, vouched))
		}, vouches, func(w *town, b *browser) *core.Response { return w.through(b, "vouching", "v1", victim, vouched) }},
		{"an account vouched for, and what its owner added", func(w *town, b *browser) string {
			id := w.signedIn(b, w.through(b, "vouching", "v1", victim, vouched))
			w.signedIn(b, w.through(b, "plain", "v2", "other@corp.example", ""))
			w.signedIn(b, w.passkey(b, "action=register", "register", "key"))
			other := w.browser() // signing in by it does not undo that
			w.signedIn(other, w.through(other, "plain", "v2", "other@corp.example", ""))
			return id
		}, vouches, func(w *town, b *browser) *core.Response {
			return w.through(b, "plain", "v2", "other@corp.example", "")
		}},
		{"nothing but the application's word", func(w *town, b *browser) string { return w.made(b) },
			func(can power, s core.Strategy, _ bool) bool {
				return can.lists && (can.ends || s == core.StrategyJWT)
			}, nil},
	} {
		for _, c := range proofCases(n) {
			t.Run(g.name+"/"+c.String(), func(t *testing.T) {
				t.Parallel()
				g.run(t, c)
			})
		}
	}
}

// TestCallbacksHearOfTheNewUser: nothing that a callback or an event gets after an address has moved names the user who
// had it.
func TestCallbacksHearOfTheNewUser(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			heard := map[string][]string{}
			hear := func(what string, ids ...string) { heard[what] = append(heard[what], ids...) }
			w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
				c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
					if p.Account != nil && p.Account.Type == core.TypeEmail {
						hear("jwt", p.User.ID, p.Account.UserID, p.Token.Subject)
					}
					return p.Token, nil
				}
				c.Events.SignIn = func(_ context.Context, e core.SignInEvent) error {
					if e.Account.Type == core.TypeEmail {
						hear("sign-in", e.User.ID, e.Account.UserID)
					}
					return nil
				}
				c.Events.CreateUser = func(_ context.Context, e core.UserEvent) error { hear("created", e.User.ID); return nil }
				c.Events.UpdateUser = func(_ context.Context, e core.UserEvent) error {
					hear("updated", e.User.ID+" "+e.User.Email)
					return nil
				}
			})
			b := w.browser()
			first := w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
			b = w.browser()
			owner := w.signedIn(b, w.byMail(b, victim))
			want := map[string][]string{"created": {first, owner}, "updated": {first + " "}, "sign-in": {owner, owner}}
			if strategy == core.StrategyJWT {
				want["jwt"] = []string{owner, owner, owner}
			}
			if fmt.Sprint(heard) != fmt.Sprint(want) {
				t.Errorf("heard %v, want %v", heard, want)
			}
		})
	}
}

// TestLinkingByEmailNeedsBothSides: a provider that may link by e-mail links when it vouches for the address, and to a
// user who proved it.
func TestLinkingByEmailNeedsBothSides(t *testing.T) {
	t.Parallel()
	can := power{true, true, true, true}
	for _, row := range []struct {
		name, provider, claims string
		links                  bool
	}{
		{"true", "linking", vouched, true},
		{"false", "linking", `,"email_verified":false`, false},
		{"a text", "linking", `,"email_verified":"true"`, false},
		{"a number", "linking", `,"email_verified":1`, false},
		{"null", "linking", `,"email_verified":null`, false},
		{"a list", "linking", `,"email_verified":[true]`, false},
		{"a look-alike", "linking", `,"EMAIL_VERIFIED":true`, false},
		{"absent", "open", ``, false},
		{"true, without the option", "vouching", vouched, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newTown(t, can, core.StrategyDatabase)
			b := w.browser()
			owner := w.signedIn(b, w.byMail(b, victim))
			b = w.browser()
			r := w.through(b, row.provider, "p1", victim, row.claims)
			if id := w.who(b); row.links && id != owner ||
				!row.links && (id != "" || !strings.Contains(r.Redirect, "error=OAuthAccountNotLinked")) {
				t.Errorf("signed in as %q, answered %s", id, r.Redirect)
			}
			if !row.links && len(w.accounts) > 0 {
				t.Error("an account was linked")
			}
			// Nor does it prove what the user has not proved.
			w = newTown(t, can, core.StrategyDatabase)
			w.made(w.browser())
			b = w.browser()
			w.through(b, row.provider, "p1", victim, row.claims)
			if proved := !w.users["made"].EmailVerified.IsZero(); proved != row.links || (w.who(b) == "made") != row.links {
				t.Errorf("proved %v, signed in as %q", proved, w.who(b))
			}
		})
	}
}

// TestClaimsAboutAnotherAddress: email_verified is about the member email, whatever a mapping takes for the address.
func TestClaimsAboutAnotherAddress(t *testing.T) {
	t.Parallel()
	mapped := func(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
		return &core.Person{AccountID: p.Text("sub"), Email: p.Text("upn")}, nil
	}
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase, func(c *core.Config) {
		c.Providers[2].(*core.OAuthProvider).Profile = mapped
	})
	b := w.browser()
	w.signedIn(b, w.byMail(b, victim))
	b = w.browser()
	if w.through(b, "linking", "s1", stranger, vouched+`,"upn":"`+victim+`"`); w.who(b) != "" {
		t.Error("a claim about one address linked by another")
	}
}

// TestVouchingIsTheProvidersAlone: EmailProved decides for its provider, but never against a claim that says no;
// members of a token answer vouch for nothing.
func TestVouchingIsTheProvidersAlone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, claims string
		proved       func(core.Profile) bool
		links        bool
	}{
		{"says yes", ``, func(core.Profile) bool { return true }, true},
		{"says no to a true claim", vouched, func(core.Profile) bool { return false }, false},
		{"says yes to a false claim", `,"email_verified":false`, func(core.Profile) bool { return true }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newTown(t, power{true, true, true, true}, core.StrategyDatabase, func(c *core.Config) {
				c.Providers[2].(*core.OAuthProvider).EmailProved = row.proved
			})
			b := w.browser()
			w.signedIn(b, w.byMail(b, victim))
			b = w.browser()
			if w.through(b, "linking", "s1", victim, row.claims); (w.who(b) != "") != row.links {
				t.Errorf("signed in as %q", w.who(b))
			}
		})
	}
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase, func(c *core.Config) {
		c.Providers[0].(*core.OAuthProvider).Account = func(ts *core.TokenSet) *core.Account {
			return &core.Account{Extra: ts.Extra, EmailProved: victim}
		}
	})
	b := w.browser()
	w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
	a := w.accounts[accountKey("plain", "s1")]
	if a.EmailProved != "" || len(a.StoredMembers()) != 0 {
		t.Errorf("an account vouches for %q; stored members %v", a.EmailProved, a.StoredMembers())
	}
}

// TestProofAgainstAStrangerWhoKeepsTrying lets a stranger act at each call that the first proof makes to the store, and
// at all of them. Whatever they get in between is not the user of the visitor who proved the address.
func TestProofAgainstAStrangerWhoKeepsTrying(t *testing.T) {
	t.Parallel()
	type attack struct {
		name string
		act  func(w *town, b *browser, n int)
	}
	type given struct {
		name   string
		before func(w *town, b *browser)
	}
	for i, attack := range []attack{
		{"signs in", func(w *town, _ *browser, _ int) { w.through(w.browser(), "plain", "s1", victim, "") }},
		{"signs in with new accounts", func(w *town, _ *browser, n int) {
			w.through(w.browser(), "plain", fmt.Sprint("n", n), victim, "")
		}},
		{"links new accounts", func(w *town, b *browser, n int) {
			w.through(b, "plain", fmt.Sprint("n", n), victim, "")
		}},
	} {
		for j, given := range []given{
			{"a stranger's account", func(w *town, b *browser) { w.through(b, "plain", "s1", victim, "") }},
			{"an application's user", func(w *town, b *browser) { w.made(b) }},
			{"an account vouched for", func(w *town, _ *browser) {
				w.through(w.browser(), "vouching", "v1", victim, vouched)
			}},
		} {
			for k, can := range powers() {
				// Each power under each strategy, with every other pair of attack and given.
				strategy := []core.Strategy{core.StrategyJWT, core.StrategyDatabase}[(i+j+k+k/6)%2]
				t.Run(fmt.Sprintf("%s/%s/%s/%s", attack.name, given.name, can, strategy), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { // refused sign-ins wait for accounts that may be on their way
						calls := proofUnderAttack(t, can, strategy, given.before, attack.act, 0)
						// Each call by itself, where it matters most: without transactions.
						for n := 1; n <= calls && !can.tx && can.ends; n++ {
							proofUnderAttack(t, can, strategy, given.before, attack.act, n)
						}
					})
				})
			}
		}
	}
}

// proofUnderAttack proves the address while a stranger acts at the n-th call to the store, at all of them when n is 0.
// It returns how many calls an undisturbed proof makes at least.
func proofUnderAttack(t *testing.T, can power, strategy core.Strategy, before func(*town, *browser),
	attack func(*town, *browser, int), at int) int {
	t.Helper()
	w := newTown(t, can, strategy)
	thief, b := w.browser(), w.browser()
	before(w, thief)
	had := w.who(thief)
	if r := b.submit("/auth/signin/email", url.Values{"email": {victim}}); r.Err != nil {
		t.Fatal(r.Err)
	}
	n := 0
	var act func(string)
	act = func(string) {
		w.at = nil
		// Without an end the stranger would keep the owner out, which is all they can do.
		if n++; at == n || at == 0 && n <= 24 {
			attack(w, thief, n)
		}
		w.at = act
	}
	w.at = act
	r := b.get(strings.TrimPrefix(w.mails[0], "https://app.test"))
	w.at = nil
	if n == 0 {
		t.Fatal("the stranger never came to act")
	}
	if w.who(b) == "" { // the stranger took the address each time it was free: once they rest, the owner gets in
		w.signedIn(b, w.byMail(b, victim))
	}
	owner := w.who(b)
	if u := w.users[owner]; u.Email != victim || u.EmailVerified.IsZero() {
		t.Fatalf("call %d: signed in as %s, %v", at, w.has(owner), r.Err)
	}
	for id, u := range w.users {
		if id != owner && !u.EmailVerified.IsZero() {
			t.Errorf("call %d: %s proved nothing", at, w.has(id))
		}
	}
	attack(w, thief, 99)
	for key, a := range w.accounts {
		if a.UserID == owner && key != "vouching/v1" {
			t.Errorf("call %d: %s opens the user of the address", at, key)
		}
	}
	if had != "" && strategy == core.StrategyDatabase && w.who(thief) == owner {
		t.Errorf("call %d: a session from before shows the user of the address", at)
	}
	return min(n, 12)
}

// TestAddressTakenInTheGap: a stranger who is quick enough to take an address that is on its way to a new user loses it
// again.
func TestAddressTakenInTheGap(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{tx: false, deletes: true, lists: true, ends: true}, core.StrategyDatabase)
	w.through(w.browser(), "plain", "s1", victim, "")
	b := w.browser()
	b.submit("/auth/signin/email", url.Values{"email": {victim}})
	w.at = func(method string) {
		if method == "CreateUser" {
			w.at = nil
			w.through(w.browser(), "plain", "s2", victim, "")
		}
	}
	u := w.users[w.signedIn(b, b.get(strings.TrimPrefix(w.mails[0], "https://app.test")))]
	if len(w.users) != 3 || u.Email != victim || u.EmailVerified.IsZero() {
		t.Errorf("signed in as %s, users %v", w.has(u.ID), w.users)
	}
}

// TestLinkedWhileTheAddressIsProved: an account that reaches the store after the proof, begun before it, is taken back.
func TestLinkedWhileTheAddressIsProved(t *testing.T) {
	t.Parallel()
	for _, can := range powers() {
		if !can.lists || !can.ends {
			continue // it cannot be taken back, or the address went to another user, whom it does not touch
		}
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(fmt.Sprintf("%s/%s", can, strategy), func(t *testing.T) {
				w := newTown(t, can, strategy)
				thief, b := w.browser(), w.browser()
				w.made(thief)
				b.submit("/auth/signin/email", url.Values{"email": {victim}})
				known := 0
				w.at = func(method string) {
					if method == "UserByAccount" || method == "begin" { // after the stranger was found to be signed in
						if known++; known == 1 {
							w.at = nil
							b.get(strings.TrimPrefix(w.mails[0], "https://app.test"))
						}
					}
				}
				r := w.through(thief, "plain", "s1", stranger, "")
				w.at = nil
				owner := w.signedIn(b, &core.Response{})
				if known < 1 || w.users[owner].EmailVerified.IsZero() {
					t.Fatal("the address is not proved")
				}
				if len(w.accounts) > 0 || !strings.Contains(r.Redirect, "error=OAuthAccountNotLinked") {
					t.Errorf("answered %s %v, accounts %v, %v", r.Redirect, r.Err, w.accounts, w.users)
				}
			})
		}
	}
}

// TestTypedAddressOfAPasskey: what a visitor types is no address of theirs, unless the application says so.
func TestTypedAddressOfAPasskey(t *testing.T) {
	t.Parallel()
	for _, typed := range []bool{false, true} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(fmt.Sprintf("%s, InsecureTypedEmail %v", strategy, typed), func(t *testing.T) {
				var asked []string
				w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
					c.Providers[4].(*core.WebAuthnProvider).InsecureTypedEmail = typed
					c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
						asked = append(asked, p.User.Email)
						return core.Allow(), nil
					}
				})
				b := w.browser()
				r := b.get("/auth/webauthn-options/passkey?action=register&email=" + victim)
				if !strings.Contains(string(r.Body), victim) {
					t.Errorf("the authenticator does not show what was typed: %s", r.Body)
				}
				id := w.signedIn(b, w.passkey(b, "action=register&email="+victim, "register", "key"))
				want := ""
				if typed {
					want = victim
				}
				if session := string(b.get("/auth/session").Body); w.users[id].Email != want || asked[0] != want ||
					strings.Contains(session, victim) != typed {
					t.Errorf("%s, callbacks got %q, the session is %s", w.has(id), asked, session)
				}
				for _, query := range []string{"action=authenticate", "action=authenticate&email=" + victim, "email=" + victim} {
					again := w.browser()
					if back := w.signedIn(again, w.passkey(again, query, "authenticate", "key")); back != id {
						t.Errorf("%s: came back as %q, was %q", query, back, id)
					}
				}
				other := w.browser() // one name, one user
				if r := other.get("/auth/webauthn-options/passkey?action=register&email=" + victim); r.Status != 400 {
					t.Errorf("the name can be had twice: %d", r.Status)
				}
				slow := w.browser()
				asking := slow.get("/auth/webauthn-options/passkey?action=register&email=slow@x.example")
				quick := w.browser()
				w.signedIn(quick, w.passkey(quick, "action=register&email=slow@x.example", "register", "quick"))
				data := fmt.Sprintf(`{"id":%q}`, base64.RawURLEncoding.EncodeToString([]byte("slow")))
				r = slow.submit("/auth/callback/passkey", url.Values{"action": {"register"}, "data": {data}})
				if asking.Status != 200 || w.who(slow) != "" || !strings.Contains(r.Redirect, "error=AccountNotLinked") {
					t.Errorf("two at once have one name: %s", r.Redirect)
				}
				// The name is no address: a visitor who proves it by mail is another person, and finds no passkeys there.
				owner := w.browser()
				proved := w.signedIn(owner, w.byMail(owner, victim))
				if _, err := w.UserByAccount(t.Context(), "passkey", victim); (proved == id) || typed == (err == nil) {
					t.Errorf("proved by %s, registered by %s: %v", w.has(proved), w.has(id), err)
				}
				again := w.browser()
				if back := w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "key")); back != id {
					t.Errorf("came back as %q, was %q", back, id)
				}
			})
		}
	}
}

// TestTypedAddressOfAKnownUser: where the answers do not show which addresses have an account, a name that is a user's
// address is refused in the end.
func TestTypedAddressOfAKnownUser(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase, func(c *core.Config) {
		c.Providers[4].(*core.WebAuthnProvider).HideUsers = true
	})
	w.users["made"] = core.User{ID: "made", Email: victim}
	b := w.browser()
	w.signedIn(b, w.passkey(b, "action=register&email=taken@x.example", "register", "taken"))
	for _, name := range []string{victim, "taken@x.example"} {
		b := w.browser()
		r := w.passkey(b, "action=register&email="+name, "register", name)
		if w.who(b) != "" || !strings.Contains(r.Redirect, "error=AccountNotLinked") {
			t.Errorf("%s: answered %s, signed in as %q", name, r.Redirect, w.who(b))
		}
	}
}

// TestAnotherUsersPasskey: a signed-in visitor who uses another user's passkey is told on the sign-in page that it is
// not theirs.
func TestAnotherUsersPasskey(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			w := newTown(t, power{true, true, true, true}, strategy)
			ada, eve := w.browser(), w.browser()
			w.signedIn(ada, w.passkey(ada, "action=register&email=ada@x.example", "register", "ada"))
			id := w.signedIn(eve, w.through(eve, "vouching", "eve", "eve@x.example", vouched))
			r := w.passkey(eve, "action=authenticate", "authenticate", "ada")
			if r.Redirect != "https://app.test/auth/signin?error=AccountNotLinked" || w.who(eve) != id {
				t.Errorf("answered %s, signed in as %q, was %q", r.Redirect, w.who(eve), id)
			}
		})
	}
	t.Run("signed out, with the passkeys of one user asked for", func(t *testing.T) {
		w := newTown(t, power{true, true, true, true}, core.StrategyDatabase, func(c *core.Config) {
			c.Providers[4].(*core.WebAuthnProvider).InsecureTypedEmail = true
		})
		ada, eve := w.browser(), w.browser()
		w.signedIn(ada, w.passkey(ada, "action=register&email=ada@x.example", "register", "ada"))
		w.signedIn(eve, w.passkey(eve, "action=register&email=eve@x.example", "register", "eve"))
		b := w.browser()
		r := w.passkey(b, "email=ada@x.example", "authenticate", "eve")
		if w.who(b) != "" || !strings.Contains(r.Redirect, "WebAuthnVerificationError") {
			t.Errorf("answered %s, signed in as %q", r.Redirect, w.who(b))
		}
	})
}

// TestIDsWithoutAStore: account 1 of one provider and account 1 of another are two people, each the same at every
// sign-in.
func TestIDsWithoutAStore(t *testing.T) {
	t.Parallel()
	w := &town{T: t, people: newPeople()}
	w.app = newApp(t, core.Config{Providers: []core.Provider{w.service("plain", false), w.service("vouching", false)}})
	ids := map[string]string{}
	for _, provider := range []string{"plain", "vouching", "plain", "vouching"} {
		for _, sub := range []string{"1", "2"} {
			b := w.browser()
			id := w.signedIn(b, w.through(b, provider, sub, "ada@x.example", ""))
			if before := ids[provider+sub]; before != "" && before != id {
				t.Errorf("%s %s is %q now, was %q", provider, sub, id, before)
			}
			ids[provider+sub] = id
		}
	}
	seen := map[string]string{}
	for who, id := range ids {
		if other := seen[id]; other != "" {
			t.Errorf("%s and %s are one person", who, other)
		}
		seen[id] = who
	}
}

// TestTokensFromBeforeTheProof: a token whose user had proved nothing links nothing afterwards, whatever the
// application's callbacks make of it, and links as ever as long as nothing is proved.
func TestTokensFromBeforeTheProof(t *testing.T) {
	t.Parallel()
	anew := func(_ context.Context, p core.JWTParams) (*core.Token, error) {
		return &core.Token{Subject: p.Token.Subject, Name: p.Token.Name}, nil
	}
	for name, jwt := range map[string]func(context.Context, core.JWTParams) (*core.Token, error){
		"no callback": nil, "a callback that makes tokens anew": anew,
	} {
		for way, sign := range map[string]func(w *town, b *browser) *core.Response{
			"application": func(w *town, b *browser) *core.Response { w.made(b); return &core.Response{} },
			"password": func(w *town, b *browser) *core.Response {
				w.users["made"] = core.User{ID: "made", Email: victim}
				return b.submit("/auth/callback/credentials", url.Values{"id": {"made"}})
			},
			"an account unlinked since": func(w *town, b *browser) *core.Response {
				r := w.through(b, "plain", "s1", victim, "")
				delete(w.accounts, accountKey("plain", "s1"))
				return r
			},
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) { c.Callbacks.JWT = jwt })
				thief, b := w.browser(), w.browser()
				id := w.signedIn(thief, sign(w, thief))
				if w.through(thief, "plain", "s2", stranger, ""); w.accounts[accountKey("plain", "s2")].UserID != id {
					t.Fatal("nothing was proved yet, and nothing can be linked")
				}
				delete(w.accounts, accountKey("plain", "s2"))
				for range 3 {
					thief.get("/auth/session")
				}
				if owner := w.signedIn(b, w.byMail(b, victim)); owner != id {
					t.Fatalf("proved by %q, not %q", owner, id)
				}
				r := w.through(thief, "plain", "s3", stranger, "")
				if len(w.accounts) > 0 || !strings.Contains(r.Redirect, "error=OAuthAccountNotLinked") {
					t.Errorf("answered %s, linked %s", r.Redirect, w.has(id))
				}
				w.passkeys["b3ducw=="] = store.Authenticator{CredentialID: "b3ducw==", UserID: id}
				for _, action := range []string{"register", "authenticate"} {
					if r := thief.get("/auth/webauthn-options/passkey?action=" + action); strings.Contains(string(r.Body), "b3ducw") {
						t.Errorf("%s: tells the owner's passkeys: %s", action, r.Body)
					}
				}
				delete(w.passkeys, "b3ducw==")
				r = w.passkey(thief, "action=register&email=x@evil.example", "register", "key")
				if len(w.passkeys) > 0 || !strings.Contains(r.Redirect, "error=AccountNotLinked") {
					t.Errorf("answered %s, passkeys %v", r.Redirect, w.passkeys)
				}
				// The owner links, in the session of the proof and in a later one by password.
				w.through(b, "plain", "v1", victim, "")
				later := w.browser()
				later.submit("/auth/callback/credentials", url.Values{"id": {id}})
				w.through(later, "plain", "v2", victim, "")
				if len(w.accounts) != 2 {
					t.Errorf("the owner cannot link: %s", w.has(id))
				}
			})
		}
	}
}

// TestWarnsOfWhatTheStoreLacks: what changes the outcome of a first proof is said when the application starts.
func TestWarnsOfWhatTheStoreLacks(t *testing.T) {
	t.Parallel()
	for _, can := range powers() {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			w := newTown(t, can, strategy)
			for code, want := range map[string]bool{
				"store-lists-no-accounts": !can.lists, "store-ends-no-sessions": !can.ends && strategy == core.StrategyDatabase,
			} {
				if warned := strings.Contains(w.app.log.String(), "code="+code); warned != want {
					t.Errorf("%s, %s: %s: warned %v, want %v", can, strategy, code, warned, want)
				}
			}
		}
	}
}

// TestSessionFromBeforeTheProof: of a user whom the application made, and who has no other way in, earlier sessions end
// with the proof.
func TestSessionFromBeforeTheProof(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		w := newTown(t, power{true, true, true, true}, strategy)
		stranger, owner := w.browser(), w.browser()
		w.made(stranger)
		id := w.signedIn(owner, w.byMail(owner, victim))
		if w.who(stranger) == id {
			t.Errorf("%s: the stranger's session shows the user whom the owner of the address has now", strategy)
		}
	}
}

// TestTokenFromBeforeThereWereProofs: a token that an Auth without a provider of proofs issued (the same application
// before it had one, or a second Auth with its secret and store) links after the proof.
func TestTokenFromBeforeThereWereProofs(t *testing.T) {
	t.Parallel()
	can := power{true, true, true, true}
	w := newTown(t, can, core.StrategyJWT)
	before := newApp(t, core.Config{
		Store: w.as(can), Providers: []core.Provider{passwords()}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
	})
	thief, owner := w.browser(), w.browser()
	w.users["made"] = core.User{ID: "made", Name: "Invited", Email: victim}
	cookies, err := before.NewSession(t.Context(), thief.request("GET", "/", "", ""),
		&core.User{ID: "made", Email: victim})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		thief.keep(c)
	}
	id := w.signedIn(owner, w.byMail(owner, victim))
	w.through(thief, "vouching", "s9", stranger, vouched)
	fresh := w.browser()
	if w.through(fresh, "vouching", "s9", stranger, vouched); w.who(fresh) == id {
		t.Error("the stranger's account opens the owner's user, for good")
	}
}
