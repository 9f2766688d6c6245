package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// unusableTargets are callback URLs that no browser may be redirected to.
var unusableTargets = map[string]string{
	"another scheme":      "app://home",
	"mail":                "mailto:a@b.c",
	"blob":                "blob:https://app.test/x",
	"a script":            "javascript:alert(1)",
	"a malformed URL":     "http://[bad",
	"no slash":            "login",
	"a line break":        "/x\r\nSet-Cookie: a=b",
	"a NUL byte":          "/x\x00",
	"invalid UTF-8":       "/\xff",
	"another host":        "https://evil.example/",
	"a host in a path":    "//evil.example",
	"more than 2,000":     "/" + strings.Repeat("x", 3000),
	"a list":              "/a,/b\\",
	"an encoded percent":  "%",
	"a scheme and no URL": "https:",
}

// TestSignOutIgnoresItsTarget signs out with unusable targets: the session ends, and the browser is redirected to the
// home page.
func TestSignOutIgnoresItsTarget(t *testing.T) {
	t.Parallel()
	for name, target := range unusableTargets {
		for _, place := range []string{"body", "query", "JSON"} {
			if place == "JSON" && target == "/\xff" { // invalid JSON, so there is no CSRF token
				continue
			}
			t.Run(name+" in "+place, func(t *testing.T) {
				a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
				b := visit(t, a)
				signIn(t, b)
				var r *core.Response
				switch place {
				case "body":
					r = b.submit("/auth/signout", url.Values{"callbackUrl": {target}})
				case "query":
					r = b.submit("/auth/signout?callbackUrl="+url.QueryEscape(target), nil)
				default:
					escaped := strings.NewReplacer("\r", `\r`, "\n", `\n`, "\x00", `\u0000`, `\`, `\\`).Replace(target)
					r = b.send("POST", "/auth/signout", "application/json",
						`{"csrfToken":"`+b.csrf()+`","callbackUrl":"`+escaped+`"}`)
				}
				if b.cookies[sessionCookie] != "" || string(b.get("/auth/session").Body) != "null" {
					t.Fatalf("still signed in: %d to %q, %v", r.Status, r.Redirect, r.Err)
				}
				if r.Status != 302 || !strings.HasPrefix(r.Redirect, "https://app.test") || strings.Contains(r.Redirect, "error") {
					t.Errorf("got status %d to %q", r.Status, r.Redirect)
				}
			})
		}
	}
}

// TestSignOutIgnoresUnimportantInput signs out although other input, or a callback, fails.
func TestSignOutIgnoresUnimportantInput(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		query    string
		redirect func(context.Context, core.RedirectParams) (string, error)
	}{
		"a malformed query": {query: "?callbackUrl=%zz"},
		"the redirect callback fails": {redirect: func(context.Context, core.RedirectParams) (string, error) {
			return "", errors.New("no database")
		}},
		"the redirect callback panics": {redirect: func(context.Context, core.RedirectParams) (string, error) {
			panic("boom")
		}},
		"the redirect callback returns a script": {redirect: func(context.Context, core.RedirectParams) (string, error) {
			return "javascript:alert(1)", nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fails := false
			config := core.Config{Providers: []core.Provider{passwords()}}
			if row.redirect != nil {
				config.Callbacks.Redirect = func(ctx context.Context, p core.RedirectParams) (string, error) {
					if !fails {
						return core.SameOrigin(ctx, p)
					}
					return row.redirect(ctx, p)
				}
			}
			b := visit(t, newApp(t, config))
			signIn(t, b)
			fields := url.Values{"csrfToken": {b.csrf()}, "callbackUrl": {"/bye"}}
			fails = true
			r := b.post("/auth/signout"+row.query, fields)
			fails = false
			if b.cookies[sessionCookie] != "" || r.Status != 302 || strings.Contains(r.Redirect, "error") {
				t.Errorf("got status %d to %q, %v", r.Status, r.Redirect, r.Err)
			}
			if page := b.get("/auth/signout?callbackUrl=login"); page.Status != 200 {
				t.Errorf("the sign-out page has status %d", page.Status)
			}
		})
	}
}

// TestBearerSignOutNeedsNoBody signs out with a bearer token and a malformed body.
func TestBearerSignOutNeedsNoBody(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyDatabase, func(c *core.Config) { c.Session.Bearer = true })
	b := signedIn(t, a, "1")
	token := b.cookies[sessionCookie]
	program := visit(t, a)
	program.header.Set("Authorization", "Bearer "+token)
	if r := program.send("POST", "/auth/signout", "application/json", "{"); r.Status != 302 {
		t.Errorf("got status %d, %v", r.Status, r.Err)
	}
	if string(program.get("/auth/session").Body) != "null" {
		t.Error("the session is still valid")
	}
}

// TestSignInTargetOfAnotherScheme signs in with callback URLs of other schemes. The browser is redirected to the
// origin, as for another host.
func TestSignInTargetOfAnotherScheme(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"myapp://done", "mailto:a@b.c", "javascript:alert(1)", "ftp://x/",
		"https://evil.example"} {
		b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}}))
		query := "?callbackUrl=" + url.QueryEscape(target)
		if r := b.get("/auth/signin" + query); r.Status != 200 {
			t.Errorf("%s: the sign-in page has status %d", target, r.Status)
		}
		r := b.submit("/auth/callback/credentials"+query, url.Values{
			"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {target},
		})
		if r.Redirect != "https://app.test" || b.cookies[sessionCookie] == "" {
			t.Errorf("%s: redirected to %q, %v", target, r.Redirect, r.Err)
		}
	}
}

// TestAppSchemes redirects to links of native apps, by callbackUrl and by the redirect callback.
func TestAppSchemes(t *testing.T) {
	t.Parallel()
	schemes := []string{"MyApp", "com.example.app"}
	for name, row := range map[string]struct{ asked, want string }{
		"listed":              {"myapp://auth/done?x=1#y", "myapp://auth/done?x=1#y"},
		"in capitals":         {"MYAPP://auth/done", "myapp://auth/done"},
		"one slash":           {"com.example.app:/done", "com.example.app:/done"},
		"blanks and quotes":   {`myapp://a b"<é>`, "myapp://a%20b%22%3C%C3%A9%3E"},
		"another":             {"other://x", "https://app.test"},
		"a script":            {"javascript:myapp://", "https://app.test"},
		"a script with a tab": {"java\tscript:alert(1)", ""},
		"a line break":        {"myapp://x\r\nSet-Cookie: a=b", ""},
	} {
		for _, how := range []string{"callbackUrl", "callback"} {
			t.Run(name+" by "+how, func(t *testing.T) {
				config := core.Config{Providers: []core.Provider{passwords()}, AppSchemes: schemes}
				fields := url.Values{"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {row.asked}}
				want := row.want
				if how == "callback" {
					config.Callbacks.Redirect = func(context.Context, core.RedirectParams) (string, error) { return row.asked, nil }
					fields.Set("callbackUrl", "/x")
					if want == "https://app.test" { // the application requires it
						want = ""
					}
				}
				r := visit(t, newApp(t, config)).submit("/auth/callback/credentials", fields)
				if want != "" && r.Redirect != want || want == "" && r.Err == nil {
					t.Errorf("redirected to %q, want %q: %v", r.Redirect, want, r.Err)
				}
			})
		}
	}
	for _, bad := range []string{
		"javascript", "JavaScript", "data", "blob", "file", "vbscript", "http", "https", "intent", "", "my app", "myapp:",
		"myapp://", "1app", "filesystem", "chrome-extension", "tel",
	} {
		_, err := core.New(core.Config{
			AppSchemes: []string{bad}, Secrets: []core.Secret{testSecret}, URL: "https://app.test",
			Getenv: func(string) string { return "" },
		})
		if err == nil || !strings.Contains(err.Error(), "AppSchemes[0]") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestGoToIsLogged redirects by GoTo: a URL that the redirect callback replaces is in the log, without its query.
func TestGoToIsLogged(t *testing.T) {
	t.Parallel()
	for asked, logged := range map[string]bool{
		"https://pay.test/x?token=canary": true, "myapp://x": true, "/upgrade": false, "/": false, "https://app.test": false,
	} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
				return core.RedirectTo(asked), nil
			},
		}})
		b := visit(t, a)
		b.csrf()
		a.log.Reset()
		r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		log := a.log.String()
		if strings.Contains(log, "go-to-replaced") != logged || strings.Contains(log, "canary") || r.Redirect == "" {
			t.Errorf("%s: redirected to %q, the log says %s", asked, r.Redirect, log)
		}
	}
}
