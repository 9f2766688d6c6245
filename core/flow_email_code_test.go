package core_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// newCodeSite returns an application with sign-in emails that have a link and a code.
func newCodeSite(t *testing.T, strategy core.Strategy, change ...func(*core.Config)) (*app, *inbox, house) {
	t.Helper()
	mails, h := &inbox{}, newHouse()
	p := mails.provider()
	p.Code = true
	c := core.Config{
		Store: h, Providers: []core.Provider{p}, Session: core.SessionConfig{Strategy: strategy},
	}
	for _, f := range change {
		f(&c)
	}
	return newApp(t, c), mails, h
}

// asksForCode requests a sign-in email and returns its code and link.
func (b *browser) asksForCode(mails *inbox, address string) (code, link string) {
	b.t.Helper()
	b.header.Set("Accept", "text/html")
	n := mails.count()
	r := b.submit("/auth/signin/email", url.Values{"email": {address}, "callbackUrl": {"/vault"}})
	if r.Redirect != "https://app.test/auth/verify-request?provider=email&type=email" || mails.count() != n+1 {
		b.t.Fatalf("ends at %d %s, %d emails", r.Status, r.Redirect, mails.count()-n)
	}
	mails.mu.Lock()
	defer mails.mu.Unlock()
	sent := mails.all[n]
	return string(sent.Code), strings.TrimPrefix(string(sent.URL), "https://app.test")
}

// TestSignInCode signs in with the code or the link of one email: each works in the browser that asked, and one of them
// once. Unknown addresses behave in the same way.
func TestSignInCode(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for _, address := range []string{"1@example.com", "new@example.com"} {
			t.Run(string(strategy)+" "+address, func(t *testing.T) {
				t.Parallel()
				a, mails, _ := newCodeSite(t, strategy)
				b := visit(t, a)
				code, link := b.asksForCode(mails, address)
				page := string(b.get("/auth/verify-request?provider=email&type=email").Body)
				for _, part := range []string{
					`action="https://app.test/auth/callback/email"`, `autocomplete="one-time-code"`, `inputmode="numeric"`,
				} {
					if !strings.Contains(page, part) {
						t.Errorf("no %s on %s", part, page)
					}
				}
				if strings.Contains(page, address) {
					t.Error("the page has the address")
				}
				r := b.submit("/auth/callback/email", url.Values{"code": {wrongCode(code)}})
				if !strings.HasSuffix(r.Redirect, "/verify-request?provider=email&type=email&left=4&error=CodeWrong") ||
					!strings.Contains(string(b.get(strings.TrimPrefix(r.Redirect, "https://app.test")).Body), "Attempts left: 4.") {
					t.Errorf("a wrong code ends at %s", r.Redirect)
				}
				if p, _ := b.asProgram("/auth/callback/email", url.Values{"code": {wrongCode(code)}}); p.Code != "code_wrong" ||
					p.Left != 3 || p.Status != 401 {
					t.Errorf("a wrong code: %+v", p)
				}
				r = b.submit("/auth/callback/email", url.Values{"code": {code}})
				if r.Redirect != "https://app.test/vault" || b.who() != strings.TrimSuffix(address, "@example.com") {
					t.Fatalf("the code ends at %s: %v", r.Redirect, r.Err)
				}
				if r := b.get(link); r.Redirect == "https://app.test/vault" && r.Err == nil {
					t.Error("the link works after the code")
				}

				b = visit(t, a)
				code, link = b.asksForCode(mails, address)
				if r := b.get(link); r.Redirect != "https://app.test/vault" ||
					b.who() != strings.TrimSuffix(address, "@example.com") {
					t.Fatalf("the link ends at %s: %v", r.Redirect, r.Err)
				}
				if p, _ := b.asProgram("/auth/callback/email", url.Values{"code": {code}}); p.Code != "code_expired" {
					t.Errorf("the code works after the link: %+v", p)
				}
			})
		}
	}
}

// TestSignInCodeEndsWithItsLink: a code is refused when the link in the same email has expired.
func TestSignInCodeEndsWithItsLink(t *testing.T) {
	t.Parallel()
	a, mails, _ := newCodeSite(t, core.StrategyDatabase, func(c *core.Config) {
		c.Providers[0].(*core.EmailProvider).MaxAge = 5 * time.Minute
	})
	b := visit(t, a)
	code, _ := b.asksForCode(mails, "1@example.com")
	a.clock.Advance(6 * time.Minute)
	if p, _ := b.asProgram("/auth/callback/email", url.Values{"code": {code}}); p.Code != "code_expired" || b.who() != "" {
		t.Errorf("the code: %+v, signed in as %q", p, b.who())
	}
}

// TestSignInCodeOfTwoBrowsers: each browser has its own code, and a new code replaces the old one of the same browser.
func TestSignInCodeOfTwoBrowsers(t *testing.T) {
	t.Parallel()
	a, mails, _ := newCodeSite(t, core.StrategyJWT)
	attacker, owner := visit(t, a), visit(t, a)
	planted, _ := attacker.asksForCode(mails, "1@example.com")
	code, _ := owner.asksForCode(mails, "1@example.com")
	if p, _ := attacker.asProgram("/auth/callback/email", url.Values{"code": {code}}); code != planted &&
		p.Code != "code_wrong" {
		t.Errorf("the owner's code in the attacker's browser: %+v", p)
	}
	if p, _ := visit(t, a).asProgram("/auth/callback/email", url.Values{"code": {code}}); p.Code != "code_expired" {
		t.Errorf("in a browser that asked for none: %+v", p)
	}
	owner.submit("/auth/signin/email", url.Values{"again": {"1"}})
	if mails.count() != 3 || mails.all[2].To != "1@example.com" {
		t.Fatalf("sent again: %d emails", mails.count())
	}
	if p, _ := owner.asProgram("/auth/callback/email", url.Values{"code": {code}}); code != mails.last() &&
		p.Code != "code_wrong" {
		t.Errorf("the old code: %+v", p)
	}
	if owner.submit("/auth/callback/email", url.Values{"code": {mails.last()}}); owner.who() != "1" {
		t.Error("the new code does not work")
	}
}

// TestScannersUseNothingUp opens the link ten times without the cookie, with each method and with the form of the page.
// The code and the link still work.
func TestScannersUseNothingUp(t *testing.T) {
	t.Parallel()
	for _, byLink := range []bool{true, false} {
		a, mails, _ := newCodeSite(t, core.StrategyDatabase)
		b := visit(t, a)
		code, link := b.asksForCode(mails, "1@example.com")
		for range 10 {
			scanner := visit(t, a)
			scanner.header.Set("Accept", "text/html")
			for _, r := range []*core.Response{
				scanner.send("HEAD", link, "", ""), scanner.get(link), scanner.post(link, nil), scanner.submit(link, nil),
				scanner.submit(link, url.Values{"code": {""}}),
			} {
				if strings.HasSuffix(r.Redirect, "/vault") || scanner.who() != "" {
					t.Fatalf("a scanner is signed in: %+v", r)
				}
			}
		}
		if byLink {
			b.get(link)
		} else {
			b.submit("/auth/callback/email", url.Values{"code": {code}})
		}
		if b.who() != "1" {
			t.Errorf("by link %t: not signed in", byLink)
		}
	}
}

// TestSignInCodeBudget simulates a day of guesses for one address from 1,000 networks in two processes without shared
// limits, each with new codes. A third of the clients cannot be identified. Fewer than 100 wrong codes are compared.
// The link still works in the browser that asked.
func TestSignInCodeBudget(t *testing.T) {
	t.Parallel()
	one, mails, h := newCodeSite(t, core.StrategyJWT)
	two, _, _ := newCodeSite(t, core.StrategyJWT, func(c *core.Config) {
		c.Store, c.Now, c.Rand = h, one.clock.Now, rand.Reader
		p := mails.provider()
		p.Code = true
		c.Providers = []core.Provider{p}
	})
	compared, tooMany := 0, 0
	for n := range 1000 {
		b := visit(t, []*app{one, two}[n%2])
		b.peer = fmt.Sprintf("198.%d.%d.1:1234", 18+n/250, n%250)
		b.header.Set("Accept", "text/html")
		if n%3 == 0 { // a client that cannot be identified
			b.header.Set("X-Forwarded-For", "203.0.113.9")
		}
		b.submit("/auth/signin/email", url.Values{"email": {"1@example.com"}})
		for range 3 {
			switch p, _ := b.asProgram("/auth/callback/email", url.Values{"code": {wrongCode(mails.last())}}); p.Code {
			case "code_wrong":
				compared++
			case "too_many":
				tooMany++
			}
		}
		one.clock.Advance(24 * time.Hour / 1000)
	}
	if compared < 40 || compared >= 50 || tooMany < 100 {
		t.Errorf("%d wrong codes were compared, %d refused", compared, tooMany)
	}

	one.clock.Advance(3 * time.Hour) // the limit of emails, not the budget
	b := visit(t, one)
	_, link := b.asksForCode(mails, "1@example.com")
	for range 12 {
		b.asProgram("/auth/callback/email", url.Values{"code": {wrongCode(mails.last())}})
	}
	if b.get(link); b.who() != "1" {
		t.Error("the link does not work in the browser that asked")
	}
}

// TestSignInCodeConfig: codes need records, are off by default, and an error of the mail service does not contain one.
func TestSignInCodeConfig(t *testing.T) {
	t.Parallel()
	p := (&inbox{}).provider()
	p.Code = true
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Providers: []core.Provider{p},
		Store: newPeople().as(power{true, true, true, true}),
	})
	if err == nil || !strings.Contains(err.Error(), "store.RecordStore") {
		t.Errorf("without records: %v", err)
	}
	a, mails, _ := newCodes(t, core.StrategyJWT)
	b := visit(t, a)
	b.header.Set("Accept", "text/html")
	b.submit("/auth/signin/email", url.Values{"email": {"1@example.com"}})
	if page := b.get("/auth/verify-request?provider=email&type=email"); mails.last() != "" ||
		strings.Contains(string(page.Body), "one-time-code") || page.Status > http.StatusOK {
		t.Errorf("codes are on: %q %s", mails.last(), page.Body)
	}

	var sent string
	broken := newApp(t, core.Config{Store: newHouse(), Providers: []core.Provider{&core.EmailProvider{
		Code: true, Send: func(_ context.Context, e core.Email) error {
			sent = string(e.Code)
			return errors.New("550 rejected: " + sent)
		},
	}}})
	b = visit(t, broken)
	b.submit("/auth/signin/email", url.Values{"email": {"1@example.com"}})
	if sent == "" || strings.Contains(broken.log.String(), sent) {
		t.Errorf("the log has the code %s: %s", sent, broken.log)
	}
}

// TestSignInCodeLimit: attackers in several networks use up the emails for an address. Its owner gets the same page as
// always in a browser that is not known, and the link of the last email works there. The attackers' codes do not.
func TestSignInCodeLimit(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for _, address := range []string{"1@example.com", "new@example.com"} {
			t.Run(string(strategy)+" "+address, func(t *testing.T) {
				t.Parallel()
				checkSignInCodeLimit(t, strategy, address)
			})
		}
	}
}

func checkSignInCodeLimit(t *testing.T, strategy core.Strategy, address string) {
	t.Helper()
	one, mails, h := newCodeSite(t, strategy)
	two, _, _ := newCodeSite(t, strategy, func(c *core.Config) { // another process
		c.Store, c.Now, c.Rand = h, one.clock.Now, rand.Reader
		p := mails.provider()
		p.Code = true
		c.Providers = []core.Provider{p}
	})
	ask := func(b *browser, form url.Values) *core.Response {
		b.header.Set("Accept", "text/html")
		return b.submit("/auth/signin/email", form)
	}
	form := url.Values{"email": {address}, "callbackUrl": {"/vault"}}
	var attacker *browser
	sent := 0
	for n := range 20 {
		b := visit(t, one)
		b.peer = fmt.Sprintf("198.51.%d.1:1234", n/4)
		if ask(b, form); mails.count() > sent {
			sent, attacker = mails.count(), b
		}
	}
	if sent != 10 {
		t.Fatalf("%d emails", sent)
	}
	last := mails.all[sent-1]
	link := strings.TrimPrefix(string(last.URL), "https://app.test")

	one.clock.Advance(12 * time.Minute) // the limit allows one more email after 15 minutes
	owner, bystander := visit(t, one), visit(t, one)
	r := ask(owner, form)
	if r.Redirect != "https://app.test/auth/verify-request?provider=email&type=email" || mails.count() != sent {
		t.Fatalf("the owner's request ends at %d %s: %v, %d emails", r.Status, r.Redirect, r.Err, mails.count())
	}
	owner.at(two)
	if p, _ := owner.asProgram("/auth/callback/email", url.Values{"code": {string(last.Code)}}); p.Code != "code_expired" {
		t.Errorf("the attacker's code in the owner's browser: %+v", p)
	}
	earlier := strings.TrimPrefix(string(mails.all[0].URL), "https://app.test")
	for name, response := range map[string]*core.Response{
		"the link in another browser": bystander.get(link), "an earlier link": owner.get(earlier),
	} {
		if response.Err == nil || !strings.Contains(response.Redirect, "error=") {
			t.Errorf("%s ends at %d %s", name, response.Status, response.Redirect)
		}
	}
	if owner.get(link); owner.who() != strings.TrimSuffix(address, "@example.com") {
		t.Error("the owner is not signed in")
	}
	p, _ := attacker.asProgram("/auth/callback/email", url.Values{"code": {string(last.Code)}})
	if p.Code != "code_expired" {
		t.Errorf("the code works after the link: %+v", p)
	}
	next := visit(t, two)
	if r := ask(next, form); r.Status != http.StatusTooManyRequests && mails.count() == sent {
		t.Errorf("after the link was used: %d %s, no email", r.Status, r.Redirect)
	}
}

// TestReauthCodeLimit: requests without a session use up the emails of an address. A signed-in user still gets a code.
func TestReauthCodeLimit(t *testing.T) {
	t.Parallel()
	a, mails, _ := newCodes(t, core.StrategyJWT, func(c *core.Config) {
		c.InsecureNoLimits = false
		c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
			h.AddAction(core.Action{
				Method: http.MethodPost, Name: "forgot",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					return c.JSON(ctx, http.StatusOK, nil), c.Allow(ctx, limit.AttemptMail, c.Field("email"))
				},
			})
			return nil
		}))
	})
	b := signedIn(t, a, "1")
	b.header.Set("Accept", "text/html")
	refused := false
	for n := range 12 {
		stranger := visit(t, a)
		stranger.peer = fmt.Sprintf("198.51.%d.1:1234", n)
		r := stranger.submit("/auth/forgot", url.Values{"email": {"1@example.com"}})
		refused = refused || errors.Is(r.Err, core.ErrTooManyRequests)
	}
	if !refused {
		t.Fatal("the limit of the address is not used up")
	}
	if r := b.submit("/auth/reauth", nil); mails.count() != 1 || !strings.Contains(r.Redirect, "step=code") {
		t.Errorf("%d %s, %d emails", r.Status, r.Redirect, mails.count())
	}
	for range 12 {
		b.submit("/auth/reauth", nil)
	}
	if mails.count() >= 12 {
		t.Errorf("%d emails to one session", mails.count())
	}
}
