package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// partFunc is a plugin whose Attach is a function.
type partFunc func(h *core.PluginHost) error

func (f partFunc) Attach(h *core.PluginHost) error { return f(h) }

// answers returns a plugin with these actions.
func answers(actions ...core.Action) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		for _, a := range actions {
			h.AddAction(a)
		}
		return nil
	})
}

// says returns an action that responds with a JSON string.
func says(method, name, verb string) core.Action {
	return core.Action{Method: method, Name: name, Verb: verb,
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, c.Field("word")), nil
		}}
}

// problemDocument is a problem document as a client decodes it.
type problemDocument struct {
	Type, Title, Code, Detail, Reference string
	Status                               int
	Least                                int
}

func documentOf(t *testing.T, r *core.Response) (d problemDocument) {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("the content type is %q: %s", got, r.Body)
	}
	if err := json.Unmarshal(r.Body, &d); err != nil {
		t.Fatal(err)
	}
	if d.Status != r.Status || d.Type != "about:blank" || d.Title != http.StatusText(r.Status) || d.Reference == "" {
		t.Errorf("the document of status %d is %s", r.Status, r.Body)
	}
	return d
}

// TestPluginActions requests actions of a plugin and checks the rules that protect them.
func TestPluginActions(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Plugins: []core.Plugin{answers(
		says("GET", "toy", ""), says("POST", "toy", ""), says("GET", "toy", "see"), says("POST", "toy", "do-it"),
	)}})
	const form = "application/x-www-form-urlencoded"
	token := func(b *browser) string { return b.csrf() }
	for name, c := range map[string]struct {
		method, path, contentType string
		body                      func(b *browser) string
		status                    int
		code, answer              string
	}{
		"GET":                {method: "GET", path: "toy?word=hi", status: 200, answer: `"hi"`},
		"GET with a verb":    {method: "GET", path: "toy/see?word=hi", status: 200, answer: `"hi"`},
		"GET has no body":    {method: "GET", path: "toy/see", contentType: form, status: 200, answer: `""`},
		"no such verb":       {method: "GET", path: "toy/no", status: 404, code: "not_found"},
		"other method":       {method: "GET", path: "toy/do-it", status: 405, code: "method_not_allowed"},
		"POST without token": {method: "POST", path: "toy", contentType: form, status: 403, code: "missing_csrf"},
		"form": {method: "POST", path: "toy/do-it", contentType: form, status: 200, answer: `"hi"`,
			body: func(b *browser) string { return "word=ho&word=hi&csrfToken=" + token(b) }},
		"the query is no field": {method: "POST", path: "toy/do-it?word=hi", contentType: form, status: 200, answer: `""`,
			body: func(b *browser) string { return "csrfToken=" + token(b) }},
		"the query is no token": {method: "POST", path: "toy/do-it", contentType: form, status: 403, code: "missing_csrf",
			body: func(*browser) string { return "word=hi" }},
		"JSON": {method: "POST", path: "toy/do-it", contentType: "application/json", status: 200, answer: `"hi"`,
			body: func(b *browser) string { return `{"word":"hi","csrfToken":"` + token(b) + `"}` }},
		"nested JSON is no field": {method: "POST", path: "toy/do-it", contentType: "application/json", status: 200,
			answer: `""`, body: func(b *browser) string { return `{"word":["hi"],"csrfToken":"` + token(b) + `"}` }},
		"broken JSON": {method: "POST", path: "toy/do-it", contentType: "application/json", status: 400, code: "bad_request",
			body: func(b *browser) string { return `{"word":"hi","csrfToken":"` + token(b) + `"` }},
		"too much": {method: "POST", path: "toy/do-it", contentType: form, status: 413, code: "bad_request",
			body: func(b *browser) string { return "csrfToken=" + token(b) + "&word=" + strings.Repeat("a", 1<<20) }},
		"a multipart body": {method: "POST", path: "toy/do-it", contentType: "multipart/form-data; boundary=b", status: 403,
			code: "missing_csrf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := visit(t, a)
			body := ""
			if c.body != nil {
				body = c.body(b)
			}
			r := b.send(c.method, "/auth/"+c.path, c.contentType, body)
			if r.Status != c.status || c.answer != "" && string(r.Body) != c.answer {
				t.Fatalf("status %d %s, %v", r.Status, r.Body, r.Err)
			}
			if got := r.Header.Get("Cache-Control"); got != "private, no-cache, no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
			if c.code != "" {
				if d := documentOf(t, r); d.Code != c.code {
					t.Errorf("the code is %q", d.Code)
				}
			}
			if allow := r.Header.Get("Allow"); (allow == "POST") != (c.status == 405) {
				t.Errorf("Allow is %q", allow)
			}
		})
	}
	for _, path := range []string{"toy/do-it/x", "toys", "to", "Toy", "toy%2Fsee", "toy/../../toy", "other/see"} {
		if r := visit(t, a).get("/auth/" + path); r.Status != http.StatusBadRequest || string(r.Body) != `"Bad request."` {
			t.Errorf("%s: status %d %s", path, r.Status, r.Body)
		}
	}
}

// TestActionsWithoutCookies requests an action for programs with the cookies of a signed-in browser.
func TestActionsWithoutCookies(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Plugins = append(c.Plugins, answers(core.Action{Method: "POST", Name: "token", NoCookies: true,
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				session, err := c.Session(ctx)
				var seen string
				return c.JSON(ctx, http.StatusOK, []any{session, err, c.EncryptedCookie("x", &seen), c.Field("word")}), nil
			}}))
	})
	b := signedIn(t, a, "1")
	r := b.send("POST", "/auth/token?locale=de", form, "word=hi")
	if r.Status != http.StatusOK || string(r.Body) != `[null,null,false,"hi"]` || len(r.Cookies) != 0 {
		t.Errorf("status %d %s, cookies %v", r.Status, r.Body, r.Cookies)
	}
	if r := b.send("POST", "/auth/token", form, "word=hi&word=ho"); r.Status != http.StatusBadRequest ||
		documentOf(t, r).Code != "invalid_request" {
		t.Errorf("a repeated field: %d %s", r.Status, r.Body)
	}
	_, err := core.New(core.Config{Secrets: []core.Secret{testSecret}, Plugins: []core.Plugin{answers(core.Action{
		Method: "POST", Name: "token", NoCookies: true, Require: []core.Guard{core.RecentSignIn(time.Minute)},
		Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { return nil, nil },
	})}})
	if err == nil || !strings.Contains(err.Error(), "NoCookies is set") {
		t.Errorf("with a guard the error is %v", err)
	}
}

// TestPluginProblems checks the response to each kind of error of an action, for a browser and for an API client.
func TestPluginProblems(t *testing.T) {
	t.Parallel()
	short := &core.Problem{
		Status: 422, Code: "too-short", Detail: "Use twelve characters or more.",
		Members: map[string]any{"least": 12, "code": "taken", "status": 200}, Cause: errors.New("secret cause"),
	}
	for name, c := range map[string]struct {
		handle func(context.Context, *core.ActionRequest) (*core.Response, error)
		status int
		code   string
	}{
		"a problem": {status: 422, code: "too-short",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { return nil, short }},
		"any error": {status: 500, code: "server_error",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
				return nil, errors.New("secret cause")
			}},
		"a panic": {status: 500, code: "server_error",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { panic("secret cause") }},
		"nothing": {status: 500, code: "server_error",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { return nil, nil }},
		"the store is unavailable": {status: 503, code: "unavailable",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
				return nil, core.ErrStoreUnavailable
			}},
		"an error that the client caused": {status: 400, code: "bad_request",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
				return nil, core.NewError(core.ErrVerification, errors.New("secret cause"))
			}},
		"refused": {status: 403, code: "access_denied",
			handle: func(context.Context, *core.ActionRequest) (*core.Response, error) { return nil, core.ErrAccessDenied }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
				Handle: func(ctx context.Context, call *core.ActionRequest) (*core.Response, error) {
					if err := call.SetEncryptedCookie("toy-tries", 1, time.Minute); err != nil {
						t.Error(err)
					}
					return c.handle(ctx, call)
				}})}})
			b := visit(t, a)
			r := b.get("/auth/toy")
			d := documentOf(t, r)
			if r.Status != c.status || d.Code != c.code || r.Err == nil {
				t.Errorf("response %s, %v", r.Body, r.Err)
			}
			if c.code == "too-short" && (d.Least != 12 || d.Detail != short.Detail) {
				t.Errorf("response %s", r.Body)
			}
			if b.cookies["__Host-latchkey.toy-tries"] == "" {
				t.Error("the cookie of an action that fails is not set")
			}
			if !strings.Contains(a.log.String(), d.Reference) {
				t.Errorf("the log has no reference %s: %s", d.Reference, a.log)
			}
			b.header.Set("Accept", "text/html")
			page := b.get("/auth/toy")
			if page.Status != c.status || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
				t.Errorf("a browser got %d %s", page.Status, page.Header)
			}
			if c.code == "too-short" && !strings.Contains(string(page.Body), short.Detail) {
				t.Errorf("the page is %s", page.Body)
			}
			if strings.Contains(string(r.Body)+string(page.Body), "secret cause") {
				t.Error("the cause reaches the browser")
			}
		})
	}
}

// TestPluginConfigErrors checks that New rejects plugins with invalid actions, and with actions that belong to core or
// to another plugin.
func TestPluginConfigErrors(t *testing.T) {
	t.Parallel()
	good := says("GET", "toy", "")
	with := func(change func(a *core.Action)) core.Plugin {
		a := good
		change(&a)
		return answers(a)
	}
	for name, c := range map[string]struct {
		parts []core.Plugin
		fault string
	}{
		"an action of core":      {[]core.Plugin{answers(says("GET", "session", ""))}, "core has actions with this Name"},
		"a further one of core":  {[]core.Plugin{answers(says("POST", "reauth", "x"))}, "core has actions with this Name"},
		"another action of core": {[]core.Plugin{answers(says("POST", "csrf", "x"))}, "core has actions with this Name"},
		"an action of another plugin": {[]core.Plugin{answers(good), answers(says("POST", "toy", "x"))},
			"Plugins[0] (core_test.partFunc) has actions with this Name"},
		"twice":                  {[]core.Plugin{answers(good, good)}, "it was added twice"},
		"no name":                {[]core.Plugin{with(func(a *core.Action) { a.Name = "" })}, "invalid Name"},
		"a name in capitals":     {[]core.Plugin{with(func(a *core.Action) { a.Name = "Toy" })}, "invalid Name"},
		"a name of two segments": {[]core.Plugin{with(func(a *core.Action) { a.Name = "toy/see" })}, "invalid Name"},
		"a verb of two segments": {[]core.Plugin{with(func(a *core.Action) { a.Verb = "see/it" })}, "invalid Verb"},
		"a dot":                  {[]core.Plugin{with(func(a *core.Action) { a.Verb = ".." })}, "invalid Verb"},
		"no method":              {[]core.Plugin{with(func(a *core.Action) { a.Method = "" })}, "Method must be"},
		"another method":         {[]core.Plugin{with(func(a *core.Action) { a.Method = "DELETE" })}, "Method must be"},
		"no Handle":              {[]core.Plugin{with(func(a *core.Action) { a.Handle = nil })}, "Handle is nil"},
		"a guard is nil": {[]core.Plugin{with(func(a *core.Action) {
			a.Require = []core.Guard{nil}
		})}, "Require contains nil"},
		"nil":           {[]core.Plugin{nil}, "Plugins[0] is nil"},
		"Attach fails":  {[]core.Plugin{partFunc(func(*core.PluginHost) error { return errors.New("no key") })}, "no key"},
		"Attach panics": {[]core.Plugin{partFunc(func(*core.PluginHost) error { panic("boom") })}, "panic in Attach"},
		"Fault": {[]core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.AddConfigError("Mailer is nil: set one")
			return nil
		})}, "Mailer is nil: set one"},
		"records": {[]core.Plugin{partFunc(func(h *core.PluginHost) error { h.Records(); return nil })},
			"needs a Store: set Config.Store"},
		"a provider twice": {[]core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.AddProvider(plainOAuth())
			h.AddProvider(plainOAuth())
			return nil
		})}, `two providers have the ID "plain"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Plugins: c.parts,
				Getenv: func(string) string { return "" },
			})
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

// standing is a provider that is also a plugin. It adds one action and two providers; one of them replaces it.
type standing struct{ *core.CredentialsProvider }

func (s standing) Attach(h *core.PluginHost) error {
	h.AddAction(says("GET", "standing", ""))
	h.AddProvider(&core.CredentialsProvider{ID: s.ID, Name: "Mine", Authorize: s.Authorize})
	other := plainOAuth()
	other.ID = "behind"
	h.AddProvider(other)
	return nil
}

// TestPluginProviders checks the position of plugins' providers on the sign-in page. A plugin that is a provider may be
// in either list.
func TestPluginProviders(t *testing.T) {
	t.Parallel()
	authorize := func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil }
	mine := standing{&core.CredentialsProvider{ID: "mine", Authorize: authorize}}
	first, last, added := plainOAuth(), plainOAuth(), plainOAuth()
	first.ID, last.ID, added.ID = "first", "last", "added"
	adding := partFunc(func(h *core.PluginHost) error { h.AddProvider(added); return nil })
	for name, row := range map[string]struct {
		providers []core.Provider
		plugins   []core.Plugin
		order     []string
	}{
		"in Providers": {
			[]core.Provider{first, mine, last}, []core.Plugin{adding}, []string{"first", "mine", "behind", "last", "added"},
		},
		"in Plugins": {
			[]core.Provider{first, last}, []core.Plugin{adding, mine}, []string{"first", "last", "added", "mine", "behind"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: row.providers, Plugins: row.plugins})
			var listed map[string]struct{ Name string }
			body := visit(t, a).get("/auth/providers").Body
			if err := json.Unmarshal(body, &listed); err != nil {
				t.Fatal(err)
			}
			before := -1
			for _, id := range row.order {
				at := strings.Index(string(body), `"id":"`+id+`"`)
				if at <= before {
					t.Errorf("%s is at %d: %s", id, at, body)
				}
				before = at
			}
			if listed["mine"].Name != "Mine" || len(listed) != 5 {
				t.Errorf("listed are %v", listed)
			}
			if r := visit(t, a).get("/auth/standing"); r.Status != http.StatusOK {
				t.Errorf("the action responds with %d", r.Status)
			}
		})
	}
}

// TestPluginRequests checks what an action reads from a request, and the cookies that it keeps.
func TestPluginRequests(t *testing.T) {
	t.Parallel()
	var host *core.PluginHost
	part := partFunc(func(h *core.PluginHost) error {
		host = h
		h.AddAction(core.Action{Method: "POST", Name: "toy",
			Handle: func(_ context.Context, c *core.ActionRequest) (*core.Response, error) {
				if c.SetEncryptedCookie("pending", 1, time.Minute) == nil {
					t.Error("a plugin can set a cookie of core")
				}
				if err := c.SetEncryptedCookie("toy-flow", map[string]string{"who": c.Field("who")}, time.Minute); err != nil {
					return nil, err
				}
				return c.Redirect(c.CallbackURL), nil
			}})
		h.AddAction(core.Action{Method: "GET", Name: "toy",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				var kept struct{ Who string }
				if !c.EncryptedCookie("toy-flow", &kept) {
					return nil, &core.Problem{Code: "nothing-kept"}
				}
				page := c.Page("Toy")
				return c.Render(ctx, http.StatusAccepted, page, ui.Shell(page, kept.Who)), nil
			}})
		h.AddAction(core.Action{Method: "POST", Name: "toy", Verb: "end",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				c.DeleteEncryptedCookie("toy-flow")
				return c.JSON(ctx, http.StatusOK, c.URL("toy/see", "token", "a b")), nil
			}})
		return nil
	})
	a := newApp(t, core.Config{Plugins: []core.Plugin{part}})
	b := visit(t, a)
	if d := documentOf(t, b.get("/auth/toy")); d.Code != "nothing-kept" {
		t.Errorf("without a cookie: %+v", d)
	}
	if r := b.submit("/auth/toy", url.Values{"who": {"Zoë"}, "callbackUrl": {"/there"}}); r.Status != http.StatusOK ||
		string(r.Body) != `{"url":"https://app.test/there"}` {
		t.Errorf("an API client got %d %s", r.Status, r.Body)
	}
	b.header.Set("Accept", "text/html")
	r := b.submit("/auth/toy", url.Values{"who": {"Zoë"}, "callbackUrl": {"https://elsewhere.example/"}})
	if r.Status != http.StatusSeeOther || r.Header.Get("Location") != "https://app.test" {
		t.Errorf("a browser got %d %v", r.Status, r.Header)
	}
	at := slices.IndexFunc(r.Cookies, func(c core.Cookie) bool { return c.Name == "__Host-latchkey.toy-flow" })
	if c := r.Cookies[at]; !c.Secure || !c.HTTPOnly || c.SameSite != "Lax" || c.Path != "/" || c.MaxAge != 60 {
		t.Errorf("the cookie is %+v", c)
	}
	if strings.ContainsAny(b.cookies["__Host-latchkey.toy-flow"], `"{ë`) {
		t.Error("the cookie is not encrypted")
	}
	page := b.get("/auth/toy")
	if page.Status != http.StatusAccepted || !strings.Contains(string(page.Body), "<h1>Zoë</h1>") ||
		!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page is %d %v %s", page.Status, page.Header, page.Body)
	}
	stolen := b.cookies["__Host-latchkey.toy-flow"]
	if r := b.submit("/auth/toy/end", nil); string(r.Body) != `"https://app.test/auth/toy/see?token=a+b"` {
		t.Errorf("response %s", r.Body)
	}
	if b.cookies["__Host-latchkey.toy-flow"] != "" {
		t.Error("the cookie is still there")
	}
	b.cookies["__Host-latchkey.toy-flow"] = stolen
	a.clock.Advance(time.Minute)
	b.header.Del("Accept")
	if d := documentOf(t, b.get("/auth/toy")); d.Code != "nothing-kept" {
		t.Errorf("an expired cookie is read: %+v", d)
	}
	defer func() {
		if recover() == nil {
			t.Error("an action can be added after Attach")
		}
	}()
	host.AddAction(says("GET", "late", ""))
}

// TestPluginEncrypts checks that encryption depends on the secrets, the purpose and the audience, and works after a
// rotation.
func TestPluginEncrypts(t *testing.T) {
	t.Parallel()
	host := func(audience string, secrets ...core.Secret) (h *core.PluginHost) {
		newApp(t, core.Config{Secrets: secrets, Audience: audience, Plugins: []core.Plugin{
			partFunc(func(given *core.PluginHost) error { h = given; return nil }),
		}})
		return h
	}
	const newer core.Secret = "another-secret-of-more-than-32-bytes"
	before := host("", testSecret)
	sealed, err := before.Encrypt("toy", []int{1, 2}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		host    *core.PluginHost
		purpose string
		ok      bool
	}{
		"the same":         {before, "toy", true},
		"rotated":          {host("", newer, testSecret), "toy", true},
		"another purpose":  {before, "boy", false},
		"another secret":   {host("", newer), "toy", false},
		"another audience": {host("shop", testSecret), "toy", false},
	} {
		var got []int
		err := c.host.Decrypt(c.purpose, sealed, &got)
		if (err == nil) != c.ok || c.ok && !slices.Equal(got, []int{1, 2}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		found := slices.Contains(c.host.Digests(c.purpose, "x"), before.Digest("toy", "x"))
		if found != c.ok {
			t.Errorf("%s: the digest is found: %v", name, found)
		}
	}
	var text string
	if before.Decrypt("toy", sealed, &text) == nil {
		t.Error("a value of another type is read")
	}
	ended, err := before.Encrypt("toy", 1, start)
	if err != nil || before.Decrypt("toy", ended, new(int)) == nil {
		t.Errorf("an expired value is read: %v", err)
	}
	if _, err := before.Encrypt("toy", func() {}, start); err == nil {
		t.Error("a function is encrypted")
	}
}

// TestPluginSignIn signs a user in by a plugin, under both strategies.
func TestPluginSignIn(t *testing.T) {
	t.Parallel()
	in := func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		return c.SignIn(ctx, core.SignIn{User: &core.User{ID: "u1", Name: "Zoë"}, Created: c.Field("new") != ""})
	}
	part := answers(
		core.Action{Method: "POST", Name: "toy", Handle: in}, core.Action{Method: "GET", Name: "toy", Handle: in},
	)
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			p := newPeople()
			p.users["u1"] = core.User{ID: "u1", Name: "Zoë"}
			var asked core.SignInParams
			allow := true
			a := newApp(t, core.Config{
				Store: p.as(power{}), Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{part},
				Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
					asked = p
					if !allow {
						return core.Deny(), nil
					}
					return core.Allow(), nil
				}},
			})
			b := visit(t, a)
			b.header.Set("Accept", "text/html")
			r := b.submit("/auth/toy", url.Values{"callbackUrl": {"/there"}})
			if r.Status != http.StatusSeeOther || r.Redirect != "https://app.test/there" || b.cookies[sessionCookie] == "" {
				t.Fatalf("status %d %s, %v", r.Status, r.Redirect, r.Err)
			}
			if asked.Account.Provider != "toy" || asked.Account.Type != core.TypeCredentials || asked.User.ID != "u1" {
				t.Errorf("the callback got %+v, %+v", asked.Account, asked.User)
			}
			if got := string(b.get("/auth/session").Body); !strings.Contains(got, "Zoë") {
				t.Errorf("the session is %s", got)
			}
			b = visit(t, a)
			if r := b.get("/auth/toy"); r.Status != http.StatusInternalServerError || b.cookies[sessionCookie] != "" {
				t.Errorf("a GET signs in: %d", r.Status)
			}
			allow = false
			if r := b.submit("/auth/toy", nil); r.Status != http.StatusForbidden || b.cookies[sessionCookie] != "" {
				t.Errorf("the callback denies, and the status is %d", r.Status)
			}
		})
	}
}

// TestPluginRequirements requests actions that need a session and pass guards.
func TestPluginRequirements(t *testing.T) {
	t.Parallel()
	var verdict error
	guard := func(context.Context, *core.Session) error { return verdict }
	require := func(a core.Action) core.Action { a.Require = []core.Guard{guard}; return a }
	p := newPeople()
	p.users["u1"] = core.User{ID: "u1"}
	a := newApp(t, core.Config{Store: p.as(power{}), Plugins: []core.Plugin{answers(
		require(says("GET", "guarded", "")),
		require(says("POST", "guarded", "")),
		core.Action{
			Method: "POST",
			Name:   "direct",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.SignIn(ctx, core.SignIn{User: &core.User{ID: "u1"}})
			},
		},
	)}})
	in := visit(t, a)
	in.submit("/auth/direct", nil)
	for name, c := range map[string]struct {
		b                *browser
		says             error
		data, get, post  int
		challenge, where string
	}{
		"signed out": {b: visit(t, a), data: 401, get: 303, post: 303, where: "/auth/signin?error=SessionRequired"},
		"signed in":  {b: in, data: 200, get: 200, post: 200},
		"forbidden":  {b: in, says: core.ErrForbidden, data: 403, get: 403, post: 403},
		"authentication too old": {b: in, says: &core.StepUp{MaxAge: time.Minute}, data: 401, get: 303, post: 303,
			challenge: "insufficient_user_authentication", where: "/auth/signin?error=SessionRequired"},
		"guard fails": {b: in, says: errors.New("no answer"), data: 500, get: 500, post: 500},
	} {
		verdict = c.says
		b := c.b
		b.header.Del("Accept")
		for _, r := range []*core.Response{b.get("/auth/guarded"), b.submit("/auth/guarded", nil)} {
			if r.Status != c.data || !strings.Contains(r.Header.Get("Www-Authenticate"), c.challenge) {
				t.Errorf("%s: an API client got %d %v", name, r.Status, r.Header)
			}
		}
		b.header.Set("Accept", "text/html")
		for _, asked := range []struct {
			r      *core.Response
			status int
		}{{b.get("/auth/guarded"), c.get}, {b.submit("/auth/guarded", nil), c.post}} {
			if asked.r.Status != asked.status || !strings.Contains(asked.r.Redirect, c.where) {
				t.Errorf("%s: a browser got %d %s", name, asked.r.Status, asked.r.Redirect)
			}
		}
	}
}
