package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/conformance/wire"
	"github.com/latchkey-go/latchkey/core"
)

// oddAnswer is what an endpoint of the provider says instead of something good.
type oddAnswer struct {
	ID, Why, Endpoint, Provider, Type, OIDF, Authjs string
	SignIn                                          string `json:"sign_in"`
	Status                                          int
	Headers                                         [][2]string
	Body                                            map[string]any
	Text                                            *string
	StreamMB                                        int64 `json:"stream_mb"`
	GzipZerosMB                                     int64 `json:"gzip_zeros_mb"`
	DripMS                                          int   `json:"drip_ms"`
	DelayMS                                         int   `json:"delay_ms"`
	WithinMS                                        int   `json:"within_ms"`
	Hang, Close, Cached, Rotate                     bool
	Then, Browser, Flood                            string
	Collector                                       *int
	Times                                           *int
	Clients                                         int

	off     atomic.Bool  // the endpoint is good again
	written atomic.Int64 // bytes of a stream that went out
}

// upstream signs in while the provider is faulty or hostile (UP1 to UP9, LK4, LK5).
func (a *attack) upstream() {
	p := &oddAnswer{}
	a.read(p)
	provider := p.Provider
	if provider == "" {
		provider = "b"
	}
	x := a.open(func(c *core.Config) {
		if p.Endpoint == "userinfo" && provider == "b" {
			c.Providers[1].(*core.OAuthProvider).ProfileFromUserinfo = true
		}
	})
	switch {
	case p.Clients > 0:
		a.coldStart(x, p)
		return
	case p.Flood != "":
		a.flood(x, p)
		return
	case p.Cached, p.Rotate:
		if x.signIn(x.browser("u8")); x.owner("b", "u8") == "" {
			a.failf("the sign-in before failed")
		}
	}
	if p.Rotate {
		x.op.publish("rs2")
		x.op.sign(func(claims map[string]any) string {
			return signed(map[string]any{"alg": "RS256", "kid": "rs2"}, claims, "rs2")
		})
		x.wait(time.Minute)
	}
	if p.Cached {
		x.wait(2 * time.Hour) // past the life of what is cached
	}
	x.op.mu.Lock()
	x.op.odd = p
	clear(x.op.requests)
	x.op.mu.Unlock()
	x.logged()

	b := x.browser("u1")
	if p.Browser == "gone" {
		a.impatient(x, b, p)
		return
	}
	answer, took := x.timed(func() wire.Answer { return x.signInAt(b, provider) })
	within := 12 * time.Second
	if p.WithinMS > 0 {
		within = time.Duration(p.WithinMS) * time.Millisecond
	}
	if took > within {
		a.failf("it took %v", took.Round(time.Millisecond))
	}
	who := b.who()
	switch p.SignIn {
	case "no", "no, then yes":
		if who != "" || x.owner(provider, "u1") != "" {
			a.failf("signed in as %q", who)
		}
		if answer.Status != 302 || errorIn(answer) == "" {
			a.failf("answered %d to %q, want an error redirect", answer.Status, answer.Header.Get("Location"))
		}
	case "yes", "yes, distinct", "yes, 583231":
		if who == "" {
			a.failf("not signed in: %d to %q; log: %.500s", answer.Status, answer.Header.Get("Location"), x.logged())
		}
	case "no, or without an e-mail":
		if strings.Contains(who, "@") {
			a.failf("signed in with the address %q", who)
		}
	case "either", "either, expires_at never wraps to the past":
		if account, err := x.store.Account(a, provider, "u1"); err == nil && account.ExpiresAt != 0 && account.ExpiresAt < x.clock().Unix() {
			a.failf("expires_at is %d", account.ExpiresAt)
		}
	default:
		a.failf("sign_in %q is not known", p.SignIn)
	}
	a.afterwards(x, b, p, provider)
	x.quiet(b, answer)
}

// afterwards looks at what payloads want besides.
func (a *attack) afterwards(x *app, b *browser, p *oddAnswer, provider string) {
	switch p.SignIn {
	case "no, then yes":
		p.off.Store(true)
		x.wait(10 * time.Second)
		if x.signInAt(b, provider); b.who() == "" {
			a.failf("the provider is good again, and the sign-in fails: %.500s", x.logged())
		}
	case "yes, 583231":
		if x.owner(provider, "583231") == "" {
			a.failf("the account is not 583231")
		}
	case "yes, distinct":
		raw := strings.Trim(strings.TrimPrefix(fmt.Sprint(p.Body["id"]), "{raw "), "}")
		if x.owner(provider, raw) == "" {
			a.failf("the account is not %s", raw)
		}
		p.Body["id"] = "{raw " + raw[:len(raw)-1] + "2}"
		other := x.browser("u2")
		if x.signInAt(other, provider); x.owner(provider, raw[:len(raw)-1]+"2") == "" {
			a.failf("the neighbour has no account of their own")
		}
	}
	x.op.mu.Lock()
	defer x.op.mu.Unlock()
	if p.Collector != nil && x.op.collected > *p.Collector {
		a.failf("the collector was asked %d times", x.op.collected)
	}
	path := map[string]string{"discovery": "/.well-known/openid-configuration", "jwks": "/jwks", "token": "/token", "userinfo": "/userinfo"}[p.Endpoint]
	if p.Times != nil && x.op.requests[path] > *p.Times {
		a.failf("the endpoint was asked %d times", x.op.requests[path])
	}
	if sent := p.written.Load(); sent > 8<<20 {
		a.failf("%d bytes were read", sent)
	}
}

// quiet checks that the browser and the log were told no secret.
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

// signIn signs in through provider b.
func (x *app) signIn(b *browser) wire.Answer { return x.signInAt(b, "b") }

// signInAt goes all the way through a provider; the answer is the last one.
func (x *app) signInAt(b *browser, provider string) wire.Answer {
	start := b.submit("/auth/signin/" + provider)
	location := start.Header.Get("Location")
	if !atOP(location) {
		return start
	}
	_, answer := x.op.authorize(location, b.subject)
	return b.get("/auth/callback/" + provider + "?" + query(answer))
}

func (*app) timed(do func() wire.Answer) (wire.Answer, time.Duration) {
	began := time.Now()
	answer := do()
	return answer, time.Since(began)
}

// impatient leaves while the provider thinks.
func (a *attack) impatient(x *app, b *browser, p *oddAnswer) {
	location := b.submit("/auth/signin/b").Header.Get("Location")
	_, answer := x.op.authorize(location, b.subject)
	ctx, leave := context.WithTimeout(a, time.Duration(p.DelayMS)*time.Millisecond/4)
	defer leave()
	_, err := wire.Send(ctx, x.address, true, wire.Request{Method: "GET", Target: "/auth/callback/b?" + query(answer), Header: [][2]string{{"Host", "app.example"}, b.cookieLine()}})
	if err == nil {
		a.failf("the provider was not as slow as it should be")
	}
	time.Sleep(time.Duration(p.DelayMS)*time.Millisecond + 500*time.Millisecond)
	owner := x.owner("b", "u1")
	_, err = x.store.UserByEmail(a, "u1@op.example")
	if owner == "" && err == nil {
		a.failf("a user without an account was left behind")
	}
	if b.who() != "" {
		a.failf("signed in as %q", b.who())
	}
	x.alive()
}

// coldStart begins many sign-ins at once on an application that knows nothing yet.
func (a *attack) coldStart(x *app, p *oddAnswer) {
	b := x.browser("u1")
	token := b.csrf()
	cookie := [2]string{"Cookie", csrfCookie + "=" + b.cookies[csrfCookie]}
	body := url.Values{"csrfToken": {token}}.Encode()
	var failed atomic.Int64
	var all sync.WaitGroup
	slots := make(chan struct{}, 200) // of connections that wait to be accepted
	for range p.Clients {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answer, err := wire.Send(a, x.address, true, wire.Request{Method: "POST", Target: "/auth/signin/b", Body: &body, Header: [][2]string{{"Host", "app.example"}, {"Content-Type", formType}, cookie}})
			if err != nil || !atOP(answer.Header.Get("Location")) {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if n := failed.Load(); n > 0 {
		a.failf("%d of %d sign-ins did not begin", n, p.Clients)
	}
	if n := x.op.count("/.well-known/openid-configuration"); p.Times != nil && n > *p.Times {
		a.failf("the document was fetched %d times", n)
	}
	x.alive()
}

// flood sends tokens whose keys nobody knows, within ten seconds.
func (a *attack) flood(x *app, p *oddAnswer) {
	if p.Flood != "random kid" {
		a.failf("the flood %q is not known", p.Flood)
		return
	}
	var n atomic.Int64
	x.op.sign(func(claims map[string]any) string {
		return signed(map[string]any{"alg": "RS256", "kid": fmt.Sprintf("kid-%d", n.Add(1))}, claims, "evil")
	})
	const callbacks = 1000
	for range callbacks / 20 {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				b := x.browser("u1")
				if x.signIn(b); b.who() != "" {
					n.Add(1 << 40)
				}
			})
		}
		all.Wait()
		x.wait(10 * time.Second * 20 / callbacks)
	}
	if n.Load() >= 1<<40 {
		a.failf("somebody signed in")
	}
	if asked := x.op.count("/jwks"); p.Times != nil && asked > *p.Times {
		a.failf("the keys were fetched %d times", asked)
	}
	x.op.sign(a.goodBadge)
	if b := x.browser("u7"); x.signIn(b).Status != 302 || b.who() != "u7@op.example" {
		a.failf("others can no longer sign in")
	}
}

// write writes the odd answer; false: nothing is odd about this one.
func (p *oddAnswer) write(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) bool {
	if p.off.Load() {
		return false
	}
	time.Sleep(time.Duration(p.DelayMS) * time.Millisecond)
	switch {
	case p.Hang:
		<-r.Context().Done()
		return true
	case p.Close:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	}
	kind := p.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for _, h := range p.Headers {
		w.Header().Set(h[0], strings.ReplaceAll(h[1], "{collector}", collector))
	}
	if p.GzipZerosMB > 0 {
		w.Header().Set("Content-Encoding", "gzip")
	}
	status := http.StatusOK
	if p.Status > 0 {
		status = p.Status
	}
	w.WriteHeader(status)
	switch {
	case p.GzipZerosMB > 0:
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, zeros{}, p.GzipZerosMB<<20)
		_ = z.Close()
	case p.StreamMB > 0:
		chunk := bytes.Repeat([]byte(" "), 64<<10)
		for sent := int64(0); sent < p.StreamMB<<20; sent += int64(len(chunk)) {
			n, err := w.Write(chunk)
			p.written.Add(int64(n))
			if err != nil {
				return true
			}
		}
	case p.DripMS > 0:
		for range 600 {
			if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
				return true
			}
			select {
			case <-r.Context().Done():
				return true
			case <-time.After(time.Duration(p.DripMS) * time.Millisecond):
			}
		}
	case p.Text != nil:
		_, _ = io.WriteString(w, *p.Text)
	case p.Status > 0 && p.Body == nil:
	default:
		_, _ = w.Write(p.patched(o, good))
	}
	return true
}

// patched is the good answer with the payload's changes; an error answer stands alone.
func (p *oddAnswer) patched(o *op, good map[string]any) []byte {
	if _, refused := p.Body["error"]; refused || p.Status >= 400 {
		good = map[string]any{}
	}
	changes := map[string]any{}
	raws := map[string]string{}
	for name, v := range p.Body {
		v = p.fill(o, v)
		if text, ok := v.(string); ok && strings.HasPrefix(text, "{raw ") {
			raws["{raw:"+name+"}"] = strings.TrimSuffix(strings.TrimPrefix(text, "{raw "), "}")
			v = "{raw:" + name + "}"
		}
		changes[name] = v
	}
	patch(good, changes)
	body := string(must(json.Marshal(good)))
	for mark, raw := range raws {
		body = strings.ReplaceAll(body, `"`+mark+`"`, raw)
	}
	return []byte(body)
}

// fill puts values in the places that a payload leaves open.
func (p *oddAnswer) fill(o *op, v any) any {
	if list, ok := v.([]any); ok {
		filled := make([]any, len(list))
		for i := range list {
			filled[i] = p.fill(o, list[i])
		}
		return filled
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "{client_secret}", clientSecret), "{collector}", collector)
	var n int
	switch {
	case text == "{unknown kty}":
		return map[string]any{"kty": "XYZ", "kid": "rs1", "use": "sig"}
	case strings.HasPrefix(text, "{rsa "):
		if _, err := fmt.Sscanf(text, "{rsa %d}", &n); err == nil {
			key := jwk("rs1")
			key["n"] = strings.Repeat("_", (n/8+2)/3*4)
			return key
		}
	case strings.HasSuffix(text, " keys, ours last}"):
		if _, err := fmt.Sscanf(text, "{%d keys, ours last}", &n); err == nil {
			keys := make([]any, n)
			for i := range keys {
				key := jwk("rs2")
				key["kid"] = fmt.Sprintf("k%d", i)
				keys[i] = key
			}
			keys[n-1] = jwk("rs1")
			return keys
		}
	case strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{raw ") && signers()[strings.Trim(text, "{}")] != nil:
		return jwk(strings.Trim(text, "{}"))
	}
	if strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "{raw ") {
		o.failf("%q is not known", text)
	}
	return text
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
