package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// splitter inserts a value into one place after the other.
type splitter struct {
	*attack
	value string
}

// headerPlaces maps the file's words to places.
var headerPlaces = map[string]func(s *splitter) []wire.Answer{
	"callbackUrl in query, body and cookie": func(s *splitter) []wire.Answer {
		x := s.open(nil)
		b, planted := x.browser("u1"), x.browser("u2")
		planted.csrf()
		planted.cookies[callbackName] = url.PathEscape(s.value)
		return []wire.Answer{
			b.get("/auth/signin?callbackUrl=" + url.QueryEscape(s.value)),
			b.submit("/auth/signout", "callbackUrl", s.value),
			planted.submit("/auth/signout"),
			b.get("/auth/providers", [2]string{"Cookie", callbackName + "=" + s.value}),
		}
	},
	"signIn callback returns it as a redirect": func(s *splitter) []wire.Answer {
		return s.passwords(func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
				return core.RedirectTo(s.value), nil
			}
		})
	},
	"redirect callback returns it": func(s *splitter) []wire.Answer {
		return s.passwords(func(c *core.Config) {
			c.Callbacks.Redirect = func(context.Context, core.RedirectParams) (string, error) { return s.value, nil }
		})
	},
	"pages.signIn + ?error": func(s *splitter) []wire.Answer {
		return s.passwords(func(c *core.Config) { c.Pages.SignIn = "/login?from=" + s.value }, "password", "wrong")
	},
	"error code of CredentialsSignin": func(s *splitter) []wire.Answer {
		return s.passwords(func(c *core.Config) {
			for _, p := range c.Providers {
				if p, ok := p.(*core.CredentialsProvider); ok {
					p.Authorize = func(context.Context, map[string]string, *core.Request) (*core.User, error) {
						return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: s.value}
					}
				}
			}
		})
	},
	"provider id in the path": func(s *splitter) []wire.Answer {
		b := s.open(nil).browser("u1")
		id := url.PathEscape(s.value)
		return []wire.Answer{b.get("/auth/callback/" + id), b.get("/auth/signin/" + id), b.submit("/auth/signin/" + id)}
	},
	"Host and X-Forwarded-Host": func(s *splitter) (answers []wire.Answer) {
		for _, trusted := range [][]string{nil, {"app.example"}} {
			x := s.open(func(c *core.Config) {
				if trusted != nil {
					c.URL, c.TrustedHosts = "", trusted
				}
			})
			for _, name := range []string{"Host", "X-Forwarded-Host"} {
				lines := [][2]string{{name, s.value}}
				if name != "Host" {
					lines = append(lines, [2]string{"Host", "app.example"})
				}
				answer, err := x.send(wire.Request{Method: "GET", Target: "/auth/signin", Header: lines})
				if err == nil { // otherwise the server closed the connection
					answers = append(answers, answer)
				} else {
					answers = append(answers, wire.Answer{Status: 400})
				}
			}
		}
		return answers
	},
	"IdP error in the callback query": func(s *splitter) []wire.Answer {
		x := s.open(nil)
		b := x.browser("u1")
		location := b.submit("/auth/signin/a").Header.Get("Location")
		_, answer := x.op.authorize(location, "u1")
		state := url.Values{"error": {s.value}, "error_description": {s.value}, "error_uri": {s.value}}
		for _, pair := range answer {
			if pair[0] == "state" {
				state.Set("state", pair[1])
			}
		}
		return []wire.Answer{
			b.get("/auth/callback/a?" + state.Encode()),
			b.get("/auth/error?error=" + url.QueryEscape(s.value)),
		}
	},
	"cookie option Domain and Path from configuration": func(s *splitter) (answers []wire.Answer) {
		for _, option := range []core.CookieOptions{{Domain: s.value}, {Path: "/" + s.value}, {Name: s.value}} {
			x, refused := s.opened(func(c *core.Config) { c.Cookies.CallbackURL = option })
			if refused {
				answers = append(answers, wire.Answer{Status: 400})
				continue
			}
			answers = append(answers, x.browser("u1").get("/auth/signin"))
		}
		return answers
	},
	"session claim written into a header by an example": func(s *splitter) []wire.Answer {
		b := s.open(nil).browser("u1")
		b.submit("/auth/callback/credentials", "user", s.value, "password", "right")
		return []wire.Answer{b.get("/auth/session"), b.get("/page"), b.get("/private")}
	},
	"X-Auth-Return-Redirect value": func(s *splitter) []wire.Answer {
		b := s.open(nil).browser("u1")
		line, _, _ := strings.Cut(strings.ReplaceAll(s.value, "\r", "\n"), "\n") // a request header ends at a line break
		script := s.open(nil).browser("u1")
		return []wire.Answer{
			b.ask("POST", "/auth/callback/credentials", formType,
				b.form("user", "ada", "password", "right").Encode(), [2]string{"X-Auth-Return-Redirect", line}),
			script.ask("POST", "/auth/callback/credentials", formType,
				script.form("user", "ada", "password", "right", "callbackUrl", s.value).Encode(),
				[2]string{"X-Auth-Return-Redirect", "1"}),
		}
	},
	"authorizationParams names and values": func(s *splitter) []wire.Answer {
		b := s.open(nil).browser("u1")
		name := url.QueryEscape(s.value)
		return []wire.Answer{
			b.submit("/auth/signin/a?login_hint=" + name), b.submit("/auth/signin/a?" + name + "=1"),
			b.submit("/signin", "providerId", "a", "authorizationParams-login_hint", s.value),
			b.submit("/signin", "providerId", "a", "authorizationParams-"+s.value, "1"),
		}
	},
	"IdP authorization_endpoint from discovery": func(s *splitter) (answers []wire.Answer) {
		for _, endpoint := range []string{issuer + "/authorize?x=" + s.value, issuer + "/" + s.value, s.value} {
			x := s.open(nil)
			x.op.mu.Lock()
			x.op.odd = &oddAnswer{Endpoint: "discovery", Body: map[string]any{"authorization_endpoint": endpoint}}
			x.op.mu.Unlock()
			answers = append(answers, x.browser("u1").submit("/auth/signin/b"))
		}
		return answers
	},
}

// opened starts an application, unless its configuration is rejected.
func (a *attack) opened(change func(*core.Config)) (x *app, refused bool) {
	defer func() {
		if v := recover(); v != nil {
			var fault *core.ConfigError
			if stopped, ok := v.(gaveUp); !ok || !errors.As(stopped.error, &fault) {
				panic(v)
			}
			refused = true
		}
	}()
	return a.open(change), false
}

// passwords signs in with a password, as a browser and as a script.
func (s *splitter) passwords(change func(*core.Config), other ...string) []wire.Answer {
	x, refused := s.opened(change)
	if refused {
		return []wire.Answer{{Status: 400}, {Status: 400}}
	}
	pairs := append([]string{"user", "ada", "password", "right"}, other...)
	b, script := x.browser("u1"), x.browser("u2")
	return []wire.Answer{
		b.submit("/auth/callback/credentials", pairs...),
		script.ask("POST", "/auth/callback/credentials", formType, script.form(pairs...).Encode(),
			[2]string{"X-Auth-Return-Redirect", "1"}),
	}
}

// headerValues inserts a value into each place and compares the response header with that of a harmless value
// (docs/protocol.md §6.3).
func headerValues(a *attack) {
	var p struct{ ID, Value, Why, Authjs string }
	a.read(&p)
	if len(a.file.Places) == 0 {
		a.failf("the file lists no places")
	}
	for _, place := range a.file.Places {
		put := headerPlaces[place]
		if put == nil {
			a.failf("the place %q is not known", place)
			continue
		}
		harmless := put(&splitter{attack: a, value: "x"})
		for i, got := range put(&splitter{attack: a, value: p.Value}) {
			if why := differs(harmless[i], got, p.Value); why != "" {
				a.failf("%s, %d: %s", place, i, why)
			}
		}
	}
}

// differs describes how a response header differs from the harmless one. A refusal may have its own header, with only
// our cookies, or with one whose configured name is the value.
func differs(harmless, got wire.Answer, value string) string {
	for _, line := range got.Cookies {
		name, _, _ := setCookie(line)
		ours := strings.HasPrefix(name, "__Secure-authjs.") || strings.HasPrefix(name, "__Host-authjs.")
		if !ours && name != value && name != "x" {
			return "it sets the cookie " + line
		}
		for attribute := range strings.SplitSeq(line, "; ") {
			name, value, _ := strings.Cut(strings.ToLower(attribute), "=")
			if name == "domain" && value == "evil.example" || name == "max-age" && value == "999" {
				return "the value made an attribute: " + line
			}
		}
	}
	refused := got.Status/100 == 4 || errorIn(got) != ""
	switch {
	case refused || harmless.Status == 400: // the harmless value was refused too
		return ""
	case got.Status != harmless.Status:
		return fmt.Sprintf("status %d, harmless %d", got.Status, harmless.Status)
	case !slices.Equal(headerNames(got), headerNames(harmless)):
		return "headers " + strings.Join(headerNames(got), ", ") + "; harmless " + strings.Join(headerNames(harmless), ", ")
	case !slices.Equal(cookieNames(got), cookieNames(harmless)):
		return "cookies " + strings.Join(cookieNames(got), ", ") + "; harmless " + strings.Join(cookieNames(harmless), ", ")
	}
	return ""
}

func headerNames(answer wire.Answer) []string { return slices.Sorted(maps.Keys(answer.Header)) }

func cookieNames(answer wire.Answer) (names []string) {
	for _, line := range answer.Cookies {
		name, _, _ := setCookie(line)
		if flow, _, further := strings.Cut(name, "authjs.state."); further { // the name contains a random state
			name = flow + "authjs.state.<flow>"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
