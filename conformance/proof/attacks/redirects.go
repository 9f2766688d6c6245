package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// redirects sends targets in every place that accepts one, and follows the browser's redirects (docs/protocol.md §6).
func redirects(a *attack) {
	g := &given{attack: a}
	a.read(g)
	g.app = a.open(func(c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			if p.User.Email == "sent away@app.example" {
				return core.RedirectTo(g.Value), nil
			}
			return core.Allow(), nil
		}
	})
	for place, ask := range places {
		b := g.app.browser("u1")
		g.verdict(place, b, ask(g, b))
	}
	g.app.alive()
}

// given is a redirect target and the places where the browser may arrive.
type given struct {
	*attack                      `json:"-"`
	app                          *app
	ID, Value, Want, Why, Authjs string
}

// places maps each source of a target to the requests that end with the redirect.
var places = map[string]func(g *given, b *browser) wire.Answer{
	"credentials, form": func(g *given, b *browser) wire.Answer {
		return b.submit("/auth/callback/credentials", "user", "ada", "password", "right", "callbackUrl", g.Value)
	},
	"credentials, JSON": func(g *given, b *browser) wire.Answer {
		body := g.asJSON(b, map[string]string{"user": "ada", "password": "right", "callbackUrl": g.Value})
		return b.ask("POST", "/auth/callback/credentials", "application/json", body)
	},
	"credentials, for a script": func(g *given, b *browser) wire.Answer {
		form := b.form("user", "ada", "password", "right", "callbackUrl", g.Value)
		answer := b.ask("POST", "/auth/callback/credentials", formType, form.Encode(),
			[2]string{"X-Auth-Return-Redirect", "1"})
		var body struct{ URL string }
		if json.Unmarshal(answer.Body, &body) == nil && body.URL != "" {
			answer.Header.Set("Location", body.URL)
		}
		return answer
	},
	"sign-out, form": func(g *given, b *browser) wire.Answer { return b.submit("/auth/signout", "callbackUrl", g.Value) },
	"sign-out, JSON": func(g *given, b *browser) wire.Answer {
		return b.ask("POST", "/auth/signout", "application/json", g.asJSON(b, map[string]string{"callbackUrl": g.Value}))
	},
	"sign-in, form": func(g *given, b *browser) wire.Answer {
		return g.follow(b, b.submit("/auth/signin/a", "callbackUrl", g.Value))
	},
	"sign-in, JSON": func(g *given, b *browser) wire.Answer {
		body := g.asJSON(b, map[string]string{"callbackUrl": g.Value})
		return g.follow(b, b.ask("POST", "/auth/signin/a", "application/json", body))
	},
	"query of the sign-in page": func(g *given, b *browser) wire.Answer {
		if page := b.get("/auth/signin?callbackUrl=" + url.QueryEscape(g.Value)); page.Status != 200 {
			return page
		}
		return b.submit("/auth/callback/credentials", "user", "ada", "password", "right")
	},
	"query of the sign-out page": func(g *given, b *browser) wire.Answer {
		if page := b.get("/auth/signout?callbackUrl=" + url.QueryEscape(g.Value)); page.Status != 200 {
			return page
		}
		return b.submit("/auth/signout")
	},
	"callback cookie": func(g *given, b *browser) wire.Answer {
		b.csrf()
		b.cookies[callbackName] = url.PathEscape(g.Value)
		answer := b.submit("/auth/signout")
		if answer.Status != 302 {
			g.failf("a bad callback cookie breaks the sign-out: %d", answer.Status)
		}
		return answer
	},
	"form action, sign-out": func(g *given, b *browser) wire.Answer { return b.submit("/signout", "redirectTo", g.Value) },
	"form action, sign-in": func(g *given, b *browser) wire.Answer {
		return g.follow(b, b.submit("/signin", "providerId", "a", "redirectTo", g.Value))
	},
	"the signIn callback": func(g *given, b *browser) wire.Answer {
		return b.submit("/auth/callback/credentials", "user", "sent away", "password", "right")
	},
}

func (g *given) asJSON(b *browser, fields map[string]string) string {
	fields["csrfToken"] = b.csrf()
	raw, err := json.Marshal(fields)
	g.must(err)
	return string(raw)
}

// follow lets the provider respond if a sign-in has started.
func (g *given) follow(b *browser, start wire.Answer) wire.Answer {
	location := start.Header.Get("Location")
	if !atOP(location) {
		return start
	}
	_, back := g.app.op.authorize(location, "u1")
	return b.get("/auth/callback/a?" + query(back))
}

// verdict compares the redirect of a place with the expected one.
func (g *given) verdict(place string, b *browser, answer wire.Answer) {
	location := answer.Header.Get("Location")
	failed := answer.Status >= 400 || errorIn(answer) == "Configuration" // docs/protocol.md §11.2
	exact, wanted := strings.CutPrefix(g.Want, "exact:")
	same, onOrigin := strings.CutPrefix(g.Want, "same:")
	switch {
	case wanted && location != exact:
		g.failf("%s: answered %d to %q, want %q", place, answer.Status, location, exact)
	case onOrigin && !failed && leaves(location, same) != "",
		g.Want == "stay" && location != "" && leaves(location, home) != "":
		g.failf("%s: led to %q: %s", place, location, leaves(location, home))
	case !wanted && !onOrigin && g.Want != "stay":
		g.failf("want %q is not known", g.Want)
	}
	kept, err := url.PathUnescape(b.cookies[callbackName])
	if err != nil || kept != "" && leaves(kept, home) != "" {
		g.failf("%s: the callback cookie is %q", place, kept)
	}
	if answer.Header.Get("X") != "" || len(answer.Header["Set-Cookie"]) > 0 {
		g.failf("%s: the value made a header", place)
	}
	for _, line := range answer.Cookies {
		if len(line) > 4096 {
			g.failf("%s: a cookie of %d bytes", place, len(line))
		}
	}
}

// query encodes the parameters of a response.
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
