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

// town is an application with all kinds of sign-in methods:
//
//	plain     an OAuth provider that does not vouch for addresses
//	vouching  one that sends email_verified
//	linking   one that sends email_verified and may link by email
//	open      one that does not vouch and may link by email
//	email, passkey, credentials (the ID of a stored user)
type town struct {
	*testing.T
	*people
	app    *app
	mails  []string
	person string // the profile that the providers return
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
			&core.EmailProvider{ID: "email", From: "no-reply@app.test", Send: func(_ context.Context, m core.Email) error {
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

// through signs a browser in with a provider. claims are further members of the profile, with a leading comma.
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

// byMail requests a sign-in link and opens it in the same browser.
func (w *town) byMail(b *browser, email string) *core.Response {
	w.Helper()
	if r := b.submit("/auth/signin/email", url.Values{"email": {email}}); r.Err != nil {
		w.Fatal(r.Err)
	}
	return b.get(strings.TrimPrefix(w.mails[len(w.mails)-1], "https://app.test"))
}

// anyPasskey accepts every response.
type anyPasskey struct{}

func (anyPasskey) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	var answer struct{ ID string }
	err := json.Unmarshal(data, &answer)
	raw, _ := base64.RawURLEncoding.DecodeString(answer.ID)
	return &core.VerifiedPasskey{Authenticator: store.Authenticator{
		CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5",
	}}, err
}

func (anyPasskey) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

// passkey requests options with that query and responds with a passkey of that name.
func (w *town) passkey(b *browser, query, action, name string) *core.Response {
	w.Helper()
	if r := b.get("/auth/webauthn-options/passkey?" + query); r.Status >= 400 ||
		!strings.Contains(string(r.Body), `"action":"`+action+`"`) {
		w.Fatalf("options returned %d: %s", r.Status, r.Body)
	}
	data := fmt.Sprintf(`{"id":%q}`, base64.RawURLEncoding.EncodeToString([]byte(name)))
	return b.submit("/auth/callback/passkey", url.Values{"action": {action}, "data": {data}})
}

// who returns the user ID of a browser's session, or "".
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

// signedIn returns the ID of the signed-in user, and fails the test if there is none.
func (w *town) signedIn(b *browser, r *core.Response) string {
	w.Helper()
	id := w.who(b)
	if r.Err != nil || id == "" {
		w.Fatalf("not signed in: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	return id
}

// made adds a user whom the application created, with an unverified address and a session in b.
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

// given is the initial state of a test: a user with an unverified address.
type given struct {
	name string
	// before creates the user of the address in the attacker's or the owner's browser and returns their ID.
	before func(w *town, b *browser) string
	// keeps reports whether the owner of the address gets this user.
	keeps func(can power, s core.Strategy, forgets bool) bool
	// again signs in as the person who created the user. It is nil if only their session gives access.
	again func(w *town, b *browser) *core.Response
}

// proofCase describes how and where the address is verified.
type proofCase struct {
	can      power
	strategy core.Strategy
	// byMail reports that a sign-in link verifies the address, and not a provider that vouches for it.
	byMail bool
	// forgets reports that the store does not keep Account.VerifiedEmail.
	forgets bool
}

func (c proofCase) String() string {
	by := map[bool]string{true: "by mail", false: "by provider"}[c.byMail]
	room := map[bool]string{true: "/no room for what vouched"}[c.forgets]
	return fmt.Sprintf("%s/%s/%s%s", c.can, c.strategy, by, room)
}

// proofCases returns the cases for the n-th given: stores with all combinations of features under both strategies.
// byMail and forgets are derived from the others, so that for each given every pair of the five values occurs, and
// every combination of the three that the rules use (strategy, ends, forgets). Four consecutive givens together cover
// all cases.
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
		t.Fatalf("the address is not verified: %s", w.has(owner))
	}
	if keeps := g.keeps(c.can, c.strategy, c.forgets); (owner == first) != keeps {
		t.Fatalf("same user: %v, want %v; before %s, after %s", owner == first, keeps, had, w.has(first))
	}
	if owner != first {
		want := strings.Replace(had, `"`+victim+`"`, `""`, 1)
		if w.has(first) != want {
			t.Errorf("the user changed from %s to %s", had, w.has(first))
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
	if !own { // a sign-in by the previous user verifies nothing, and removes nothing
		w.oldSessionIsNoWayIn(before, owner)
	}
}

// oldSessionIsNoWayIn tries to gain access to the user of the address with a session from before the verification.
func (w *town) oldSessionIsNoWayIn(before *browser, owner string) {
	w.Helper()
	w.through(before, "vouching", "s9", stranger, vouched)
	w.passkey(before, "action=register&email=x@evil.example", "register", "key9")
	b := w.browser()
	w.through(b, "vouching", "s9", stranger, vouched)
	if w.who(b) == owner {
		w.Error("linked from a session before the verification: the attacker has access")
	}
	for key, a := range w.accounts {
		if a.UserID == owner && strings.Contains(key, "passkey/") {
			w.Error("a passkey registered from a session before the verification gives access to the user")
		}
	}
	b = w.browser()
	if id := w.signedIn(b, w.byMail(b, victim)); id != owner {
		w.Errorf("the owner of the address is %q now, was %q", id, owner)
	}
}

// TestFirstVerificationOfAnAddress checks the first verification of an address that a user already has unverified. The
// person who verifies it gets that user if no one else can have access to it, and a new user otherwise. It runs on
// stores with all combinations of features, under both strategies, with both kinds of verification.
func TestFirstVerificationOfAnAddress(t *testing.T) {
	t.Parallel()
	never := func(power, core.Strategy, bool) bool { return false }
	vouches := func(can power, _ core.Strategy, forgets bool) bool { return can.lists && !forgets }
	byPlain := func(w *town, b *browser) *core.Response { return w.through(b, "plain", "s1", victim, "") }
	for n, g := range []given{
		{"an account that was not vouched for", func(w *town, b *browser) string {
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
		{"an account vouched for, and one with another address", func(w *town, b *browser) string {
			id := w.signedIn(b, byPlain(w, b))
			w.signedIn(b, w.through(b, "vouching", "s2", stranger, vouched))
			return id
		}, never, func(w *town, b *browser) *core.Response { return w.through(b, "vouching", "s2", stranger, vouched) }},
		{
			"an application's user with an attacker's account, vouched for under another address",
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
		{"an application's user with an attacker's passkey", func(w *town, b *browser) string {
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
			other := w.browser() // signing in with it must not change that
			w.signedIn(other, w.through(other, "plain", "v2", "other@corp.example", ""))
			return id
		}, vouches, func(w *town, b *browser) *core.Response {
			return w.through(b, "plain", "v2", "other@corp.example", "")
		}},
		{"a user that the application created", func(w *town, b *browser) string { return w.made(b) },
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

// TestCallbacksReceiveTheNewUser checks that callbacks and events never get the previous user after an address has
// moved to a new one.
func TestCallbacksReceiveTheNewUser(t *testing.T) {
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

// TestLinkingByEmailNeedsBothSides checks that a provider which may link by email only links if it vouches for the
// address and the user has verified it.
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
				t.Errorf("signed in as %q, redirected to %s", id, r.Redirect)
			}
			if !row.links && len(w.accounts) > 0 {
				t.Error("an account was linked")
			}
			// Nor does it verify an address that the user has not verified.
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

// TestClaimsAboutAnotherAddress checks that email_verified applies only to the member email, even if the mapping uses
// another member as the address.
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
		t.Error("a claim about one address linked an account by another address")
	}
}

// TestOnlyTheProviderVerifies checks that EmailProved decides for its provider, except if the claim email_verified
// is false, and that members of a token response do not count.
func TestOnlyTheProviderVerifies(t *testing.T) {
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
				c.Providers[2].(*core.OAuthProvider).EmailVerified = row.proved
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
			return &core.Account{Extra: ts.Extra, VerifiedEmail: victim}
		}
	})
	b := w.browser()
	w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
	a := w.accounts[accountKey("plain", "s1")]
	if m := a.StoredMembers(); a.VerifiedEmail != "" || len(m) != 1 || m.Text("account_label") != victim {
		t.Errorf("an account vouches for %q; stored members %v", a.VerifiedEmail, m)
	}
}

// TestVerificationDuringAnAttack lets an attacker act at each store call of the first verification, and at all
// of them. The attacker must never gain access to the user of the person who verified the address.
func TestVerificationDuringAnAttack(t *testing.T) {
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
			{"an attacker's account", func(w *town, b *browser) { w.through(b, "plain", "s1", victim, "") }},
			{"an application's user", func(w *town, b *browser) { w.made(b) }},
			{"an account vouched for", func(w *town, _ *browser) {
				w.through(w.browser(), "vouching", "v1", victim, vouched)
			}},
		} {
			for k, can := range powers() {
				// Each store under each strategy, with every second pair of attack and given.
				strategy := []core.Strategy{core.StrategyJWT, core.StrategyDatabase}[(i+j+k+k/6)%2]
				t.Run(fmt.Sprintf("%s/%s/%s/%s", attack.name, given.name, can, strategy), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { // refused sign-ins wait for accounts that a concurrent sign-in may link
						calls := proofUnderAttack(t, can, strategy, given.before, attack.act, 0)
						// Each call separately where it matters most: without transactions.
						for n := 1; n <= calls && !can.tx && can.ends; n++ {
							proofUnderAttack(t, can, strategy, given.before, attack.act, n)
						}
					})
				})
			}
		}
	}
}

// proofUnderAttack verifies the address while an attacker acts at the n-th call to the store, or at all of them if n is
// 0. It returns a lower bound for the number of store calls of an undisturbed verification.
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
		// Without a limit the attacker would keep the owner out forever, which is all they can do.
		if n++; at == n || at == 0 && n <= 24 {
			attack(w, thief, n)
		}
		w.at = act
	}
	w.at = act
	r := b.get(strings.TrimPrefix(w.mails[0], "https://app.test"))
	w.at = nil
	if n == 0 {
		t.Fatal("the attacker did not act")
	}
	if w.who(b) == "" { // the attacker took the address each time it was free; after they stop, the owner gets in
		w.signedIn(b, w.byMail(b, victim))
	}
	owner := w.who(b)
	if u := w.users[owner]; u.Email != victim || u.EmailVerified.IsZero() {
		t.Fatalf("call %d: signed in as %s, %v", at, w.has(owner), r.Err)
	}
	for id, u := range w.users {
		if id != owner && !u.EmailVerified.IsZero() {
			t.Errorf("call %d: %s is verified", at, w.has(id))
		}
	}
	attack(w, thief, 99)
	for key, a := range w.accounts {
		if a.UserID == owner && key != "vouching/v1" {
			t.Errorf("call %d: %s gives access to the user of the address", at, key)
		}
	}
	if had != "" && strategy == core.StrategyDatabase && w.who(thief) == owner {
		t.Errorf("call %d: a session from before shows the user of the address", at)
	}
	return min(n, 12)
}

// TestAddressTakenConcurrently checks that an attacker who takes an address just before it moves to a new user loses it
// again.
func TestAddressTakenConcurrently(t *testing.T) {
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

// TestLinkedDuringVerification checks that an account is unlinked again if its linking started before the
// verification of the address and reached the store after it.
func TestLinkedDuringVerification(t *testing.T) {
	t.Parallel()
	for _, can := range powers() {
		if !can.lists || !can.ends {
			continue // it cannot be unlinked, or the address moved to another user, which it does not affect
		}
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(fmt.Sprintf("%s/%s", can, strategy), func(t *testing.T) {
				w := newTown(t, can, strategy)
				thief, b := w.browser(), w.browser()
				w.made(thief)
				b.submit("/auth/signin/email", url.Values{"email": {victim}})
				known := 0
				w.at = func(method string) {
					if method == "UserByAccount" || method == "begin" { // after the attacker's session was read
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
					t.Fatal("the address is not verified")
				}
				if len(w.accounts) > 0 || !strings.Contains(r.Redirect, "error=OAuthAccountNotLinked") {
					t.Errorf("redirected to %s %v, accounts %v, %v", r.Redirect, r.Err, w.accounts, w.users)
				}
			})
		}
	}
}

// TestTypedAddressOfAPasskey checks that an address typed at a passkey registration does not become the user's email
// address, unless InsecureTypedEmail is set.
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
						t.Errorf("%s: signed in as %q, was %q", query, back, id)
					}
				}
				other := w.browser() // a label belongs to one user
				if r := other.get("/auth/webauthn-options/passkey?action=register&email=" + victim); r.Status != 400 {
					t.Errorf("the label can be registered twice: %d", r.Status)
				}
				slow := w.browser()
				asking := slow.get("/auth/webauthn-options/passkey?action=register&email=slow@x.example")
				quick := w.browser()
				w.signedIn(quick, w.passkey(quick, "action=register&email=slow@x.example", "register", "quick"))
				data := fmt.Sprintf(`{"id":%q}`, base64.RawURLEncoding.EncodeToString([]byte("slow")))
				r = slow.submit("/auth/callback/passkey", url.Values{"action": {"register"}, "data": {data}})
				if asking.Status != 200 || w.who(slow) != "" || !strings.Contains(r.Redirect, "error=AccountNotLinked") {
					t.Errorf("two concurrent registrations got one label: %s", r.Redirect)
				}
				// The label is not an email address: a person who verifies the address by email is another user, without these
				// passkeys.
				owner := w.browser()
				proved := w.signedIn(owner, w.byMail(owner, victim))
				if _, err := w.UserByAccount(t.Context(), "passkey", victim); (proved == id) || typed == (err == nil) {
					t.Errorf("verified by %s, registered by %s: %v", w.has(proved), w.has(id), err)
				}
				again := w.browser()
				if back := w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "key")); back != id {
					t.Errorf("signed in as %q, was %q", back, id)
				}
			})
		}
	}
}

// TestTypedAddressOfAKnownUser checks that with HideUsers a registration is refused at the end if its label is the
// address of an existing user.
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
			t.Errorf("%s: redirected to %s, signed in as %q", name, r.Redirect, w.who(b))
		}
	}
}

// TestAnotherUsersPasskey checks that the sign-in page tells a signed-in user who uses another user's passkey that it
// is not theirs.
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
				t.Errorf("redirected to %s, signed in as %q, was %q", r.Redirect, w.who(eve), id)
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
			t.Errorf("redirected to %s, signed in as %q", r.Redirect, w.who(b))
		}
	})
}

// TestIDsWithoutAStore checks that account 1 of one provider and account 1 of another are two users, each with the same
// ID at every sign-in.
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
			t.Errorf("%s and %s are one user", who, other)
		}
		seen[id] = who
	}
}

// TestTokensFromBeforeTheVerification checks that a session token from before the user's address was verified cannot
// link anything afterwards, whatever the jwt callback does. Before the verification it can link as usual.
func TestTokensFromBeforeTheVerification(t *testing.T) {
	t.Parallel()
	anew := func(_ context.Context, p core.JWTParams) (*core.Token, error) {
		return &core.Token{Subject: p.Token.Subject, Name: p.Token.Name}, nil
	}
	for name, jwt := range map[string]func(context.Context, core.JWTParams) (*core.Token, error){
		"no callback": nil, "a callback that replaces tokens": anew,
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
					t.Fatal("linking fails before the verification")
				}
				delete(w.accounts, accountKey("plain", "s2"))
				for range 3 {
					thief.get("/auth/session")
				}
				if owner := w.signedIn(b, w.byMail(b, victim)); owner != id {
					t.Fatalf("verified by %q, not %q", owner, id)
				}
				r := w.through(thief, "plain", "s3", stranger, "")
				if len(w.accounts) > 0 || !strings.Contains(r.Redirect, "error=OAuthAccountNotLinked") {
					t.Errorf("redirected to %s, linked %s", r.Redirect, w.has(id))
				}
				w.passkeys["b3ducw=="] = store.Authenticator{CredentialID: "b3ducw==", UserID: id}
				for _, action := range []string{"register", "authenticate"} {
					if r := thief.get("/auth/webauthn-options/passkey?action=" + action); strings.Contains(string(r.Body), "b3ducw") {
						t.Errorf("%s: reveals the owner's passkeys: %s", action, r.Body)
					}
				}
				delete(w.passkeys, "b3ducw==")
				r = w.passkey(thief, "action=register&email=x@evil.example", "register", "key")
				if len(w.passkeys) > 0 || !strings.Contains(r.Redirect, "error=AccountNotLinked") {
					t.Errorf("redirected to %s, passkeys %v", r.Redirect, w.passkeys)
				}
				// The owner can link, in the session of the verification and in a later one by password.
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

// TestWarnsOfWhatTheStoreLacks checks that New warns about missing store features that change the result of a first
// verification.
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

// TestSessionFromBeforeTheVerification checks that the earlier sessions of a user whom the application created, and who
// has no sign-in method, end with the verification.
func TestSessionFromBeforeTheVerification(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		w := newTown(t, power{true, true, true, true}, strategy)
		stranger, owner := w.browser(), w.browser()
		w.made(stranger)
		id := w.signedIn(owner, w.byMail(owner, victim))
		if w.who(stranger) == id {
			t.Errorf("%s: the attacker's session shows the owner's user", strategy)
		}
	}
}

// TestTokenFromBeforeTheClaim covers tokens of an Auth that could not verify addresses: the same application at
// an earlier time, or a second Auth with the same secret and store. Such a token has no emailUnproved claim and can
// link an account after the verification, but the account must not give lasting access to the owner's user.
func TestTokenFromBeforeTheClaim(t *testing.T) {
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
		t.Error("the attacker's account gives lasting access to the owner's user")
	}
}
