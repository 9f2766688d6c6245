package browser_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// Selectors of the pages of plugins/tokens.
const (
	appAllow  = `main button[value=allow]`
	appDeny   = `main button[value=deny]`
	appCode   = `main input[name=code]`
	appSubmit = `main form:has(input[name=code]) button[type=submit]`
	appEnd    = `main form[action$="/apps/end"] button`
	appManage = `#apps a[href$="/apps"]`
)

// appResource is the other service of the app.
const appResource = "https://orders-and-invoices.subdomain.of.a.company.example.com/mcp"

// appSite is a site with an app in all languages, and the port of the app's program.
type appSite struct {
	url, port string
}

func serveApps(t *testing.T) *appSite {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &appSite{port: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("/callback", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Go back to your terminal.")
	})
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	t.Cleanup(serveHTTP(listener, mux))
	signed := accesstoken.New(accesstoken.Options{
		Audiences: []accesstoken.Audience{{ID: appResource, Scopes: []string{"orders:read"}}},
	})
	apps := tokens.New(tokens.Options{AccessTokens: signed, Apps: []tokens.App{{
		ID: "cli", Name: "Acme CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
		Scopes: []tokens.Scope{
			{Name: "orders:read", Label: "Read orders"}, {Name: "orders:write", Label: "Change and delete orders"},
		},
		Resources: []string{appResource},
	}}})
	s.url = serveLanguages(t, ada, func(c *core.Config) {
		users := c.Store
		c.Plugins = append(c.Plugins, signed, apps)
		c.Providers = []core.Provider{
			webauthn.Passkey(),
			providers.Credentials(func(ctx context.Context, _ map[string]string, _ *core.Request) (*core.User, error) {
				return users.User(ctx, "ada")
			}),
		}
	})
	return s
}

// signsIn signs in, recently enough to let an app sign in.
func (v *visitor) signsIn() {
	v.Helper()
	v.open("/auth/signin?callbackUrl=%2Fauth%2Faccount")
	v.do(write(factorUser, ada), write(factorPass, password))
	v.follow(click(factorSignIn))
	v.at("/auth/account")
}

// challenge is the code challenge of RFC 7636, appendix B, and verifier its verifier.
const (
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// authorize is the path of the page that asks the user. parameters are names and values in addition.
func (s *appSite) authorize(parameters ...string) string {
	q := url.Values{
		"client_id": {"cli"}, "redirect_uri": {s.port + "/callback"}, "response_type": {"code"}, "state": {"some-state"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	return "/auth/authorize?" + q.Encode()
}

// post sends a request of the program, and decodes the response.
func (s *appSite) post(t *testing.T, path string, form url.Values) (answer map[string]any) {
	t.Helper()
	if !form.Has("client_id") {
		form.Set("client_id", "cli")
	}
	response, err := http.PostForm(s.url+"/auth/"+path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// starts starts the sign-in of a device, and returns its codes.
func (s *appSite) starts(t *testing.T) (deviceCode, userCode string) {
	t.Helper()
	answer := s.post(t, "device/authorization", url.Values{})
	deviceCode, _ = answer["device_code"].(string)
	userCode, _ = answer["user_code"].(string)
	if deviceCode == "" || userCode == "" {
		t.Fatalf("the response is %v", answer)
	}
	return deviceCode, userCode
}

// polls asks for the tokens of a device, and returns the error code, or "" if there are tokens.
func (s *appSite) polls(t *testing.T, deviceCode string) string {
	t.Helper()
	answer := s.post(t, "token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {deviceCode},
	})
	code, _ := answer["error"].(string)
	return code
}

// returned checks that the browser is at the program's port, and returns the parameters.
func (v *visitor) returned(s *appSite) url.Values {
	v.Helper()
	v.becomes(`document.readyState === "complete" && location.href.startsWith(` + quote(s.port+"/callback?") + `)`)
	at, err := url.Parse(run(v, chromedp.Evaluate[string](`location.href`)))
	if err != nil {
		v.Fatal(err)
	}
	return at.Query()
}

// TestApps lets an app sign in with the browser of this computer, and then ends it on the account page.
func TestApps(t *testing.T) {
	s := serveApps(t)
	v := visit(t, s.url)
	v.signsIn()
	v.open(s.authorize())
	v.names("heading", "Sign in to Acme CLI?")
	v.names("button", "Allow", "Don't allow")
	v.sees("Change and delete orders")
	v.do(click(appDeny))
	if q := v.returned(s); q.Get("error") != "access_denied" || q.Get("code") != "" || q.Get("state") != "some-state" {
		t.Errorf("denied: %v", q)
	}
	v.open(s.authorize())
	v.do(click(appAllow))
	q := v.returned(s)
	answer := s.post(t, "token", url.Values{
		"grant_type": {"authorization_code"}, "code": {q.Get("code")}, "code_verifier": {verifier},
		"redirect_uri": {s.port + "/callback"},
	})
	if token, _ := answer["access_token"].(string); !strings.HasPrefix(token, "lka_") || q.Get("iss") != s.url {
		t.Errorf("the parameters are %v, the response %v", q, answer)
	}

	v.open("/auth/account")
	v.sees("Acme CLI")
	v.follow(click(appManage))
	v.at("/auth/apps")
	v.names("button", "Sign out Acme CLI")
	v.follow(click(appEnd))
	v.at("/auth/apps")
	v.sees("The app was signed out.")
	v.sees("No apps are signed in.")
}

// TestDevicePage lets a device sign in: the user types its code, also a wrong one and one that was used. It also works
// without JavaScript.
func TestDevicePage(t *testing.T) {
	for name, script := range map[string]bool{"with JavaScript": true, "without JavaScript": false} {
		t.Run(name, func(t *testing.T) {
			s := serveApps(t)
			v := visit(t, s.url)
			v.signsIn()
			if !script {
				v.scriptless()
			}
			shows := func(selector string) { v.do(chromedp.WaitVisible(chromedp.CSS(selector))) }
			open := func(path string) {
				v.do(chromedp.Navigate(v.site + path))
				shows(appCode)
			}
			types := func(code string) {
				v.do(write(appCode, code))
				v.follow(click(appSubmit))
			}
			deviceCode, userCode := s.starts(t)
			open("/auth/device?user_code=" + userCode)
			if script {
				v.holdsText(appCode, "") // a link cannot fill it in
				v.names("textbox", "Code")
			}
			types("BCDF-GHJK")
			shows(appCode + "[aria-invalid=true]")
			if script {
				v.sees("This code is wrong or has expired.")
			}
			if got := s.polls(t, deviceCode); got != "authorization_pending" {
				t.Errorf("before the code: %q", got)
			}
			open("/auth/device")
			types(" " + strings.ToLower(strings.ReplaceAll(userCode, "-", " ")))
			shows(appAllow)
			if script {
				v.sees(userCode)
			}
			v.follow(click(appAllow))
			shows("main p[role=status]")
			if script {
				v.sees("You're signed in to Acme CLI.")
			}
			if got := s.polls(t, deviceCode); got != "" {
				t.Errorf("after the code: %q", got)
			}
			open("/auth/device")
			types(userCode)
			shows(appCode + "[aria-invalid=true]")

			deviceCode, userCode = s.starts(t)
			open("/auth/device")
			types(userCode)
			v.follow(click(appDeny))
			shows("main p[role=status]")
			if got := s.polls(t, deviceCode); got != "access_denied" {
				t.Errorf("denied: %q", got)
			}
		})
	}
}

// TestAppLooks opens the pages in light and dark mode, on a phone and right to left. No page may be wider than its
// window, and axe must find nothing.
func TestAppLooks(t *testing.T) {
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
	}{
		{"", "en", lightAndDark, 1000, 760},
		{"-phone", "de", "dark", 320, 640},
		{"-arabic", "ar", "light", 320, 640},
	} {
		t.Run("look"+look.name, func(t *testing.T) {
			s := serveApps(t)
			v := visit(t, s.url)
			v.looks(look.language, look.scheme, look.width, look.height)
			shows := func(page string) {
				t.Helper()
				if dir := run(v, chromedp.Evaluate[string](`document.dir`)); (dir == "rtl") != (look.language == "ar") {
					t.Errorf("%s is written %s", page, dir)
				}
				v.kept("app-" + page + look.name)
			}
			v.signsIn()
			v.open("/auth/apps")
			shows("none")
			v.open(s.authorize())
			shows("ask")
			v.open(s.authorize("resource", appResource))
			shows("ask-resource")
			v.open(s.authorize("client_id", "unknown"))
			shows("invalid")

			deviceCode, userCode := s.starts(t)
			v.open("/auth/device")
			shows("code")
			v.do(write(appCode, "BCDFGHJK"))
			v.follow(click(appSubmit))
			shows("code-wrong")
			v.do(empty(appCode), write(appCode, userCode))
			v.follow(click(appSubmit))
			shows("ask-device")
			v.follow(click(appAllow))
			shows("done")
			if got := s.polls(t, deviceCode); got != "" {
				t.Errorf("the device: %q", got)
			}
			v.open("/auth/apps")
			shows("list")
			v.open("/auth/account")
			shows("account")
			v.open("/auth/apps")
			v.follow(click(appEnd))
			shows("ended")
		})
	}
}
