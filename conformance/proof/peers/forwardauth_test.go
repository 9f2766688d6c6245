package peers_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/forwardauth"
)

// wiki is an application without a sign-in. Like CGI, it makes no difference between hyphens and underscores.
type wiki struct {
	*httptest.Server
	mu   sync.Mutex
	seen []map[string][]string
	body string
}

func newWiki(t *testing.T) *wiki {
	t.Helper()
	w := &wiki{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fields := map[string][]string{":path": {r.RequestURI}}
		for name, values := range r.Header {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			fields[name] = append(fields[name], values...)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen, w.body = append(w.seen, fields), string(body)
		_, _ = io.WriteString(rw, "page of the wiki")
	}))
	t.Cleanup(w.Close)
	return w
}

// took returns the requests since the last call.
func (w *wiki) took() []map[string][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

// forwardSite serves the sign-in page.
func forwardSite(t *testing.T) (address string) {
	t.Helper()
	auth, err := core.New(core.Config{
		URL: "https://auth.example.com", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "example.com"}},
		Getenv:         func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: "1", Name: "Zoë"}, nil
			},
		}},
		Plugins: []core.Plugin{forwardauth.New(forwardauth.Options{
			Sites: []forwardauth.Site{{Origin: "https://wiki.example.com"}},
			Headers: []forwardauth.Header{
				forwardauth.UserID(), forwardauth.UserName(), forwardauth.UserEmail(), forwardauth.UserActor(),
			},
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	application := httptest.NewServer(mux)
	t.Cleanup(application.Close)
	return strings.TrimPrefix(application.URL, "http://")
}

// TestForwardAuth starts nginx and Caddy with the configurations of the page on forward authentication. A browser signs
// in on the way to a page, and attackers try to reach the application or to change the user that it sees.
func TestForwardAuth(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, site, application string) (address string){
		"nginx": func(t *testing.T, site, application string) string {
			t.Helper()
			cert, key := certificate(t)
			address := free(t)
			startNginx(t, address, strings.NewReplacer(
				"listen 443", "listen "+address, "/etc/ssl/example.com.pem", cert, "/etc/ssl/example.com.key", key,
				"127.0.0.1:3000", site, "127.0.0.1:4000", application,
			).Replace(shown(t, "forward-auth.md", "(?s)```nginx\n(.*?)```")))
			return address
		},
		"Caddy": func(t *testing.T, site, application string) string {
			t.Helper()
			address, _ := startCaddy(t, strings.NewReplacer("127.0.0.1:3000", site, "127.0.0.1:4000", application).Replace(
				shown(t, "forward-auth.md", "(?s)```caddy\n(.*?)```")), "wiki.example.com", "auth.example.com")
			return address
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWiki(t)
			address := start(t, forwardSite(t), strings.TrimPrefix(w.URL, "http://"))
			session := signInOnTheWay(t, address, w)
			attackProxy(t, address, w, session)
		})
	}
}

// signInOnTheWay opens a page of the application, signs in and returns to it. It returns the session cookie.
func signInOnTheWay(t *testing.T, address string, w *wiki) (session string) {
	t.Helper()
	client := browser(t, address)
	do := func(method, target, accept, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		if body != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		return answer
	}
	const page = "https://wiki.example.com/a%2Fb?c=d&e=%20;f"
	answer := do("GET", page, "application/json", "")
	if answer.StatusCode != 401 || answer.Header.Get("Www-Authenticate") == "" {
		t.Errorf("an API client without a session: %s %s", answer.Status, answer.Header)
	}
	answer = do("GET", page, "text/html", "")
	back := answer.Header.Get("Location")
	if answer.StatusCode != 303 || back != "https://auth.example.com/auth/forward-auth/return?to="+url.QueryEscape(page) {
		t.Fatalf("a browser without a session: %s to %s", answer.Status, back)
	}
	signIn := do("GET", back, "text/html", "").Header.Get("Location")
	if answer = do("GET", signIn, "text/html", ""); answer.StatusCode != 200 {
		t.Fatalf("the sign-in page %s: %s", signIn, answer.Status)
	}
	at, err := url.Parse(signIn)
	if err != nil {
		t.Fatal(err)
	}
	var csrf struct{ CSRFToken string }
	read(t, client, "https://auth.example.com/auth/csrf", &csrf)
	form := url.Values{"csrfToken": {csrf.CSRFToken}, "callbackUrl": {at.Query().Get("callbackUrl")}}
	answer = do("POST", "https://auth.example.com/auth/callback/credentials", "text/html", form.Encode())
	if to := answer.Header.Get("Location"); to != back {
		t.Fatalf("signed in: %s to %s, want %s", answer.Status, to, back)
	}
	answer = do("GET", back, "text/html", "")
	if to := answer.Header.Get("Location"); to != page {
		t.Fatalf("returned: %s to %s, want %s", answer.Status, to, page)
	}
	if seen := w.took(); len(seen) > 0 {
		t.Fatalf("the application got requests without a session: %v", seen)
	}
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		body := ""
		if method != "GET" {
			body = "a=b"
		}
		answer = do(method, page, "application/json", body)
		seen := w.took()
		if answer.StatusCode != 200 || len(seen) != 1 || w.body != body {
			t.Fatalf("%s with a session: %s, %d requests, %q", method, answer.Status, len(seen), w.body)
		}
		got := fmt.Sprint(seen[0]["remote-user"], seen[0]["remote-name"], seen[0]["remote-email"], seen[0][":path"])
		if got != "[1] [Zo%C3%AB] [] [/a%2Fb?c=d&e=%20;f]" {
			t.Errorf("the application sees %s", got)
		}
	}
	// The query is not a question to Latchkey, which would refuse this one.
	r, _ := http.NewRequestWithContext(t.Context(), "GET", "https://wiki.example.com/", nil)
	r.URL.RawQuery = "callbackUrl=javascript:1&callbackUrl=2&a=%zz&lang=de"
	answer, err = client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if seen := w.took(); answer.StatusCode != 200 || len(seen) != 1 {
		t.Errorf("an unusual query: %s, %d requests", answer.Status, len(seen))
	}
	for _, c := range client.Jar.Cookies(at) {
		if strings.Contains(c.Name, "session-token") {
			session = c.Name + "=" + c.Value
		}
	}
	return session
}

// proxyAttacks are requests, without their first header fields. Each one is sent without a session, where it must not
// reach the application, and with a session, where the application must see no other user.
var proxyAttacks = map[string]string{
	"a user":                      "GET / HTTP/1.1\r\nRemote-User: admin\r\n",
	"a user in lower case":        "GET / HTTP/1.1\r\nremote-user: admin\r\n",
	"a user with an underscore":   "GET / HTTP/1.1\r\nRemote_User: admin\r\n",
	"a user in upper case":        "GET / HTTP/1.1\r\nREMOTE_USER: admin\r\n",
	"a user twice":                "GET / HTTP/1.1\r\nRemote-User: admin\r\nRemote-User: admin\r\n",
	"three spellings":             "GET / HTTP/1.1\r\nRemote_User: admin\r\nremote_user: root\r\nRemote-User: 2\r\n",
	"an email address":            "GET / HTTP/1.1\r\nRemote-Email: admin@example.com\r\n",
	"an email with an underscore": "GET / HTTP/1.1\r\nRemote_Email: admin@example.com\r\n",
	"a name":                      "GET / HTTP/1.1\r\nRemote-Name: admin\r\n",
	"an actor":                    "GET / HTTP/1.1\r\nRemote-Actor: admin\r\nRemote_Actor: admin\r\n",
	"a space before the colon":    "GET / HTTP/1.1\r\nRemote-User : admin\r\n",
	"a folded line":               "GET / HTTP/1.1\r\nX-A: b\r\n Remote-User: admin\r\n",
	"a bare line feed":            "GET / HTTP/1.1\r\nX-A: b\nRemote-User: admin\r\n",
	"a bare carriage return":      "GET / HTTP/1.1\r\nX-A: b\rRemote-User: admin\r\n",
	"hop-by-hop":                  "GET / HTTP/1.1\r\nConnection: keep-alive, Remote-User\r\nRemote-User: admin\r\n",
	"hop-by-hop questions":        "GET / HTTP/1.1\r\nConnection: keep-alive, X-Forwarded-Host, X-Forwarded-Uri\r\n",
	"hop-by-hop cookies":          "GET / HTTP/1.1\r\nConnection: keep-alive, Cookie\r\nRemote-User: admin\r\n",
	"a trailer": "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: Remote-User\r\n\r\n" +
		"0\r\nRemote-User: admin\r\n",
	"two lengths": "POST / HTTP/1.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n",
	"a hidden request": "POST / HTTP/1.1\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"0\r\n\r\nGET / HTTP/1.1\r\nRemote-User: admin\r\n",
	"another forwarded host":   "GET / HTTP/1.1\r\nX-Forwarded-Host: evil.test\r\nX-Forwarded-Proto: http\r\n",
	"another forwarded path":   "GET / HTTP/1.1\r\nX-Forwarded-Uri: //evil.test\r\nX-Forwarded-Method: OPTIONS\r\n",
	"headers for other paths":  "GET / HTTP/1.1\r\nX-Original-URL: /public\r\nX-Rewrite-URL: /public\r\n",
	"the standard header":      "GET / HTTP/1.1\r\nForwarded: for=127.0.0.1;host=evil.test;proto=https\r\n",
	"an Auth.js client":        "GET / HTTP/1.1\r\nX-Auth-Return-Redirect: 1\r\n",
	"a method override":        "POST / HTTP/1.1\r\nX-HTTP-Method-Override: OPTIONS\r\nContent-Length: 0\r\n",
	"a preflight":              "OPTIONS / HTTP/1.1\r\nOrigin: https://a.test\r\nAccess-Control-Request-Method: PUT\r\n",
	"TRACE":                    "TRACE / HTTP/1.1\r\n",
	"HEAD":                     "HEAD / HTTP/1.1\r\n",
	"an invented method":       "GETT / HTTP/1.1\r\n",
	"two slashes":              "GET //evil.test/ HTTP/1.1\r\n",
	"encoded slashes":          "GET /%2F%2Fevil.test/..%2f HTTP/1.1\r\n",
	"backslashes":              "GET /\\evil.test HTTP/1.1\r\n",
	"an absolute target":       "GET https://evil.test/a HTTP/1.1\r\n",
	"an absolute target, ours": "GET https://wiki.example.com/a HTTP/1.1\r\n",
	"the internal location":    "GET /.forward-auth HTTP/1.1\r\n",
	"dots":                     "GET /a/../.forward-auth HTTP/1.1\r\n",
	"a query for the question": "GET /?to=https://evil.test&callbackUrl=https://evil.test&a=%zz HTTP/1.1\r\n",
	"a forged session": "GET / HTTP/1.1\r\nCookie: __Secure-authjs.session-token=a\r\n" +
		"Authorization: Bearer a\r\n",
	"an upgrade": "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
}

// attackProxy sends the attacks as raw bytes, because clients correct some of them.
func attackProxy(t *testing.T, address string, w *wiki, session string) {
	t.Helper()
	for name, head := range proxyAttacks {
		for _, accept := range []string{"text/html", "*/*"} {
			line, rest, _ := strings.Cut(head, "\r\n")
			attack := line + "\r\nHost: wiki.example.com\r\nAccept: " + accept + "\r\n"
			answer := sendRaw(t, address, attack+rest+"\r\n")
			if seen := w.took(); len(seen) > 0 {
				t.Errorf("%s: without a session the application gets %v", name, seen)
			}
			if answer != nil {
				checkRefusal(t, name, answer)
			}
			sendRaw(t, address, attack+"Cookie: "+session+"\r\n"+rest+"\r\n")
			for _, fields := range w.took() {
				for field, want := range map[string]string{
					"remote-user": "1", "remote-name": "Zo%C3%AB", "remote-email": "", "remote-actor": "",
				} {
					for _, got := range fields[field] {
						if got != want {
							t.Errorf("%s: the application sees %s %q", name, field, got)
						}
					}
				}
			}
		}
	}
	for _, host := range []string{"WIKI.example.com", "wiki.example.com:443", "wiki.example.com.", "evil.test", "a b"} {
		answer := sendRaw(t, address, "GET / HTTP/1.1\r\nHost: "+host+"\r\nRemote-User: admin\r\nAccept: text/html\r\n\r\n")
		if seen := w.took(); len(seen) > 0 {
			t.Errorf("host %q: without a session the application gets %v", host, seen)
		}
		if answer != nil {
			checkRefusal(t, "host "+host, answer)
		}
	}
}

// checkRefusal checks that a response is no success, and that a redirect goes to the sign-in page, which
// returns to the application.
func checkRefusal(t *testing.T, name string, answer *http.Response) {
	t.Helper()
	body, _ := io.ReadAll(answer.Body)
	if strings.Contains(string(body), "page of the wiki") {
		t.Errorf("%s: %s with the page", name, answer.Status)
	}
	to, err := url.Parse(answer.Header.Get("Location"))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	page := to.Query().Get("to")
	if to.String() != "" && (to.Scheme != "https" || to.Host != "auth.example.com" ||
		!strings.HasPrefix(page, "https://wiki.example.com/")) {
		t.Errorf("%s: redirects to %s", name, to)
	}
}

// sendRaw sends a request over TLS and returns the response. It is nil if the proxy closes the connection.
func sendRaw(t *testing.T, address, request string) *http.Response {
	t.Helper()
	config := &tls.Config{ServerName: "wiki.example.com", InsecureSkipVerify: true} // the certificate is self-signed
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // some attacks leave the proxy waiting for more
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil
	}
	return answer
}
