package core_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// inbox is an email provider that keeps what it sends.
type inbox struct {
	mu   sync.Mutex
	all  []core.Email
	fail error
}

func (i *inbox) provider() *core.EmailProvider {
	return &core.EmailProvider{ID: "email", From: "site@app.test", Send: func(_ context.Context, e core.Email) error {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.fail != nil {
			return i.fail
		}
		i.all = append(i.all, e)
		return nil
	}}
}

// last returns the code of the last email.
func (i *inbox) last() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return string(i.all[len(i.all)-1].Code)
}

func (i *inbox) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.all)
}

// wrongCode returns another code.
func wrongCode(code string) string {
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

// newCodes returns an application whose users can get codes.
func newCodes(t *testing.T, strategy core.Strategy, change ...func(*core.Config)) (*app, *inbox, house) {
	t.Helper()
	mails := &inbox{}
	change = append([]func(*core.Config){func(c *core.Config) {
		c.Providers = append(c.Providers, mails.provider())
	}}, change...)
	a, h := factual(t, strategy, change...)
	return a, mails, h
}

// problem is a problem document.
type problem struct {
	Status int
	Code   string
	Left   int
}

// asProgram posts a form and returns the problem, or the URL.
func (b *browser) asProgram(target string, form url.Values) (p problem, to string) {
	b.t.Helper()
	accept := b.header.Get("Accept")
	defer b.header.Set("Accept", accept)
	b.header.Set("Accept", "application/json")
	r := b.submit(target, form)
	var data struct{ URL string }
	if json.Unmarshal(r.Body, &p) != nil || json.Unmarshal(r.Body, &data) != nil {
		b.t.Fatalf("%s: %d %s", target, r.Status, r.Body)
	}
	return p, data.URL
}

// TestReauthByCode authenticates again with a code by email. It is one factor, works in this session alone, and once.
func TestReauthByCode(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			told := &trail{}
			a, mails, _ := newCodes(t, strategy, func(c *core.Config) { c.Audit = told.note })
			b := signedIn(t, a, "1")
			a.clock.Advance(time.Hour)
			if r := b.openVault(); r == nil || r.Redirect != reauthPage {
				t.Fatalf("%+v", r)
			}
			if ids := b.methods(""); !slices.Contains(ids, "code") || slices.Contains(b.methods("?strong=1"), "code") {
				t.Errorf("offered: %v", ids)
			}
			r := b.submit("/auth/reauth?callbackUrl=/vault", nil)
			if mails.count() != 1 || mails.all[0].To != "1@example.com" || mails.all[0].Kind != mailkind.Reauth ||
				!regexp.MustCompile(`^\d{6}$`).MatchString(mails.last()) || mails.all[0].URL != "" {
				t.Fatalf("sent %+v", mails.all)
			}
			page := string(b.get(strings.TrimPrefix(r.Redirect, "https://app.test")).Body)
			for _, part := range []string{
				`autocomplete="one-time-code"`, `inputmode="numeric"`, `action="https://app.test/auth/reauth?callbackUrl=`,
				"Send a new code",
			} {
				if !strings.Contains(page, part) {
					t.Errorf("no %s on %s", part, page)
				}
			}
			code, before := mails.last(), b.session()
			r = b.submit("/auth/reauth?callbackUrl=/vault", url.Values{"code": {wrongCode(code)}})
			if !strings.Contains(r.Redirect, "step=code&left=4&error=CodeWrong") ||
				!strings.Contains(string(b.get(strings.TrimPrefix(r.Redirect, "https://app.test")).Body), "Attempts left: 4.") {
				t.Errorf("a wrong code ends at %s", r.Redirect)
			}
			if p, _ := b.asProgram("/auth/reauth", url.Values{"code": {"12345"}}); p.Code != "code_wrong" || p.Left != 4 {
				t.Errorf("five digits: %+v", p) // no try
			}
			if p, _ := b.asProgram("/auth/reauth", url.Values{"code": {wrongCode(code)}}); p.Code != "code_wrong" ||
				p.Left != 3 {
				t.Errorf("a wrong code: %+v", p)
			}
			other := signedIn(t, a, "1") // another browser of the same user
			if p, _ := other.asProgram("/auth/reauth", url.Values{"code": {code}}); p.Code != "code_expired" || p.Status != 401 {
				t.Errorf("in another browser: %+v", p)
			}
			for name, value := range b.cookies {
				if strings.Contains(name, "code-reauth") {
					other.cookies[name] = value
				}
			}
			if s := b.session(); s.ID != before.ID || !s.AuthTime.Equal(before.AuthTime) {
				t.Errorf("the session was renewed: %+v", s)
			}
			spaced := code[:3] + " " + code[3:]
			r = b.submit("/auth/reauth?callbackUrl=/vault", url.Values{"code": {spaced}})
			after := b.session()
			if r.Redirect != "https://app.test/vault" || b.openVault() != nil || after.ID == before.ID ||
				!slices.Contains(after.Methods, amr.Mail) || b.openVault(core.Strong()) == nil {
				t.Errorf("the code ends at %s, session %+v", r.Redirect, after)
			}
			if lines := told.take(); !slices.Contains(lines, "reauth/ok") || !slices.Contains(lines, "reauth/refused/code") ||
				!slices.Contains(lines, "reauth/refused/code_expired") {
				t.Errorf("audited %v", lines)
			}
			for _, again := range []*browser{b, other} {
				if p, _ := again.asProgram("/auth/reauth", url.Values{"code": {code}}); p.Code != "code_expired" {
					t.Errorf("again: %+v", p)
				}
			}
			if strings.Contains(a.log.String(), code) {
				t.Error("the log has the code")
			}
		})
	}
}

// TestReauthCodeOfAnotherSession copies the cookie of a code into another session, also of the same user.
func TestReauthCodeOfAnotherSession(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "2"} {
		a, mails, _ := newCodes(t, core.StrategyDatabase)
		b, other := signedIn(t, a, "1"), signedIn(t, a, id)
		b.submit("/auth/reauth", nil)
		for name, value := range b.cookies {
			if strings.Contains(name, "code-reauth") {
				other.cookies[name] = value
			}
		}
		before := other.session()
		p, _ := other.asProgram("/auth/reauth", url.Values{"code": {mails.last()}})
		if s := other.session(); p.Code != "reauth_replayed" || s.ID != before.ID {
			t.Errorf("user %s: %+v, session %+v", id, p, s)
		}
	}
}

// TestCodeEnds: five tries, ten minutes, and a new code end a code. An unverified address gets none.
func TestCodeEnds(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		meanwhile func(a *app, b *browser, code string)
		want      string
	}{
		"nothing": {func(*app, *browser, string) {}, ""},
		"four wrong tries": {func(_ *app, b *browser, code string) {
			for range 4 {
				b.asProgram("/auth/reauth", url.Values{"code": {wrongCode(code)}})
			}
		}, ""},
		"five wrong tries": {func(_ *app, b *browser, code string) {
			for range 5 {
				b.asProgram("/auth/reauth", url.Values{"code": {wrongCode(code)}})
			}
		}, "code_expired"},
		"ten minutes": {func(a *app, _ *browser, _ string) { a.clock.Advance(10 * time.Minute) }, "code_expired"},
		"almost ten":  {func(a *app, _ *browser, _ string) { a.clock.Advance(10*time.Minute - time.Second) }, ""},
		"a new code":  {func(_ *app, b *browser, _ string) { b.submit("/auth/reauth", nil) }, "code_wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, mails, _ := newCodes(t, core.StrategyJWT)
			b := signedIn(t, a, "1")
			b.submit("/auth/reauth", nil)
			code := mails.last()
			row.meanwhile(a, b, code)
			p, to := b.asProgram("/auth/reauth", url.Values{"code": {code}})
			if p.Code != row.want || (to != "") != (row.want == "") {
				t.Errorf("%+v %q", p, to)
			}
			if name == "a new code" {
				if p, _ := b.asProgram("/auth/reauth", url.Values{"code": {mails.last()}}); p.Code != "" {
					t.Errorf("the new code: %+v", p)
				}
			}
		})
	}
	a, mails, h := newCodes(t, core.StrategyJWT)
	h.people.users["2"] = core.User{ID: "2", Email: "2@example.com"}
	b := signedIn(t, a, "2")
	if p, _ := b.asProgram("/auth/reauth", nil); p.Status != http.StatusNotFound || mails.count() != 0 ||
		slices.Contains(b.methods(""), "code") {
		t.Errorf("an unverified address: %+v, %d emails", p, mails.count())
	}
}

// TestCodeRaces sends 50 requests at once: one of those with the right code succeeds, and five wrong codes are
// compared.
func TestCodeRaces(t *testing.T) {
	t.Parallel()
	for _, right := range []bool{true, false} {
		a, mails, _ := newCodes(t, core.StrategyDatabase)
		b := signedIn(t, a, "1")
		b.submit("/auth/reauth", nil)
		code := mails.last()
		if !right {
			code = wrongCode(code)
		}
		b.header.Set("Accept", "application/json")
		form := url.Values{"csrfToken": {b.csrf()}, "code": {code}}.Encode()
		codes := make(chan string, 50)
		var all sync.WaitGroup
		for range cap(codes) {
			r := b.request("POST", "/auth/reauth", "application/x-www-form-urlencoded", form)
			all.Go(func() {
				var p problem
				_ = json.Unmarshal(a.Handle(t.Context(), r).Body, &p)
				codes <- p.Code
			})
		}
		all.Wait()
		close(codes)
		counts := map[string]int{}
		for code := range codes {
			counts[code]++
		}
		if right && counts[""] != 1 || !right && (counts[""] != 0 || counts["code_wrong"] > 5) {
			t.Errorf("right %t: %v", right, counts)
		}
	}
}

// TestCodeBudget guesses for a day with new codes: fewer than 100 wrong codes are compared, and then none. Two
// processes share the budget.
func TestCodeBudget(t *testing.T) {
	t.Parallel()
	one, mails, h := newCodes(t, core.StrategyDatabase)
	two, _, _ := newCodes(t, core.StrategyDatabase, func(c *core.Config) {
		c.Store, c.Now, c.Rand = h, one.clock.Now, rand.Reader
		c.Providers[len(c.Providers)-1] = mails.provider()
	})
	compared, tooMany := 0, 0
	browsers := []*browser{signedIn(t, one, "1"), signedIn(t, two, "1")}
	for range 24 * 60 / 5 {
		for _, b := range browsers {
			b.submit("/auth/reauth", nil)
			for range 5 {
				switch p, _ := b.asProgram("/auth/reauth", url.Values{"code": {wrongCode(mails.last())}}); p.Code {
				case "code_wrong":
					compared++
				case "too_many":
					tooMany++
				default:
					t.Fatalf("%+v", p)
				}
			}
		}
		one.clock.Advance(5 * time.Minute)
	}
	if compared < 40 || compared >= 50 || tooMany < 1000 {
		t.Errorf("%d wrong codes were compared, %d refused", compared, tooMany)
	}
}
