package core_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// lenient returns a service that ignores the code verifier, like services without PKCE. Its codes contain the user.
func lenient(id string, checks ...core.Check) *core.OAuthProvider {
	p := (&service{}).provider(id, checks...)
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/token" {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			form, _ := url.ParseQuery(string(raw))
			return answered(r, http.StatusOK,
				`{"access_token":"`+strings.TrimPrefix(form.Get("code"), "code-of-")+`","token_type":"bearer"}`), nil
		}
		who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		return answered(r, http.StatusOK, `{"id":"`+who+`","name":"`+who+`","email":"`+who+`@example.com"}`), nil
	})}
	return p
}

// roundTripper is a service without a network.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answered returns a response of a provider. A redirect refers to its userinfo endpoint.
func answered(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/json"}, "Location": {"https://op.example/userinfo"}},
		Body:       io.NopCloser(strings.NewReader(body)), Request: r,
	}
}

// owner returns the user ID of an account. It is empty if there is none.
func (p *people) owner(provider, id string) string {
	account, err := p.Account(context.Background(), provider, id)
	if err != nil {
		return ""
	}
	return account.UserID
}

// back returns the parameters of the callback for an authorization request. The code contains the user who granted it.
func back(t *testing.T, location, who string) url.Values {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.Query().Get("redirect_uri") == "" {
		t.Fatalf("no sign-in began: %q", location)
	}
	answer := url.Values{"code": {"code-of-" + who}}
	if state := u.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	return answer
}

// who returns the email address of the signed-in user.
func (b *browser) who() string {
	b.t.Helper()
	var session struct {
		User struct{ Email string }
	}
	_ = json.Unmarshal(b.get("/auth/session").Body, &session)
	return strings.TrimSuffix(session.User.Email, "@example.com")
}

// TestForeignCodeIsRefused: an attacker gets a code for their own account, without a challenge, and injects it into the
// victim's flow. The service ignores the verifier, so the state must detect it.
func TestForeignCodeIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		checks  []core.Check
		answer  func(genuine url.Values) url.Values
		refused bool
	}{
		{"own answer", nil, func(v url.Values) url.Values { return v }, false},
		{"attacker's code, no state", nil,
			func(url.Values) url.Values { return url.Values{"code": {"code-of-attacker"}} }, true},
		{"attacker's code, empty state", nil,
			func(url.Values) url.Values { return url.Values{"code": {"code-of-attacker"}, "state": {""}} }, true},
		{"attacker's code, a state of no flow", nil, func(url.Values) url.Values {
			return url.Values{"code": {"code-of-attacker"}, "state": {strings.Repeat("x", 300)}}
		}, true},
		{"attacker's code twice beside the state", nil,
			func(v url.Values) url.Values { v.Add("code", "code-of-attacker"); return v }, true},

		{"state alone, attacker's code and another state", []core.Check{core.CheckState}, func(url.Values) url.Values {
			return url.Values{"code": {"code-of-attacker"}, "state": {strings.Repeat("x", 300)}}
		}, true},
		{"checks of the application's own: PKCE alone", []core.Check{core.CheckPKCE},
			func(url.Values) url.Values { return url.Values{"code": {"code-of-attacker"}} }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, before := range []int{0, 1, 3} { // flows of other tabs
				store := newPeople()
				b := visit(t, newApp(t, core.Config{
					Store: store.as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
					Providers: []core.Provider{lenient("p", row.checks...), lenient("q")},
				}))
				b.get("/auth/callback/q?" + back(t, b.submit("/auth/signin/q", nil).Redirect, "victim").Encode())
				for range before {
					b.submit("/auth/signin/p", nil)
				}
				answer := row.answer(back(t, b.submit("/auth/signin/p", nil).Redirect, "other"))
				if before > 0 && row.checks != nil {
					continue // with two tabs, the state distinguishes them
				}
				r := b.get("/auth/callback/p?" + answer.Encode())
				if (r.Err != nil) != row.refused {
					t.Errorf("%d before: refused %v, want %v: %v", before, r.Err != nil, row.refused, r.Err)
				}
				if owner := store.owner("p", "attacker"); row.refused && owner != "" {
					t.Errorf("the attacker's account is linked to %q", owner)
				}
			}
		})
	}
}

// TestPlantedChecks: an attacker on a sibling subdomain sets cookies for the whole domain, but none whose name starts
// with __Host-. The checks of the attacker's flow do not sign the user in as the attacker.
func TestPlantedChecks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		victim func(b *browser)
		config core.Config
		signed string
	}{
		{"first visit", func(*browser) {}, core.Config{}, ""},
		{"has been here", func(b *browser) { b.get("/auth/signin") }, core.Config{}, ""},
		{"has a flow of their own", func(b *browser) { b.submit("/auth/signin/p", nil) }, core.Config{}, ""},
		{"a CSRF cookie that neighbours can set", func(*browser) {},
			core.Config{Cookies: core.CookiesConfig{CSRFToken: core.CookieOptions{Name: "csrf"}}}, "attacker"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for tabs := range 3 {
				row.config.Providers = []core.Provider{lenient("p")}
				app := newApp(t, row.config)
				attacker, victim := visit(t, app), visit(t, app)
				answer := back(t, attacker.submit("/auth/signin/p", nil).Redirect, "attacker")
				for range tabs {
					attacker.submit("/auth/signin/p", nil)
				}
				row.victim(victim)
				for name, value := range attacker.cookies {
					if !strings.HasPrefix(name, "__Host-") {
						victim.cookies[name] = value
					}
				}
				victim.get("/auth/callback/p?" + answer.Encode())
				if got := victim.who(); got != row.signed {
					t.Errorf("%d tabs: signed in as %q, want %q", tabs, got, row.signed)
				}
				attacker.get("/auth/callback/p?" + answer.Encode())
				if got := attacker.who(); got != "attacker" {
					t.Errorf("%d tabs: the browser that began it is signed in as %q", tabs, got)
				}
			}
		})
	}
}

// TestFlowsOutliveRotation starts sign-ins in three tabs, adds a new secret in front, and completes them.
func TestFlowsOutliveRotation(t *testing.T) {
	t.Parallel()
	s := &service{}
	all := []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce}
	config := core.Config{
		Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{s.provider("a", all...), s.provider("b")},
	}
	b := linked(t, newApp(t, config), s)
	started := b.tabs(s, "a", "b", "a")
	config.Secrets = []core.Secret{"another-secret-of-more-than-thirty-two", testSecret}
	b.auth = newApp(t, config)
	for i, tab := range started {
		if r := b.get(tab.callback); r.Err != nil || r.Redirect != "https://app.test"+tab.page {
			t.Errorf("tab %d: to %s, %v", i, r.Redirect, r.Err)
		}
	}
}

// TestFlowsExpire: a flow of another tab has the same lifetime as the newest.
func TestFlowsExpire(t *testing.T) {
	t.Parallel()
	s := &service{}
	app := newApp(t, core.Config{Providers: []core.Provider{s.provider("a")}})
	b := visit(t, app)
	old := s.grant(t, b.submit("/auth/signin/a", nil).Redirect)
	app.clock.Advance(10 * time.Minute)
	fresh := s.grant(t, b.submit("/auth/signin/a", nil).Redirect)
	app.clock.Advance(6 * time.Minute)
	if r := b.get(old); r.Err == nil {
		t.Error("a flow of sixteen minutes ago is finished")
	}
	if r := b.get(fresh); r.Err != nil {
		t.Errorf("a flow of six minutes ago: %v", r.Err)
	}
}

// TestOneTimeFlows: a flow of another tab is also valid for one attempt only, with the provider it was started with.
func TestOneTimeFlows(t *testing.T) {
	t.Parallel()
	app := newApp(t, core.Config{Providers: []core.Provider{lenient("p"), lenient("q")}})
	for _, row := range []struct {
		name  string
		first string // requested first
		then  string
	}{
		{"again", "/auth/callback/p?", "/auth/callback/p?"},
		{"at another provider", "", "/auth/callback/q?"},
		{"after an error of the provider", "/auth/callback/p?error=access_denied&", "/auth/callback/p?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, app)
			answer := back(t, b.submit("/auth/signin/p", nil).Redirect, "ann")
			b.submit("/auth/signin/p", nil)
			if row.first != "" {
				b.get(row.first + answer.Encode())
			}
			before := b.cookies[sessionCookie]
			r := b.get(row.then + answer.Encode())
			for _, c := range r.Cookies {
				if c.Name == sessionCookie {
					t.Errorf("it signs in: %v", c)
				}
			}
			if r.Err == nil || (before != "") == strings.Contains(r.Redirect, "error") {
				t.Errorf("redirects to %s: %v", r.Redirect, r.Err)
			}
		})
	}
}

// TestChecksOfTwoFlows mixes the cookies of two flows of one browser: all cookies of a callback must belong to one
// flow.
func TestChecksOfTwoFlows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"__Secure-authjs.pkce.code_verifier", "__Secure-authjs.state"} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{lenient("p")}}))
			earlier := back(t, b.submit("/auth/signin/p", nil).Redirect, "ann")
			other := b.cookies[name]
			earlier.Set("error", "access_denied")
			b.get("/auth/callback/p?" + earlier.Encode())
			answer := back(t, b.submit("/auth/signin/p", nil).Redirect, "ann")
			b.cookies[name] = other // planted: the browser itself has deleted this cookie
			if r := b.get("/auth/callback/p?" + answer.Encode()); r.Err == nil {
				t.Error("it signs in")
			}
		})
	}
}

// TestFlowOfAnotherSession: a flow started under one session cannot be completed under another one, even in the same
// browser.
func TestFlowOfAnotherSession(t *testing.T) {
	t.Parallel()
	for _, tabs := range []int{0, 1} {
		store := newPeople()
		b := visit(t, newApp(t, core.Config{
			Store: store, Session: core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{lenient("p"), lenient("q")},
		}))
		as := func(who string) {
			b.get("/auth/callback/q?" + back(t, b.submit("/auth/signin/q", nil).Redirect, who).Encode())
		}
		as("ann")
		answer := back(t, b.submit("/auth/signin/p", nil).Redirect, "ann-at-p")
		b.submit("/auth/signout", nil)
		as("bob")
		for range tabs {
			b.submit("/auth/signin/p", nil)
		}
		r := b.get("/auth/callback/p?" + answer.Encode())
		if r.Err == nil || b.who() != "bob" || store.owner("p", "ann-at-p") != "" {
			t.Errorf("%d tabs: %v, signed in as %q, the account belongs to %q", tabs, r.Err,
				b.who(), store.owner("p", "ann-at-p"))
		}
	}
}

// appleLike returns a provider that sends its callback by a cross-site POST.
func appleLike(checks ...core.Check) *core.OAuthProvider {
	p := lenient("post", checks...)
	p.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	return p
}

// crossSitePost sends a POST request as from the provider's page: only SameSite=None cookies are sent.
func (b *browser) crossSitePost(target string, fields url.Values) *core.Response {
	b.t.Helper()
	kept := maps.Clone(b.cookies)
	maps.DeleteFunc(b.cookies, func(name, _ string) bool { return !b.none[name] })
	sent := maps.Clone(b.cookies)
	b.header.Set("Sec-Fetch-Site", "cross-site")
	b.header.Set("Origin", "https://post.example")
	r := b.post(target, fields)
	b.header.Del("Sec-Fetch-Site")
	b.header.Del("Origin")
	maps.DeleteFunc(kept, func(name, _ string) bool { _, there := b.cookies[name]; return sent[name] != "" && !there })
	maps.Copy(kept, b.cookies)
	b.cookies = kept
	return r
}

// formPost sends the provider's POST and follows the redirect with a GET.
func (b *browser) formPost(target string, fields url.Values) *core.Response {
	b.t.Helper()
	r := b.crossSitePost(target, fields)
	if r.Err != nil {
		return r
	}
	return b.get(strings.TrimPrefix(r.Redirect, b.origin))
}

// TestFormPostKeepsContext: the user who started the flow and their callback URL are still known after the cross-site
// POST, which itself decides nothing.
func TestFormPostKeepsContext(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("a", 400)
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, row := range []struct {
			name     string
			checks   []core.Check
			signedIn bool
			callback string
			tabs     int
		}{
			{"nobody, to the origin", []core.Check{core.CheckNonce, core.CheckState}, false, "", 0},
			{"nobody, to a page", []core.Check{core.CheckNonce, core.CheckState}, false, "/orders", 0},
			{"nobody, without a state", []core.Check{core.CheckNonce}, false, "/orders", 0},
			{"nobody, to a page far away", nil, false, long, 0},
			{"signed in", []core.Check{core.CheckNonce, core.CheckState}, true, "/orders", 0},
			{"signed in, checks left to us", nil, true, "/orders", 0},
			{"signed in, state alone", []core.Check{core.CheckState}, true, "", 0},
			{"signed in, another tab behind", nil, true, "/orders", 2},
			{"nobody, another tab behind", nil, false, "/orders", 2},
		} {
			t.Run(string(strategy)+", "+row.name, func(t *testing.T) {
				store := newPeople()
				b := visit(t, newApp(t, core.Config{
					Store: store.as(power{}), Session: core.SessionConfig{Strategy: strategy},
					Providers: []core.Provider{lenient("q"), appleLike(row.checks...)},
				}))
				if row.signedIn {
					b.get("/auth/callback/q?" + back(t, b.submit("/auth/signin/q", nil).Redirect, "ann").Encode())
				}
				form := url.Values{}
				if row.callback != "" {
					form.Set("callbackUrl", row.callback)
				}
				answer := back(t, b.submit("/auth/signin/post", form).Redirect, "ann-at-post")
				answer.Set("user", `{"name":{"firstName":"Ann"}}`)
				for range row.tabs {
					b.submit("/auth/signin/q", url.Values{"callbackUrl": {"/elsewhere"}})
				}
				before := maps.Clone(b.cookies)
				posted := b.crossSitePost("/auth/callback/post", answer)
				target, flow, _ := strings.Cut(posted.Redirect, "?flow=")
				if posted.Err != nil || target != "https://app.test/auth/callback/post" || len(flow) != 8 ||
					len(posted.Body) > 0 {
					t.Fatalf("the POST redirects to %s: %v", posted.Redirect, posted.Err)
				}
				for name, value := range b.cookies {
					if name != "__Secure-authjs.form-answer."+flow && before[name] != value {
						t.Errorf("the POST sets %s", name)
					}
				}
				r := b.get(strings.TrimPrefix(posted.Redirect, b.origin))
				if want := "https://app.test" + row.callback; r.Err != nil || r.Redirect != want {
					t.Errorf("ends at %.60s, want %.60s: %v", r.Redirect, want, r.Err)
				}
				if again := b.formPost("/auth/callback/post", answer); again.Err == nil {
					t.Error("the callback is accepted twice")
				}
				if row.signedIn {
					who, owner := b.who(), store.owner("post", "ann-at-post")
					if who != "ann" || owner == "" || owner != store.owner("q", "ann") {
						t.Errorf("signed in as %q, the account belongs to %q", who, owner)
					}
				} else if b.who() != "ann-at-post" {
					t.Errorf("signed in as %q", b.who())
				}
			})
		}
	}
}

// TestFormPostAttacks: a cross-site POST neither links an account nor signs in a user who did not start the flow.
func TestFormPostAttacks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		victim string // the user who is signed in in the victim's browser
		attack func(t *testing.T, attacker, victim *browser)
	}{
		{"attacker's answer without checks", "victim", func(t *testing.T, attacker, victim *browser) {
			answer := back(t, attacker.submit("/auth/signin/post", nil).Redirect, "attacker")
			victim.formPost("/auth/callback/post", answer)
		}},
		{"attacker's code in the victim's flow", "victim", func(t *testing.T, attacker, victim *browser) {
			victim.submit("/auth/signin/post", nil)
			answer := back(t, attacker.submit("/auth/signin/post", nil).Redirect, "attacker")
			victim.formPost("/auth/callback/post", answer)
		}},
		{"planted checks of a signed-in attacker", "victim", func(t *testing.T, attacker, victim *browser) {
			start := attacker.submit("/auth/signin/post", nil)
			plant(attacker, victim)
			victim.formPost("/auth/callback/post", back(t, start.Redirect, "attacker"))
		}},
		{"planted checks of an attacker who is signed out", "victim", func(t *testing.T, attacker, victim *browser) {
			attacker.submit("/auth/signout", nil)
			start := attacker.submit("/auth/signin/post", nil)
			plant(attacker, victim)
			victim.formPost("/auth/callback/post", back(t, start.Redirect, "attacker"))
		}},
		{"planted checks, nobody signed in", "", func(t *testing.T, attacker, victim *browser) {
			attacker.submit("/auth/signout", nil)
			start := attacker.submit("/auth/signin/post", nil)
			plant(attacker, victim)
			victim.formPost("/auth/callback/post", back(t, start.Redirect, "attacker"))
		}},
		{"planted hop", "victim", func(t *testing.T, attacker, victim *browser) {
			start := attacker.submit("/auth/signin/post", nil)
			r := attacker.crossSitePost("/auth/callback/post", back(t, start.Redirect, "attacker"))
			plant(attacker, victim)
			victim.get(strings.TrimPrefix(r.Redirect, victim.origin))
		}},
		{"planted hop, nobody signed in", "", func(t *testing.T, attacker, victim *browser) {
			start := attacker.submit("/auth/signin/post", nil)
			r := attacker.crossSitePost("/auth/callback/post", back(t, start.Redirect, "attacker"))
			plant(attacker, victim)
			victim.get(strings.TrimPrefix(r.Redirect, victim.origin))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := newPeople()
			app := newApp(t, core.Config{
				Store: store.as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{lenient("q"), appleLike()},
			})
			attacker, victim := visit(t, app), visit(t, app)
			attacker.get("/auth/callback/q?" + back(t, attacker.submit("/auth/signin/q", nil).Redirect, "mallory").Encode())
			if row.victim != "" {
				victim.get("/auth/callback/q?" + back(t, victim.submit("/auth/signin/q", nil).Redirect, row.victim).Encode())
			}
			row.attack(t, attacker, victim)
			if got := victim.who(); got != row.victim {
				t.Errorf("the victim is signed in as %q, want %q", got, row.victim)
			}
			if owner := store.owner("post", "attacker"); owner != "" && owner == store.owner("q", "victim") {
				t.Error("the attacker's account is linked to the victim")
			}
		})
	}
}

// TestFormPostHopIsBounded: a stored form_post callback belongs to one provider, expires after a minute, and fits into
// a cookie.
func TestFormPostHopIsBounded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		code   string
		target string
		wait   time.Duration
		ok     bool
	}{
		{"its own provider", "code-of-ann-at-post", "/auth/callback/post", 0, true},
		{"another provider", "code-of-ann-at-post", "/auth/callback/post-too", 0, false},
		{"too late", "code-of-ann-at-post", "/auth/callback/post", 2 * time.Minute, false},
		{"a code longer than a cookie", strings.Repeat("x", 3000), "/auth/callback/post", 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			other := appleLike()
			other.ID = "post-too"
			app := newApp(t, core.Config{
				Store: newPeople(), Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{lenient("q"), appleLike(), other},
			})
			b := visit(t, app)
			b.get("/auth/callback/q?" + back(t, b.submit("/auth/signin/q", nil).Redirect, "ann").Encode())
			start := b.submit("/auth/signin/post", nil)
			answer := back(t, start.Redirect, "")
			answer.Set("code", row.code)
			r := b.crossSitePost("/auth/callback/post", answer)
			if n := headerLength(r); n >= 4000 {
				t.Errorf("the header of the hop has %d bytes", n)
			}
			app.clock.Advance(row.wait)
			if r.Err == nil {
				_, flow, _ := strings.Cut(r.Redirect, "?")
				r = b.get(row.target + "?" + flow)
			}
			if (r.Err == nil) != row.ok {
				t.Errorf("signed in: %v, want %v: %v", r.Err == nil, row.ok, r.Err)
			}
		})
	}
}

// plant sets the cookies of one browser in another. It skips cookies that a sibling subdomain cannot set, and the
// session, because the victim's own cookie takes precedence.
func plant(from, to *browser) {
	for name, value := range from.cookies {
		if !strings.HasPrefix(name, "__Host-") && name != sessionCookie {
			to.cookies[name], to.none[name] = value, from.none[name]
		}
	}
}
