package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
	"github.com/latchkey-go/latchkey/core"
)

// redirects gives targets in every place that one is taken from, and follows where the browser would be sent
// (docs/protocol.md §6).
func (a *attack) redirects() {
	var p struct{ ID, Value, Want, Why, Authjs string }
	a.read(&p)
	value := p.Value
	x := a.open(func(c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			if p.User.Email == "sent away@app.example" {
				return core.GoTo(value), nil
			}
			return core.Allow(), nil
		}
	})
	asJSON := func(b *browser, fields map[string]string) string {
		fields["csrfToken"] = b.csrf()
		raw, err := json.Marshal(fields)
		a.must(err)
		return string(raw)
	}
	follow := func(b *browser, start wire.Answer) wire.Answer {
		location := start.Header.Get("Location")
		if !atOP(location) {
			return start
		}
		_, back := x.op.authorize(location, "u1")
		return b.get("/auth/callback/a?" + query(back))
	}
	escaped := url.QueryEscape(value)
	for place, ask := range map[string]func(b *browser) wire.Answer{
		"credentials, form": func(b *browser) wire.Answer {
			return b.submit("/auth/callback/credentials", "user", "ada", "password", "right", "callbackUrl", value)
		},
		"credentials, JSON": func(b *browser) wire.Answer {
			body := asJSON(b, map[string]string{"user": "ada", "password": "right", "callbackUrl": value})
			return b.ask("POST", "/auth/callback/credentials", "application/json", body)
		},
		"credentials, for a script": func(b *browser) wire.Answer {
			form := b.form("user", "ada", "password", "right", "callbackUrl", value)
			answer := b.ask("POST", "/auth/callback/credentials", formType, form.Encode(),
				[2]string{"X-Auth-Return-Redirect", "1"})
			var body struct{ URL string }
			if json.Unmarshal(answer.Body, &body) == nil && body.URL != "" {
				answer.Header.Set("Location", body.URL)
			}
			return answer
		},
		"sign-out, form": func(b *browser) wire.Answer { return b.submit("/auth/signout", "callbackUrl", value) },
		"sign-out, JSON": func(b *browser) wire.Answer {
			return b.ask("POST", "/auth/signout", "application/json", asJSON(b, map[string]string{"callbackUrl": value}))
		},
		"sign-in, form": func(b *browser) wire.Answer { return follow(b, b.submit("/auth/signin/a", "callbackUrl", value)) },
		"sign-in, JSON": func(b *browser) wire.Answer {
			body := asJSON(b, map[string]string{"callbackUrl": value})
			return follow(b, b.ask("POST", "/auth/signin/a", "application/json", body))
		},
		"query of the sign-in page": func(b *browser) wire.Answer {
			if page := b.get("/auth/signin?callbackUrl=" + escaped); page.Status != 200 {
				return page
			}
			return b.submit("/auth/callback/credentials", "user", "ada", "password", "right")
		},
		"query of the sign-out page": func(b *browser) wire.Answer {
			if page := b.get("/auth/signout?callbackUrl=" + escaped); page.Status != 200 {
				return page
			}
			return b.submit("/auth/signout")
		},
		"callback cookie": func(b *browser) wire.Answer {
			b.csrf()
			b.cookies[callbackName] = url.PathEscape(value)
			answer := b.submit("/auth/signout")
			if answer.Status != 302 {
				a.failf("a bad callback cookie breaks the sign-out: %d", answer.Status)
			}
			return answer
		},
		"form action, sign-out": func(b *browser) wire.Answer { return b.submit("/signout", "redirectTo", value) },
		"form action, sign-in": func(b *browser) wire.Answer {
			return follow(b, b.submit("/signin", "providerId", "a", "redirectTo", value))
		},
		"the signIn callback": func(b *browser) wire.Answer {
			return b.submit("/auth/callback/credentials", "user", "sent away", "password", "right")
		},
	} {
		b := x.browser("u1")
		answer := ask(b)
		location := answer.Header.Get("Location")
		failed := answer.Status >= 400 || errorIn(answer) == "Configuration" // docs/protocol.md §11.2
		exact, wanted := strings.CutPrefix(p.Want, "exact:")
		same, onOrigin := strings.CutPrefix(p.Want, "same:")
		switch {
		case wanted && location != exact:
			a.failf("%s: answered %d to %q, want %q", place, answer.Status, location, exact)
		case onOrigin && !failed && leaves(location, same) != "",
			p.Want == "stay" && location != "" && leaves(location, home) != "":
			a.failf("%s: led to %q: %s", place, location, leaves(location, home))
		case !wanted && !onOrigin && p.Want != "stay":
			a.failf("want %q is not known", p.Want)
		}
		kept, err := url.PathUnescape(b.cookies[callbackName])
		if err != nil || kept != "" && leaves(kept, home) != "" {
			a.failf("%s: the callback cookie is %q", place, kept)
		}
		if answer.Header.Get("X") != "" || len(answer.Header["Set-Cookie"]) > 0 {
			a.failf("%s: the value made a header", place)
		}
		for _, line := range answer.Cookies {
			if len(line) > 4096 {
				a.failf("%s: a cookie of %d bytes", place, len(line))
			}
		}
	}
	x.alive()
}

// query writes the parameters of an answer.
func query(pairs [][2]string) string {
	var b strings.Builder
	for i, pair := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(pair[0]) + "=" + url.QueryEscape(pair[1]))
	}
	return b.String()
}
