package main

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// hosts sends Host and forwarded headers to applications with a fixed origin, with a list of hosts, and with TrustHost
// (docs/protocol.md §1.4).
func hosts(a *attack) {
	var p struct {
		ID, Listed, Open, Why, Authjs string
		Headers                       [][2]string
	}
	a.read(&p)
	for _, row := range []struct {
		name, want string
		change     func(*core.Config)
	}{
		{"pinned", "origin-or-refuse:" + home, func(c *core.Config) { c.URL = home + "/auth" }},
		{"listed", p.Listed, func(c *core.Config) {
			c.URL, c.TrustedHosts = "", []string{"app.example", "*.preview.app.example"}
		}},
		{"open", p.Open, func(c *core.Config) { c.URL, c.TrustHost = "", core.True }},
	} {
		x := a.open(row.change)
		b := x.browser("u1")
		token := b.csrf()
		// The pair is sent under both cookie names, because the headers may change the scheme.
		hash := b.cookies[csrfCookie]
		cookies := [2]string{"Cookie", csrfCookie + "=" + hash + "; authjs.csrf-token=" + hash}
		form := func(pairs ...string) string {
			fields := url.Values{"csrfToken": {token}}
			for i := 0; i < len(pairs); i += 2 {
				fields.Set(pairs[i], pairs[i+1])
			}
			return fields.Encode()
		}
		for _, ask := range []struct{ method, target, body string }{
			{"GET", "/auth/signin", ""}, {"GET", "/auth/providers", ""},
			{"POST", "/auth/signin/a", form()}, {"POST", "/auth/signin/email", form("email", "ada@app.example")},
		} {
			h := hostCheck{app: x, row: row.name, ask: ask.method + " " + ask.target, headers: p.Headers}
			r := wire.Request{Method: ask.method, Target: ask.target, Header: append(slices.Clone(p.Headers), cookies)}
			if ask.method == "POST" {
				r.Body, r.Header = &ask.body, append(r.Header, [2]string{"Content-Type", formType})
			}
			asked := x.op.all()
			x.logged()
			answer, err := x.send(r)
			if err != nil {
				answer.Status = 400 // the router closed the connection
			}
			h.check(row.want, answer, x.mailed(), x.op.all()-asked)
		}
		x.alive()
	}
}

// hostCheck checks the response to one request.
type hostCheck struct {
	*app
	row, ask string
	headers  [][2]string
}

func (h *hostCheck) check(want string, answer wire.Answer, mails []core.Email, asked int) {
	for _, header := range h.headers {
		if strings.ContainsAny(header[1], `<>"`) && strings.Contains(string(answer.Body), header[1]) {
			h.failf("%s, %s: %q is shown as it came", h.row, h.ask, header[1])
		}
	}
	refused := answer.Status >= 400 && answer.Status < 500
	if refused && (len(answer.Cookies) > 0 || len(mails) > 0 || asked > 0) {
		h.failf("%s, %s: refused with %d cookies, %d emails, %d requests sent",
			h.row, h.ask, len(answer.Cookies), len(mails), asked)
	}
	if lines := strings.Count(h.logged(), "\n"); refused && lines > 1 {
		h.failf("%s, %s: %d log lines", h.row, h.ask, lines)
	}
	kind, origin, _ := strings.Cut(want, ":")
	switch {
	case kind == "refuse" && !refused:
		h.failf("%s, %s: answered %d to %q, want a refusal", h.row, h.ask, answer.Status, answer.Header.Get("Location"))
	case kind == "origin" && refused:
		h.failf("%s, %s: answered %d, want origin %s", h.row, h.ask, answer.Status, origin)
	case kind == "any-valid":
		origin = ""
	case kind != "refuse" && kind != "origin" && kind != "origin-or-refuse":
		h.failf("want %q is not known", want)
	}
	if refused {
		return
	}
	for _, u := range h.urls(answer, mails) {
		at, err := url.Parse(u)
		if err != nil {
			h.failf("%s, %s: %q does not parse", h.row, h.ask, u)
			continue
		}
		got := at.Scheme + "://" + at.Host
		switch {
		case origin != "" && got != origin:
			h.failf("%s, %s: %q is not on %s", h.row, h.ask, u, origin)
		case origin == "" && (!validHost.MatchString(at.Host) || !h.named(at.Host)):
			h.failf("%s, %s: %q is on a host that no header named", h.row, h.ask, u)
		}
	}
}

var (
	validHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)
	absolute  = regexp.MustCompile(`(?:href|action|src)="(https?://[^"]*)"`)
)

// named reports whether a header contained the host.
func (h *hostCheck) named(host string) bool {
	return slices.ContainsFunc(h.headers, func(header [2]string) bool {
		name := strings.ToLower(header[0])
		return (name == "host" || name == "x-forwarded-host") && slices.ContainsFunc(strings.Split(header[1], ","),
			func(part string) bool {
				part = strings.TrimSpace(part)
				portless := strings.TrimSuffix(strings.TrimSuffix(part, ":443"), ":80")
				return strings.EqualFold(part, host) || strings.EqualFold(portless, host)
			})
	})
}

// urls returns all URLs in a response and in emails that contain the application's own origin.
func (h *hostCheck) urls(answer wire.Answer, mails []core.Email) (all []string) {
	if location := answer.Header.Get("Location"); atOP(location) {
		u, err := url.Parse(location)
		h.must(err)
		all = append(all, u.Query().Get("redirect_uri"))
	} else if location != "" {
		all = append(all, location)
	}
	for _, mail := range mails {
		all = append(all, string(mail.URL))
	}
	var list map[string]struct{ SigninURL, CallbackURL string }
	if json.Unmarshal(answer.Body, &list) == nil {
		for _, p := range list {
			all = append(all, p.SigninURL, p.CallbackURL)
		}
	} else {
		for _, found := range absolute.FindAllStringSubmatch(string(answer.Body), -1) {
			all = append(all, found[1])
		}
	}
	for _, line := range answer.Cookies {
		if name, value, _ := setCookie(line); strings.HasSuffix(name, "authjs.callback-url") {
			value, err := url.PathUnescape(value)
			h.must(err)
			all = append(all, value)
		}
	}
	return all
}
