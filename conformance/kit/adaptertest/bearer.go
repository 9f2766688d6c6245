package adaptertest

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// bearers enables bearer tokens.
func bearers(c *core.Config) { c.Session.Bearer = true }

// bearing is a client that sends its session in a header.
type bearing struct{ *kit }

// bearer sends a session token in the header together with another user's session cookie.
func (k bearing) bearer() {
	k.signInAs("Ada", 0)
	token := k.sessionToken()
	k.http = newClient(k.T)
	k.signInAs("Eve", 0)
	good := map[string]string{"Authorization": "Bearer " + token}
	for _, path := range []string{"/page", "/private", "/strict", "/once"} {
		a := k.ask("GET", path, good)
		k.expect(path, a.body, "hello Ada")
		k.expect(path+": cookies", len(a.header["Set-Cookie"]), 0)
	}
	a := k.ask("GET", "/auth/session", good)
	k.expect("a token to go on with", a.header.Get("Set-Auth-Token") != "", true)
	k.expect("Vary", a.header.Get("Vary"), "Authorization")
	a = k.ask("GET", "/private", map[string]string{"Authorization": "Bearer nobodys", "Accept": "text/html"})
	k.expect("an unknown token", a.status, http.StatusUnauthorized)
	k.expect("its challenge", a.header.Get("WWW-Authenticate"), `Bearer realm="http://`+k.addr+`", error="invalid_token"`)
	k.expect("no session", k.ask("GET", "/page", map[string]string{"Authorization": "Bearer nobodys"}).body, "nobody")
	k.expect("a password with a cookie", k.ask("GET", "/page", map[string]string{"Authorization": "Basic YTpi"}).body,
		"hello Eve")
	two := k.raw1("GET /private HTTP/1.1\r\nHost: " + k.addr + "\r\nAuthorization: Bearer " + token +
		"\r\nAuthorization: Bearer " + token + "\r\n")
	k.expect("two tokens", two.status, http.StatusBadRequest)
	a = k.ask("POST", "/auth/signout", good)
	k.expect("a sign-out without a CSRF token leads to", a.header.Get("Location"), "http://"+k.addr+"/in")
	k.expect("the cookie's session", k.get("/page").body, "hello Eve")
}

// sessionToken returns the token from the session cookie.
func (k bearing) sessionToken() string {
	k.Helper()
	for _, c := range k.http.Jar.Cookies(k.url()) {
		if c.Name == sessionCookie {
			return c.Value
		}
	}
	k.Fatal("no session cookie")
	return ""
}

// ask sends a request with header fields.
func (k bearing) ask(method, path string, header map[string]string) answer {
	k.Helper()
	r, err := http.NewRequestWithContext(k.Context(), method, "http://"+k.addr+path, http.NoBody)
	if err != nil {
		k.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return k.do(r)
}
