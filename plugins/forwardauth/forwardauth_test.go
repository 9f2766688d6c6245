package forwardauth_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/plugins/forwardauth"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const home = "https://auth.example.com"

var ada = &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}

// onlyAda is a guard.
func onlyAda(_ context.Context, s *core.Session) error {
	if s.UserID != ada.ID {
		return core.ErrForbidden
	}
	return nil
}

// config returns a configuration with four protected sites.
func config() core.Config {
	return core.Config{
		URL: home, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "example.com"}},
		Getenv:         func(string) string { return "" },
		Logger:         slog.New(slog.DiscardHandler),
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return ada, nil },
		}},
	}
}

func plugin() *forwardauth.Plugin {
	return forwardauth.New(forwardauth.Options{Sites: []forwardauth.Site{
		{Origin: "https://wiki.example.com"},
		{Origin: "https://admin.example.com:8443", Require: []core.Guard{onlyAda}},
		{Origin: "https://bank.example.com", Require: []core.Guard{core.RecentSignIn(time.Minute)}},
		{Origin: "https://broken.example.com", Require: []core.Guard{
			func(context.Context, *core.Session) error { return errors.New("the database is away") },
		}},
	}})
}

func newAuth(t testing.TB, c core.Config) *core.Auth {
	t.Helper()
	auth, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// call sends a request to an action. fields are names and values of header fields; a name can occur twice.
func call(auth *core.Auth, peer, target string, cookies []*http.Cookie, fields ...string) *core.Response {
	r := &core.Request{
		Method: http.MethodGet, Target: target, Hosts: []string{"auth.example.com"}, Scheme: "http",
		RemoteAddr: peer, Header: http.Header{},
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	for _, c := range cookies {
		r.Header.Add("Cookie", c.Name+"="+c.Value)
	}
	return auth.Handle(context.Background(), r)
}

const (
	proxy = "127.0.0.1:4000"
	ask   = "/auth/forward-auth"
)

var (
	page   = []string{"Accept", "text/html"}
	script = []string{"Accept", "application/json"}
)

// about returns the fields that a proxy adds.
func about(origin, path string, more ...string) []string {
	scheme, host, _ := strings.Cut(origin, "://")
	return append([]string{
		"X-Forwarded-Proto", scheme, "X-Forwarded-Host", host, "X-Forwarded-Uri", path, "X-Forwarded-Method", "GET",
	}, more...)
}

// TestDecisions checks the response to each kind of client, for both kinds of proxies.
func TestDecisions(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, func() core.Config { c := config(); c.Plugins = []core.Plugin{plugin()}; return c }())
	back := func(page string) string { return home + ask + "/return?to=" + url.QueryEscape(page) }
	const wiki, admin = "https://wiki.example.com", "https://admin.example.com:8443"
	for _, row := range []struct {
		name   string
		user   *core.User
		about  []string
		client []string
		caddy  int // Caddy and Traefik
		nginx  int
		target string // Location
		htmx   string // Hx-Redirect
	}{
		{"a user", ada, about(wiki, "/a"), page, 204, 204, "", ""},
		{"a script of a user", ada, about(wiki, "/a"), script, 204, 204, "", ""},
		{"nobody", nil, about(wiki, "/a?b=c&d=%2F"), page, 303, 401, back(wiki + "/a?b=c&d=%2F"), ""},
		{"a script of nobody", nil, about(wiki, "/a"), script, 401, 401, "", ""},
		{"fetch", nil, about(wiki, "/a"), []string{"Accept", "*/*"}, 401, 401, "", ""},
		{
			"XMLHttpRequest", nil, about(wiki, "/a"), append(page[:2:2], "X-Requested-With", "XMLHttpRequest"), 401, 401, "", "",
		},
		{"HTMX", nil, about(wiki, "/a"), append(page[:2:2], "Hx-Request", "true"), 401, 401, "", back(wiki + "/a")},
		{"an administrator", ada, about(admin, "/"), page, 204, 204, "", ""},
		{"another user", &core.User{ID: "2"}, about(admin, "/"), page, 303, 401, back(admin + "/"), ""},
		{"a script of another user", &core.User{ID: "2"}, about(admin, "/"), script, 403, 403, "", ""},
		{"a guard that fails", ada, about("https://broken.example.com", "/"), page, 500, 500, "", ""},
		{"a script, and a guard that fails", ada, about("https://broken.example.com", "/"), script, 500, 500, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var cookies []*http.Cookie
			if row.user != nil {
				cookies = authtest.Cookies(t, auth, home, row.user)
			}
			for verb, status := range map[string]int{"": row.caddy, "/nginx": row.nginx} {
				r := call(auth, proxy, ask+verb, cookies, append(row.about, row.client...)...)
				if r.Status != status || r.Header.Get("Location") != row.target || r.Header.Get("Hx-Redirect") != row.htmx {
					t.Errorf("%q: %d %s %s", verb, r.Status, r.Header, r.Body)
				}
				if user := r.Header.Get("Remote-User"); (user != "") != (status == 204) || user != "" && user != row.user.ID {
					t.Errorf("%q: the user is %q", verb, user)
				}
				if len(r.Cookies) > 0 && row.user == nil {
					t.Errorf("%q: sets %v", verb, r.Cookies)
				}
			}
		})
	}
}

// TestRefusedQuestions: a request that does not name one protected site, or is not from the proxy, is refused, also
// with the session of a user. No header of a client makes a refusal a success: proxies pass a request on after any 2xx
// response.
func TestRefusedQuestions(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, func() core.Config { c := config(); c.Plugins = []core.Plugin{plugin()}; return c }())
	cookies := authtest.Cookies(t, auth, home, ada)
	const wiki = "https://wiki.example.com"
	for name, row := range map[string]struct {
		peer  string
		about []string
	}{
		"not from the proxy":   {"192.0.2.1:80", about(wiki, "/")},
		"no host":              {proxy, []string{"X-Forwarded-Proto", "https"}},
		"no scheme":            {proxy, []string{"X-Forwarded-Host", "wiki.example.com"}},
		"another host":         {proxy, about("https://evil.example.com", "/")},
		"a longer host":        {proxy, about("https://wiki.example.com.evil.test", "/")},
		"a trailing dot":       {proxy, about("https://wiki.example.com.", "/")},
		"user information":     {proxy, about("https://wiki.example.com@evil.test", "/")},
		"another scheme":       {proxy, about("http://wiki.example.com", "/")},
		"another port":         {proxy, about("https://wiki.example.com:8443", "/")},
		"no port":              {proxy, about("https://admin.example.com", "/")},
		"two hosts":            {proxy, about(wiki, "/", "X-Forwarded-Host", "admin.example.com:8443")},
		"a list of hosts":      {proxy, about("https://wiki.example.com, admin.example.com:8443", "/")},
		"a list of schemes":    {proxy, about("https,https://wiki.example.com", "/")},
		"two schemes":          {proxy, about(wiki, "/", "X-Forwarded-Proto", "https")},
		"the site itself":      {proxy, about(home, "/")},
		"an empty host":        {proxy, about("https://", "/")},
		"underscores for dash": {proxy, []string{"X_Forwarded_Host", "wiki.example.com", "X-Forwarded-Proto", "https"}},
	} {
		for _, client := range [][]string{page, script} {
			for _, verb := range []string{"", "/nginx"} {
				r := call(auth, row.peer, ask+verb, cookies, append(row.about, client...)...)
				if r.Status != http.StatusForbidden || r.Header.Get("Remote-User") != "" || r.Header.Get("Location") != "" {
					t.Errorf("%s: %d %s", name, r.Status, r.Header)
				}
			}
		}
	}
	for name, fields := range map[string][]string{
		"X-Auth-Return-Redirect":   {"X-Auth-Return-Redirect", "1"},
		"another method":           {"X-Http-Method-Override", "POST"},
		"another forwarded method": {"X-Forwarded-Method", "OPTIONS", "Access-Control-Request-Method", "POST"},
		"a cached copy":            {"If-None-Match", "*", "If-Modified-Since", "Fri, 27 Nov 2026 00:00:00 GMT"},
		"a range":                  {"Range", "bytes=0-0"},
		"an upgrade":               {"Upgrade", "websocket", "Connection", "Upgrade"},
		"fields of the user":       {"Remote-User", "1", "Remote_User", "1"},
		"another session":          {"Cookie", "__Secure-authjs.session-token=1", "Authorization", "Bearer 1"},
	} {
		for _, client := range [][]string{page, script, {"Accept", "*/*", "Hx-Request", "true"}} {
			for _, verb := range []string{"", "/nginx"} {
				for _, query := range []string{"", "?callbackUrl=/", "?a=%zz"} {
					r := call(auth, proxy, ask+verb+query, nil, append(about(wiki, "/", fields...), client...)...)
					if r.Status < 300 || r.Header.Get("Remote-User") != "" {
						t.Errorf("%s: %d %s", name, r.Status, r.Header)
					}
				}
			}
		}
	}
}

// TestReturnAddresses: whatever X-Forwarded-Uri is, the browser returns to the protected site.
func TestReturnAddresses(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, func() core.Config { c := config(); c.Plugins = []core.Plugin{plugin()}; return c }())
	const wiki = "https://wiki.example.com"
	for uri, want := range map[string]string{
		"/a/b?c=d#e":                      "/a/b?c=d#e",
		"/a%2Fb":                          "/a%2Fb",
		"/ä":                              "/%C3%A4",
		"//evil.test":                     "/",
		"///evil.test":                    "/",
		`/\evil.test`:                     "/",
		"/.//evil.test":                   "/",
		"/%2F/evil.test":                  "/%2F/evil.test",
		"https://evil.test/":              "/",
		"https://wiki.example.com/a":      "/a",
		"https://wiki.example.com@evil/a": "/",
		"https:evil.test":                 "/",
		"@evil.test":                      "/",
		".evil.test":                      "/",
		":8443/":                          "/",
		"javascript:alert(1)":             "/",
		"/a\r\nSet-Cookie: a=b":           "/",
		"":                                "/",
		"/" + strings.Repeat("a", 2000):   "/",
	} {
		r := call(auth, proxy, ask, nil, append(about(wiki, uri), page...)...)
		to, err := url.Parse(r.Header.Get("Location"))
		if err != nil || r.Status != 303 || !strings.HasPrefix(to.String(), home+"/") || to.Query().Get("to") != wiki+want {
			t.Errorf("%q: %d %s %v", uri, r.Status, to, err)
		}
	}
	r := call(auth, proxy, ask, nil, append(about(wiki, "/a", "X-Forwarded-Uri", "/b"), page...)...)
	if to, _ := url.Parse(r.Header.Get("Location")); to.Query().Get("to") != wiki+"/" {
		t.Errorf("two addresses: %s", to)
	}
}

// TestReturn: the browser returns to a page of a protected site only, and only if its user may see it.
func TestReturn(t *testing.T) {
	t.Parallel()
	auth := newAuth(t, func() core.Config { c := config(); c.Plugins = []core.Plugin{plugin()}; return c }())
	users := map[string][]*http.Cookie{"": nil}
	for _, user := range []*core.User{ada, {ID: "2", Name: "Bob"}} {
		users[user.Name] = authtest.Cookies(t, auth, home, user)
	}
	signIn := func(page string) string {
		return home + "/auth/signin?callbackUrl=" +
			url.QueryEscape(home+ask+"/return?to="+url.QueryEscape(page))
	}
	const wiki, admin = "https://wiki.example.com/a?b=c", "https://admin.example.com:8443/"
	for _, row := range []struct {
		user, to string
		status   int
		target   string
	}{
		{"", wiki, 303, signIn(wiki)},
		{"Ada", wiki, 303, wiki},
		{"Bob", wiki, 303, wiki},
		{"Ada", admin, 303, admin},
		{"Bob", admin, 403, ""},
		{"", "https://evil.test/", 400, ""},
		{"Ada", "https://evil.test/", 400, ""},
		{"Ada", "https://wiki.example.com.evil.test/", 400, ""},
		{"Ada", "https://wiki.example.com@evil.test/", 400, ""},
		{"Ada", "https://wiki.example.com:8443/", 400, ""},
		{"Ada", "http://wiki.example.com/", 400, ""},
		{"Ada", "https://admin.example.com/", 400, ""},
		{"Ada", "//wiki.example.com/", 400, ""},
		{"Ada", "/", 400, ""},
		{"Ada", "", 400, ""},
		{"Ada", "javascript:alert(1)", 400, ""},
		{"Ada", "https://broken.example.com/", 500, ""},
	} {
		r := call(auth, proxy, ask+"/return?to="+url.QueryEscape(row.to), users[row.user], page...)
		if got := r.Header.Get("Location"); r.Status != row.status || got != row.target {
			t.Errorf("%q to %q: %d %s", row.user, row.to, r.Status, got)
		}
	}
}

// TestStepUp: a guard for a recent sign-in sends a browser to the page that asks for it, and a script gets 401.
func TestStepUp(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := config()
	c.Plugins, c.Now = []core.Plugin{plugin()}, func() time.Time { return now }
	auth := newAuth(t, c)
	cookies := authtest.Cookies(t, auth, home, ada)
	const bank = "https://bank.example.com"
	if r := call(auth, proxy, ask, cookies, append(about(bank, "/"), page...)...); r.Status != 204 {
		t.Fatalf("a recent sign-in: %d", r.Status)
	}
	now = now.Add(2 * time.Minute)
	r := call(auth, proxy, ask, cookies, append(about(bank, "/"), script...)...)
	if r.Status != 401 || !strings.Contains(string(r.Body), `"reauth_required"`) {
		t.Errorf("a script: %d %s", r.Status, r.Body)
	}
	r = call(auth, proxy, ask, cookies, append(about(bank, "/"), page...)...)
	to := strings.TrimPrefix(r.Header.Get("Location"), home)
	if r.Status != 303 || !strings.HasPrefix(to, ask+"/return?") {
		t.Fatalf("a page: %d %s", r.Status, to)
	}
	r = call(auth, proxy, to, cookies, page...)
	if got := r.Header.Get("Location"); r.Status != 303 || !strings.HasPrefix(got, home+"/auth/reauth?") {
		t.Errorf("the page that returns: %d %s", r.Status, got)
	}
}

// TestHeaderValues: no value can add a header field or be mistaken for another one.
func TestHeaderValues(t *testing.T) {
	t.Parallel()
	var value string
	var failure error
	headers := []forwardauth.Header{{Name: "remote-thing", Value: func(context.Context, *core.Session) (string, error) {
		return value, failure
	}}}
	c := config()
	c.Plugins = []core.Plugin{forwardauth.New(forwardauth.Options{
		Sites: []forwardauth.Site{{Origin: "https://wiki.example.com"}}, Headers: headers,
	})}
	auth := newAuth(t, c)
	cookies := authtest.Cookies(t, auth, home, ada)
	get := func() *core.Response {
		return call(auth, proxy, ask, cookies, append(about("https://wiki.example.com", "/"), script...)...)
	}
	for text, want := range map[string]string{
		"Ada Lovelace":        "Ada Lovelace",
		"":                    "",
		"a\r\nRemote-User: 2": "a%0D%0ARemote-User: 2",
		"100%":                "100%25",
		"Zoë":                 "Zo%C3%AB",
		"\x00\x7f\t":          "%00%7F%09",
		" a ":                 "%20a%20",
		"a,b; c=\"d\"":        "a,b; c=\"d\"",
		"\xff":                "%FF",
	} {
		value = text
		r := get()
		got := r.Header["Remote-Thing"]
		if r.Status != 204 || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %d %q", text, r.Status, got)
		}
		if back, err := url.PathUnescape(want); err != nil || back != text {
			t.Errorf("%q is decoded as %q, %v", want, back, err)
		}
	}
	value = strings.Repeat("a", 1025)
	if r := get(); r.Status != 403 {
		t.Errorf("a long value: %d", r.Status)
	}
	value, failure = "", errors.New("no value")
	if r := get(); r.Status != 500 {
		t.Errorf("no value: %d", r.Status)
	}
}

// TestDefaultHeaders checks the default header fields, also of a long name.
func TestDefaultHeaders(t *testing.T) {
	t.Parallel()
	c := config()
	c.Plugins = []core.Plugin{plugin()}
	auth := newAuth(t, c)
	user := &core.User{ID: "1", Name: strings.Repeat("界", 200), Email: "ada@example.com"}
	cookies := authtest.Cookies(t, auth, home, user)
	r := call(auth, proxy, ask, cookies, append(about("https://wiki.example.com", "/"), script...)...)
	for name, want := range map[string]string{
		"Remote-User": "1", "Remote-Name": strings.Repeat("%E7%95%8C", 80), "Remote-Email": "ada@example.com",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// support is a plugin in which every user may impersonate the others.
type support struct{}

func (support) Attach(h *core.PluginHost) error {
	h.AllowImpersonation("support/end", func(context.Context, *core.Session, string) error { return nil })
	h.AddAction(core.Action{
		Method: "POST", Name: "support",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.Redirect("/"), c.Impersonate(ctx, c.Field("user"))
		},
	})
	return nil
}

// TestActor checks the header field of an impersonation, and a site that refuses it.
func TestActor(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		store := memory.New()
		for _, u := range []*core.User{ada, {ID: "root"}} {
			if _, err := store.CreateUser(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		c := config()
		c.Store, c.Session.Strategy, c.CSRF = store, strategy, core.InsecureSkipCSRFCheck()
		c.Plugins = []core.Plugin{support{}, forwardauth.New(forwardauth.Options{
			Headers: []forwardauth.Header{forwardauth.UserID(), forwardauth.UserActor()},
			Sites: []forwardauth.Site{
				{Origin: "https://wiki.example.com"},
				{Origin: "https://bank.example.com", Require: []core.Guard{core.NotImpersonated()}},
			},
		})}
		auth := newAuth(t, c)
		check := func(cookies []*http.Cookie, user, actor string, bank int) {
			t.Helper()
			r := call(auth, proxy, ask, cookies, append(about("https://wiki.example.com", "/"), script...)...)
			if r.Header.Get("Remote-User") != user || len(r.Header["Remote-Actor"]) != 1 ||
				r.Header.Get("Remote-Actor") != actor {
				t.Errorf("%s: %d %s", strategy, r.Status, r.Header)
			}
			r = call(auth, proxy, ask, cookies, append(about("https://bank.example.com", "/"), script...)...)
			if r.Status != bank {
				t.Errorf("%s: the status of the bank is %d", strategy, r.Status)
			}
		}
		own := authtest.Cookies(t, auth, home, &core.User{ID: "root"})
		check(own, "root", "", 204)
		r := auth.Handle(t.Context(), &core.Request{
			Method: http.MethodPost, Target: "/auth/support", Hosts: []string{"auth.example.com"}, Scheme: "https",
			RemoteAddr: proxy, Body: strings.NewReader("user=1"), Header: http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {home},
				"Cookie": {own[0].Name + "=" + own[0].Value},
			},
		})
		var acting []*http.Cookie
		for _, set := range r.Cookies {
			cookie, err := http.ParseSetCookie(set.String())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(cookie.Name, "session-token") {
				acting = append(acting, cookie)
			}
			if strings.Contains(cookie.Name, "session-token") != (cookie.Domain == "example.com") {
				t.Errorf("%s: the cookie is %v", strategy, cookie)
			}
		}
		check(acting, "1", "root", 403)
	}
}

// TestStrategies: an ended session is refused at once under both strategies, by a process that did not end it.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		store := memory.New()
		user, err := store.CreateUser(t.Context(), &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		var processes [2]*core.Auth
		now := time.Now()
		for i := range processes {
			c := config()
			c.Plugins, c.Store, c.Session.Strategy = []core.Plugin{plugin()}, store, strategy
			if strategy == core.StrategyJWT {
				c.Session.Revocation.On = core.True
			}
			c.Now = func() time.Time { return now }
			processes[i] = newAuth(t, c)
		}
		cookies := authtest.Cookies(t, processes[0], home, user)
		question := append(about("https://wiki.example.com", "/"), script...)
		if r := call(processes[1], proxy, ask, cookies, question...); r.Status != 204 || r.Header.Get("Remote-User") != "1" {
			t.Fatalf("%s: %d %s", strategy, r.Status, r.Header)
		}
		if _, err := processes[0].EndSessions(t.Context(), user.ID, core.EndOptions{}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute) // the other process reads the list of revoked sessions again
		if r := call(processes[1], proxy, ask, cookies, question...); r.Status != 401 {
			t.Errorf("%s: an ended session: %d", strategy, r.Status)
		}
	}
}

// TestConfiguration checks the configuration errors.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	header := func(names ...string) (o forwardauth.Options) {
		o.Sites = []forwardauth.Site{{Origin: "https://wiki.example.com"}}
		for _, name := range names {
			o.Headers = append(o.Headers, forwardauth.Header{Name: name, Value: forwardauth.UserID().Value})
		}
		return o
	}
	site := func(origins ...string) (o forwardauth.Options) {
		for _, origin := range origins {
			o.Sites = append(o.Sites, forwardauth.Site{Origin: origin})
		}
		return o
	}
	unchanged := func(*core.Config) {}
	for name, row := range map[string]struct {
		options forwardauth.Options
		change  func(*core.Config)
		want    string
	}{
		"valid":            {site("https://WIKI.example.com:443", "https://example.com"), unchanged, ""},
		"no sites":         {site(), unchanged, "Sites is empty"},
		"a path":           {site("https://wiki.example.com/a"), unchanged, "without a path"},
		"no URL":           {site("wiki.example.com"), unchanged, "without a path"},
		"twice":            {site("https://a.example.com", "https://A.example.com:443"), unchanged, "twice"},
		"another scheme":   {site("http://wiki.example.com"), unchanged, "the same scheme"},
		"another domain":   {site("https://wiki.example.org"), unchanged, "SessionToken.Domain"},
		"a similar domain": {site("https://wikiexample.com"), unchanged, "SessionToken.Domain"},
		"no domain": {site("https://wiki.example.com"), func(c *core.Config) {
			c.Cookies.SessionToken.Domain = ""
		}, "SessionToken.Domain"},
		"the same host": {site(home, home+":8443"), func(c *core.Config) { c.Cookies.SessionToken.Domain = "" }, ""},
		"no origin":     {site("https://wiki.example.com"), func(c *core.Config) { c.URL = "" }, "set URL"},
		"no proxies":    {site("https://wiki.example.com"), func(c *core.Config) { c.TrustedProxies = nil }, "Proxies"},
		"an underscore": {header("Remote_User"), unchanged, "letters, digits and hyphens"},
		"no name":       {header(""), unchanged, "letters, digits and hyphens"},
		"a line break":  {header("Remote-User\r\nA"), unchanged, "letters, digits and hyphens"},
		"a cookie":      {header("set-cookie"), unchanged, "another meaning"},
		"a length":      {header("content-length"), unchanged, "another meaning"},
		"a name twice":  {header("Remote-User", "remote-user"), unchanged, "twice"},
		"no value": {forwardauth.Options{
			Sites: site(home).Sites, Headers: []forwardauth.Header{{Name: "A"}},
		}, unchanged, "Value is nil"},
	} {
		c := config()
		c.Plugins = []core.Plugin{forwardauth.New(row.options)}
		row.change(&c)
		_, err := core.New(c)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMixedCredentials: of two credentials that contradict each other, none is selected, and no size of a header makes
// a refusal a success.
func TestMixedCredentials(t *testing.T) {
	t.Parallel()
	c := config()
	c.Plugins, c.Session.Bearer = []core.Plugin{plugin()}, true
	auth := newAuth(t, c)
	cookie := authtest.Cookies(t, auth, home, ada)[0]
	sent, large := cookie.Name+"="+cookie.Value, strings.Repeat("a", 1<<20)
	for name, fields := range map[string][]string{
		"a wrong token and a cookie":         {"Authorization", "Bearer x", "Cookie", sent},
		"two tokens":                         {"Authorization", "Bearer " + cookie.Value, "Authorization", "Bearer x"},
		"a large token and a cookie":         {"Authorization", "Bearer " + large, "Cookie", sent},
		"a large cookie":                     {"Cookie", cookie.Name + "=" + large},
		"many parts of a cookie":             {"Cookie", strings.Repeat(cookie.Name+".1=a; ", 1<<14)},
		"the token in a header of a gateway": {"Grpc-Metadata-Authorization", "Bearer " + cookie.Value},
		"the token in a header of a proxy":   {"X-Forwarded-Authorization", "Bearer " + cookie.Value},
	} {
		for _, verb := range []string{"", "/nginx"} {
			r := call(auth, proxy, ask+verb, nil, append(about("https://wiki.example.com", "/", fields...), script...)...)
			if r.Status < 400 || r.Status >= 500 || r.Header.Get("Remote-User") != "" {
				t.Errorf("%s: %d %s", name, r.Status, r.Header)
			}
		}
	}
	if r := call(auth, proxy, ask, nil, about("https://wiki.example.com", "/", "Cookie", sent)...); r.Status != 204 {
		t.Errorf("the cookie alone: %d", r.Status)
	}
}

// TestConcurrentDecisions asks about different users and sites at the same time.
func TestConcurrentDecisions(t *testing.T) {
	t.Parallel()
	c := config()
	c.Plugins = []core.Plugin{plugin()}
	auth := newAuth(t, c)
	bob := &core.User{ID: "2", Name: "Bob"}
	users := map[*core.User][]*http.Cookie{
		nil: nil, ada: authtest.Cookies(t, auth, home, ada), bob: authtest.Cookies(t, auth, home, bob),
	}
	var all sync.WaitGroup
	for user, cookies := range users {
		for i := range 20 {
			origin, allowed := "https://wiki.example.com", user != nil
			if i%2 == 0 {
				origin, allowed = "https://admin.example.com:8443", user == ada
			}
			all.Go(func() {
				r := call(auth, proxy, ask, cookies, about(origin, "/", script...)...)
				if got := r.Header.Get("Remote-User"); (r.Status == 204) != allowed || allowed && got != user.ID {
					t.Errorf("%v at %s: %d for %q", user, origin, r.Status, got)
				}
			})
		}
	}
	all.Wait()
}

// BenchmarkDecision compares the decision about a user's request with a session check of the same Auth, which the
// decision contains.
func BenchmarkDecision(b *testing.B) {
	c := config()
	c.Plugins = []core.Plugin{plugin()}
	auth := newAuth(b, c)
	cookies := authtest.Cookies(b, auth, home, ada)
	fields := about("https://wiki.example.com", "/a", page...)
	for name, row := range map[string]struct {
		target string
		status int
	}{"session": {"/auth/session", 200}, "decision": {ask, 204}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := call(auth, proxy, row.target, cookies, fields...); r.Status != row.status {
					b.Fatal(r.Status)
				}
			}
		})
	}
}
