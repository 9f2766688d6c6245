package adaptertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// arrivals are the cases about requests that the adapter must pass to core unchanged, and about requests that it must
// reject.
type arrivals struct{ *kit }

// sameAsCore sends the same requests to core and to the adapter, and compares the responses.
func (k arrivals) sameAsCore() {
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
			if name != "Content-Security-Policy" && name != core.ReferenceHeader { // these differ for each request
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

// raw sends requests that no client library would send.
func (k arrivals) raw() {
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

// absoluteTarget sends two hosts: on every router, the host of the target counts (RFC 9112 section 3.2.2).
func (k arrivals) absoluteTarget() {
	res := k.raw1("GET http://target.test/auth/providers HTTP/1.1\r\nHost: header.test\r\n")
	if !strings.Contains(res.body, "http://target.test/auth/signin/plain") || strings.Contains(res.body, "header.test") {
		k.Errorf("answered %d: %s", res.status, res.body)
	}
}

func (k arrivals) rawStatus(head string) int { k.Helper(); return k.raw1(head).status }

func (k arrivals) bodies() {
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

// kept sends many concurrent requests with different values. Values of a request must not change when the router reuses
// its memory.
func (k arrivals) kept() {
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

// megabyte sends a header field of more than a mebibyte. No router accepts it, and the next request must be answered.
func (k arrivals) megabyte() {
	conn, err := net.Dial("tcp", k.addr)
	if err != nil {
		k.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	head := "GET /template HTTP/1.1\r\nHost: app.test\r\nAccept-Language: " + strings.Repeat("de,", 1<<19) + "\r\n\r\n"
	_, _ = io.WriteString(conn, head) // the server may have closed the connection
	if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
		_ = res.Body.Close()
		k.expect("status", res.StatusCode, http.StatusRequestHeaderFieldsTooLarge)
	}
	k.expect("the next request", k.get("/page").body, "nobody")
}
