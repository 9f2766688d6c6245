package password_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// withCodes turns codes on.
func withCodes(o *password.Options, _ *core.Config) { o.Code = true }

// wrong returns another code.
func wrong(code core.Secret) string {
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

// codeFlow is a flow whose email has a code: a reset, or a sign-up.
type codeFlow struct {
	kind              mailkind.Kind
	known             bool // the flow is for an address with an account
	ask, again, check string
	page              string
	works             func(w *world, b *browser, r *core.Response) bool
}

var codeFlows = map[string]codeFlow{
	"reset": {
		mailkind.Reset, true, "password/forgot", "password/forgot", "password/reset-code", "/auth/password/sent?for=reset",
		func(_ *world, b *browser, r *core.Response) bool {
			return strings.HasSuffix(r.Redirect+string(r.Body), `/auth/password/reset"}`) && b.session() == "" &&
				b.post("password/reset", "newPassword", better).Status == 200
		},
	},
	"sign-up": {
		mailkind.Verify, false, "password/sign-up", "password/resend", "password/confirm-code", "/auth/password/sent",
		func(w *world, b *browser, _ *core.Response) bool {
			return b.session() == ada && !w.user(ada).EmailVerified.IsZero()
		},
	},
}

// start requests the email of a flow in a browser and returns it.
func (f *codeFlow) start(w *world, b *browser) core.Email {
	w.t.Helper()
	if f.known && w.user(ada) == nil {
		w.signUp(ada, good)
	}
	says(w.t, b.post(f.ask, "email", ada, "password", good), 202, "mail")
	return w.newestEmail(ada, f.kind)
}

// TestCodes: the email of a sign-up or a reset has a code. It does what the link does, once, in the browser that asked.
func TestCodes(t *testing.T) {
	t.Parallel()
	for name, f := range codeFlows {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			w := site(t, withCodes, func(_ *password.Options, c *core.Config) { c.Session.Strategy = strategy })
			b, other := w.visit(), w.visit()
			code := f.start(w, b).Code
			if !regexp.MustCompile(`^\d{6}$`).MatchString(string(code)) {
				t.Fatalf("%s: the code is %q", name, string(code))
			}
			says(t, other.post(f.check, "code", string(code)), 401, "code_expired")
			for _, cookies := range []string{"password-sent", "password-signup"} { // not the cookie of the code
				for cookie, value := range b.cookies {
					if strings.HasSuffix(cookie, cookies) {
						other.cookies[cookie] = value
					}
				}
			}
			says(t, other.post(f.check, "code", string(code)), 401, "code_expired")
			says(t, b.post(f.check, "code", wrong(code)), 401, "code_wrong")
			says(t, b.post(f.check, "code", ""), 401, "code_wrong")
			spaced := string(code[:3]) + " " + string(code[3:])
			if r := b.post(f.check, "code", spaced); !f.works(w, b, r) {
				t.Errorf("%s: the code is answered %d %s, %v", name, r.Status, r.Body, r.Err)
			}
			says(t, b.post(f.check, "code", string(code)), 401, "code_expired")
			w.clean(string(code))
		}
	}
}

// TestCodeSentAgain: after "send again" the new code works, and only in the browser that asked. The old one does not.
func TestCodeSentAgain(t *testing.T) {
	t.Parallel()
	for name, f := range codeFlows {
		w := site(t, withCodes)
		b, other := w.person(), w.visit()
		b.accept = "application/json"
		old := f.start(w, b).Code
		b.accept = "text/html" // the cookie with the address is for pages
		b.post(f.ask, "email", ada, "password", good)
		w.flush() // emails are sent in any order
		b.post(f.again, "email", ada)
		b.accept = "application/json"
		code := w.newestEmail(ada, f.kind).Code
		if old != code {
			says(t, b.post(f.check, "code", string(old)), 401, "code_wrong")
		}
		says(t, other.post(f.check, "code", string(code)), 401, "code_expired")
		if r := b.post(f.check, "code", string(code)); !f.works(w, b, r) {
			t.Errorf("%s: the new code is answered %d %s, %v", name, r.Status, r.Body, r.Err)
		}
	}
}

// TestCodeOrLink: the link works as without codes. After a sign-up by link, the code in the same email does not work.
func TestCodeOrLink(t *testing.T) {
	t.Parallel()
	w := site(t, withCodes)
	b := w.visit()
	f := codeFlows["sign-up"]
	email := f.start(w, b)
	b.post("password/confirm", "token", token(t, email))
	if b.session() != ada {
		t.Fatal("the link does not work")
	}
	says(t, b.post("password/confirm-code", "code", string(email.Code)), 401, "code_expired")

	b = w.visit()
	f = codeFlows["reset"]
	email = f.start(w, b)
	says(t, w.open(token(t, email)).post("password/reset", "newPassword", better), 200, "signin")
	b.post("password/reset-code", "code", string(email.Code))
	says(t, b.post("password/reset", "newPassword", "another quiet lantern"), 400, "link_invalid")
}

// TestCodePage: the page has an input that works without JavaScript, and looks the same for addresses with and without
// an account. Without the option it has none.
func TestCodePage(t *testing.T) {
	t.Parallel()
	for name, f := range codeFlows {
		w := site(t, withCodes)
		w.signUp("eve@example.com", good)
		pages := map[string]string{}
		for _, address := range []string{"eve@example.com", "bob@example.com"} {
			b := w.person()
			r := b.post(f.ask, "email", address, "password", good)
			if !strings.HasSuffix(r.Redirect, f.page) {
				t.Fatalf("%s: redirected to %s", name, r.Redirect)
			}
			refused := b.post(f.check, "code", "123456") // both are wrong, with a chance of one in a million
			target := strings.TrimPrefix(refused.Redirect, "https://app.test")
			if !strings.Contains(target, "error=CodeWrong") || !strings.Contains(target, "left=4") {
				t.Errorf("%s: a wrong code is redirected to %s", name, target)
			}
			page := string(b.get(target).Body)
			for _, part := range []string{
				`autocomplete="one-time-code"`, `inputmode="numeric"`, `action="https://app.test/auth/` + f.check + `"`,
				"Attempts left: 4.", "Resend email",
			} {
				if !strings.Contains(page, part) {
					t.Errorf("%s: the page has no %s", name, part)
				}
			}
			page = strings.ReplaceAll(page, address, "")
			pages[address] = regexp.MustCompile(`(nonce|value|content)="[^"]*"`).ReplaceAllString(page, "")
		}
		if pages["eve@example.com"] != pages["bob@example.com"] {
			t.Errorf("%s: the pages differ:\n%s\n%s", name, pages["eve@example.com"], pages["bob@example.com"])
		}
		for _, l := range append(w.emailsTo("eve@example.com"), w.emailsTo("bob@example.com")...) {
			if (l.Kind == mailkind.Exists || l.Kind == mailkind.PasswordChanged) && l.Code != "" {
				t.Errorf("%s: an email of kind %s has a code", name, l.Kind)
			}
		}

		off := site(t)
		b := off.person()
		b.post(f.ask, "email", "bob@example.com", "password", good)
		if strings.Contains(string(b.get(f.page).Body), "one-time-code") {
			t.Errorf("%s: an input without the option", name)
		}
		if r := b.post(f.check, "code", "123456"); r.Status != 404 && r.Status != 302 && r.Status != 400 {
			t.Errorf("%s: the action without the option: %d %s", name, r.Status, r.Redirect)
		}
	}
}

// TestCodeEnds: five tries and ten minutes end a code. The link still works.
func TestCodeEnds(t *testing.T) {
	t.Parallel()
	for name, f := range codeFlows {
		for what, meanwhile := range map[string]func(w *world, b *browser, code core.Secret){
			"five tries": func(w *world, b *browser, code core.Secret) {
				for range 5 {
					says(w.t, b.post(f.check, "code", wrong(code)), 401, "code_wrong")
				}
			},
			"ten minutes": func(w *world, _ *browser, _ core.Secret) { w.advance(10 * time.Minute) },
		} {
			w := site(t, withCodes)
			b := w.visit()
			email := f.start(w, b)
			meanwhile(w, b, email.Code)
			says(t, b.post(f.check, "code", string(email.Code)), 401, "code_expired")
			link := "password/confirm"
			if f.known {
				b.get("/auth/password/reset?token=" + token(t, email))
				link = "password/reset"
			}
			if r := b.post(link, "token", token(t, email), "newPassword", better); r.Status >= 400 {
				t.Errorf("%s, %s: the link is answered %d %s", name, what, r.Status, r.Body)
			}
		}
	}
}

// TestCodesTogether sends the right code 50 times at once: one request succeeds.
func TestCodesTogether(t *testing.T) {
	t.Parallel()
	for name, f := range codeFlows {
		w := site(t, withCodes)
		b := w.visit()
		code := f.start(w, b).Code
		csrf := b.csrf()
		var mu sync.Mutex
		var all sync.WaitGroup
		counts := map[string]int{}
		for range 50 {
			all.Go(func() {
				body := fmt.Sprintf(`{"csrfToken":%q,"code":%q}`, csrf, string(code))
				r := b.send("POST", "/auth/"+f.check, "application/json", body)
				var answer struct{ Code string }
				_ = json.Unmarshal(r.Body, &answer)
				mu.Lock()
				defer mu.Unlock()
				counts[answer.Code]++
			})
		}
		all.Wait()
		if counts[""] != 1 {
			t.Errorf("%s: %v", name, counts)
		}
	}
}

// TestCodeDay guesses for a day from 1,000 networks, in two processes, with codes for resets and sign-ups of one
// person. Fewer than 100 wrong codes are compared. Afterwards the link works in the browser that asked.
func TestCodeDay(t *testing.T) {
	t.Parallel()
	var refused int
	var mu sync.Mutex
	alter := func(_ *password.Options, c *core.Config) {
		c.InsecureNoLimits = false
		c.Audit = func(_ context.Context, e audit.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Name == audit.Limit && e.Attempt == "code" {
				refused++
			}
		}
	}
	one := site(t, withCodes, alter)
	two := site(t, withCodes, alter, func(_ *password.Options, c *core.Config) { c.Store, c.Now = one.store, one.Now })
	one.signUp(ada, good)
	compared, tooMany := 0, 0
	for n := range 1000 {
		w := []*world{one, two}[n%2]
		f := codeFlows[[]string{"reset", "sign-up"}[n/2%2]]
		b := w.visit()
		b.from = fmt.Sprintf("198.%d.%d.1:1234", 18+n/250, n%250)
		b.post(f.ask, "email", ada, "password", good)
		for range 3 {
			var answer struct{ Code string }
			_ = json.Unmarshal(b.post(f.check, "code", "123456").Body, &answer)
			switch answer.Code {
			case "code_wrong":
				compared++
			case "too_many":
				tooMany++
			}
		}
		one.advance(24 * time.Hour / 1000)
	}
	if compared < 40 || compared >= 50 || tooMany < 100 || refused == 0 {
		t.Errorf("%d wrong codes were compared, %d refused, %d audited", compared, tooMany, refused)
	}

	one.advance(3 * time.Hour) // the limit of emails, not the budget
	b := one.visit()
	b.post("password/forgot", "email", ada)
	link := token(t, one.newestEmail(ada, mailkind.Reset))
	for range 12 {
		b.post("password/reset-code", "code", "123456")
	}
	b.get("/auth/password/reset?token=" + link)
	says(t, b.post("password/reset", "newPassword", better), 200, "signin")
}
