package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
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
	StreamMB                                        int64  `json:"stream_mb"`
	GzipZerosMB                                     int64  `json:"gzip_zeros_mb"`
	DripMS                                          int    `json:"drip_ms"`
	DelayMS                                         int    `json:"delay_ms"`
	WithinMS                                        int    `json:"within_ms"`
	HeaderMB                                        int    `json:"header_mb"`
	Redirects                                       int    // on the same host, before the good answer
	TextHex                                         string `json:"text_hex"`
	Outage                                          int    `json:"outage_s"`
	Hang, Close, Cached, Rotate                     bool
	Reset, Trailers, Rebind                         bool
	Raw, Then, Browser, Flood                       string
	Collector                                       *int
	Times                                           *int
	Clients                                         int

	off     atomic.Bool  // the endpoint is good again
	written atomic.Int64 // bytes of a stream that went out
}

// upstream signs in while the provider is faulty or hostile (docs/protocol.md §8.7, §8.14).
func (a *attack) upstream() {
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
		changing = a.rebind(p)
	}
	x := a.open(func(c *core.Config) {
		if p.Endpoint == "userinfo" && provider == "b" {
			c.Providers[1].(*core.OAuthProvider).ProfileFromUserinfo = true
		}
		if p.Rebind { // the client is our own: it is the one that looks at addresses
			c.HTTPClient, c.Providers[1].(*core.OAuthProvider).Issuer = nil, changing.issuer
		}
	})
	x.op.sign(a.goodBadge)
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
	p.begin(x)
	b := x.browser("u1")
	if p.Browser == "gone" {
		a.impatient(x, b, p)
		return
	}
	answer := a.inTime(x, b, p, provider)
	a.outcome(x, b, p, provider, answer)
	if p.Rebind {
		x.wait(10 * time.Second)
		if x.signInAt(b, provider); b.who() != "" {
			a.failf("signed in as %q", b.who())
		}
		x.op.mu.Lock()
		x.op.collected = changing.reached()
		x.op.mu.Unlock()
	}
	a.counts(x, p)
	x.quiet(b, answer)
}

// begin has the provider change its keys or be silent for long, where that is wanted, and give odd answers from now on.
func (p *oddAnswer) begin(x *app) {
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
}

// inTime signs in and holds the time that it took against what is allowed.
func (a *attack) inTime(x *app, b *browser, p *oddAnswer, provider string) wire.Answer {
	answer, took := x.timed(func() wire.Answer { return x.signInAt(b, provider) })
	within := 19 * time.Second // a busy machine adds to the ten that a provider has; two calls that hang take twenty
	if p.WithinMS > 0 {
		within = time.Duration(p.WithinMS) * time.Millisecond
		for n := 1; n < tries && took > within; n++ { // what another program has taken it takes once
			x.wait(time.Hour)
			answer, took = x.timed(func() wire.Answer { return x.signInAt(b, provider) })
		}
	}
	if took > within {
		a.failf("it took %v", took.Round(time.Millisecond))
	}
	return answer
}

// outcomes are what may come after yes, no or either.
var outcomes = []struct {
	pattern *regexp.Regexp
	look    func(x *app, b *browser, p *oddAnswer, provider string, m []string)
}{
	{regexp.MustCompile(`^then yes$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		for waited := 0; waited < p.Outage; waited += 60 {
			x.wait(time.Minute)
			if x.signInAt(b, provider); b.who() != "" {
				x.failf("signed in while the provider is out of reach")
			}
		}
		p.off.Store(true)
		x.wait(10 * time.Second)
		if x.signInAt(b, provider); b.who() == "" {
			x.failf("the provider is good again, and the sign-in fails: %.500s", x.logged())
		}
	}},
	{regexp.MustCompile(`^(\d+)$`), func(x *app, _ *browser, _ *oddAnswer, provider string, m []string) {
		if x.owner(provider, m[1]) == "" {
			x.failf("the account is not %s", m[1])
		}
	}},
	{regexp.MustCompile(`^distinct$`), func(x *app, _ *browser, p *oddAnswer, provider string, _ []string) {
		raw := p.rawID(x)
		if x.owner(provider, raw) == "" {
			x.failf("the account is not %s", raw)
		}
		neighbour := raw[:len(raw)-1] + "2"
		if x.signInWith(p, provider, "{raw "+neighbour+"}"); x.owner(provider, neighbour) == "" {
			x.failf("the neighbour has no account of their own")
		}
	}},
	{regexp.MustCompile(`^stable text$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		if who, again := x.userID(b), x.signInWith(p, provider, p.Body["id"]); who != again {
			x.failf("the second sign-in is of another user: %q and %q", who, again)
		}
	}},
	{regexp.MustCompile(`^one account or refused$`), func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
		who := x.userID(b)
		for _, spelling := range spellings(p.rawID(x)) {
			if again := x.signInWith(p, provider, "{raw "+spelling+"}"); who != "" && again != "" && again != who {
				x.failf("the same number as %s is another user", spelling)
			}
		}
	}},
	{regexp.MustCompile(`^never shared with missing ids$`),
		func(x *app, b *browser, p *oddAnswer, provider string, _ []string) {
			who := x.userID(b)
			for _, missing := range []any{"$del", nil, ""} {
				if other := x.signInWith(p, provider, missing); who != "" && other == who {
					x.failf("somebody without an id is the same user")
				}
			}
		}},
	{regexp.MustCompile(`^or without an e-?mail$`), func(x *app, b *browser, _ *oddAnswer, _ string, _ []string) {
		if who := b.who(); strings.Contains(who, "@") {
			x.failf("signed in with the address %q", who)
		}
	}},
	{regexp.MustCompile(`^expires_at never wraps to the past$`),
		func(x *app, _ *browser, _ *oddAnswer, provider string, _ []string) {
			account, err := x.store.Account(x, provider, "u1")
			if err == nil && !account.ExpiresAt.IsZero() && account.ExpiresAt.Before(x.clock()) {
				x.failf("expires_at is %v", account.ExpiresAt)
			}
		}},
	{regexp.MustCompile(`^cookie stays readable$`), func(x *app, b *browser, _ *oddAnswer, _ string, _ []string) {
		size := 0
		for name, value := range b.cookies {
			size += len(name) + len(value) + 3
		}
		if answer := b.get("/auth/session"); answer.Status != 200 || whoIn(answer.Body) == "" || size > 16<<10 {
			x.failf("%d bytes of cookies, and the session answers %d: %.100s", size, answer.Status, answer.Body)
		}
	}},
	{regexp.MustCompile(`^picture never becomes a link$`), func(x *app, b *browser, p *oddAnswer, _ string, _ []string) {
		picture, _ := p.Body["picture"].(string)
		for _, page := range []string{"/auth/signout", "/auth/signin", "/page"} {
			for _, quote := range []string{`"`, `'`, ""} {
				for _, attribute := range []string{"href=", "src=", "action=", "url("} {
					if strings.Contains(string(b.get(page).Body), attribute+quote+picture) {
						x.failf("on %s the picture is %s%s", page, attribute, picture)
					}
				}
			}
		}
	}},
}

// outcome holds what became of a sign-in against the payload: yes, no or either, and what goes with it.
func (a *attack) outcome(x *app, b *browser, p *oddAnswer, provider string, answer wire.Answer) {
	who := or(b.who(), x.userID(b)) // somebody without an address has an id
	rest := strings.FieldsFunc(p.SignIn, func(c rune) bool { return c == ',' || c == ';' })
	for i := range rest {
		rest[i] = strings.TrimSpace(rest[i])
	}
	if len(rest) == 0 {
		rest = []string{""}
	}
	orElse := len(rest) > 1 && strings.HasPrefix(rest[1], "or ")
	switch {
	case rest[0] == "no" && orElse, rest[0] == "either":
		if answer.Status != 302 || who == "" && errorIn(answer) == "" && !orElse {
			a.failf("answered %d to %q", answer.Status, answer.Header.Get("Location"))
		}
	case rest[0] == "no":
		if who != "" || x.owner(provider, "u1") != "" {
			a.failf("signed in as %q", who)
		}
		if answer.Status != 302 || errorIn(answer) == "" {
			a.failf("answered %d to %q, want an error redirect", answer.Status, answer.Header.Get("Location"))
		}
	case rest[0] == "yes":
		refused := slices.ContainsFunc(rest, func(s string) bool { return strings.HasSuffix(s, "or refused") })
		if who == "" && (!refused || errorIn(answer) == "") {
			a.failf("not signed in: %d to %q; log: %.500s", answer.Status, answer.Header.Get("Location"), x.logged())
		}
	default:
		a.failf("sign_in %q is not known", p.SignIn)
		return
	}
	for _, clause := range rest[1:] {
		known := false
		for _, o := range outcomes {
			if m := o.pattern.FindStringSubmatch(clause); m != nil {
				o.look(x, b, p, provider, m)
				known = true
				break
			}
		}
		if !known {
			a.failf("of sign_in, %q is not known", clause)
		}
	}
}

// counts holds how often was asked, and how much was read, against the payload.
func (a *attack) counts(x *app, p *oddAnswer) {
	x.op.mu.Lock()
	defer x.op.mu.Unlock()
	if p.Collector != nil && x.op.collected > *p.Collector {
		a.failf("the collector was asked %d times", x.op.collected)
	}
	path := map[string]string{
		"discovery": "/.well-known/openid-configuration", "jwks": "/jwks", "token": "/token",
		"userinfo": "/userinfo",
	}[p.Endpoint]
	if p.Times != nil && x.op.requests[path] > *p.Times {
		a.failf("the endpoint was asked %d times", x.op.requests[path])
	}
	if sent := p.written.Load(); sent > 8<<20 {
		a.failf("%d bytes were read", sent)
	}
}

// userID is the id of the user whom the browser's session is of, "" for nobody.
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

// signInWith signs another visitor in whose profile has this ID, and returns their user.
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

// rawID is the id of the payload, as its text has it.
func (p *oddAnswer) rawID(x *app) string {
	text := fmt.Sprint(p.Body["id"])
	if m := rawMember.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if strings.Trim(text, "0123456789") != "" || text == "" {
		x.failf("the id %q is no number", text)
		return "0"
	}
	return text
}

// spellings are other ways to write a number.
func spellings(raw string) []string {
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return nil
	}
	return []string{
		strconv.FormatFloat(n, 'f', 0, 64), strconv.FormatFloat(n, 'f', 1, 64),
		strconv.FormatFloat(n, 'e', -1, 64),
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

// timed is how long something takes, without what a busy machine took from this process: a heartbeat notices.
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

// impatient leaves while the provider thinks.
func (a *attack) impatient(x *app, b *browser, p *oddAnswer) {
	location := b.submit("/auth/signin/b").Header.Get("Location")
	_, answer := x.op.authorize(location, b.subject)
	ctx, leave := context.WithTimeout(a, time.Duration(p.DelayMS)*time.Millisecond/4)
	defer leave()
	_, err := wire.Send(ctx, x.address, true, wire.Request{
		Method: "GET", Target: "/auth/callback/b?" + query(answer),
		Header: [][2]string{{"Host", "app.example"}, b.cookieLine()},
	})
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
			answer, err := wire.Send(a, x.address, true, wire.Request{
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
		a.failf("somebody signed in")
	}
	if n.Load() != callbacks {
		a.failf("%d tokens were asked for in %d callbacks", n.Load(), callbacks)
	}
	if asked := x.op.count("/jwks"); p.Times != nil && (asked == 0 || asked > *p.Times) {
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
	if p.Redirects > 0 {
		hop, _ := strconv.Atoi(r.URL.Query().Get("hop"))
		if hop < p.Redirects {
			http.Redirect(w, r, fmt.Sprintf("%s?hop=%d", r.URL.Path, hop+1), http.StatusFound)
		}
		return hop < p.Redirects
	}
	if !p.breakOff(o, w, r, good) {
		p.writeHeader(w)
		p.writeBody(o, w, r, good)
	}
	return true
}

// breakOff gives an answer that never comes to an end; false: this one does.
func (p *oddAnswer) breakOff(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) bool {
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
	case p.Reset:
		w.Header().Set("Content-Type", "application/json")
		body := p.patched(o, good)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1000))
		_, _ = w.Write(body)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case p.Trailers:
		p.endless(w, r)
		return true
	}
	return false
}

// writeHeader writes status and header.
func (p *oddAnswer) writeHeader(w http.ResponseWriter) {
	kind := p.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	for _, h := range p.Headers {
		w.Header().Set(h[0], strings.ReplaceAll(h[1], "{collector}", collector))
	}
	for i := range p.HeaderMB {
		w.Header().Set(fmt.Sprintf("X-Large-%d", i), strings.Repeat("a", 1<<20))
	}
	if p.GzipZerosMB > 0 {
		w.Header().Set("Content-Encoding", "gzip")
	}
	status := http.StatusOK
	if p.Status > 0 {
		status = p.Status
	} else if p.Outage > 0 {
		status = http.StatusServiceUnavailable
	}
	w.WriteHeader(status)
}

// writeBody writes the body.
func (p *oddAnswer) writeBody(o *op, w http.ResponseWriter, r *http.Request, good map[string]any) {
	switch {
	case p.GzipZerosMB > 0:
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, zeros{}, p.GzipZerosMB<<20)
		_ = z.Close()
	case p.StreamMB > 0:
		p.stream(w)
	case p.DripMS > 0:
		p.drip(w, r)
	case p.Text != nil:
		_, _ = io.WriteString(w, *p.Text)
	case p.TextHex != "":
		raw, err := hex.DecodeString(p.TextHex)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(raw)
	case (p.Status > 0 || p.Outage > 0) && p.Body == nil:
	default:
		_, _ = w.Write(p.patched(o, good))
	}
}

// stream writes so many MB, until the client has gone.
func (p *oddAnswer) stream(w http.ResponseWriter) {
	chunk := bytes.Repeat([]byte(" "), 64<<10)
	for sent := int64(0); sent < p.StreamMB<<20; sent += int64(len(chunk)) {
		n, err := w.Write(chunk)
		p.written.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// drip writes a byte now and then, until the client has gone.
func (p *oddAnswer) drip(w http.ResponseWriter, r *http.Request) {
	for range 600 {
		if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Duration(p.DripMS) * time.Millisecond):
		}
	}
}

// endless answers in chunks without end, with trailers announced.
func (p *oddAnswer) endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Trailer", "X-Checksum")
	for r.Context().Err() == nil {
		n, err := io.WriteString(w, strings.Repeat(" ", 64<<10))
		p.written.Add(int64(n))
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// patched is the good answer with the payload's changes; an error answer stands alone.
func (p *oddAnswer) patched(o *op, good map[string]any) []byte {
	if _, refused := p.Body["error"]; refused || p.Status >= 400 {
		good = map[string]any{}
	}
	changes := map[string]any{}
	for name, v := range p.Body {
		changes[name] = p.fill(o, v)
	}
	patch(good, changes)
	body := string(marshal(good))
	if p.Raw != "" {
		body = o.edited(body, p.Raw, o.now().Unix())
	}
	return []byte(body)
}

var levels = regexp.MustCompile(`^\{(\d+) levels\}$`)

// fill puts values in the places that a payload leaves open.
func (p *oddAnswer) fill(o *op, v any) any {
	switch list := v.(type) {
	case []any:
		filled := make([]any, len(list))
		for i := range list {
			filled[i] = p.fill(o, list[i])
		}
		return filled
	case map[string]any:
		filled := map[string]any{}
		for name := range list {
			filled[name] = p.fill(o, list[name])
		}
		return filled
	}
	text, ok := v.(string)
	if !ok {
		return v
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "{client_secret}", clientSecret), "{collector}", collector)
	if text, ok := filler(text); ok {
		return text
	}
	if m := levels.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return "{raw " + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
		}
	}
	if strings.HasPrefix(text, "{") && !rawMember.MatchString(text) {
		if key := keyed(strings.Trim(text, "{}")); key != nil {
			return key
		}
		o.failf("%q is not known", text)
	}
	return text
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
