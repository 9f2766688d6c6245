package browser_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// longAddress is longer than a line on a small screen.
const longAddress = "somebody.with.a.long.name@subdomain.of.a.company.example.com"

const chromeOnLinux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"

// spoken are the pages of an unauthenticated user. known are the pages of an account.
var (
	spoken = []string{
		"/auth/signin", "/auth/signin?error=CredentialsSignin", "/auth/signin?error=EmailSignin",
		"/auth/signin?error=OAuthAccountNotLinked", "/auth/signin?error=SessionRequired", "/auth/signin?error=Signin",
		"/auth/error", "/auth/error?error=Configuration", "/auth/error?error=AccessDenied",
		"/auth/error?error=Verification", "/auth/error?error=TooManyRequests", "/auth/error?error=ServiceUnavailable",
		"/auth/verify-request", "/auth/signout", "/auth/password/sign-up", "/auth/password/sent", "/auth/password/forgot",
		"/auth/password/reset?token=x", "/auth/password/done", "/auth/password/confirm?token=x",
	}
	known = []string{"/auth/account", "/auth/password/change", "/auth/signout"}
)

// serveLanguages serves an application with all plugins in all languages. Its path "/enter" signs in the user with this
// address.
func serveLanguages(t *testing.T, address string, change func(*core.Config)) (site string) {
	t.Helper()
	listener, origin := listen(t)
	store, box := memory.New(), mailbox.New()
	user, err := store.CreateUser(t.Context(), &core.User{ID: "ada", Name: "Ada", Email: address})
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range []string{"github", "google"} {
		err := store.LinkAccount(t.Context(), &core.Account{
			UserID: "ada", Type: core.TypeOAuth, Provider: provider, ProviderAccountID: "1",
			Label: "ada@" + provider + ".example",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	oauth := providers.Options{ClientID: "id", ClientSecret: "secret"}
	config := core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store, EnableWebAuthn: true,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Locales: locales.All(),
		Providers: []core.Provider{
			providers.GitHub(oauth), providers.Google(oauth), webauthn.Passkey(),
			passwords.New(passwords.Options{Mail: box}), providers.Email("no-reply@example.com", box.Send),
		},
		Plugins: []core.Plugin{
			account.New(account.Options{Mail: box, Delete: func(context.Context, *core.User) error { return nil }}),
		},
	}
	if change != nil {
		change(&config)
	}
	auth, err := core.New(authtest.Unlimited(config))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	mux.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
		cookies, err := auth.NewSession(r.Context(), authhttp.Request(r), user)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, c := range cookies {
			w.Header().Add("Set-Cookie", c.String())
		}
		http.Redirect(w, r, "/auth/account", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	t.Cleanup(serveHTTP(listener, mux))
	return origin
}

var (
	unsaid     = regexp.MustCompile(`(?s)<(style|script|code)[^>]*>.*?</(style|script|code)>`)
	attributes = regexp.MustCompile(` (?:alt|placeholder|title|aria-label|data-show|data-or|data-who|data-sent|` +
		`data-again|data-continue|data-last)="([^"]*)"`)
	element  = regexp.MustCompile(`<[^>]*>`)
	letters  = regexp.MustCompile(`\pL{2}`)
	textKeys = regexp.MustCompile(`^[a-z-]+(\.[a-z-]+)+$`)
)

// sentences returns the texts of a page, and the texts in its attributes for users and for scripts.
func sentences(page string) []string {
	page = unsaid.ReplaceAllString(page, "")
	var all []string
	for _, found := range attributes.FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(found[1]))
	}
	for line := range strings.SplitSeq(element.ReplaceAllString(page, "\n"), "\n") {
		all = append(all, html.UnescapeString(strings.TrimSpace(line)))
	}
	return slices.DeleteFunc(all, func(s string) bool { return !letters.MatchString(s) })
}

// same are names, and texts that several languages share with English.
var same = []string{
	"email@example.com", "GitHub", "Google", "Passkey", "Passkeys", "Email", "Error", "Ada", longAddress, "localhost",
	"Cancel", "Continue", "Code", "E-mail", "https://", "Name", "ada@github.example", "ada@google.example",
}

// TestPagesInEveryLanguage compares every page in every language with the English page. No English sentence and no text
// key may remain.
func TestPagesInEveryLanguage(t *testing.T) {
	site := serveLanguages(t, longAddress, nil)
	said := map[string][]string{} // the English texts by path
	read := func(t *testing.T, tag string, check func(path string, said []string)) {
		t.Helper()
		client := newVisitor(t)
		for _, path := range append(append(slices.Clone(spoken), "/enter"), known...) {
			check(path, sentences(fetch(t, client, site+path, tag)))
		}
	}
	read(t, "en", func(path string, all []string) { said[path] = all })
	for _, l := range locales.All()[1:] {
		t.Run(l.Tag, func(t *testing.T) {
			read(t, l.Tag, func(path string, all []string) {
				for _, s := range all {
					left := slices.Contains(said[path], s) && !slices.Contains(same, s) && !strings.HasPrefix(s, "localhost:")
					if left || textKeys.MatchString(s) && s != "localhost" || strings.Contains(s, "%!") {
						t.Errorf("%s says %q", path, s)
					}
				}
			})
		})
	}
}

// newVisitor returns a client with its own cookies that follows redirects.
func newVisitor(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}

	return &http.Client{Jar: jar}
}

func fetch(t *testing.T, client *http.Client, address, tag string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", tag)
	r.Header.Set("User-Agent", chromeOnLinux)
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Header.Get("Content-Language") != tag && u.Path != "/enter" {
		t.Errorf("%s in %q: %d, %v", address, res.Header.Get("Content-Language"), res.StatusCode, err)
	}
	return string(body)
}

// TestLongWords opens the pages in German and Arabic on a phone, with an address that is longer than a line. Everything
// must be on the screen, the card centered, and no element may contain more than fits in its box.
func TestLongWords(t *testing.T) {
	site := serveLanguages(t, longAddress, nil)
	for _, tag := range []string{"de", "ar"} {
		t.Run(tag, func(t *testing.T) {
			v := visit(t, site)
			v.do(chromedp.EmulateViewport(320, 640))
			call(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
				UserAgent: chromeOnLinux, AcceptLanguage: tag,
			})
			for i, path := range append(append(slices.Clone(spoken), "/enter"), known...) {
				if strings.HasPrefix(path, "/auth/error") && i%3 > 0 {
					continue
				}
				v.open(path)
				const wide = `[...document.querySelectorAll("main *")].filter(e => e.scrollWidth > e.clientWidth + 1 &&
					e.clientWidth > 1 && getComputedStyle(e).overflowX === "visible" && !e.closest("svg")).map(e => e.outerHTML)
					.concat(document.documentElement.scrollWidth > innerWidth ? ["the document"] : []).join("\n")`
				if found := run(v, chromedp.Evaluate[string](wide)); found != "" {
					t.Errorf("%s: wider than its box: %.600s", path, found)
				}
				const moved = `(({left, right}) =>
					scrollX || Math.abs(left - (innerWidth - right)) > 1 ? left + " to " + right : ""
				)(document.querySelector(".card").getBoundingClientRect())`
				if found := run(v, chromedp.Evaluate[string](moved)); found != "" {
					t.Errorf("%s: the card is not in the middle, but at %s", path, found)
				}
				if slices.Contains([]string{"/auth/signin", "/auth/password/sign-up", "/auth/account"}, path) {
					v.picture(fmt.Sprintf("language-%s-%d", tag, i))
				}
			}
		})
	}
}

// TestFontsOfLanguages checks the first font of the pages. It is the font of the language if system-ui could select one
// for another script. A theme's font always has precedence.
func TestFontsOfLanguages(t *testing.T) {
	plain := serveLanguages(t, longAddress, nil)
	themed := serveLanguages(t, longAddress, func(c *core.Config) { c.Theme = acme })
	for _, row := range []struct{ name, site, tag, want string }{
		{"english", plain, "en", "system-ui"},
		{"japanese", plain, "ja", `"Hiragino Sans"`},
		{"chinese", plain, "zh-Hans", `"PingFang SC"`},
		{"japanese with a theme", themed, "ja", "Georgia"},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := visit(t, row.site)
			v.looks(row.tag, "light", 480, 660)
			v.open("/auth/signin")
			got := run(v, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("h1")).fontFamily.split(",")[0]`))
			if got != row.want {
				t.Errorf("the first font is %s, want %s", got, row.want)
			}
			v.picture("fonts-" + strings.ReplaceAll(row.name, " ", "-"))
		})
	}
}
