package adaptertest

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const secret = "a-secret-of-more-than-thirty-two-bytes"

// kit is an application under test and a browser, with methods for requests and comparisons. The cases are methods of
// types that embed it: [arrivals], [visits] and [bearing], and [asking] for the rows of the table.
type kit struct {
	*testing.T
	addr  string
	auth  *core.Auth
	reads *int
	http  *http.Client

	office        *core.Auth
	data          *core.SessionData[staff]
	later         chan func() (*core.Session, error)
	holding, goOn chan struct{}
}

func newKit(t *testing.T, start Start, change func(*core.Config), before ...Step) *kit {
	t.Helper()
	k := &kit{
		T: t, reads: new(int), data: &core.SessionData[staff]{Load: roles}, http: newClient(t),
		later: make(chan func() (*core.Session, error), 1000), holding: make(chan struct{}), goOn: make(chan struct{}),
	}
	config := k.config()
	if change != nil {
		change(&config)
	}
	var err error
	if k.auth, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	config.Audience = "office"
	if k.office, err = core.New(config); err != nil {
		t.Fatal(err)
	}
	app := &application{
		auth: k.auth, office: k.office, data: k.data,
		later: func(read func() (*core.Session, error)) { k.later <- read },
		hold:  func() { k.holding <- struct{}{}; <-k.goOn },
	}
	k.addr = start(t, Site{Auth: k.auth, Before: before, Routes: app.routes()})
	return k
}

// config returns the configuration of the application: a password, a provider, data, and a counter for session reads.
func (k *kit) config() core.Config {
	var mu sync.Mutex
	return core.Config{
		TrustHost: core.True, Secrets: []core.Secret{secret}, Data: k.data,
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{
			&core.CredentialsProvider{Authorize: authorize},
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
			*k.reads++
			return nil
		}},
	}
}

// authorize accepts one password.
func authorize(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
	switch form["password"] {
	case "right":
	case "locked":
		return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "locked"}
	default:
		return nil, nil
	}
	u := &core.User{ID: form["name"], Name: form["name"], Email: "ada@example.com"}
	return u, u.Extra.Set("pad", form["pad"])
}

// newClient returns a browser without cookies.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{
		Jar: jar, Timeout: time.Minute, // the machine may be busy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a response.
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

// raw1 sends a raw request.
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

// take stores a cookie in the client.
func (k *kit) take(line string) {
	k.Helper()
	c, err := http.ParseSetCookie(line)
	if err != nil {
		k.Fatal(err)
	}
	k.http.Jar.SetCookies(k.url(), []*http.Cookie{c})
}

func (k *kit) expect(what string, got, want any) {
	k.Helper()
	if got != want {
		k.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// url returns the URL of the application.
func (k *kit) url() *url.URL { return &url.URL{Scheme: "http", Host: k.addr, Path: "/"} }
