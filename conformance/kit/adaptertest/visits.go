package adaptertest

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

const sessionCookie = "authjs.session-token"

// visits are the cases about browsers and about pages that read their session.
type visits struct{ *kit }

func (k visits) roundTrip() {
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

func (k visits) chunks() {
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

func (k visits) hook() {
	k.signIn(0)
	*k.reads = 0
	a := k.send("GET", "/page", "", nil)
	k.expect("page", a.body, "hello Ada")
	k.expect("reads of the session", *k.reads, 1)
	k.expect("cookies set", len(a.header["Set-Cookie"]), 0)
}

// sharedCaches requests pages that depend on the session, signed in and signed out, with and without a browser's Accept
// header. Every response must keep shared caches from storing it.
func (k visits) sharedCaches() {
	for _, signedIn := range []bool{false, true} {
		if signedIn {
			k.signIn(0)
		}
		const pages = "/page /once /twice /private /strict /area/page /visitor /template /data /admin"
		for _, path := range strings.Fields(pages) {
			for _, accept := range []string{"*/*", "text/html"} {
				a := k.send("GET", path, accept, nil)
				name := path + " for " + accept
				if !strings.Contains(strings.Join(a.header["Cache-Control"], ", "), "private") {
					k.Errorf("%s: Cache-Control %q", name, a.header["Cache-Control"])
				}
				if !strings.Contains(strings.Join(a.header["Vary"], ", "), "Cookie") {
					k.Errorf("%s: Vary %q", name, a.header["Vary"])
				}
			}
		}
	}
}

// afterwards reads a user's session after the end of the request, while a response to another user is in progress.
// Nothing of the first user's session may appear in that response, and nothing may panic.
func (k visits) afterwards() {
	k.signInAs("Ada", 0)
	ada := k.http
	k.http = newClient(k.T)
	k.signInAs("Eve", 0)
	eve := k.http
	for range 40 {
		k.http = ada
		k.expect("the first answer", k.get("/later").body, "ok")
		read := <-k.later
		k.http = eve
		answered := make(chan answer, 1)
		go func() { answered <- k.get("/hold") }()
		<-k.holding
		session, err := read()
		if err == nil && (session == nil || session.User.Name != "Ada") { // an ended context is an error
			k.Errorf("the first visitor's session is %+v", session)
		}
		k.goOn <- struct{}{}
		second := <-answered
		k.expect("the second answer", second.body, "hello Eve")
		for _, line := range second.header["Set-Cookie"] {
			c, err := http.ParseSetCookie(line)
			if err != nil || c.Name != sessionCookie {
				k.Errorf("Set-Cookie: %s", line)
				continue
			}
			token, err := k.auth.DecodeToken(c.Value, sessionCookie)
			if err != nil || token.Subject != "Eve" {
				k.Fatalf("the answer to Eve carries a session of %v, %v", token, err)
			}
		}
	}
}

// stream reads the session after the header was sent.
func (k visits) stream() {
	k.signIn(0)
	for range 5 {
		k.expect("the stream", k.get("/stream").body, "begin\nhello Ada")
	}
	k.expect("the next page", k.get("/page").body, "hello Ada")
}

// parallel sends an invalid CSRF cookie, so that both the session and the form set a cookie.
func (k visits) parallel() {
	k.signIn(0)
	k.take("authjs.csrf-token=x")
	for range 20 {
		a := k.get("/parallel")
		k.expect("the answer", a.body, "ok")
		k.expect("a header field of the handler", a.header.Get("X-Number-9"), "99")
	}
}

var formToken = regexp.MustCompile(`name="csrfToken" value="([0-9a-f]{64})"`)

// clients renders a form for all kinds of clients. Its token must match the cookie of the response.
func (k visits) clients() {
	const chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng," +
		"*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"
	for _, row := range []struct {
		name, method, accept string
		header               map[string]string
	}{
		{"Chrome", "GET", chrome, nil},
		{"Googlebot", "GET", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", nil},
		{"curl", "GET", "*/*", nil},
		{"no Accept", "GET", "", nil},
		{"a prefetch", "GET", "*/*", map[string]string{"Sec-Purpose": "prefetch"}},
		{"fetch", "GET", "*/*", map[string]string{"Sec-Fetch-Mode": "cors"}},
		{"HTMX", "GET", "*/*", map[string]string{"HX-Request": "true"}},
		{"HTMX, boosted", "GET", "text/html, */*", map[string]string{"HX-Request": "true", "HX-Boosted": "true"}},
		{"Unpoly", "GET", "*/*", map[string]string{"X-Up-Version": "3.0.0"}},
		{"any text", "GET", "text/*", nil},
		{"XHTML", "GET", "application/xhtml+xml", nil},
		{"upper case", "GET", "TEXT/HTML", nil},
		{"HTML refused", "GET", "text/html;q=0, application/json", nil},
		{"another type", "GET", "text/htmlx", nil},
		{"a fragment by POST", "POST", "*/*", map[string]string{"HX-Request": "true"}},
		{"a fragment by PUT", "PUT", "text/html", map[string]string{"HX-Request": "true"}},
		{"a fragment by PATCH", "PATCH", "*/*", nil},
		{"a fragment by DELETE", "DELETE", "*/*", map[string]string{"HX-Request": "true"}},
		{"a health check", "HEAD", "*/*", nil},
	} {
		r, err := http.NewRequestWithContext(k.Context(), row.method, "http://"+k.addr+"/component", nil)
		if err != nil {
			k.Fatal(err)
		}
		r.Header["Accept"] = nil
		if row.accept != "" {
			r.Header.Set("Accept", row.accept)
		}
		for name, value := range row.header {
			r.Header.Set(name, value)
		}
		a := k.do(r)
		k.expect(row.name+": status", a.status, 200)
		k.expect(row.name+": Cache-Control", a.header.Get("Cache-Control"), "private")
		k.expect(row.name+": Vary", strings.Join(a.header["Vary"], ", "), "Cookie")
		k.expect(row.name+": cookies", len(a.header["Set-Cookie"]), 1)
		if row.method == http.MethodHead {
			continue
		}
		found := formToken.FindStringSubmatch(a.body)
		if found == nil || len(a.header["Set-Cookie"]) == 0 ||
			!strings.HasPrefix(a.header["Set-Cookie"][0], "authjs.csrf-token="+found[1]+"%7C") {
			k.Errorf("%s: the form %s does not fit the cookies %q", row.name, a.body, a.header["Set-Cookie"])
		}
		k.http = newClient(k.T)
	}
}

// otherAuth requests a page with the hook of one Auth and the guard of another.
func (k visits) otherAuth() {
	k.expect("nobody", k.get("/office").status, 401)
	k.signIn(0)
	k.expect("a session of another Auth", k.get("/office").status, 401)
	r := &core.Request{Method: "GET", Target: "/", Hosts: []string{k.addr}, Scheme: "http"}
	cookies, err := k.office.NewSession(k.Context(), r, &core.User{ID: "2", Name: "Grace"})
	if err != nil {
		k.Fatal(err)
	}
	for _, c := range cookies {
		k.take(c.String())
	}
	a := k.get("/office")
	k.expect("a session of this Auth", a.status, 200)
	k.expect("the page", a.body, "hello Grace")
	k.expect("the other page", k.get("/page").body, "hello Ada")
}

// once reads the session without a hook, and also after one.
func (k visits) once() {
	a := k.get("/once")
	k.expect("nobody", a.body, "nobody")
	k.expect("cookies without a session", len(a.header["Set-Cookie"]), 0)
	k.signIn(0)
	for _, path := range []string{"/once", "/twice"} {
		*k.reads = 0
		a = k.get(path)
		k.expect(path, a.body, "hello Ada")
		k.expect(path+": reads of the session", *k.reads, 1)
		// The session is extended on every read. Its cookie must be set once.
		k.expect(path+": cookies", len(a.header["Set-Cookie"]), 1)
		k.expect(path+": Cache-Control", a.header.Get("Cache-Control"), "private")
	}
	k.take(sessionCookie + "=x")
	a = k.get("/once")
	k.expect("an invalid session", a.body, "nobody")
	if lines := a.header["Set-Cookie"]; len(lines) != 1 || !strings.Contains(lines[0], "Max-Age=0") {
		k.Errorf("the cookie of an invalid session stays: %q", lines)
	}
}
