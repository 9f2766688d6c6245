package password_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// withNames turns usernames on.
func withNames(o *password.Options, _ *core.Config) {
	o.Usernames = password.Usernames{On: true, Reserved: []string{"Acme"}}
}

// choose posts a username and returns the code of the response, or the name that was stored.
func (b *browser) choose(name string) string {
	b.t.Helper()
	r := b.post("password/username", "username", name)
	var answer struct{ Code, Username string }
	_ = json.Unmarshal(r.Body, &answer)
	return answer.Code + answer.Username
}

// TestUsername: a user signs in with the username or the address, under both strategies and in another process.
func TestUsername(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		as := func(_ *password.Options, c *core.Config) { c.Session.Strategy = strategy }
		w := site(t, withNames, as)
		b := w.signUp(ada, good)
		if w.signIn("ada.l", good) != "" {
			t.Error("a name that was not chosen signs in")
		}
		if got := b.choose(" Ada.L "); got != "ada.l" {
			t.Fatalf("chose %q", got)
		}
		other := site(t, withNames, as, func(_ *password.Options, c *core.Config) { c.Store = w.store })
		other.store = w.store
		for _, each := range []*world{w, other} {
			for _, typed := range []string{"ada.l", "ADA.L", ada} {
				if each.signIn(typed, good) != ada {
					t.Errorf("%s: %q does not sign in", strategy, typed)
				}
				if each.signIn(typed, better) != "" {
					t.Errorf("%s: %q signs in with a wrong password", strategy, typed)
				}
			}
		}
		// Wrong passwords are counted for the typed text, so there must not be many texts for a name.
		if w.signIn("ａda.l", good) != "" {
			t.Error("a fullwidth letter is another spelling of the name")
		}
		if r := b.get("/auth/password/username"); string(r.Body) != `{"username":"ada.l"}` {
			t.Errorf("answered %s", r.Body)
		}
		w.reset(ada, better)
		if w.signIn("ada.l", good) != "" || w.signIn("ada.l", better) != ada {
			t.Error("the name does not follow a reset of the password")
		}
	}
}

// TestUsernameOff: without the option, only addresses sign in, and there is no page.
func TestUsernameOff(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	w.signUp(ada, good).choose("ada.l")
	off := site(t, func(_ *password.Options, c *core.Config) { c.Store = w.store })
	if off.signIn("ada.l", good) != "" {
		t.Error("a username signs in")
	}
	if r := off.visit().get("/auth/password/username"); r.Status < 400 {
		t.Errorf("the page is answered %d", r.Status)
	}
	if page := string(off.person().get("/auth/signin").Body); strings.Contains(page, "username</label>") {
		t.Error("the sign-in page asks for a username")
	}
	if page := string(w.person().get("/auth/signin").Body); !strings.Contains(page, "Email or username") ||
		strings.Contains(page, `type="email"`) {
		t.Error("the sign-in page does not ask for a username")
	}
}

// TestUsernameSharesField: if a link by email shares the field of the address, the field takes usernames too.
func TestUsernameSharesField(t *testing.T) {
	t.Parallel()
	w := site(t, withNames, func(_ *password.Options, c *core.Config) {
		c.Providers = append(c.Providers, &core.EmailProvider{ID: "email", Send: (&postbox{}).Send})
	})
	if page := string(w.person().get("/auth/signin").Body); strings.Contains(page, `type="email"`) {
		t.Errorf("the page is %s", page)
	}
}

// TestUsernameRules: names that could be mistaken for another name, or for the site, are refused.
func TestUsernameRules(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	b := w.signUp(ada, good)
	for name, want := range map[string]string{
		"": "username_invalid", "ab": "username_invalid", strings.Repeat("a", 33): "username_invalid",
		strings.Repeat("a", 1e5): "username_invalid", "a b c": "username_invalid", "a@b.example": "username_invalid",
		".ada": "username_invalid", "ada.": "username_invalid", "a..da": "username_invalid", "1234": "username_invalid",
		"ada\u200bl": "username_invalid", "p\u0430ypal": "username_invalid", "ada\x00": "username_invalid",
		"<b>ada</b>": "username_invalid", "\xffada": "username_invalid",
		"ada/l": "username_invalid", "ada" + strings.Repeat(" ", 300): "username_invalid", // too long to normalize
		"admin": "username_taken", "Ad-Min": "username_taken", "acme": "username_taken", "ａｄｍｉｎ": "username_taken",
	} {
		if got := b.choose(name); got != want {
			t.Errorf("%.40q: %s, want %s", name, got, want)
		}
	}
	for i, name := range []string{"jos\u00e9", "\u30a2\u30c0\u5b50", "\u0438\u0432\u0430\u043d", "ada_l-2"} {
		other := w.signUp(fmt.Sprintf("user%d@example.com", i), good)
		if got := other.choose(name); got != name {
			t.Errorf("%q: %s", name, got)
		}
	}
	if got := b.choose("jose\u0301"); got != "username_taken" {
		t.Errorf("the same name in another normalization: %s", got)
	}
	if r := w.visit().post("password/username", "username", "somebody"); r.Status != 401 {
		t.Errorf("without a session: %d", r.Status)
	}
	w.advance(time.Hour)
	if got := b.choose("ada.l"); got == "ada.l" {
		t.Error("the name was changed long after the sign-in")
	}
}

// TestUsernameCooldown: a name is changed once in 30 days. The old one is reserved in that time, and does not sign
// in.
func TestUsernameCooldown(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	again := func(email string) *browser {
		b := w.visit()
		b.post("callback/password", "email", email, "password", good)
		return b
	}
	const eve = "eve@example.com"
	w.signUp(eve, good)
	b := w.signUp(ada, good)
	b.choose("ada.l")
	if got := b.choose("countess"); got != "username_too_soon" {
		t.Errorf("a second name: %s", got)
	}
	if got := b.choose("ADA.l"); got != "ada.l" {
		t.Errorf("the same name: %s", got)
	}
	if got := again(eve).choose("ada.l"); got != "username_taken" {
		t.Errorf("the name of another: %s", got)
	}
	w.advance(31 * 24 * time.Hour)
	if got := again(ada).choose("countess"); got != "countess" {
		t.Errorf("after the cooldown: %s", got)
	}
	if w.signIn("ada.l", good) != "" || w.signIn("countess", good) != ada {
		t.Error("the old name signs in, or the new one does not")
	}
	if got := again(eve).choose("ada.l"); got != "username_taken" {
		t.Errorf("the old name, early: %s", got)
	}
	w.advance(31 * 24 * time.Hour)
	if got := again(eve).choose("ada.l"); got != "ada.l" {
		t.Errorf("the old name, later: %s", got)
	}
	if w.signIn("ada.l", good) != eve {
		t.Error("the old name does not sign in its new owner")
	}
}

// TestFiftyUsernames: fifty users claim one name concurrently, in two processes. One gets it.
func TestFiftyUsernames(t *testing.T) {
	t.Parallel()
	w := site(t, withNames, patient)
	other := site(t, withNames, patient, func(_ *password.Options, c *core.Config) { c.Store = w.store })
	browsers := make([]*browser, racers)
	for i := range browsers {
		browsers[i] = w.signUp(fmt.Sprintf("user%d@example.com", i), good)
		if i%2 == 0 {
			browsers[i].auth = other.auth
		}
	}
	if won := race(func(i int) bool { return browsers[i].choose("the.one") == "the.one" }); won != 1 {
		t.Errorf("%d users have the name", won)
	}
	owner := w.signIn("the.one", good)
	if r := browsers[0].get("/auth/password/username"); owner == "" ||
		owner != "user0@example.com" && strings.Contains(string(r.Body), "the.one") {
		t.Errorf("the name signs in %q; another user has %s", owner, r.Body)
	}
}

// TestFiftyTakeovers: fifty users claim the old name of another user concurrently, after the cooldown. One gets it.
func TestFiftyTakeovers(t *testing.T) {
	t.Parallel()
	w := site(t, withNames, patient)
	b := w.signUp(ada, good)
	b.choose("the.one")
	w.advance(31 * 24 * time.Hour)
	b = w.visit()
	b.post("callback/password", "email", ada, "password", good)
	b.choose("another")
	w.advance(31 * 24 * time.Hour)
	browsers := make([]*browser, racers)
	for i := range browsers {
		browsers[i] = w.signUp(fmt.Sprintf("user%d@example.com", i), good)
	}
	if won := race(func(i int) bool { return browsers[i].choose("the.one") == "the.one" }); won > 1 {
		t.Errorf("%d users have the name", won)
	}
	has := 0
	for _, b := range browsers {
		if strings.Contains(string(b.get("/auth/password/username").Body), "the.one") {
			has++
		}
	}
	if who := w.signIn("the.one", good); has != 1 || who == "" || who == ada {
		t.Errorf("%d users have the name; it signs in %q", has, who)
	}
}

// TestFiftyNamesOfOne: one user claims fifty names concurrently and has one. The others are free ten minutes later.
func TestFiftyNamesOfOne(t *testing.T) {
	t.Parallel()
	w := site(t, withNames, patient)
	b, eve := w.signUp(ada, good), w.signUp("eve@example.com", good)
	tabs := make([]*browser, racers)
	for i := range tabs {
		tabs[i] = w.visit()
		tabs[i].cookies = maps.Clone(b.cookies)
	}
	won := race(func(i int) bool { return strings.HasPrefix(tabs[i].choose(fmt.Sprintf("name%d", i)), "name") })
	signsIn := 0
	for i := range racers {
		if w.signIn(fmt.Sprintf("name%d", i), good) == ada {
			signsIn++
		}
	}
	if won != 1 || signsIn != 1 {
		t.Errorf("%d names were chosen, %d sign in", won, signsIn)
	}
	w.advance(11 * time.Minute)
	free := 0
	for i := range racers {
		if got := eve.choose(fmt.Sprintf("name%d", i)); got != "username_taken" {
			free++
			break
		}
	}
	if free == 0 {
		t.Error("all names stay taken")
	}
}

// TestUsernameFaults: whichever call of the store fails, a name never signs in another user, and can be chosen again.
func TestUsernameFaults(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		"Record username", "Record user-name", "CreateRecord username", "CreateRecord user-name",
		"UpdateRecord username",
	} {
		w := site(t, withNames)
		b, eve := w.signUp(ada, good), w.signUp("eve@example.com", evil)
		w.store.failing(call)
		b.choose("ada.l")
		w.store.failing("")
		if who := w.signIn("ada.l", good); who != "" && who != ada {
			t.Errorf("%s: signs in %s", call, who)
		}
		w.advance(11 * time.Minute)
		first, second := eve.choose("ada.l"), b.choose("ada.l")
		if (first == "ada.l") == (second == "ada.l") {
			t.Errorf("%s: %s and %s", call, first, second)
		}
		if a, e := w.signIn("ada.l", good), w.signIn("ada.l", evil); (a == "") == (e == "") {
			t.Errorf("%s: signs in %q and %q", call, a, e)
		}
	}
}

// TestUnknownUsername: for an unknown name, the response and the calls to the store are those of a wrong
// password.
func TestUnknownUsername(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	w.signUp(ada, good).choose("ada.l")
	try := func(name string) (answer string, calls []string) {
		b := w.visit()
		csrf := b.csrf()
		w.store.took()
		r := b.send("POST", "/auth/callback/password", "application/x-www-form-urlencoded",
			"csrfToken="+csrf+"&email="+name+"&password=wrong")
		body := regexp.MustCompile(`"reference":"[a-z0-9]+"`).ReplaceAllString(string(r.Body), "")
		return fmt.Sprint(r.Status, " ", body, r.Redirect), w.store.took()
	}
	known, calls := try("ada.l")
	for _, name := range []string{"nobody", "-", "admin", "a", strings.Repeat("x", 300)} {
		answer, took := try(name)
		if answer != known || !slices.Equal(took, calls) {
			t.Errorf("%.20q: %s, calls %v; want %s, calls %v", name, answer, took, known, calls)
		}
	}
	if !slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "Record username") }) {
		t.Errorf("calls %v", calls)
	}
}

// TestUsernamePage: the page works without JavaScript, keeps what was typed, and the account page links to it.
func TestUsernamePage(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	b := w.signUp(ada, good)
	b.accept = "text/html"
	if page := string(b.get("/auth/password/username").Body); !strings.Contains(page, `name="username"`) {
		t.Errorf("the page is %s", page)
	}
	r := b.post("password/username", "username", `<i>"ada`)
	if page := string(r.Body); r.Status != 422 || !strings.Contains(page, "Use 3 to 32 letters") ||
		strings.Contains(page, "<i>") {
		t.Errorf("answered %d %s", r.Status, page)
	}
	if r := b.post("password/username", "username", "ada.l"); r.Redirect != "https://app.test/auth/password/username" {
		t.Errorf("answered %d %s", r.Status, r.Redirect)
	}
	if page := string(b.get("/auth/password/username").Body); !strings.Contains(page, `value="ada.l"`) {
		t.Errorf("the page is %s", page)
	}
}

// signUpNamed signs up with a username and confirms the address. It returns the browser and the URL after the sign-in.
func (w *world) signUpNamed(email, name string) (*browser, string) {
	w.t.Helper()
	b := w.visit()
	says(w.t, b.post("password/sign-up", "email", email, "password", good, "username", name), 202, "mail")
	r := b.post("password/confirm", "token", token(w.t, w.newestEmail(email, mailkind.Verify)))
	if b.session() != email {
		w.t.Fatalf("no session after the confirmation: %d %s, %v", r.Status, r.Body, r.Err)
	}
	return b, r.Redirect + string(r.Body)
}

// TestUsernameAtSignUp: a new user gets the username of the sign-up form after the address was verified, if it is free
// by then.
func TestUsernameAtSignUp(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		w := site(t, withNames, func(_ *password.Options, c *core.Config) { c.Session.Strategy = strategy })
		first := w.visit() // signs up first, and confirms last
		asked := first.post("password/sign-up", "email", "eve@example.com", "password", good, "username", "ada.l")
		says(t, asked, 202, "mail")
		b, next := w.signUpNamed(ada, " Ada.L ")
		if w.signIn("ada.l", good) != ada || strings.Contains(next, "password/username") {
			t.Errorf("%s: the name does not sign in, redirected to %s", strategy, next)
		}
		if r := b.get("/auth/password/username"); string(r.Body) != `{"username":"ada.l"}` {
			t.Errorf("answered %s", r.Body)
		}
		r := first.post("password/confirm", "token", token(t, w.newestEmail("eve@example.com", mailkind.Verify)))
		if to := r.Redirect + string(r.Body); first.session() != "eve@example.com" ||
			!strings.Contains(to, "password/username?error=taken") {
			t.Errorf("%s: with a taken name: %s", strategy, to)
		}
		if w.signIn("ada.l", good) != ada {
			t.Errorf("%s: the name belongs to another user now", strategy)
		}
		if got := first.choose("eve"); got != "eve" {
			t.Errorf("another name: %s", got)
		}
		if _, next := w.signUpNamed("bob@example.com", ""); strings.Contains(next, "password/username") {
			t.Errorf("without a name: %s", next)
		}
	}
}

// TestUsernameAtSignUpRevealsNothing: the response to an unauthenticated client is the same for a free and a taken
// name.
func TestUsernameAtSignUpRevealsNothing(t *testing.T) {
	t.Parallel()
	w := site(t, withNames)
	w.signUpNamed(ada, "ada.l")
	ask := func(name string) string {
		r := w.visit().post("password/sign-up", "email", "eve@example.com", "password", good, "username", name)
		w.flush()
		return fmt.Sprint(r.Status, " ", string(r.Body))
	}
	if taken, free := ask("ada.l"), ask("nobody"); taken != free {
		t.Errorf("a taken name: %s, a free one: %s", taken, free)
	}
	for name, want := range map[string]string{
		"a b": "username_invalid", "admin": "username_taken", "Acme": "username_taken",
	} {
		if got := ask(name); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	page := w.person()
	shown := string(page.get("/auth/password/sign-up?username=eve").Body)
	if !strings.Contains(shown, `name="username"`) || strings.Contains(shown, `value="eve"`) {
		t.Error("the form has no username, or a link fills it in")
	}
	page.post("callback/password", "email", ada, "password", good)
	chosen := string(page.get("/auth/password/username?error=taken").Body)
	if !strings.Contains(chosen, "aria-invalid") {
		t.Errorf("the page does not say that the name is taken: %s", chosen)
	}
	off := site(t)
	if strings.Contains(string(off.person().get("/auth/password/sign-up").Body), `name="username"`) {
		t.Error("the form has a username without the option")
	}
	says(t, off.visit().post("password/sign-up", "email", ada, "password", good, "username", "a b"), 202, "mail")
}
