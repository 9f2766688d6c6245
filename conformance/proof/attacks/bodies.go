package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// body is the body of a POST and the expected result.
type body struct {
	ID, Want, Why, Method, Authjs string
	Type                          *string
	Headers                       [][2]string
	Body                          string
	BodyHex                       string `json:"body_hex"`
	Stream                        *struct{ MB int }
	Drip                          *struct {
		Bytes   int
		EveryMS int `json:"every_ms"`
	}
	MaxMemKB uint64 `json:"max_mem_kb"`

	text string // the text to send, unless it is streamed or sent slowly
}

const (
	// bodyPatience is the server's read timeout. bodyWithin is the time limit of the whole exchange.
	bodyPatience = 3 * time.Second
	bodyWithin   = 5 * time.Second
)

// quiet is locked exclusively by tests that measure the process, and shared by all others.
var quiet sync.RWMutex

// bodyTargets are the actions that read a body.
var bodyTargets = []string{
	"/auth/signin/a", "/auth/signin/email", "/auth/callback/credentials", "/auth/callback/passkey", "/auth/session",
	"/auth/signout", "/signin", "/signout",
}

// tokenPlace matches the place of the CSRF token in a body.
var tokenPlace = regexp.MustCompile(`\bT\b`)

// requestBodies posts a body to every action that reads one, as a signed-in user with a valid CSRF token
// (docs/protocol.md §1.3).
func requestBodies(a *attack) {
	p := &body{}
	a.read(p)
	switch p.Want {
	case "4xx", "413", "timeout", "200-or-3xx":
	default:
		a.failf("want %q is not known", p.Want)
		return
	}
	a.readTimeout = bodyPatience
	x := a.open(func(c *core.Config) {
		c.InsecureNoLimits, c.EnableWebAuthn = true, true
		c.Providers = append(c.Providers, webauthn.Passkey())
	})
	b := x.browser("u1")
	b.signIn("ada")
	a.must(p.build(b.csrf()))
	p.post(b)
	if b.who() != "ada@app.example" {
		a.failf("the visitor is no longer signed in")
	}
	if n := x.op.all(); n > 0 {
		a.failf("the provider was asked %d times", n)
	}
	if mails := x.mailed(); len(mails) > 0 || len(x.store.tokens()) > 0 {
		a.failf("an email went out")
	}
	x.alive()
}

// build creates the text of the body. T in a payload's text is replaced by the user's CSRF token.
func (p *body) build(token string) error {
	p.text = tokenPlace.ReplaceAllString(p.Body, token)
	if p.BodyHex != "" {
		raw, err := hex.DecodeString(p.BodyHex)
		p.text = string(raw)
		return err
	}
	return nil
}

// post sends the body to each target, with each HTTP version of the server.
func (p *body) post(b *browser) {
	versions := []func(*browser, string) (wire.Answer, error){p.overHTTP1}
	if !wire.OnFasthttp(b.adapter) && !p.owns("Content-Length") {
		versions = append(versions, p.overHTTP2)
	}
	var all sync.WaitGroup
	for i, version := range versions {
		for _, target := range bodyTargets {
			if p.method() != "POST" && !strings.HasPrefix(target, "/auth/") {
				continue // for forms of the application's own routes, which are posted
			}
			ask := func() { p.look(b, fmt.Sprintf("HTTP/%d %s", i+1, target), target, version) }
			if p.Drip == nil {
				ask()
				continue
			}
			all.Go(ask) // in parallel, because all wait for the same timeout
		}
	}
	all.Wait()
}

func (p *body) method() string { return or(p.Method, "POST") }

// owns reports whether the payload itself sets the header.
func (p *body) owns(name string) bool {
	return slices.ContainsFunc(p.Headers, func(line [2]string) bool { return strings.EqualFold(line[0], name) })
}

// tries is the maximum number of attempts for a body that exceeded its time or memory.
const tries = 4

// look sends the body and checks the response.
func (p *body) look(b *browser, what, target string, send func(*browser, string) (wire.Answer, error)) {
	var answer wire.Answer
	var err error
	var took time.Duration
	ask := func() {
		began := time.Now()
		answer, err = send(b, target)
		took = time.Since(began)
	}
	grown := p.measured(ask)
	// The first attempts may exceed the limits because of buffers that are kept for later requests, or because of other
	// programs on the machine. Only repeated excess counts.
	for n := 1; n < tries && (grown > p.MaxMemKB<<10 || took > bodyWithin+p.lateness()); n++ {
		grown = p.measured(ask)
	}
	if grown > p.MaxMemKB<<10 {
		b.failf("%s: the process grew by %d kB", what, grown>>10)
	}
	if took > bodyWithin+p.lateness() {
		b.failf("%s: it took %v", what, took.Round(time.Millisecond))
	}
	if err != nil { // the server closed the connection, which refuses any body
		if p.Want == "200-or-3xx" {
			b.failf("%s: %v", what, err)
		}
		return
	}
	if answer.Status >= 500 {
		b.failf("%s: answered %d: %.200s", what, answer.Status, answer.Body)
	}
	if p.Want == "200-or-3xx" {
		location := answer.Header.Get("Location")
		if answer.Status/100 != 2 && answer.Status/100 != 3 || location != "" && leaves(location, home) != "" {
			b.failf("%s: answered %d to %q", what, answer.Status, location)
		}
	} else if answer.Status/100 != 4 && !refusedBody(target, answer) {
		b.failf("%s: answered %d to %q, want %s", what, answer.Status, answer.Header.Get("Location"), p.Want)
	}
	for _, line := range answer.Cookies {
		if name, _, expired := setCookie(line); name == sessionCookie && (expired || p.Want != "200-or-3xx") {
			b.failf("%s: it sets %s", what, line)
		}
	}
	p.sameAsCore(b, what, target, answer)
}

// refusedBody reports whether a redirect refuses the body because it lacks the token or, for passkeys, a known action.
func refusedBody(target string, answer wire.Answer) bool {
	name := errorIn(answer)
	return name == "MissingCSRF" || name == "Configuration" && target == "/auth/callback/passkey"
}

// lateness is the additional time allowed on a busy machine.
func (p *body) lateness() time.Duration {
	if p.Stream != nil || p.Drip != nil {
		return 0
	}
	return bodyWithin
}

// measured returns the growth of the heap in bytes during do, including garbage. If the payload limits memory, no other
// test runs meanwhile.
func (p *body) measured(do func()) (grown uint64) {
	if p.MaxMemKB == 0 {
		do()
		return 0
	}
	quiet.RUnlock() // the caller of the attack holds it
	quiet.Lock()
	defer func() { quiet.Unlock(); quiet.RLock() }()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc < before.HeapAlloc {
		return 0
	}
	return after.HeapAlloc - before.HeapAlloc
}

// header returns the header lines of the request.
func (p *body) header(b *browser) [][2]string {
	lines := [][2]string{{"Host", "app.example"}, b.cookieLine()}
	if p.Type != nil {
		lines = append(lines, [2]string{"Content-Type", *p.Type})
	}
	return append(lines, p.Headers...)
}

// sameAsCore compares a response with the response of core without a router. So all adapters behave the same. For an
// incomplete request the router may respond itself.
func (p *body) sameAsCore(b *browser, what, target string, answer wire.Answer) {
	if p.Stream != nil || p.Drip != nil || p.owns("Content-Length") || !strings.HasPrefix(target, "/auth/") {
		return
	}
	r := &core.Request{
		Method: p.method(), Target: target, Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
		Body: bytes.NewReader([]byte(p.text)),
	}
	for _, line := range p.header(b)[1:] {
		r.Header.Add(line[0], line[1])
	}
	want := b.Handle(b, r)
	header := http.Header{}
	want.Fill(header)
	if answer.Status != want.Status || errorIn(answer) != errorIn(wire.Answer{Header: header}) {
		b.failf("%s: answered %d to %q, core says %d to %q", what, answer.Status, answer.Header.Get("Location"),
			want.Status, want.Redirect)
	}
}
