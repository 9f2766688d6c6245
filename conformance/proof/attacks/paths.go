package main

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// requestTargets sends raw request targets (docs/protocol.md §1.1).
func requestTargets(a *attack) {
	var p struct{ ID, Want, Why, Target, Method, Authjs string }
	a.read(&p)
	method := or(p.Method, "GET")
	setups := map[string]func(*core.Config){"pinned": nil}
	if p.Want == "origin-check" {
		setups["listed"] = func(c *core.Config) { c.URL, c.TrustedHosts = "", []string{"app.example"} }
	}
	for name, change := range setups {
		x := a.open(func(c *core.Config) {
			github := *c.Providers[0].(*core.OAuthProvider)
			github.ID = "github"
			c.Providers = append(c.Providers, &github)
			if change != nil {
				change(c)
			}
		})
		b := x.browser("u1")
		b.signIn("ada")
		asked := x.op.all()
		x.logged()
		answer, err := x.send(wire.Request{
			Method: method, Target: p.Target, Header: [][2]string{{"Host", "app.example"}, b.cookieLine()},
		})
		a.must(err)
		t := &targeted{browser: b, method: method, target: p.Target, answer: answer}
		want, action, _ := strings.Cut(p.Want, ":")
		switch want {
		case "origin-check":
			(&hostCheck{app: x, row: name, ask: p.Target}).check("origin-or-refuse:"+home, answer, nil, x.op.all()-asked)
		case "error":
			if got := errorIn(answer); got != action {
				a.failf("answered %d to %q, want the error %s", answer.Status, answer.Header.Get("Location"), action)
			}
		case "error-on-GET":
			if answer.Status < 400 && errorIn(answer) == "" {
				a.failf("answered %d to %q, want an error", answer.Status, answer.Header.Get("Location"))
			}
		default:
			if !t.any(want, action) {
				a.failf("answered %d to %q, want %s: %.200q", answer.Status, answer.Header.Get("Location"), p.Want, answer.Body)
			}
		}
		t.harmless()
		if n := x.op.all() - asked; n > 0 {
			a.failf("the provider was asked %d times", n)
		}
		x.alive()
	}
}

// targeted is a request target and the response.
type targeted struct {
	*browser

	method, target string
	answer         wire.Answer
}

// any reports whether the response is one of the expected ones.
func (t *targeted) any(want, action string) bool {
	for kind := range strings.SplitSeq(want, "-or-") {
		switch kind {
		case "refuse":
			if t.refused() {
				return true
			}
		case "redirect":
			if t.answer.Status/100 == 3 && t.stays() {
				return true
			}
		case "action":
			if t.runs(action) {
				return true
			}
		default:
			t.failf("want %q is not known", kind)
		}
	}
	return false
}

// refused reports whether the response is a 4xx status without a cookie, or a redirect to the error page. A router may
// first redirect to a cleaned path, which is then refused. For OPTIONS * the server may respond that it exists.
func (t *targeted) refused() bool {
	if t.target == "*" && t.answer.Status < 300 {
		return len(t.answer.Body) == 0 && len(t.answer.Cookies) == 0
	}
	if errorIn(t.answer) != "" {
		return t.stays()
	}
	answer := t.answer
	for hops := 0; hops < 3 && answer.Status/100 == 3 && len(answer.Cookies) == 0 && t.stays(); hops++ {
		u, err := url.Parse(answer.Header.Get("Location"))
		t.must(err)
		answer = t.ask(t.method, u.RequestURI(), "", "")
	}
	unknown := answer.Status == http.StatusNotImplemented // the router's response to unknown methods
	return (answer.Status/100 == 4 || unknown) && len(answer.Cookies) == 0
}

// runs reports whether the response is the one to the action's own target, or redirects to it.
func (t *targeted) runs(action string) bool {
	answer := t.answer
	if answer.Status/100 == 3 && t.stays() {
		u, err := url.Parse(answer.Header.Get("Location"))
		t.must(err)
		answer = t.get(u.RequestURI())
	}
	good := t.get("/auth/" + action)
	return good.Status == 200 && answer.Status == good.Status && bytes.Equal(answer.Body, good.Body) &&
		answer.Header.Get("Content-Type") == good.Header.Get("Content-Type")
}

// stays reports whether a browser that follows the redirect stays on the site.
func (t *targeted) stays() bool {
	location := t.answer.Header.Get("Location")
	at, err := url.Parse(home)
	t.must(err)
	to, err := at.Parse(location)
	return err == nil && !strings.Contains(location, `\`) && leaves(to.String(), home) == ""
}

// harmless checks every response: the browser stays on the site and is not signed out, and all adapters refuse the same
// targets.
func (t *targeted) harmless() {
	if t.answer.Status/100 == 3 && !t.stays() {
		t.failf("sent to %q", t.answer.Header.Get("Location"))
	}
	for _, line := range t.answer.Cookies {
		if name, _, _ := setCookie(line); t.answer.Status/100 != 2 && name == sessionCookie {
			t.failf("a refusal sets %s", line)
		}
	}
	if who := t.who(); who != "ada@app.example" {
		t.failf("afterwards the session is of %q", who)
	}
	ours := t.answer.Status/100 == 4 && strings.HasPrefix(t.answer.Header.Get("Content-Type"), "application/json") &&
		t.answer.Status != 405 // a router has its own response to unknown methods
	if !ours || t.method == "HEAD" {
		return
	}
	if text := strings.TrimSpace(string(t.answer.Body)); !strings.HasPrefix(text, `"`) && text != "null" {
		t.failf("refused in other words than core's: %s", text)
	}
}
