package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// languages returns English, German and Arabic with a few texts each. Arabic is the first.
func languages() []ui.Locale {
	return []ui.Locale{
		{Tag: "ar", Dir: "rtl", Texts: map[string]string{"signin.heading": "دخول"}},
		{Tag: "en"},
		{Tag: "de", Texts: map[string]string{
			"signin.heading": "Anmelden", "error.forbidden.heading": "Kein Zugang", "status.403": "Verboten",
			"status.422": "Nicht verarbeitbar", "status.401": "Nicht angemeldet", "toy.short": "Mindestens %s Zeichen.",
			"problem.again": "Melden Sie sich erneut an.",
		}},
		{Tag: "zh-Hans"},
	}
}

func spokenApp(t *testing.T, config core.Config) *app {
	t.Helper()
	config.Locales = languages()
	if config.Providers == nil {
		config.Providers = []core.Provider{plainOAuth()}
	}
	return newApp(t, config)
}

func TestLocaleIsChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, target, accept, kept, decided, want string
	}{
		{"nothing is said", "", "", "", "", "ar"},
		{"the browser", "", "fr, de-AT;q=0.8, en;q=0.5", "", "", "de"},
		{"the browser wants another language", "", "fi", "", "", "ar"},
		{"another region", "", "zh-CN", "", "", "zh-Hans"},
		{"no weight", "", "de;q=0, en", "", "", "en"},
		{"nonsense", "", ";;;,,q=", "", "", "ar"},
		{"lang", "?lang=de", "en", "", "", "de"},
		{"lang in capitals", "?lang=DE", "en", "", "", "de"},
		{"lang that is not configured", "?lang=fi", "en", "", "", "en"},
		{"lang that is none at all", "?lang=%22%3E%00", "en", "", "", "en"},
		{"ui_locales", "?ui_locales=fi%20de%20en", "en", "", "", "de"},
		{"ui_locales goes before lang", "?lang=en&ui_locales=de", "", "", "", "de"},
		{"the cookie", "", "en", "de", "", "de"},
		{"an altered cookie", "", "en", "<script>", "", "en"},
		{"lang goes before the cookie", "?lang=en", "", "de", "", "en"},
		{"the application", "?lang=en", "en", "en", "de", "de"},
		{"the application returns a language that is not configured", "?lang=en", "", "", "fi", "en"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := spokenApp(t, core.Config{Callbacks: core.Callbacks{
				Locale: func(context.Context, *core.Request) string { return c.decided },
			}})
			b := visit(t, a)
			b.header.Set("Accept-Language", c.accept)
			if c.kept != "" {
				b.cookies["__Host-latchkey.locale"] = c.kept
			}
			r := b.get("/auth/signin" + c.target)
			if !strings.Contains(string(r.Body), `<html lang="`+c.want+`"`) {
				t.Errorf("the page is %.80s", r.Body)
			}
			if got := r.Header.Get("Content-Language"); got != c.want {
				t.Errorf("Content-Language %q, want %q", got, c.want)
			}
			if got := r.Header.Get("Vary"); got != "Cookie, Accept-Language" {
				t.Errorf("Vary %q", got)
			}
		})
	}
}

// TestLocaleOfForgedInput checks that invalid or long headers, cookies and parameters have no effect and cause no
// error.
func TestLocaleOfForgedInput(t *testing.T) {
	t.Parallel()
	a := spokenApp(t, core.Config{})
	for name, text := range map[string]string{
		"a megabyte":           strings.Repeat("de,", 1<<20/3),
		"a megabyte, no comma": strings.Repeat("d", 1<<20),
		"many parts":           "de" + strings.Repeat("-x", 200),
		"extensions":           strings.Repeat("de-u-co-phonebk-", 30),
		"unfinished extension": "de-u-",
		"bytes":                "\x00\xff\xfe,\r\nde",
		"private use":          "x-" + strings.Repeat("a", 400),
		"asterisks":            strings.Repeat("*,", 200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := visit(t, a)
			b.header.Set("Accept-Language", text)
			b.cookies["__Host-latchkey.locale"] = text[:min(len(text), 3000)]
			for _, target := range []string{"/auth/signin", "/auth/error", "/auth/signin?lang=" + url.QueryEscape(text)} {
				r := b.get(target)
				if got := r.Header.Get("Content-Language"); r.Status == http.StatusOK && got != "ar" && got != "de" {
					t.Errorf("%d in %q", r.Status, got)
				}
			}
		})
	}
	if strings.Contains(a.log.String(), "level=ERROR") {
		t.Errorf("log: %.400s", a.log)
	}
}

// TestLongLocaleParameter checks that a list of languages that is longer than any browser sends is ignored.
func TestLongLocaleParameter(t *testing.T) {
	t.Parallel()
	said := func(times int) string {
		b := visit(t, spokenApp(t, core.Config{}))
		lang := url.QueryEscape(strings.Repeat("de ", times))
		return b.get("/auth/signin?lang=" + lang).Header.Get("Content-Language")
	}
	if short, long := said(100), said(200); short != "de" || long == "de" {
		t.Errorf("300 bytes select %q, 600 select %q", short, long)
	}
}

func TestLocaleIsRemembered(t *testing.T) {
	t.Parallel()
	a := spokenApp(t, core.Config{})
	b := visit(t, a)
	b.header.Set("Accept-Language", "en")
	r := b.get("/auth/signin?lang=de")
	if got := b.cookies["__Host-latchkey.locale"]; got != "de" {
		t.Fatalf("the cookie is %q", got)
	}
	for _, c := range r.Cookies {
		if strings.HasSuffix(c.Name, "locale") && (!c.HTTPOnly || !c.Secure || c.SameSite != "Lax") {
			t.Errorf("the cookie is %s", c.String())
		}
	}
	if r = b.get("/auth/error"); r.Header.Get("Content-Language") != "de" {
		t.Errorf("the next page is in %q", r.Header.Get("Content-Language"))
	}
	for _, target := range []string{"/auth/signin?lang=de", "/auth/signin?lang=fi", "/auth/signin"} {
		for _, c := range b.get(target).Cookies {
			if strings.HasSuffix(c.Name, "locale") {
				t.Errorf("%s sets %s", target, c.String())
			}
		}
	}
}

func TestNoLocales(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{plainOAuth()}}))
	b.header.Set("Accept-Language", "de")
	r := b.get("/auth/signin?lang=de")
	if !strings.Contains(string(r.Body), `<html lang="en"><head>`) {
		t.Errorf("the page is %.80s", r.Body)
	}
	for _, field := range []string{"Content-Language", "Vary"} {
		if got := r.Header.Get(field); got != "" {
			t.Errorf("%s: %q", field, got)
		}
	}
	if _, there := b.cookies["__Host-latchkey.locale"]; there {
		t.Error("a language is remembered")
	}
}

func TestLocaleFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		locales []ui.Locale
		decide  func(context.Context, *core.Request) string
		want    string
	}{
		"no language":   {[]ui.Locale{{Tag: "not a tag"}}, nil, `Locales[0]: tag "not a tag" is not a language`},
		"twice":         {[]ui.Locale{{Tag: "de"}, {Tag: "DE"}}, nil, `Locales[1]: "DE" is a duplicate`},
		"direction":     {[]ui.Locale{{Tag: "ar", Dir: "left"}}, nil, `Locales[0]: locale "ar": dir "left" is unknown`},
		"nothing there": {nil, func(context.Context, *core.Request) string { return "de" }, "Callbacks.Locale selects from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Locales: c.locales,
				Callbacks: core.Callbacks{Locale: c.decide}, Getenv: func(string) string { return "" },
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// TestLocaleCallbackPanics checks that a panic in the Locale callback is ignored.
func TestLocaleCallbackPanics(t *testing.T) {
	t.Parallel()
	a := spokenApp(t, core.Config{Callbacks: core.Callbacks{
		Locale: func(context.Context, *core.Request) string { panic("no answer") },
	}})
	r := visit(t, a).get("/auth/signin?lang=de")
	if r.Status != http.StatusOK || r.Header.Get("Content-Language") != "de" {
		t.Errorf("%d in %q", r.Status, r.Header.Get("Content-Language"))
	}
	if !strings.Contains(a.log.String(), "Callbacks.Locale") {
		t.Errorf("the log does not name it: %s", a.log)
	}
}

func TestLocaleOfCachedPages(t *testing.T) {
	t.Parallel()
	b := visit(t, spokenApp(t, core.Config{}))
	for range 2 {
		for tag, heading := range map[string]string{"de": ">Anmelden<", "en": ">Sign in<", "ar": ">دخول<"} {
			b.header.Set("Accept-Language", tag)
			if r := b.get("/auth/signin"); !strings.Contains(string(r.Body), "<h1"+heading) {
				t.Errorf("%s: the page has no heading %q", tag, heading)
			}
		}
	}
}

func TestLocaleOfProblems(t *testing.T) {
	t.Parallel()
	short := ui.Text{Key: "toy.short", English: "Use %s characters or more."}
	a := spokenApp(t, core.Config{Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
		Handle: func(_ context.Context, call *core.ActionRequest) (*core.Response, error) {
			if call.Locale.Tag == "" {
				t.Error("the call does not know its language")
			}
			return nil, &core.Problem{Status: 422, Code: "too-short", Text: short.With("12")}
		}})}})
	b := visit(t, a)
	for tag, want := range map[string][2]string{
		"de": {"Nicht verarbeitbar", "Mindestens 12 Zeichen."},
		"en": {"Unprocessable Entity", "Use 12 characters or more."},
	} {
		b.header.Set("Accept-Language", tag)
		b.header.Set("Accept", "application/json")
		r := b.get("/auth/toy")
		if body := string(r.Body); !strings.Contains(body, `"title":"`+want[0]+`"`) ||
			!strings.Contains(body, `"detail":"`+want[1]+`"`) {
			t.Errorf("%s: %s", tag, body)
		}
		if r.Header.Get("Content-Language") != tag || !strings.Contains(r.Header.Get("Vary"), "Accept-Language") {
			t.Errorf("%s: header %v", tag, r.Header)
		}
		b.header.Set("Accept", "text/html")
		if page := string(b.get("/auth/toy").Body); !strings.Contains(page, want[1]) {
			t.Errorf("%s: the page does not say %q", tag, want[1])
		}
	}
}

// TestPluginTextWithAKeyOfCore checks that the plugin's text is shown, in English, and not the German text of core with
// the same key.
func TestPluginTextWithAKeyOfCore(t *testing.T) {
	t.Parallel()
	taken := ui.Text{Key: "status.409", English: "This badge is taken."}
	a := newApp(t, core.Config{
		Locales: []ui.Locale{locales.German(), locales.English()}, Providers: []core.Provider{plainOAuth()},
		Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "toy",
			Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
				return nil, &core.Problem{Status: 409, Code: "taken", Text: taken}
			}})},
	})
	b := visit(t, a)
	b.header.Set("Accept-Language", "de")
	for accept, want := range map[string][]string{
		"application/json": {`"title":"Konflikt"`, `"detail":"This badge is taken."`},
		"text/html":        {`lang="de"`, "This badge is taken."},
	} {
		b.header.Set("Accept", accept)
		body := string(b.get("/auth/toy").Body)
		for _, words := range want {
			if !strings.Contains(body, words) {
				t.Errorf("%s: no %s in %s", accept, words, body)
			}
		}
	}
}

func TestLocaleOfGuards(t *testing.T) {
	t.Parallel()
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	again := func(context.Context, *core.Session) error { return &core.StepUp{} }
	a := spokenApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	b.header.Set("Accept-Language", "de")
	for _, c := range []struct {
		name, accept, want string
		guard              core.Guard
	}{
		{"page", "text/html", ">Kein Zugang<", never},
		{"document", "application/json", `"title":"Verboten"`, never},
		{"step up", "application/json", `"detail":"Melden Sie sich erneut an."`, again},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.header.Set("Accept", c.accept)
			_, r := a.Visit(t.Context(), b.request("GET", "/payout", "", "")).Require(c.guard)
			if r == nil || !strings.Contains(string(r.Body), c.want) {
				t.Fatalf("answer %+v", r)
			}
			if r.Header.Get("Content-Language") != "de" || r.Header.Get("Vary") != "Accept, Cookie, Accept-Language" {
				t.Errorf("header %v", r.Header)
			}
		})
	}
}

func TestLocaleOfEmails(t *testing.T) {
	t.Parallel()
	var sent core.Email
	a := spokenApp(t, core.Config{
		Store: &tokenStore{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{&core.EmailProvider{Send: func(_ context.Context, m core.Email) error {
			sent = m
			return nil
		}}},
	})
	b := visit(t, a)
	b.header.Set("Accept-Language", "de")
	b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	if sent.Locale.Tag != "de" {
		t.Errorf("the email is in %q", sent.Locale.Tag)
	}
}

func TestLocaleOfProviders(t *testing.T) {
	t.Parallel()
	openID := func(params url.Values) core.Provider {
		p := plainOAuth()
		p.Type, p.Issuer = core.TypeOIDC, "https://op.example"
		p.Authorization.Params = params
		return p
	}
	for name, c := range map[string]struct {
		provider core.Provider
		locales  []ui.Locale
		query    string
		want     string
	}{
		"OpenID Connect":              {openID(nil), languages(), "", "de"},
		"the form asks for another":   {openID(nil), languages(), "?ui_locales=fr%20en", "fr en"},
		"the configuration decides":   {openID(url.Values{"ui_locales": {"it"}}), languages(), "", "it"},
		"OAuth has no such parameter": {plainOAuth(), languages(), "", ""},
		"English alone":               {openID(nil), nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{c.provider}, Locales: c.locales}))
			b.header.Set("Accept-Language", "de")
			r := b.submit("/auth/signin/plain"+c.query, nil)
			to, err := url.Parse(r.Redirect)
			if err != nil || to.Host != "op.example" {
				t.Fatalf("redirect %q", r.Redirect)
			}
			if got := to.Query().Get("ui_locales"); got != c.want {
				t.Errorf("ui_locales %q, want %q", got, c.want)
			}
		})
	}
}

func TestLocaleOfComponents(t *testing.T) {
	t.Parallel()
	a := spokenApp(t, core.Config{})
	b := visit(t, a)
	b.header.Set("Accept-Language", "de")
	b.header.Set("Accept", "text/html")
	for _, c := range []struct {
		name, cacheControl, vary string
		draws                    bool
	}{
		{"drawn before the header", "public, max-age=60", "Accept-Language", true},
		{"public, without components", "public, max-age=60", "", false},
		{"perhaps drawn later", "", "Accept-Language", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := a.Visit(t.Context(), b.request("GET", "/?lang=ar", "", ""))
			if c.draws {
				var page strings.Builder
				if err := ui.SignIn("").Render(v, &page); err != nil || !strings.Contains(page.String(), ">Anmelden<") {
					t.Errorf("the component is %s (%v)", page.String(), err)
				}
			}
			h := http.Header{"Content-Type": {"text/html"}}
			if c.cacheControl != "" {
				h.Set("Cache-Control", c.cacheControl)
			}
			v.Commit(h)
			if got := strings.Join(h["Vary"], ", "); strings.Contains(got, "Accept-Language") != (c.vary != "") {
				t.Errorf("Vary %q, want %q", got, c.vary)
			}
			later := http.Header{}
			if v.Commit(later); len(later) != 0 {
				t.Errorf("a second Commit adds %v", later)
			}
		})
	}
}
