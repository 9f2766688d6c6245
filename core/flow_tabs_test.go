package core_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// step is the next action of a tab.
type step struct {
	tab   int
	start bool // else the callback arrives; with form_post the POST, and then the GET
}

// TestTwoTabs starts sign-ins in two tabs, with callbacks by query and by form_post. Both succeed, or end as the
// provider reports, and each continues on its own page.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	orders := map[string][]step{
		"one after the other":            {{0, true}, {0, false}, {1, true}, {1, false}},
		"both started, oldest first":     {{0, true}, {1, true}, {0, false}, {1, false}},
		"both started, newest first":     {{0, true}, {1, true}, {1, false}, {0, false}},
		"interleaved between POST, GET":  nil,
		"interleaved, the other way":     nil,
		"the first started again (back)": {{0, true}, {1, true}, {0, true}, {0, false}, {1, false}},
	}
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, pair := range [][2]string{{"q", "q"}, {"q", "post"}, {"post", "q"}, {"post", "post"}, {"post", "post-too"}} {
			for _, signedIn := range []bool{true, false} {
				for _, failing := range []int{-1, 0, 1} {
					for order, steps := range orders {
						name := fmt.Sprintf("%s, %v, signed in %t, %d fails, %s", strategy, pair, signedIn, failing, order)
						t.Run(name, func(t *testing.T) {
							twoTabs(t, strategy, pair, signedIn, failing, order, steps)
						})
					}
				}
			}
		}
	}
}

func twoTabs(
	t *testing.T, strategy core.Strategy, pair [2]string, signedIn bool, failing int, order string, steps []step,
) {
	other := appleLike()
	other.ID = "post-too"
	app := newApp(t, core.Config{
		Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: strategy},
		Providers: []core.Provider{lenient("q"), appleLike(), other},
	})
	b := visit(t, app)
	for _, id := range []string{"q", "post", "post-too"} { // the user has an account at each
		b.finish(id, b.start(id, ""), "ann", false)
	}
	if b.who() != "ann" {
		t.Fatalf("signed in as %q", b.who())
	}
	if !signedIn {
		b.submit("/auth/signout", nil)
	}
	var started [2]string
	ends := [2]*core.Response{}
	if steps == nil { // both POSTs arrive before the first GET
		first, second := 0, 1
		if strings.Contains(order, "other way") {
			first, second = 1, 0
		}
		started[0], started[1] = b.start(pair[0], "/tab-0"), b.start(pair[1], "/tab-1")
		next := [2]string{}
		for i := range 2 {
			next[i] = b.deliver(pair[i], started[i], "ann", failing == i)
		}
		ends[first], ends[second] = b.get(next[first]), nil
		ends[second] = b.get(next[second])
	}
	for _, s := range steps {
		if s.start {
			started[s.tab] = b.start(pair[s.tab], fmt.Sprintf("/tab-%d", s.tab))
			continue
		}
		ends[s.tab] = b.finish(pair[s.tab], started[s.tab], "ann", failing == s.tab)
	}
	for i, r := range ends {
		want := fmt.Sprintf("https://app.test/tab-%d", i)
		if failing == i {
			want = "https://app.test/auth/signin?error=OAuthCallbackError"
		}
		if (r.Err != nil) != (failing == i) || r.Redirect != want {
			t.Errorf("tab %d ends at %s, want %s: %v", i, r.Redirect, want, r.Err)
		}
	}
	if b.who() != "ann" {
		t.Errorf("signed in as %q", b.who())
	}
}

// start starts a sign-in that continues on a page, and returns the authorization URL.
func (b *browser) start(provider, page string) string {
	b.t.Helper()
	return b.submit("/auth/signin/"+provider, url.Values{"callbackUrl": {page}}).Redirect
}

// deliver sends the callback to the application, and returns the target of the GET that decides.
func (b *browser) deliver(provider, location, who string, refused bool) string {
	b.t.Helper()
	answer := back(b.t, location, who)
	if refused {
		answer.Del("code")
		answer.Set("error", "access_denied")
	}
	target := "/auth/callback/" + provider
	if !strings.HasPrefix(provider, "post") {
		return target + "?" + answer.Encode()
	}
	r := b.crossSitePost(target, answer)
	if r.Err != nil {
		b.t.Fatal(r.Err)
	}
	return strings.TrimPrefix(r.Redirect, b.origin)
}

// finish is deliver and the GET.
func (b *browser) finish(provider, location, who string, refused bool) *core.Response {
	b.t.Helper()
	return b.get(b.deliver(provider, location, who, refused))
}

// TestAnotherUserConfirms: a sign-in starts while signed out. Before it completes, another user signs in in another
// tab. A page then asks which user to continue as. The sign-in itself links no account and signs no user in.
func TestAnotherUserConfirms(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, provider := range []string{"q", "post", "one"} {
			for _, known := range []bool{true, false} { // the other account has a user
				t.Run(fmt.Sprintf("%s, %s, known %t", strategy, provider, known), func(t *testing.T) {
					store := newPeople()
					one := oauth1Provider("one")
					a := newApp(t, core.Config{
						Store: store.as(power{lists: true}), Session: core.SessionConfig{Strategy: strategy},
						Providers: []core.Provider{lenient("q"), appleLike(), one},
					})
					other := visit(t, a)
					if known {
						finishAny(other, provider, other.start(provider, ""))
					}
					b := visit(t, a)
					started := b.start(provider, "/mine")
					b.finish("q", b.start("q", "/hers"), "bob", false)
					before := b.cookies[sessionCookie]
					r := finishAny(b, provider, started)
					page := string(r.Body)
					if r.Err != nil || !strings.Contains(page, "bob@example.com") || b.cookies[sessionCookie] != before {
						t.Fatalf("%d to %s: %v: %s", r.Status, r.Redirect, r.Err, page)
					}
					if owner := store.owner(provider, accountAt(provider)); owner != "" && owner == store.owner("q", "bob") {
						t.Error("the account is linked")
					}
					if !strings.Contains(page, `href="https://app.test/mine"`) {
						t.Errorf("no way to continue: %s", page)
					}
					// The user switches: the form starts the sign-in again.
					action := regexp.MustCompile(`action="https://app\.test([^"]+)"`).FindStringSubmatch(page)
					r = b.submit(action[1], url.Values{"switchAccount": {"1"}, "callbackUrl": {"https://app.test/mine"}})
					if r = finishAny(b, provider, r.Redirect); r.Redirect != "https://app.test/mine" {
						t.Errorf("ends at %s: %v", r.Redirect, r.Err)
					}
					if owner := store.owner(provider, accountAt(provider)); owner == "" || owner == store.owner("q", "bob") {
						t.Errorf("the account belongs to %q", owner)
					}
					if user := a.userID(b); user != store.owner(provider, accountAt(provider)) {
						t.Errorf("signed in as %q", user)
					}
				})
			}
		}
	}
}

// finishAny is finish for each kind of provider.
func finishAny(b *browser, provider, location string) *core.Response {
	if provider != "one" {
		return b.finish(provider, location, "ann", false)
	}
	u, _ := url.Parse(location)
	answer := url.Values{"oauth_token": {u.Query().Get("oauth_token")}, "oauth_verifier": {"v"}}
	return b.get("/auth/callback/one?" + answer.Encode())
}

func accountAt(provider string) string {
	if provider == "one" {
		return "u1"
	}
	return "ann"
}

// TestSwitchNeedsTheUser: only a form of this site switches users, under the session that was asked.
func TestSwitchNeedsTheUser(t *testing.T) {
	t.Parallel()
	store := newPeople()
	b := visit(t, newApp(t, core.Config{
		Store: store.as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{lenient("p"), lenient("q")},
	}))
	b.finish("q", b.start("q", ""), "bob", false)
	if r := b.post("/auth/signin/p", url.Values{"switchAccount": {"1"}}); r.Err == nil {
		t.Error("a form without the CSRF token switches")
	}
	switching := b.submit("/auth/signin/p", url.Values{"switchAccount": {"1"}}).Redirect
	b.submit("/auth/signout", nil)
	b.finish("q", b.start("q", ""), "eve", false)
	if r := b.finish("p", switching, "ann", false); r.Err == nil || b.who() != "eve" {
		t.Errorf("signed in as %q: %v", b.who(), r.Err)
	}
}

// TestForeignSitesEndNoFlow: any website can send the browser to a callback. Only a callback with its state ends a
// flow.
func TestForeignSitesEndNoFlow(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"q", "post"} {
		for name, forged := range map[string]url.Values{
			"an empty answer":           {},
			"a code and no state":       {"code": {"code-of-mallory"}},
			"an error and no state":     {"error": {"access_denied"}},
			"an error and another flow": {"error": {"access_denied"}, "state": {"AAAAAAAAAAAAAAAAAAAAAA"}},
			"a state twice":             {"code": {"x"}, "state": {"AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBB"}},
		} {
			t.Run(provider+", "+name, func(t *testing.T) {
				b := visit(t, newApp(t, core.Config{Providers: []core.Provider{lenient("q"), appleLike()}}))
				started := b.start(provider, "/mine")
				if provider == "q" {
					b.get("/auth/callback/q?" + forged.Encode())
				} else {
					b.crossSitePost("/auth/callback/post", forged)
					b.formPost("/auth/callback/post", forged)
				}
				if b.who() != "" {
					t.Fatalf("signed in as %q", b.who())
				}
				if r := b.finish(provider, started, "ann", false); r.Redirect != "https://app.test/mine" || b.who() != "ann" {
					t.Errorf("the user's own sign-in ends at %s: %v", r.Redirect, r.Err)
				}
			})
		}
	}
}

// TestUnusableCallbacks: a callback that can no longer be used redirects a signed-in user to their callback URL. Other
// users get an error page that explains the problem, with status 400 and a link to sign in.
func TestUnusableCallbacks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		reason string
		do     func(a *app, b *browser) *core.Response
	}{
		{"reload", "expired", func(_ *app, b *browser) *core.Response {
			target := b.deliver("q", b.start("q", "/mine"), "ann", false)
			b.get(target)
			return b.get(target)
		}},
		{"another browser", "expired", func(a *app, b *browser) *core.Response {
			other := visit(b.t, a)
			return b.get(other.deliver("q", other.start("q", "/mine"), "ann", false))
		}},
		{"another browser, with cookies of a subdomain", "browser", func(a *app, b *browser) *core.Response {
			other := visit(b.t, a)
			target := other.deliver("q", other.start("q", "/mine"), "ann", false)
			b.csrf()
			plant(other, b)
			return b.get(target)
		}},
		{"too late", "expired", func(a *app, b *browser) *core.Response {
			target := b.deliver("q", b.start("q", "/mine"), "ann", false)
			a.clock.Advance(16 * time.Minute)
			return b.get(target)
		}},
		{"no parameters", "expired", func(_ *app, b *browser) *core.Response { return b.get("/auth/callback/q") }},
		{"the GET of a form_post answer again", "expired", func(_ *app, b *browser) *core.Response {
			target := b.deliver("post", b.start("post", "/mine"), "ann", false)
			b.get(target)
			return b.get(target)
		}},
		{"OAuth 1.0a", "expired", func(_ *app, b *browser) *core.Response {
			started := b.start("one", "/mine")
			finishAny(b, "one", started)
			return finishAny(b, "one", started)
		}},
	} {
		again := slices.Contains([]string{"reload", "the GET of a form_post answer again", "OAuth 1.0a"}, row.name)
		for _, signedIn := range []bool{true, false} {
			if again && !signedIn { // the first callback has signed the user in
				continue
			}
			t.Run(fmt.Sprintf("%s, signed in %t", row.name, signedIn), func(t *testing.T) {
				a := newApp(t, core.Config{Providers: []core.Provider{lenient("q"), appleLike(), oauth1Provider("one")}})
				b := visit(t, a)
				if signedIn && !again {
					b.finish("q", b.start("q", "/hers"), "ann", false)
				}
				r := row.do(a, b)
				if signedIn {
					if strings.Contains(r.Redirect, "error") || !strings.HasPrefix(r.Redirect, "https://app.test") || r.Err == nil {
						t.Errorf("redirects to %s: %v", r.Redirect, r.Err)
					}
					return
				}
				if want := "https://app.test/auth/error?error=Configuration&reason=" + row.reason; r.Redirect != want {
					t.Fatalf("redirects to %s, want %s: %v", r.Redirect, want, r.Err)
				}
				page := b.get(strings.TrimPrefix(r.Redirect, b.origin))
				if page.Status != http.StatusBadRequest || !strings.Contains(string(page.Body), "Sign in again") {
					t.Errorf("the page has status %d: %s", page.Status, page.Body)
				}
				if strings.Contains(a.log.String(), "level=ERROR") {
					t.Errorf("the log says\n%s", a.log.String())
				}
			})
		}
	}
	a := newApp(t, core.Config{Pages: core.PagesConfig{Error: "/oops"}, Providers: []core.Provider{lenient("q")}})
	b := visit(t, a)
	if r := b.get("/auth/callback/q"); r.Redirect != "https://app.test/oops?error=Configuration&reason=expired" {
		t.Errorf("a page of the application's own: %s", r.Redirect)
	}
	b = visit(t, newApp(t, core.Config{Providers: []core.Provider{lenient("q")}}))
	if r := b.get("/auth/error?error=Configuration&reason=%3Cscript%3E"); r.Status != http.StatusInternalServerError {
		t.Errorf("a reason that is none: status %d", r.Status)
	}
}

// TestStateIsShort: services limit the state. Without a redirect proxy it has 22 letters and digits.
func TestStateIsShort(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{lenient("q")}}))
	for range 4 { // one flow in the check cookies, the others in separate cookies
		state := stateOf(b.submit("/auth/signin/q", nil))
		if !regexp.MustCompile(`^[A-Za-z0-9]{22}$`).MatchString(state) {
			t.Errorf("the state is %q", state)
		}
	}
}
