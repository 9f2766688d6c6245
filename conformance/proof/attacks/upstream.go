package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// oddAnswer replaces the normal response of one of the provider's endpoints.
type oddAnswer struct {
	ID, Why, Endpoint, Provider, Type, OIDF, Authjs string
	SignIn                                          string `json:"sign_in"`
	Status                                          int
	Headers                                         [][2]string
	Body                                            map[string]any
	Text                                            *string
	StreamMB                                        int64  `json:"stream_mb"`
	GzipZerosMB                                     int64  `json:"gzip_zeros_mb"`
	DripMS                                          int    `json:"drip_ms"`
	DelayMS                                         int    `json:"delay_ms"`
	WithinMS                                        int    `json:"within_ms"`
	HeaderMB                                        int    `json:"header_mb"`
	Redirects                                       int    // on the same host, before the normal response
	TextHex                                         string `json:"text_hex"`
	Outage                                          int    `json:"outage_s"`
	Hang, Close, Cached, Rotate                     bool
	Reset, Trailers, Rebind                         bool
	Raw, Then, Browser, Flood                       string
	Collector                                       *int
	Times                                           *int
	Clients                                         int

	off     atomic.Bool  // the endpoint works again
	written atomic.Int64 // bytes of a stream that were sent
}

// upstream signs in with a failing or malicious provider (docs/protocol.md §8.7, §8.14).
func upstream(a *attack) {
	p := &oddAnswer{}
	a.read(p)
	a.oneOf("provider", p.Provider, "", "a", "b", "p", "f")
	a.oneOf("then", p.Then, "", "good")
	a.oneOf("browser", p.Browser, "", "gone")
	provider := p.Provider
	if provider == "" {
		provider = "b"
	}
	var changing *name
	if p.Rebind {
		changing = p.rebind(a)
	}
	x := a.open(func(c *core.Config) {
		if p.Endpoint == "userinfo" && provider == "b" {
			c.Providers[1].(*core.OAuthProvider).ProfileFromUserinfo = true
		}
		if p.Rebind { // our own client, which checks IP addresses
			c.HTTPClient, c.Providers[1].(*core.OAuthProvider).Issuer = nil, changing.issuer
		}
	})
	x.op.sign(a.goodBadge)
	switch {
	case p.Clients > 0:
		p.coldStart(x)
		return
	case p.Flood != "":
		p.flood(x)
		return
	case p.Cached, p.Rotate:
		if x.signIn(x.browser("u8")); x.owner("b", "u8") == "" {
			a.failf("the sign-in before failed")
		}
	}
	p.begin(x)
	b := x.browser("u1")
	if p.Browser == "gone" {
		p.impatient(x, b)
		return
	}
	answer := p.inTime(x, b, provider)
	p.outcome(x, b, provider, answer)
	if p.Rebind {
		x.wait(10 * time.Second)
		if x.signInAt(b, provider); b.who() != "" {
			a.failf("signed in as %q", b.who())
		}
		x.op.mu.Lock()
		x.op.collected = changing.reached()
		x.op.mu.Unlock()
	}
	p.counts(x)
	x.quiet(b, answer)
}

// begin changes the provider's keys or makes it unavailable for long, if the payload says so. Then it installs the odd
// responses.
func (p *oddAnswer) begin(x *app) {
	if p.Rotate {
		x.op.publish("rs2")
		x.op.sign(func(claims map[string]any) string {
			return signed(map[string]any{"alg": "RS256", "kid": "rs2"}, claims, "rs2")
		})
		x.wait(time.Minute)
	}
	if p.Cached {
		x.wait(2 * time.Hour) // longer than the lifetime of cached documents
	}
	x.op.mu.Lock()
	x.op.odd = p
	clear(x.op.requests)
	x.op.mu.Unlock()
	x.logged()
}

// inTime signs in and compares the duration with the allowed duration.
func (p *oddAnswer) inTime(x *app, b *browser, provider string) wire.Answer {
	answer, took := x.timed(func() wire.Answer { return x.signInAt(b, provider) })
	within := 19 * time.Second // a provider has ten seconds, two hanging calls take twenty; a busy machine adds to this
	if p.WithinMS > 0 {
		within = time.Duration(p.WithinMS) * time.Millisecond
		for n := 1; n < tries && took > within; n++ { // another program's load does not repeat
			x.wait(time.Hour)
			answer, took = x.timed(func() wire.Answer { return x.signInAt(b, provider) })
		}
	}
	if took > within {
		x.failf("it took %v", took.Round(time.Millisecond))
	}
	return answer
}

// counts compares the number of requests and of bytes read with the payload.
func (p *oddAnswer) counts(x *app) {
	x.op.mu.Lock()
	defer x.op.mu.Unlock()
	if p.Collector != nil && x.op.collected > *p.Collector {
		x.failf("the collector was asked %d times", x.op.collected)
	}
	path := map[string]string{
		"discovery": "/.well-known/openid-configuration", "jwks": "/jwks", "token": "/token",
		"userinfo": "/userinfo",
	}[p.Endpoint]
	if p.Times != nil && x.op.requests[path] > *p.Times {
		x.failf("the endpoint was asked %d times", x.op.requests[path])
	}
	if sent := p.written.Load(); sent > 8<<20 {
		x.failf("%d bytes were read", sent)
	}
}

// impatient closes the client's connection while the provider responds slowly.
func (p *oddAnswer) impatient(x *app, b *browser) {
	location := b.submit("/auth/signin/b").Header.Get("Location")
	_, answer := x.op.authorize(location, b.subject)
	ctx, leave := context.WithTimeout(x, time.Duration(p.DelayMS)*time.Millisecond/4)
	defer leave()
	_, err := wire.Send(ctx, x.address, true, wire.Request{
		Method: "GET", Target: "/auth/callback/b?" + query(answer),
		Header: [][2]string{{"Host", "app.example"}, b.cookieLine()},
	})
	if err == nil {
		x.failf("the provider was not as slow as it should be")
	}
	time.Sleep(time.Duration(p.DelayMS)*time.Millisecond + 500*time.Millisecond)
	owner := x.owner("b", "u1")
	_, err = x.store.UserByEmail(x, "u1@op.example")
	if owner == "" && err == nil {
		x.failf("a user without an account was left behind")
	}
	if b.who() != "" {
		x.failf("signed in as %q", b.who())
	}
	x.alive()
}

// userID returns the user ID of the browser's session, or "" without a session.
func (x *app) userID(b *browser) string {
	token, err := x.Token(x, &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Cookie": {b.cookieLine()[1]}},
	})
	x.must(err)
	if token == nil {
		return ""
	}
	return token.Subject
}

// signInWith signs in another user whose profile has this ID, and returns the user.
func (x *app) signInWith(p *oddAnswer, provider string, id any) string {
	if p.Body == nil {
		p.Body = map[string]any{}
	}
	kept := p.Body["id"]
	p.Body["id"] = id
	defer func() { p.Body["id"] = kept }()
	other := x.browser("u2")
	x.signInAt(other, provider)
	return x.userID(other)
}

// quiet checks that the response and the log contain no secret.
func (x *app) quiet(b *browser, answer wire.Answer) {
	page := ""
	if location := answer.Header.Get("Location"); leaves(location, home) == "" && location != "" {
		u, err := url.Parse(location)
		x.must(err)
		page = string(b.get(u.RequestURI()).Body)
	}
	log := x.logged()
	for _, secret := range []string{clientSecret, "code_verifier=", "at-u1", "refresh-"} {
		if strings.Contains(log, secret) || strings.Contains(page, secret) {
			x.failf("%s is in the log or on the page", secret)
		}
	}
	if strings.Contains(page, "<script>\"") || strings.Contains(page, "invalid_grant") {
		x.failf("the provider's words are on the page")
	}
}

// signIn signs in with provider b.
func (x *app) signIn(b *browser) wire.Answer { return x.signInAt(b, "b") }

// signInAt runs the complete flow with a provider and returns the last response.
func (x *app) signInAt(b *browser, provider string) wire.Answer {
	start := b.submit("/auth/signin/" + provider)
	location := start.Header.Get("Location")
	if !atOP(location) {
		return start
	}
	_, answer := x.op.authorize(location, b.subject)
	return b.get("/auth/callback/" + provider + "?" + query(answer))
}

// timed returns the duration of do, without the time in which a busy machine stopped this process. A heartbeat measures
// that time.
func (*app) timed(do func() wire.Answer) (wire.Answer, time.Duration) {
	const beat = 50 * time.Millisecond
	stop, lag := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				lag <- late
				return
			case <-time.After(beat):
				late += time.Since(began) - beat
			}
		}
	}()
	began := time.Now()
	answer := do()
	took := time.Since(began)
	close(stop)
	return answer, took - <-lag
}
