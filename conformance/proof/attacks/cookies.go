package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// sessionName matches the placeholder N for the name of the session cookie.
var sessionName = regexp.MustCompile(`(^|[;=]\s*)N`)

// cookieHeaders sends session cookies that are whole, in chunks, mixed with foreign cookies, and broken
// (docs/protocol.md §3.3, §3.5, §7.6).
func cookieHeaders(a *attack) {
	var p cookieHeader
	a.read(&p)
	a.oneOf("want", p.Want, "session", "none", "any", "either")
	a.oneOf("strategy", p.Strategy, "", "jwt", "database")
	for _, place := range p.NotOn {
		a.oneOf("not_on", place, "fiber default buffers") // the tests use larger buffers
	}
	x := a.open(func(c *core.Config) {
		if p.Strategy == "database" {
			c.Session.Strategy = core.StrategyDatabase
		}
		if p.Origin != "" {
			c.URL = p.Origin
		}
	})
	b := x.browser("u1")
	token, err := x.EncodeToken(&core.Token{Subject: "1", Name: "Ada", Email: "ada@app.example"}, sessionCookie, time.Hour)
	a.must(err)
	half := len(token) / 2
	state := ""
	if p.Origin == "" {
		b.submit("/auth/signin/a")
		state = b.cookies["__Secure-authjs.state"]
	} else {
		b.origin = p.Origin
	}
	fill := a.fill("{TOK}", token, "{T0}", token[:half], "{T1}", token[half:],
		"{STATE_COOKIE}", state, "{CALLBACK_URL_COOKIE}", callbackName)
	named := func(s string) string { return fill(sessionName.ReplaceAllString(s, "${1}"+sessionCookie)) }
	headers := p.headers(a, token, named)
	var lines [][2]string
	for _, h := range headers {
		lines = append(lines, [2]string{"Cookie", h})
	}
	before := x.store.reads
	answer := b.get("/auth/session", lines...)
	if reads := x.store.reads - before; reads > 1 {
		a.failf("%d look-ups in the store", reads)
	}
	p.session(a, answer)
	p.setCookies(a, answer, named)
	if len(headers) == 1 && strings.Contains(headers[0], callbackName) {
		a.neverFollowed(b, headers[0])
	}
	x.alive()
}

// cookieHeader is a browser's Cookie header and the expected result.
type cookieHeader struct {
	ID, Want, Why, Strategy, Origin, Authjs string
	Cookie                                  any
	Cleared, Untouched                      []string
	NotOn                                   []string `json:"not_on"`
	Gen                                     *generatedCookies
}

// generatedCookies describes cookies that are too many to write down.
type generatedCookies struct {
	Chunks, Repeat, Others   int
	Name, Value, Then, Order string
}

// headers returns the Cookie headers. named inserts the name of the session cookie into a text.
func (p *cookieHeader) headers(a *attack, token string, named func(string) string) (headers []string) {
	if p.Gen != nil {
		return []string{p.Gen.header(a, token, named)}
	}
	switch c := p.Cookie.(type) {
	case string:
		headers = []string{named(c)}
	case []any:
		for _, line := range c {
			headers = append(headers, named(line.(string)))
		}
	}
	return headers
}

func (g *generatedCookies) header(a *attack, token string, named func(string) string) string {
	a.oneOf("order", g.Order, "", "shuffled")
	var pairs []string
	for i := range g.Others {
		pairs = append(pairs, fmt.Sprintf("other%d=x", i))
	}
	if g.Then != "" {
		pairs = append(pairs, named(g.Then))
	}
	for i := range g.Chunks {
		part := token[i*len(token)/g.Chunks : (i+1)*len(token)/g.Chunks]
		pairs = append(pairs, fmt.Sprintf("%s.%d=%s", sessionCookie, i, part))
	}
	if g.Order == "shuffled" {
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	}
	if g.Repeat > 0 {
		pairs = append(pairs, named(g.Name)+"="+strings.Repeat(g.Value, g.Repeat))
	}
	return strings.Join(pairs, "; ")
}

// session compares the session in the response with the expected one.
func (p *cookieHeader) session(a *attack, answer wire.Answer) {
	got := "none"
	if whoIn(answer.Body) == "ada@app.example" {
		got = "session"
	}
	if (p.Want == "session" || p.Want == "none") && got != p.Want {
		a.failf("answered %d: %.100s, want %s", answer.Status, answer.Body, p.Want)
	}
	if got == "none" && answer.Status == 200 && string(answer.Body) != "null" {
		a.failf("no session is expected, got %.100s", answer.Body)
	}
}

// setCookies checks the cookies of the response: their sizes, and which ones are cleared.
func (p *cookieHeader) setCookies(a *attack, answer wire.Answer, named func(string) string) {
	size := 0
	expired := map[string]bool{}
	for _, line := range answer.Cookies {
		size += len(line)
		name, _, gone := setCookie(line)
		expired[name] = expired[name] || gone
	}
	if size > 8<<10 {
		a.failf("%d bytes of Set-Cookie", size)
	}
	for _, name := range p.Cleared {
		if !expired[named(name)] {
			a.failf("%s is not cleared", name)
		}
	}
	for _, name := range p.Untouched {
		if expired[named(name)] {
			a.failf("%s is cleared", name)
		}
	}
}

// neverFollowed signs in with a planted callback cookie.
func (a *attack) neverFollowed(b *browser, header string) {
	fields := b.form("user", "ada", "password", "right")
	answer := b.ask("POST", "/auth/callback/credentials", formType, fields.Encode(),
		[2]string{"Cookie", header + "; " + csrfCookie + "=" + b.cookies[csrfCookie]})
	if why := leaves(answer.Header.Get("Location"), home); why != "" {
		a.failf("led to %q: %s", answer.Header.Get("Location"), why)
	}
	if value, err := url.PathUnescape(b.cookies[callbackName]); err != nil || leaves(value, home) != "" {
		a.failf("the callback cookie is still %q", value)
	}
}
