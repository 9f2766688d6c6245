package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func TestFresh(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy)
			b := signedIn(t, a, "1")
			passes := func() bool {
				s, refusal := a.Visit(t.Context(), b.request("GET", "/payout", "", "")).Require(core.RecentSignIn(10 * time.Minute))
				return s != nil && refusal == nil
			}
			if !passes() {
				t.Error("refused after a sign-in")
			}
			a.clock.Advance(10 * time.Minute)
			if !passes() {
				t.Error("refused at the end of the time")
			}
			a.clock.Advance(time.Second)
			if passes() {
				t.Error("passes with an old sign-in")
			}
			b.signIn("1")
			if !passes() {
				t.Error("refused after another sign-in")
			}
		})
	}
	guard := core.RecentSignIn(time.Hour)
	for name, s := range map[string]*core.Session{
		"without facts": {UserID: "1"},
		"long ago":      {UserID: "1", AuthTime: time.Now().Add(-2 * time.Hour)},
	} {
		var again *core.StepUp
		if err := guard(t.Context(), s); !errors.As(err, &again) || again.MaxAge != time.Hour {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := guard(t.Context(), &core.Session{AuthTime: time.Now()}); err != nil {
		t.Error(err)
	}
}

// TestGuardResponses checks the responses to browsers and API clients if a guard returns an error.
func TestGuardResponses(t *testing.T) {
	t.Parallel()
	stepUp := func(context.Context, *core.Session) error { return &core.StepUp{MaxAge: 10 * time.Minute} }
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	broken := func(context.Context, *core.Session) error { return errors.New("no answer") }
	panics := func(context.Context, *core.Session) error { panic("at the disco") }
	passes := func(_ context.Context, s *core.Session) error {
		if s.UserID != "1" {
			return errors.New("another session")
		}
		return nil
	}
	for name, row := range map[string]struct {
		guards     []core.Guard
		html, json int
		code       string
	}{
		"none":            {nil, 0, 0, ""},
		"one that passes": {[]core.Guard{passes, passes}, 0, 0, ""},
		"step up":         {[]core.Guard{passes, stepUp}, 303, 401, "reauth_required"},
		"forbidden":       {[]core.Guard{passes, never}, 403, 403, "forbidden"},
		"fails":           {[]core.Guard{broken}, 500, 500, ""},
		"panics":          {[]core.Guard{panics}, 500, 500, ""},
		"the first":       {[]core.Guard{never, stepUp, panics}, 403, 403, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, core.StrategyJWT)
			b := signedIn(t, a, "1")
			for accept, status := range map[string]int{"text/html": row.html, "application/json": row.json} {
				b.header.Set("Accept", accept)
				session, r := a.Visit(t.Context(), b.request("GET", "/payout?to=2", "", "")).Require(row.guards...)
				if status == 0 {
					if r != nil || session == nil {
						t.Errorf("%s: refused: %+v", accept, r)
					}
					continue
				}
				if r == nil || session != nil || r.Status != status {
					t.Fatalf("%s: %+v, %+v", accept, session, r)
				}
				checkObjection(t, r, accept, row.code)
			}
		})
	}
}

func checkObjection(t *testing.T, r *core.Response, accept, code string) {
	t.Helper()
	h := r.Header
	if !strings.Contains(h.Get("Cache-Control"), "no-store") || !strings.Contains(h.Get("Vary"), "Cookie") {
		t.Errorf("%s: caches may keep it: %v", accept, h)
	}
	if r.Status == http.StatusSeeOther && h.Get("Location") !=
		"https://app.test/auth/reauth?callbackUrl=%2Fpayout%3Fto%3D2" {
		t.Errorf("%s: redirects to %q", accept, h.Get("Location"))
	}
	if code == "" || accept == "text/html" {
		return
	}
	var problem struct {
		Status int
		Code   string
		MaxAge int
	}
	if err := json.Unmarshal(r.Body, &problem); err != nil || problem.Code != code || problem.Status != r.Status ||
		h.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s: %v %s", accept, h, r.Body)
	}
	const challenge = `Bearer error="insufficient_user_authentication", error_description="Sign in again first.", ` +
		`max_age="600"`
	if asks := h.Get("Www-Authenticate"); r.Status == 401 && (asks != challenge || problem.MaxAge != 600) {
		t.Errorf("%s: challenge %q, %s", accept, asks, r.Body)
	}
}

// TestGuardsRunForSignedInUsers checks that no guard is called without a signed-in user.
func TestGuardsRunForSignedInUsers(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT)
	asked := false
	_, r := a.Visit(t.Context(), visit(t, a).request("GET", "/payout", "", "")).Require(
		func(context.Context, *core.Session) error { asked = true; return nil })
	if asked || r.Status != 401 || !strings.Contains(string(r.Body), `"code":"session_required"`) {
		t.Errorf("asked %t, %d %s", asked, r.Status, r.Body)
	}
}

// TestGuardSpeaksTheClientsLanguage requests a protected page without a session, with the headers of known clients.
func TestGuardSpeaksTheClientsLanguage(t *testing.T) {
	t.Parallel()
	const signIn = "https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2Fprivate"
	const chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8," +
		"application/signed-exchange;v=b3;q=0.7"
	for _, row := range []struct {
		name, method string
		header       http.Header
		status       int
		htmx         string
	}{
		{"Chrome", "GET", http.Header{"Accept": {chrome}}, 303, ""},
		{"Firefox", "GET",
			http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}}, 303, ""},
		{"Turbo", "GET", http.Header{"Accept": {"text/vnd.turbo-stream.html, text/html, application/xhtml+xml"}}, 303, ""},
		{"lynx", "GET", http.Header{"Accept": {"text/html, text/plain, text/sgml, */*;q=0.01"}}, 303, ""},
		{"HEAD as GET", "HEAD", http.Header{"Accept": {chrome}}, 303, ""},
		{"an upper-case type", "GET", http.Header{"Accept": {"TEXT/HTML"}}, 303, ""},
		{"any text", "GET", http.Header{"Accept": {"text/*"}}, 303, ""},
		{"XHTML alone", "GET", http.Header{"Accept": {"application/xhtml+xml"}}, 303, ""},
		{"HTML in a second line", "GET", http.Header{"Accept": {"*/*", "text/html"}}, 303, ""},
		{"HTML with a parameter", "GET", http.Header{"Accept": {"text/html;level=1;q=0.5"}}, 303, ""},

		{"curl", "GET", http.Header{"Accept": {"*/*"}}, 401, ""},
		{"Go's client", "GET", http.Header{}, 401, ""},
		{"a health check", "HEAD", http.Header{"Accept": {"*/*"}}, 401, ""},
		{"axios", "GET", http.Header{"Accept": {"application/json, text/plain, */*"}}, 401, ""},
		{"JSON preferred", "GET", http.Header{"Accept": {"text/html;q=0.5, application/json"}}, 401, ""},
		{"HTML refused", "GET", http.Header{"Accept": {"text/html;q=0, application/json"}}, 401, ""},
		{"another type that begins so", "GET", http.Header{"Accept": {"text/htmlx"}}, 401, ""},
		{"a weight that is none", "GET", http.Header{"Accept": {"text/html;q=x"}}, 401, ""},
		{"a weight beyond one", "GET", http.Header{"Accept": {"text/html;q=7, application/json"}}, 401, ""},

		{"jQuery", "GET", http.Header{"Accept": {"text/html, */*; q=0.01"}, "X-Requested-With": {"XMLHttpRequest"}}, 401, ""},
		{"fetch", "POST", http.Header{"Accept": {"*/*"}, "Sec-Fetch-Mode": {"cors"}}, 401, ""},
		{"a script that deletes", "DELETE", http.Header{"Accept": {"text/html"}}, 401, ""},
		{"WebSocket", "GET", http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"websocket"}}, 401, ""},
		{"WebSocket that accepts pages", "GET",
			http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Accept": {chrome}}, 401, ""},
		{"WebSocket over HTTP/2", "CONNECT", http.Header{"Sec-Fetch-Mode": {"websocket"}, "Accept": {chrome}}, 401, ""},
		{"EventSource", "GET", http.Header{"Accept": {"text/event-stream"}}, 401, ""},
		{"a stream that accepts pages", "GET", http.Header{"Accept": {"text/event-stream, text/html"}}, 401, ""},
		{"an upgrade to HTTP/2 that was not requested", "GET", http.Header{"Upgrade": {"h2c"}, "Accept": {chrome}}, 303, ""},

		{"a form", "POST", http.Header{"Accept": {chrome}, "Referer": {"https://app.test/private"}}, 303, ""},
		{"Turbo, a form", "PATCH", http.Header{
			"Accept":  {"text/vnd.turbo-stream.html, text/html, application/xhtml+xml"},
			"Referer": {"https://app.test/private"},
		}, 303, ""},
		{"Turbo, a frame", "GET", http.Header{
			"Accept": {"text/html, application/xhtml+xml"}, "Turbo-Frame": {"cart"}, "Referer": {"https://app.test/private"},
		}, 303, ""},
		{"HTMX", "GET",
			http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}, "Hx-Current-Url": {"https://app.test/private"}}, 401, signIn},
		{"HTMX, a boosted link", "GET", http.Header{
			"Accept": {"text/html, */*"}, "Hx-Request": {"true"}, "Hx-Boosted": {"true"},
			"Hx-Current-Url": {"https://app.test/private"},
		}, 401, signIn},
		{"HTMX, a form", "POST",
			http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}, "Hx-Current-Url": {"https://app.test/private"}}, 401, signIn},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{})
			target := "/private"
			if row.header.Get("Referer") != "" {
				target = "/part"
			}
			_, refusal := a.Visit(t.Context(), &core.Request{
				Method: row.method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", Header: row.header,
			}).Require()
			if refusal == nil || refusal.Status != row.status || refusal.Header.Get("Hx-Redirect") != row.htmx {
				t.Fatalf("answered %+v", refusal)
			}
			if row.status == 303 && refusal.Redirect != signIn {
				t.Errorf("redirects to %q", refusal.Redirect)
			}
			if row.status == 401 {
				checkChallenge(t, refusal)
			}
			if refusal.Header.Get("Vary") != "Accept, Cookie" || refusal.Header.Get("Cache-Control") == "" {
				t.Errorf("caching headers: %v", refusal.Header)
			}
		})
	}
}

func checkChallenge(t *testing.T, r *core.Response) {
	t.Helper()
	var problem struct {
		Type, Title, Detail, Code, Reference string
		Status                               int
	}
	if err := json.Unmarshal(r.Body, &problem); err != nil || problem.Code != "session_required" ||
		problem.Status != 401 || problem.Title != "Unauthorized" || problem.Reference == "" || r.Redirect != "" {
		t.Errorf("the problem is %s, redirect %q", r.Body, r.Redirect)
	}
	h := r.Header
	if h.Get("Www-Authenticate") != `Bearer realm="https://app.test"` ||
		h.Get("Content-Type") != "application/problem+json" || h.Get("Location") != "" {
		t.Errorf("the header is %v", h)
	}
}

// TestDatastarRedirect: a request of Datastar gets 401 and an event that opens the sign-in page. No path can end the
// text in its expression. The page is that of Referer, because Datastar requests parts of pages.
func TestDatastarRedirect(t *testing.T) {
	t.Parallel()
	literal := regexp.MustCompile(`^event: datastar-patch-elements\ndata: selector body\ndata: mode append\n` +
		`data: elements <div data-effect="window\.location\.assign\('((?:[A-Za-z0-9/._-]|\\u[0-9a-f]{4})*)'\)"></div>\n\n$`)
	const accept = "text/event-stream, text/html, application/json"
	for name, row := range map[string]struct{ method, referer, back string }{
		"a page":             {"GET", "https://app.test/private?a=1", "/private?a=1"},
		"an action":          {"POST", "https://app.test/private", "/private"},
		"no page":            {"GET", "", "/"},
		"another site":       {"GET", "https://evil.test/private", "/"},
		"the end of a text":  {"GET", "https://app.test/');alert('1", "/');alert('1"},
		"the end of an HTML": {"GET", `https://app.test/"><script>`, `/"><script>`},
		"a signal":           {"GET", "https://app.test/$x;@get('/y')", "/$x;@get('/y')"},
		"more lines":         {"GET", "https://app.test/a%0a%0aevent:x", "/a%0a%0aevent:x"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, core.Config{})
			_, r := a.Visit(t.Context(), &core.Request{
				Method: row.method, Target: "/part", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{
					"Accept": {accept}, "Datastar-Request": {"true"}, "Referer": {row.referer},
				},
			}).Require()
			if r == nil || r.Status != 401 || r.Header.Get("Content-Type") != "text/event-stream" ||
				r.Header.Get("Www-Authenticate") == "" || r.Header.Get("Cache-Control") == "" || r.Redirect != "" {
				t.Fatalf("answered %+v", r)
			}
			found := literal.FindSubmatch(r.Body)
			if found == nil {
				t.Fatalf("the body is %s", r.Body)
			}
			text, err := strconv.Unquote(`"` + string(found[1]) + `"`)
			if err != nil {
				t.Fatal(err)
			}
			target, err := url.Parse(text)
			if err != nil || !strings.HasPrefix(text, "https://app.test/auth/signin?") {
				t.Fatalf("opens %s, %v", text, err)
			}
			back, err := url.PathUnescape(target.Query().Get("callbackUrl"))
			want, _ := url.PathUnescape(row.back)
			if err != nil || back != want {
				t.Errorf("returns to %s, want %s", back, row.back)
			}
		})
	}
}

// TestForbiddenInTheClientsLanguage checks that browsers get a page and other clients a problem document.
func TestForbiddenInTheClientsLanguage(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	for name, row := range map[string]struct {
		method string
		header http.Header
		page   bool
	}{
		"a page":         {"GET", http.Header{"Accept": {"text/html"}}, true},
		"HEAD":           {"HEAD", http.Header{"Accept": {"text/html"}}, true},
		"a form":         {"POST", http.Header{"Accept": {"text/html"}}, true},
		"a Turbo frame":  {"GET", http.Header{"Accept": {"text/html"}, "Turbo-Frame": {"a"}}, true},
		"a boosted link": {"GET", http.Header{"Accept": {"text/html"}, "Hx-Request": {"true"}}, true},
		"HTMX":           {"GET", http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}}, false},
		"an API":         {"GET", http.Header{"Accept": {"application/json"}}, false},
		"jQuery":         {"GET", http.Header{"Accept": {"text/html"}, "X-Requested-With": {"xmlhttprequest"}}, false},
		"a WebSocket":    {"GET", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, false},
		"a stream":       {"GET", http.Header{"Accept": {"text/event-stream"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(row.method, "/admin", "", "")
			for field, values := range row.header {
				r.Header[field] = values
			}
			_, refusal := a.Visit(t.Context(), r).Require(never)
			if refusal == nil || refusal.Status != 403 || refusal.Header.Get("Location") != "" {
				t.Fatalf("%+v", refusal)
			}
			kind := "application/problem+json"
			if row.page {
				kind = "text/html; charset=utf-8"
			}
			if refusal.Header.Get("Content-Type") != kind || refusal.Header.Get("Vary") != "Accept, Cookie" {
				t.Errorf("the response is %v", refusal.Header)
			}
		})
	}
}

// TestGuardWithoutAConfiguration calls a guard and reads the session while the configuration function fails.
func TestGuardWithoutAConfiguration(t *testing.T) {
	t.Parallel()
	good := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	signedIn := visit(t, good)
	signIn(t, signedIn)
	_, faulty := core.New(core.Config{Getenv: func(string) string { return "" }})
	for name, choose := range map[string]func() (*core.Auth, error){
		"an error":               func() (*core.Auth, error) { return nil, errors.New("tenant is unknown") },
		"a faulty configuration": func() (*core.Auth, error) { return nil, faulty },
		"nothing":                func() (*core.Auth, error) { return nil, nil },
		"a panic":                func() (*core.Auth, error) { panic("boom") },
		"an Auth and an error":   func() (*core.Auth, error) { return good.Auth, errors.New("half") },
	} {
		t.Run(name, func(t *testing.T) {
			tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return choose() })
			b := visit(t, tenants)
			b.cookies = signedIn.cookies
			for _, accept := range []string{"text/html", "application/json", ""} {
				b.header.Set("Accept", accept)
				v := tenants.Visit(t.Context(), b.request("GET", "/account", "", ""))
				session, refusal := v.Require()
				if session != nil || refusal == nil || refusal.Status != http.StatusInternalServerError {
					t.Errorf("%q: the guard says %+v", accept, refusal)
				}
				if _, err := core.SessionFrom(v); err == nil {
					t.Error("the failure was not reported")
				}
				if h := answerOf(v); len(h) > 0 {
					t.Errorf("the hook adds %v", h)
				}
			}
			r := b.get("/auth/session")
			var told core.Session
			if err := told.UnmarshalJSON(r.Body); r.Status != http.StatusInternalServerError ||
				err == nil && (told.User != nil || !told.Expires.IsZero()) {
				t.Errorf("status %d: %s", r.Status, r.Body)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	for _, row := range []struct {
		name, method, target, accept string
		status                       int
		location                     string
	}{
		{"browser", "GET", "/account?tab=1", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2Faccount%3Ftab%3D1"},
		{"API client", "GET", "/account", "application/json", 401, ""},
		{"form post", "POST", "/account", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2F"},
		{"target that names a host", "GET", "//evil.example/", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2F"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, a)
			b.header.Set("Accept", row.accept)
			_, refusal := a.Visit(t.Context(), b.request(row.method, row.target, "", "")).Require()
			if refusal == nil || refusal.Status != row.status || refusal.Redirect != row.location {
				t.Errorf("got %+v", refusal)
			}
		})
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	under := core.PathPrefix("/admin", "/me/")
	for _, row := range []struct {
		target, path, mount string
		want                bool
	}{
		{"/me/x", "/me/x", "", true},
		{"/x", "/x", "", false},
		{"/app/admin/users", "/app/admin/users", "/app", true},
	} {
		r := &core.Request{Method: "GET", Target: row.target, Path: row.path, MountPrefix: row.mount}
		if got := under(r); got != row.want {
			t.Errorf("%q: %t", row.target, got)
		}
	}
	if !core.PathPrefix("/")(&core.Request{Target: "/anything"}) {
		t.Error("the root is above everything")
	}
	defer func() {
		if recover() == nil {
			t.Error("a prefix without a slash is taken")
		}
	}()
	core.PathPrefix("admin")
}

func TestRequireWhere(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	signedIn, stranger := visit(t, a), visit(t, a)
	signIn(t, signedIn)
	asked := 0
	pick := func(r *core.Request) bool { asked++; return r.Target == "/a" }
	panics := func(*core.Request) bool { panic("boom") }
	for _, row := range []struct {
		name, target string
		by           *browser
		where        func(*core.Request) bool
		session      bool
		status       int
	}{
		{"selected, signed out", "/a", stranger, pick, false, 401},
		{"picked", "/a", signedIn, pick, true, 0},
		{"others", "/b", stranger, pick, false, 0},
		{"without a condition", "/b", stranger, nil, false, 401},
		{"a condition that panics", "/b", signedIn, panics, false, 500},
	} {
		session, refusal := a.Visit(t.Context(), row.by.request("GET", row.target, "", "")).RequireWhere(row.where)
		if (session != nil) != row.session || (refusal != nil) != (row.status != 0) ||
			refusal != nil && refusal.Status != row.status {
			t.Errorf("%s: %+v, %+v", row.name, session, refusal)
		}
	}
	if asked != 3 {
		t.Errorf("the condition was asked %d times", asked)
	}
}
