package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// outcomes are the conditions that may follow "yes", "no" or "either".
var outcomes = []struct {
	pattern *regexp.Regexp
	look    func(x *app, b *browser, p *oddAnswer, provider string, m []string)
}{
	{regexp.MustCompile(`^then yes$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		for waited := 0; waited < p.Outage; waited += 60 {
			x.wait(time.Minute)
			if x.signInAt(b, provider); b.who() != "" {
				x.failf("signed in while the provider is out of reach")
			}
		}
		p.off.Store(true)
		x.wait(10 * time.Second)
		if x.signInAt(b, provider); b.who() == "" {
			x.failf("the provider works again, but the sign-in fails: %.500s", x.logged())
		}
	}},
	{regexp.MustCompile(`^(\d+)$`), func(x *app, _ *browser, _ *oddAnswer, provider string, m []string) {
		if x.owner(provider, m[1]) == "" {
			x.failf("the account is not %s", m[1])
		}
	}},
	{regexp.MustCompile(`^distinct$`), func(x *app, _ *browser, p *oddAnswer, provider string, _ []string) {
		raw := p.rawID(x)
		if x.owner(provider, raw) == "" {
			x.failf("the account is not %s", raw)
		}
		neighbour := raw[:len(raw)-1] + "2"
		if x.signInWith(p, provider, "{raw "+neighbour+"}"); x.owner(provider, neighbour) == "" {
			x.failf("the other user has no account")
		}
	}},
	{regexp.MustCompile(`^stable text$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		if who, again := x.userID(b), x.signInWith(p, provider, p.Body["id"]); who != again {
			x.failf("the second sign-in is of another user: %q and %q", who, again)
		}
	}},
	{regexp.MustCompile(`^one account or refused$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		who := x.userID(b)
		for _, spelling := range spellings(p.rawID(x)) {
			if again := x.signInWith(p, provider, "{raw "+spelling+"}"); who != "" && again != "" && again != who {
				x.failf("the same number as %s is another user", spelling)
			}
		}
	}},
	{regexp.MustCompile(`^never shared with missing ids$`),
		func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
			who := x.userID(b)
			for _, missing := range []any{"$del", nil, ""} {
				if other := x.signInWith(p, provider, missing); who != "" && other == who {
					x.failf("a user without an ID is the same user")
				}
			}
		}},
	{regexp.MustCompile(`^or without an e-?mail$`), func(x *app, b *browser, _ *oddAnswer, _ string, _ []string) {
		if who := b.who(); strings.Contains(who, "@") {
			x.failf("signed in with the address %q", who)
		}
	}},
	{regexp.MustCompile(`^expires_at never wraps to the past$`),
		func(x *app, _ *browser, _ *oddAnswer, provider string, _ []string) {
			account, err := x.store.Account(x, provider, "u1")
			if err == nil && !account.ExpiresAt.IsZero() && account.ExpiresAt.Before(x.clock()) {
				x.failf("expires_at is %v", account.ExpiresAt)
			}
		}},
	{regexp.MustCompile(`^cookie stays readable$`), func(x *app, b *browser, _ *oddAnswer, _ string, _ []string) {
		size := 0
		for name, value := range b.cookies {
			size += len(name) + len(value) + 3
		}
		if answer := b.get("/auth/session"); answer.Status != 200 || whoIn(answer.Body) == "" || size > 16<<10 {
			x.failf("%d bytes of cookies, and the session answers %d: %.100s", size, answer.Status, answer.Body)
		}
	}},
	{regexp.MustCompile(`^picture never becomes a link$`), func(x *app, b *browser, p *oddAnswer, _ string, _ []string) {
		picture, _ := p.Body["picture"].(string)
		for _, page := range []string{"/auth/signout", "/auth/signin", "/page"} {
			for _, quote := range []string{`"`, `'`, ""} {
				for _, attribute := range []string{"href=", "src=", "action=", "url("} {
					if strings.Contains(string(b.get(page).Body), attribute+quote+picture) {
						x.failf("on %s the picture is %s%s", page, attribute, picture)
					}
				}
			}
		}
	}},
}

// outcome compares the result of a sign-in with the payload: yes, no or either, and further conditions.
func (p *oddAnswer) outcome(x *app, b *browser, provider string, answer wire.Answer) {
	who := or(b.who(), x.userID(b)) // a user without an address has an ID
	rest := strings.FieldsFunc(p.SignIn, func(c rune) bool { return c == ',' || c == ';' })
	for i := range rest {
		rest[i] = strings.TrimSpace(rest[i])
	}
	if len(rest) == 0 {
		rest = []string{""}
	}
	orElse := len(rest) > 1 && strings.HasPrefix(rest[1], "or ")
	switch {
	case rest[0] == "no" && orElse, rest[0] == "either":
		if answer.Status != 302 || who == "" && errorIn(answer) == "" && !orElse {
			x.failf("answered %d to %q", answer.Status, answer.Header.Get("Location"))
		}
	case rest[0] == "no":
		if who != "" || x.owner(provider, "u1") != "" {
			x.failf("signed in as %q", who)
		}
		if answer.Status != 302 || errorIn(answer) == "" {
			x.failf("answered %d to %q, want an error redirect", answer.Status, answer.Header.Get("Location"))
		}
	case rest[0] == "yes":
		refused := slices.ContainsFunc(rest, func(s string) bool { return strings.HasSuffix(s, "or refused") })
		if who == "" && (!refused || errorIn(answer) == "") {
			x.failf("not signed in: %d to %q; log: %.500s", answer.Status, answer.Header.Get("Location"), x.logged())
		}
	default:
		x.failf("sign_in %q is not known", p.SignIn)
		return
	}
	for _, clause := range rest[1:] {
		known := false
		for _, o := range outcomes {
			if m := o.pattern.FindStringSubmatch(clause); m != nil {
				o.look(x, b, p, provider, m)
				known = true
				break
			}
		}
		if !known {
			x.failf("of sign_in, %q is not known", clause)
		}
	}
}

// rawID returns the ID of the payload, in the payload's spelling.
func (p *oddAnswer) rawID(x *app) string {
	text := fmt.Sprint(p.Body["id"])
	if m := rawMember.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if strings.Trim(text, "0123456789") != "" || text == "" {
		x.failf("the id %q is no number", text)
		return "0"
	}
	return text
}

// spellings returns other ways to write a number.
func spellings(raw string) []string {
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return nil
	}
	return []string{
		strconv.FormatFloat(n, 'f', 0, 64), strconv.FormatFloat(n, 'f', 1, 64),
		strconv.FormatFloat(n, 'e', -1, 64),
	}
}
