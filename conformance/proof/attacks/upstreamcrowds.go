package main

import (
	"fmt"
	"maps"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
)

// coldStart starts many concurrent sign-ins at an application with empty caches.
func (p *oddAnswer) coldStart(x *app) {
	b := x.browser("u1")
	token := b.csrf()
	cookie := [2]string{"Cookie", csrfCookie + "=" + b.cookies[csrfCookie]}
	body := url.Values{"csrfToken": {token}}.Encode()
	var failed atomic.Int64
	var all sync.WaitGroup
	slots := make(chan struct{}, 200) // connections that wait to be accepted
	for range p.Clients {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answer, err := wire.Send(x, x.address, true, wire.Request{
				Method: "POST", Target: "/auth/signin/b", Body: &body,
				Header: [][2]string{{"Host", "app.example"}, {"Content-Type", formType}, cookie},
			})
			if err != nil || !atOP(answer.Header.Get("Location")) {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if n := failed.Load(); n > 0 {
		x.failf("%d of %d sign-ins did not begin", n, p.Clients)
	}
	if n := x.op.count("/.well-known/openid-configuration"); p.Times != nil && n > *p.Times {
		x.failf("the document was fetched %d times", n)
	}
	x.alive()
}

// flood sends tokens with unknown key IDs for ten seconds.
func (p *oddAnswer) flood(x *app) {
	if p.Flood != "random kid" {
		x.failf("the flood %q is not known", p.Flood)
		return
	}
	var n atomic.Int64
	x.op.sign(func(claims map[string]any) string {
		return signed(map[string]any{"alg": "ES256", "kid": fmt.Sprintf("kid-%d", n.Add(1))}, claims, "evil-ec")
	})
	const callbacks = 1000
	first := x.browser("u1")
	form := url.Values{"csrfToken": {first.csrf()}}.Encode()
	var signedIn atomic.Bool
	for range callbacks / 20 {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				b := x.browser("u1")
				maps.Copy(b.cookies, first.cookies)
				_, answer := x.op.authorize(b.ask("POST", "/auth/signin/b", formType, form).Header.Get("Location"), b.subject)
				b.get("/auth/callback/b?" + query(answer))
				if _, found := b.cookies[sessionCookie]; found {
					signedIn.Store(true)
				}
			})
		}
		all.Wait()
		x.wait(10 * time.Second * 20 / callbacks)
	}
	if signedIn.Load() {
		x.failf("somebody signed in")
	}
	if n.Load() != callbacks {
		x.failf("%d tokens were asked for in %d callbacks", n.Load(), callbacks)
	}
	if asked := x.op.count("/jwks"); p.Times != nil && (asked == 0 || asked > *p.Times) {
		x.failf("the keys were fetched %d times", asked)
	}
	x.op.sign(x.goodBadge)
	if b := x.browser("u7"); x.signIn(b).Status != 302 || b.who() != "u7@op.example" {
		x.failf("others can no longer sign in")
	}
}
