// Package adaptertest is the kit that every router adapter must pass, over a real listener: what arrives through the
// adapter is what core answered, and nothing of a request is lost, kept or believed on the way.
package adaptertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// Start serves an application with the adapter and returns its address, "host:port". The application has the auth
// routes of Site.Auth at /auth, the form actions POST /signin and POST /signout, POST /try/signin and POST /try/signout
// with TrySignIn and TrySignOut, POST /call/signin and POST /call/signout with TrySignInWith and TrySignOutWith of what
// [Decode] reads from the body, the failures of which four it answers with status 422 and [Failed], without a hook GET
// /once, which answers as /page by the adapter's Session, behind RequireSession GET /private, and with the guard
// Site.Guard GET /strict, behind RequireSessionWhere(core.Under("/area"), Site.Guard) GET /area/page and GET /areal,
// which all answer as /page, and behind the hook
//
//	GET /page       answers what [Page] returns for the request's session, which it reads twice
//	GET /twice      answers as /once, whose session it reads twice
//	GET /office     is behind RequireSession of Site.Other, too, and answers as /page
//	GET /later      hands Site.Later a function that reads the session from what the router lets
//	                a goroutine keep, and answers "ok"
//	GET /hold       calls Site.Hold and then answers as /page
//	GET /stream     sends "begin\n", and when that is on its way [Page] of the session
//	GET /parallel   runs [Parallel] with a function that reads the session and the setter of
//	                a header field, and answers "ok"
//	/component      for all methods, behind the hook twice, answers what [Component] renders, as text/html
type Start func(t *testing.T, s Site) (addr string)

// Site is what an application under test needs.
type Site struct {
	// Auth is that of the application, Other that of its back office; nil in cases that do not ask for /office.
	Auth, Other *core.Auth
	// Guard is asked on /strict and /area/page.
	Guard core.Guard
	// Later takes what reads a session when the handler has returned.
	Later func(read func() (*core.Session, error))
	// Hold returns when the handler may go on.
	Hold func()
}

// Component renders a form with the request's context.
func Component(ctx context.Context, w io.Writer) error { return ui.SignIn("plain").Render(ctx, w) }

// Parallel reads the session and renders a form on goroutines of their own, while the handler sets header fields.
func Parallel(ctx context.Context, session func() (*core.Session, error), set func(name, value string)) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { _, _ = session() })
		all.Go(func() { _ = Component(ctx, io.Discard) })
	}
	for i := range 100 {
		set("X-Number-"+strconv.Itoa(i%10), strconv.Itoa(i))
	}
	all.Wait()
}

// Page is the text of the test pages.
func Page(session *core.Session, err error) string {
	switch {
	case err != nil:
		return "error"
	case session == nil:
		return "nobody"
	}
	return "hello " + session.User.Name
}

const secret = "a-secret-of-more-than-thirty-two-bytes"

// kit is one application under test and a browser.
type kit struct {
	*testing.T
	addr  string
	auth  *core.Auth
	reads *int
	http  *http.Client

	office        *core.Auth
	later         chan func() (*core.Session, error)
	holding, goOn chan struct{}
}

func newKit(t *testing.T, start Start, change func(*core.Config)) *kit {
	t.Helper()
	reads, mu := 0, sync.Mutex{}
	config := core.Config{
		TrustHost: core.On, Secrets: []core.Secret{secret},
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{
			&core.CredentialsProvider{Authorize: func(
				_ context.Context, form map[string]string, _ *core.Request,
			) (*core.User, error) {
				switch form["password"] {
				case "right":
				case "locked":
					return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "locked"}
				default:
					return nil, nil
				}
				u := &core.User{ID: form["name"], Name: form["name"], Email: "ada@example.com"}
				return u, u.Extra.Set("pad", form["pad"])
			}},
			&core.OAuthProvider{
				ID: "plain", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				Authorization: core.Endpoint{URL: "https://op.example/authorize"},
				Token:         core.Endpoint{URL: "https://op.example/token"},
				Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
			},
		},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.User != nil {
				p.Token.Extra = p.User.Extra
			}
			return p.Token, nil
		}},
		Events: core.Events{Session: func(context.Context, core.SessionEvent) error {
			mu.Lock()
			defer mu.Unlock()
			reads++
			return nil
		}},
	}
	if change != nil {
		change(&config)
	}
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	config.Audience = "office"
	office, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{
		T: t, auth: auth, office: office, reads: &reads,
		later: make(chan func() (*core.Session, error), 1000), holding: make(chan struct{}), goOn: make(chan struct{}),
	}
	k.addr = start(t, Site{
		Auth: auth, Other: office, Guard: guard,
		Later: func(read func() (*core.Session, error)) { k.later <- read },
		Hold:  func() { k.holding <- struct{}{}; <-k.goOn },
	})
	k.http = newClient(t)
	return k
}

// newClient is a browser of its own.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{
		Jar: jar, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (k *kit) send(method, path, accept string, form url.Values) answer {
	k.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(k.Context(), method, "http://"+k.addr+path, body)
	if err != nil {
		k.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return k.do(r)
}

func (k *kit) do(r *http.Request) answer {
	res, err := k.http.Do(r)
	if err != nil {
		k.Error(err)
		return answer{}
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		k.Error(err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

func (k *kit) get(path string) answer { k.Helper(); return k.send("GET", path, "", nil) }

func (k *kit) csrf() string {
	k.Helper()
	_, rest, _ := strings.Cut(k.get("/auth/csrf").body, `:"`)
	return strings.TrimSuffix(rest, `"}`)
}

func (k *kit) signIn(pad int) { k.Helper(); k.signInAs("Ada", pad) }

func (k *kit) signInAs(name string, pad int) {
	k.Helper()
	a := k.send("POST", "/auth/callback/credentials", "", url.Values{
		"csrfToken": {k.csrf()}, "name": {name}, "password": {"right"},
		"callbackUrl": {"/in"}, "pad": {strings.Repeat("x", pad)},
	})
	if a.status != 302 || a.header.Get("Location") != "http://"+k.addr+"/in" {
		k.Fatalf("sign-in: %d to %q", a.status, a.header.Get("Location"))
	}
}

func (k *kit) expect(what string, got, want any) {
	k.Helper()
	if got != want {
		k.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Run runs all cases.
func Run(t *testing.T, start Start) {
	for name, run := range map[string]func(*kit){
		"answers are core's":                        (*kit).sameAsCore,
		"credentials, session, protected page":      (*kit).roundTrip,
		"a session of several cookies":              (*kit).chunks,
		"the hook reads once and sets what it must": (*kit).hook,
		"form actions":                              (*kit).forms,
		"form actions that hand failures over":      (*kit).tried,
		"raw requests":                              (*kit).raw,
		"bodies":                                    (*kit).bodies,
		"values outlive the request":                (*kit).kept,
		"forms for every client":                    (*kit).clients,
		"a page that is streamed":                   (*kit).stream,
		"session and forms at once":                 (*kit).parallel,
		"the guard of another Auth":                 (*kit).otherAuth,
		"a target with a host of its own":           (*kit).absoluteTarget,
		"guards in the client's language":           (*kit).guards,
		"component calls":                           (*kit).componentCalls,
	} {
		t.Run(name, func(t *testing.T) { run(newKit(t, start, nil)) })
	}
	t.Run("a callback panics", func(t *testing.T) {
		k := newKit(t, start, func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { panic("boom") }
		})
		a := k.send("POST", "/auth/callback/credentials", "", url.Values{"csrfToken": {k.csrf()}, "password": {"right"}})
		k.expect("status", a.status, 302)
		k.expect("session", k.get("/auth/session").body, "null")
	})
	t.Run("a session read when the handler has returned", func(t *testing.T) {
		newKit(t, start, func(c *core.Config) { c.Session.UpdateAge = core.Always }).afterwards()
	})
	t.Run("the session in one call", func(t *testing.T) {
		newKit(t, start, func(c *core.Config) { c.Session.UpdateAge = core.Always }).once()
	})
	t.Run("actions of parts", func(t *testing.T) { parts(t, start) })
	t.Run("configuration per request", func(t *testing.T) { perRequest(t, start) })
}

// sameAsCore asks core and the adapter the same, and compares.
func (k *kit) sameAsCore() {
	for _, target := range []string{
		"/auth/session", "/auth/session/", "/auth/session?x=1", "/auth/providers",
		"/auth/error?error=AccessDenied", "/auth/error?error=%3Cb%3E",
		"/auth/signin?error=CredentialsSignin", "/auth/signin?callbackUrl=%2Fx%3Fy%3D1%26z%3D2",
		"/auth/signin?callbackUrl=ftp%3A%2F%2Fx",
		"/auth/callback/nope", "/auth/callback/credentials", "/auth/nope",
		"/auth/session/x", "/auth/verify-request", "/auth/signout",
	} {
		want := k.auth.Handle(k.Context(), &core.Request{
			Method: "GET", Target: target, Hosts: []string{k.addr}, Scheme: "http", Header: http.Header{},
		})
		k.http.Jar, _ = cookiejar.New(nil)
		got := k.get(target)
		k.expect(target+" status", got.status, want.Status)
		for name, values := range want.Header {
			if name != "Content-Security-Policy" { // has a nonce
				k.expect(target+" "+name, strings.Join(got.header[name], "|"), strings.Join(values, "|"))
			}
		}
		var names, came []string
		for _, c := range want.Cookies {
			names = append(names, c.Name)
		}
		for _, line := range got.header["Set-Cookie"] {
			name, _, _ := strings.Cut(line, "=")
			came = append(came, name)
		}
		k.expect(target+" cookies", fmt.Sprint(came), fmt.Sprint(names))
		if want.Header.Get("Content-Type") == "application/json" && !strings.Contains(string(want.Body), "reference") {
			k.expect(target+" body", got.body, string(want.Body))
		}
	}
}

func (k *kit) roundTrip() {
	k.expect("page", k.get("/page").body, "nobody")
	k.signIn(0)
	if s := k.get("/auth/session").body; !strings.Contains(s, `"name":"Ada"`) {
		k.Errorf("session %s", s)
	}
	k.expect("page", k.get("/page").body, "hello Ada")
	k.expect("private page", k.get("/private").body, "hello Ada")
	a := k.send("POST", "/auth/signout", "", url.Values{"csrfToken": {k.csrf()}})
	k.expect("sign-out", a.status, 302)
	k.expect("session", k.get("/auth/session").body, "null")
	a = k.send("GET", "/private?x=1", "text/html", nil)
	k.expect("private page for a browser", a.status, 303)
	k.expect("Location", a.header.Get("Location"),
		"http://"+k.addr+"/auth/signin?error=SessionRequired&callbackUrl=%2Fprivate%3Fx%3D1")
	k.expect("private page for an API client", k.get("/private").status, 401)
}

func (k *kit) chunks() {
	k.signIn(9000)
	k.expect("page", k.get("/page").body, "hello Ada")
	u, _ := url.Parse("http://" + k.addr)
	n := 0
	for _, c := range k.http.Jar.Cookies(u) {
		if strings.HasPrefix(c.Name, "authjs.session-token.") {
			n++
		}
	}
	if n < 3 {
		k.Errorf("%d session cookies", n)
	}
}

func (k *kit) hook() {
	k.signIn(0)
	*k.reads = 0
	a := k.send("GET", "/page", "", nil)
	k.expect("page", a.body, "hello Ada")
	k.expect("reads of the session", *k.reads, 1)
	k.expect("cookies set", len(a.header["Set-Cookie"]), 0)
}

func (k *kit) forms() {
	a := k.send("POST", "/signin", "", url.Values{
		"csrfToken": {k.csrf()}, "providerId": {"plain"},
		"redirectTo": {"/after"}, "authorizationParams-prompt": {"login"},
	})
	k.expect("sign-in form", a.status, 303)
	u, err := url.Parse(a.header.Get("Location"))
	if err != nil || u.Host != "op.example" || u.Query().Get("prompt") != "login" || u.Query().Get("client_id") != "id" {
		k.Errorf("Location %q", a.header.Get("Location"))
	}
	a = k.send("POST", "/signin", "", url.Values{"providerId": {"plain"}})
	k.expect("sign-in form without a token", a.header.Get("Location"), "http://"+k.addr+"/auth/signin?error=MissingCSRF")
	k.signIn(0)
	a = k.send("POST", "/signout", "", url.Values{"csrfToken": {k.csrf()}, "redirectTo": {"/bye"}})
	k.expect("sign-out form", a.status, 303)
	k.expect("Location", a.header.Get("Location"), "http://"+k.addr+"/bye")
	k.expect("page", k.get("/page").body, "nobody")
}

// raw sends what no client library would.
func (k *kit) raw() {
	for _, row := range []struct {
		name, head string
		refused    bool
	}{
		{"control", "GET /auth/session HTTP/1.1\r\nHost: app.test\r\n", false},
		{"PUT", "PUT /auth/session HTTP/1.1\r\nHost: app.test\r\nContent-Length: 0\r\n", true},
		{"two hosts", "GET /auth/session HTTP/1.1\r\nHost: app.test\r\nHost: evil.example\r\n", true},
		{"host with a user", "GET /auth/session HTTP/1.1\r\nHost: a@evil.example\r\n", true},
		{"host with markup", "GET /auth/session HTTP/1.1\r\nHost: <b>\r\n", true},
		{"forwarded scheme of another kind",
			"GET /auth/session HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-Proto: javascript\r\n", true},
		{"upper-case path", "GET /AUTH/session HTTP/1.1\r\nHost: app.test\r\n", true},
		{"encoded slash", "GET /auth/callback%2fcredentials HTTP/1.1\r\nHost: app.test\r\n", true},
		{"encoded NUL", "GET /auth/session%00 HTTP/1.1\r\nHost: app.test\r\n", true},
		{"backslash", "GET /auth\\session HTTP/1.1\r\nHost: app.test\r\n", true},
		{"another host in the target", "GET http://evil.example/auth/signin HTTP/1.1\r\nHost: <b>\r\n", true},
		{"two content types", "POST /auth/signout HTTP/1.1\r\nHost: app.test\r\nContent-Type: application/json\r\n" +
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n", true},
	} {
		status := k.rawStatus(row.head)
		if refused := status >= 400 && status < 500 || status >= 300 && status < 400; refused != row.refused {
			k.Errorf("%s: status %d", row.name, status)
		}
	}
}

// absoluteTarget names two hosts: that of the target counts on every router (RFC 9112 section 3.2.2).
func (k *kit) absoluteTarget() {
	res := k.raw1("GET http://target.test/auth/providers HTTP/1.1\r\nHost: header.test\r\n")
	if !strings.Contains(res.body, "http://target.test/auth/signin/plain") || strings.Contains(res.body, "header.test") {
		k.Errorf("answered %d: %s", res.status, res.body)
	}
}

func (k *kit) rawStatus(head string) int { k.Helper(); return k.raw1(head).status }

// raw1 sends one request as it stands.
func (k *kit) raw1(head string) answer {
	k.Helper()
	conn, err := net.Dial("tcp", k.addr)
	if err != nil {
		k.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, head+"Connection: close\r\n\r\n"); err != nil {
		k.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		k.Fatalf("%q: %v", head, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		k.Fatalf("%q: %v", head, err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

func (k *kit) bodies() {
	for _, row := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"broken JSON", "application/json", "{", 400},
		{"JSON that is no object", "application/json", "[]", 400},
		{"broken form", "application/x-www-form-urlencoded", "a=%zz", 400},
		{"another type", "text/plain", "csrfToken=x", 302},
		{"too large", "application/x-www-form-urlencoded", "a=" + strings.Repeat("x", 1<<20+1), 413},
	} {
		res, err := k.http.Post("http://"+k.addr+"/auth/signout", row.contentType, strings.NewReader(row.body))
		if err != nil {
			k.Errorf("%s: %v", row.name, err)
			continue
		}
		_ = res.Body.Close()
		k.expect(row.name, res.StatusCode, row.status)
	}
	k.expect("the next request", k.get("/auth/session").status, 200)
}

// kept asks with many different values at once: what a request brought must not change when its memory is used again.
func (k *kit) kept() {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				want := fmt.Sprintf("/page-%d-%d", i, j)
				res, err := http.Get("http://" + k.addr + "/auth/csrf?callbackUrl=" + url.QueryEscape(want))
				if err != nil {
					k.Error(err)
					return
				}
				_ = res.Body.Close()
				found := false
				for _, line := range res.Header["Set-Cookie"] {
					found = found || strings.Contains(line, url.QueryEscape(want)+";")
				}
				if !found {
					k.Errorf("no cookie for %s in %q", want, res.Header["Set-Cookie"])
				}
			}
		})
	}
	all.Wait()
}

// perRequest chooses the configuration by host.
func perRequest(t *testing.T, start Start) {
	auths := map[string]*core.Auth{}
	for _, name := range []string{"one", "two"} {
		auth, err := core.New(core.Config{
			URL: "https://" + name + ".test", Secrets: []core.Secret{secret},
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
			Providers: []core.Provider{&core.CredentialsProvider{
				ID:        name,
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		auths[name+".test"] = auth
	}
	tenants := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		if auth := auths[r.Hosts[0]]; auth != nil {
			return auth, nil
		}
		return nil, fmt.Errorf("no tenant for this host")
	})
	addr := start(t, Site{Auth: tenants, Other: tenants, Guard: guard})
	for host, want := range map[string]string{
		"one.test": "https://one.test/auth/signin/one", "two.test": "https://two.test/auth/signin/two",
		"three.test": "message",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/auth/providers", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s", host, raw)
		}
	}
}
