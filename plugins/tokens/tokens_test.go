package tokens_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

// TestCodeFlow signs in with the client of golang.org/x/oauth2, with both session strategies and in two processes.
func TestCodeFlow(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = strategy })
			other := s.again(func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = strategy })
			config, verifier, ada := s.config(), oauth2.GenerateVerifier(), s.as("ada")
			to := s.allow(ada, config.AuthCodeURL("some-state", oauth2.S256ChallengeOption(verifier)))
			if q := to.Query(); to.Host != "127.0.0.1:7777" || q.Get("state") != "some-state" || q.Get("iss") != s.url {
				t.Errorf("the browser opens %s", to)
			}
			code := to.Query().Get("code")
			first, err := config.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []*site{s, other} {
				if r := in.call(first.AccessToken); r.StatusCode != 200 || r.body != "ada Acme CLI false" {
					t.Errorf("the API: %d %s", r.StatusCode, r.body)
				}
			}
			r := s.send(http.DefaultClient, "GET", "/people", nil, "Authorization", "Bearer "+first.AccessToken)
			if r.StatusCode != 401 {
				t.Errorf("a route for sessions: %d %s", r.StatusCode, r.body)
			}
			s.clock.wait(15*time.Minute + time.Second)
			if r := s.call(first.AccessToken); r.StatusCode != 401 {
				t.Errorf("an old access token: %d %s", r.StatusCode, r.body)
			}
			first.Expiry = time.Now().Add(-time.Minute)
			second, err := other.config().TokenSource(t.Context(), first).Token()
			if err != nil {
				t.Fatal(err)
			}
			if r := s.call(second.AccessToken); r.StatusCode != 200 {
				t.Errorf("after the refresh: %d %s", r.StatusCode, r.body)
			}
			ended := s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {second.RefreshToken}})
			if ended.StatusCode != 200 {
				t.Errorf("revoke: %d %s", ended.StatusCode, ended.body)
			}
			if r := other.call(second.AccessToken); r.StatusCode != 401 {
				t.Errorf("after the revocation: %d %s", r.StatusCode, r.body)
			}
			s.without(code, first.AccessToken, first.RefreshToken, second.AccessToken, second.RefreshToken, verifier)
			if got := s.log.events(); got != "app.signed-in ok ada, app.ended ok ada asked" {
				t.Errorf("audited %s", got)
			}
		})
	}
}

// TestDeviceFlow signs in a device with the client of golang.org/x/oauth2.
func TestDeviceFlow(t *testing.T) {
	s := newSite(t)
	config := s.config()
	device, err := config.DeviceAuth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if device.VerificationURI != s.url+"/auth/device" || device.VerificationURIComplete != "" || device.Interval != 5 {
		t.Errorf("the response is %+v", device)
	}
	ada := s.as("ada")
	page := s.send(ada, "GET", "/auth/device", nil, "Accept", "text/html")
	if strings.Contains(page.body, device.UserCode) {
		t.Error("the page shows the code")
	}
	ask := s.submit(ada, page, "code", strings.ToLower(" "+device.UserCode))
	for _, text := range []string{"Acme CLI", "Read orders", "127.0.0.1", device.UserCode, "ada@example.com"} {
		if ask.StatusCode != 200 || !strings.Contains(ask.body, text) {
			t.Errorf("the page does not contain %s: %d %s", text, ask.StatusCode, ask.body)
		}
	}
	if done := s.submit(ada, ask, "decision", "allow"); done.StatusCode != 200 ||
		!strings.Contains(done.body, "signed in to Acme CLI") {
		t.Errorf("the last page is %d %s", done.StatusCode, done.body)
	}
	device.Interval = 1
	token, err := config.DeviceAccessToken(t.Context(), device)
	if err != nil {
		t.Fatal(err)
	}
	if r := s.call(token.AccessToken); r.StatusCode != 200 || r.body != "ada Acme CLI false" {
		t.Errorf("the API: %d %s", r.StatusCode, r.body)
	}
	if r := s.poll(device.DeviceCode); r.code() != "expired_token" && r.code() != "invalid_grant" {
		t.Errorf("the device code works again: %d %s", r.StatusCode, r.body)
	}
	s.without(device.DeviceCode, device.UserCode, strings.ReplaceAll(device.UserCode, "-", ""), token.AccessToken)
}

// poll asks whether the user has decided.
func (s *site) poll(deviceCode string) reply {
	s.Helper()
	return s.program("token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {"acme-cli"},
		"device_code": {deviceCode},
	})
}

// start starts a device flow.
func (s *site) start() (d struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
}) {
	s.Helper()
	r := s.program("device/authorization", url.Values{"client_id": {"acme-cli"}})
	if err := json.Unmarshal([]byte(r.body), &d); err != nil || r.StatusCode != 200 {
		s.Fatalf("device authorization: %d %s", r.StatusCode, r.body)
	}
	return d
}

// decide types a code and decides.
func (s *site) decide(browser *http.Client, code, decision string) reply {
	s.Helper()
	page := s.send(browser, "GET", "/auth/device", nil, "Accept", "text/html")
	return s.submit(browser, page, "code", code, "decision", decision)
}

// TestPolling checks the responses while a device waits (RFC 8628 section 3.5).
func TestPolling(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	wait := func(d time.Duration) func(string, string) { return func(string, string) { s.clock.wait(d) } }
	for name, steps := range map[string][]struct {
		do   func(device, user string)
		want string
	}{
		"too soon": {
			{nil, "authorization_pending"}, {nil, "slow_down"}, {wait(9 * time.Second), "slow_down"},
			{wait(15 * time.Second), "authorization_pending"},
		},
		"denied": {
			{nil, "authorization_pending"},
			{func(_, user string) { s.decide(ada, user, "deny") }, "access_denied"},
			{func(_, user string) { s.decide(ada, user, "allow") }, "access_denied"},
		},
		"allowed": {
			{nil, "authorization_pending"}, {func(_, user string) { s.decide(ada, user, "allow") }, ""},
			{nil, "expired_token"},
		},
		"expired": {
			{wait(10 * time.Minute), "expired_token"},
			{func(_, user string) {
				if r := s.decide(ada, user, "allow"); r.StatusCode != 422 {
					t.Errorf("an expired user code: %d", r.StatusCode)
				}
			}, "expired_token"},
		},
		"for another app": {{func(device, _ string) {
			r := s.program("token", url.Values{
				"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {"other"}, "device_code": {device},
			})
			if r.code() != "expired_token" {
				t.Errorf("the device code of another app: %s", r.body)
			}
		}, "authorization_pending"}},
		"without a decision": {{func(_, user string) { s.decide(ada, user, "") }, "authorization_pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			ada = s.as("ada")
			d := s.start()
			for i, step := range steps {
				if step.do != nil {
					step.do(d.DeviceCode, d.UserCode)
				}
				if r := s.poll(d.DeviceCode); r.code() != step.want || (r.StatusCode == 200) != (step.want == "") {
					t.Errorf("step %d: %d %s, want %q", i, r.StatusCode, r.body, step.want)
				}
			}
		})
	}
}

// TestDevicePage checks who can let a device sign in, and which apps have the device flow.
func TestDevicePage(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	page := s.send(ada, "GET", "/auth/device", nil, "Accept", "text/html")
	s.clock.wait(31 * time.Minute)
	d := s.start()
	if r := s.submit(ada, page, "code", d.UserCode, "decision", "allow"); r.StatusCode != 303 {
		t.Errorf("31 minutes after the sign-in: %d %s", r.StatusCode, r.body)
	}
	if r := s.poll(d.DeviceCode); r.code() != "authorization_pending" {
		t.Errorf("the device: %s", r.body)
	}
	if r := s.program("device/authorization", url.Values{"client_id": {"other"}}); r.code() != "unauthorized_client" {
		t.Errorf("an app without the device flow: %d %s", r.StatusCode, r.body)
	}
	r := s.program("device/authorization", url.Values{"client_id": {"acme-cli"}, "scope": {"orders:delete"}})
	if r.code() != "invalid_scope" {
		t.Errorf("an unknown scope: %d %s", r.StatusCode, r.body)
	}
}

// TestNoPagesForPrograms requests the pages with a session token as bearer token.
func TestNoPagesForPrograms(t *testing.T) {
	s := newSite(t, func(c *core.Config, _ *tokens.Options) { c.Session.Bearer = true })
	session := ""
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.as("ada").Jar.Cookies(u) {
		if strings.HasSuffix(c.Name, "session-token") {
			session = c.Value
		}
	}
	for _, path := range []string{"apps", "device", "authorize"} {
		r := s.send(http.DefaultClient, "GET", "/auth/"+path, nil, "Authorization", "Bearer "+session)
		if r.StatusCode != 403 || r.code() != "browser_required" {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
}

// TestUserCodes types user codes that are wrong.
func TestUserCodes(t *testing.T) {
	s := newSite(t)
	d, ada := s.start(), s.as("ada")
	wrong := []string{"", "BCDF", "BCDFGHJA", "BCDF-GHJK", strings.Repeat("B", 100)}
	for i := range 10 {
		code := wrong[i%len(wrong)]
		if r := s.decide(ada, code, "allow"); r.StatusCode != 422 || !strings.Contains(r.body, "This code is wrong") {
			t.Errorf("%q: %d", code, r.StatusCode)
		}
	}
	if r := s.decide(ada, d.UserCode, "allow"); r.StatusCode != 429 {
		t.Errorf("after ten wrong codes: %d %s", r.StatusCode, r.body)
	}
	if r := s.poll(d.DeviceCode); r.code() != "authorization_pending" {
		t.Errorf("the device: %s", r.body)
	}
	if r := s.decide(s.as("eve"), d.UserCode, "allow"); r.StatusCode != 200 {
		t.Errorf("another user: %d %s", r.StatusCode, r.body)
	}
}

// TestDeviceRequestsAreLimited starts many device flows from one network.
func TestDeviceRequestsAreLimited(t *testing.T) {
	s := newSite(t)
	for i := range 201 {
		r := s.program("device/authorization", url.Values{"client_id": {"acme-cli"}})
		switch {
		case r.StatusCode == 429 && i >= 20:
			return
		case r.StatusCode != 200:
			t.Fatalf("request %d: %d %s", i, r.StatusCode, r.body)
		}
	}
	t.Error("201 requests are allowed")
}

// TestAuthorizeRefused sends authorization requests that are not valid.
func TestAuthorizeRefused(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for name, row := range map[string]struct {
		field, value string
		want         string // the error at the redirect URI; empty: a page
	}{
		"no app":                    {"client_id", "", ""},
		"an unknown app":            {"client_id", "acme", ""},
		"no redirect URI":           {"redirect_uri", "", ""},
		"another host":              {"redirect_uri", "http://evil.example/callback", ""},
		"another path":              {"redirect_uri", "http://127.0.0.1/other", ""},
		"a path below":              {"redirect_uri", "http://127.0.0.1/callback/x", ""},
		"another loopback address":  {"redirect_uri", "http://127.0.0.2/callback", ""},
		"a user name":               {"redirect_uri", "http://127.0.0.1@evil.example/callback", ""},
		"a user name on loopback":   {"redirect_uri", "http://x@127.0.0.1/callback", ""},
		"a fragment":                {"redirect_uri", "http://127.0.0.1/callback#x", ""},
		"another query":             {"redirect_uri", "https://app.example/link?from=evil", ""},
		"https with another port":   {"redirect_uri", "https://app.example:444/link?from=app", ""},
		"a script":                  {"redirect_uri", "javascript:alert(1)//127.0.0.1", ""},
		"https of this computer":    {"redirect_uri", "https://127.0.0.1/callback", ""},
		"no state":                  {"state", "", "invalid_request"},
		"a long state":              {"state", strings.Repeat("x", 1001), "invalid_request"},
		"no response type":          {"response_type", "", "unsupported_response_type"},
		"the implicit flow":         {"response_type", "token", "unsupported_response_type"},
		"no challenge":              {"code_challenge", "", "invalid_request"},
		"a short challenge":         {"code_challenge", challenge[1:], "invalid_request"},
		"a plain challenge":         {"code_challenge_method", "plain", "invalid_request"},
		"no method":                 {"code_challenge_method", "", "invalid_request"},
		"a scope of no app":         {"scope", "orders:read orders:delete", "invalid_scope"},
		"a wildcard":                {"scope", "orders:*", "invalid_scope"},
		"any port of this computer": {"redirect_uri", "http://127.0.0.1:1/callback", "ok"},
		"a scheme of the app":       {"redirect_uri", "com.example.app:/callback", "ok"},
		"an app link":               {"redirect_uri", "https://app.example/link?from=app", "ok"},
		"offline access":            {"scope", "orders:read offline_access", "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			q := url.Values{
				"client_id": {"acme-cli"}, "redirect_uri": {"http://127.0.0.1:7777/callback"}, "response_type": {"code"},
				"state": {"some-state"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
			}
			q.Set(row.field, row.value)
			r := s.send(ada, "GET", "/auth/authorize?"+q.Encode(), nil, "Accept", "text/html")
			switch to, err := r.Location(); {
			case row.want == "ok":
				if r.StatusCode != 200 || !strings.Contains(r.body, "Acme CLI") {
					t.Fatalf("%d %s", r.StatusCode, r.body)
				}
				to := s.allow(ada, "/auth/authorize?"+q.Encode())
				if to.Query().Get("code") == "" || !strings.HasPrefix(to.String(), strings.Split(q.Get("redirect_uri"), "?")[0]) {
					t.Errorf("the browser opens %s", to)
				}
			case row.want == "":
				if r.StatusCode != 400 || err == nil ||
					!strings.Contains(r.body, "invalid_") && !strings.Contains(r.body, "is not") {
					t.Errorf("%d %v %s", r.StatusCode, to, r.body)
				}
			case err != nil || to.Host != "127.0.0.1:7777" || to.Query().Get("error") != row.want ||
				to.Query().Get("iss") != s.url:
				t.Errorf("%d %v, want %s", r.StatusCode, to, row.want)
			}
		})
	}
}

// TestAuthorizePage checks who can let an app sign in.
func TestAuthorizePage(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	address := strings.TrimPrefix(
		s.config().AuthCodeURL("x", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())),
		s.url,
	)
	nobody := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r := s.send(nobody, "GET", address, nil, "Accept", "text/html")
	if to, err := r.Location(); err != nil || !strings.HasPrefix(to.Path, "/auth/signin") ||
		!strings.Contains(to.Query().Get("callbackUrl"), "code_challenge") {
		t.Errorf("without a session: %d %v", r.StatusCode, to)
	}
	page := s.send(ada, "GET", address, nil, "Accept", "text/html")
	if r := s.submit(ada, page, "decision", "allow", "csrfToken", "x"); r.StatusCode != 403 {
		t.Errorf("without the CSRF token: %d %s", r.StatusCode, r.body)
	}
	r = s.submit(ada, page, "decision", "deny")
	if to, err := r.Location(); err != nil || to.Query().Get("error") != "access_denied" ||
		to.Query().Get("state") != "x" {
		t.Errorf("denied: %d %v", r.StatusCode, to)
	}
	if r := s.submit(ada, page); r.Header.Get("Location") == "" || strings.Contains(r.Header.Get("Location"), "code=") {
		t.Errorf("without a decision: %d %s", r.StatusCode, r.Header.Get("Location"))
	}
	s.clock.wait(16 * time.Minute)
	r = s.send(ada, "GET", address, nil, "Accept", "text/html")
	if to, err := r.Location(); err != nil || !strings.HasPrefix(to.Path, "/auth/reauth") {
		t.Errorf("16 minutes after the sign-in: %d %v", r.StatusCode, to)
	}
	s.clock.wait(15 * time.Minute)
	if r := s.submit(ada, page, "decision", "allow"); strings.Contains(r.Header.Get("Location"), "127.0.0.1:7777") {
		t.Errorf("31 minutes after the sign-in: %d %s", r.StatusCode, r.Header.Get("Location"))
	}
}

// TestCodeRefused exchanges codes that are not valid for this request.
func TestCodeRefused(t *testing.T) {
	for name, row := range map[string]struct {
		change func(s *site, f url.Values)
		want   string
	}{
		"another verifier": {
			func(_ *site, f url.Values) { f.Set("code_verifier", oauth2.GenerateVerifier()) }, "invalid_grant",
		},
		"no verifier": {func(_ *site, f url.Values) { f.Del("code_verifier") }, "invalid_grant"},
		"another redirect URI": {func(_ *site, f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:7778/callback") },
			"invalid_grant"},
		"no redirect URI": {func(_ *site, f url.Values) { f.Del("redirect_uri") }, "invalid_grant"},
		"another app":     {func(_ *site, f url.Values) { f.Set("client_id", "other") }, "invalid_grant"},
		"an unknown app":  {func(_ *site, f url.Values) { f.Set("client_id", "x") }, "invalid_client"},
		"no app":          {func(_ *site, f url.Values) { f.Del("client_id") }, "invalid_client"},
		"a changed code":  {func(_ *site, f url.Values) { f.Set("code", f.Get("code")+"x") }, "invalid_grant"},
		"after a minute":  {func(s *site, _ url.Values) { s.clock.wait(time.Minute) }, "invalid_grant"},
		"no grant type":   {func(_ *site, f url.Values) { f.Del("grant_type") }, "invalid_request"},
		"passwords":       {func(_ *site, f url.Values) { f.Set("grant_type", "password") }, "unsupported_grant_type"},
		"the app twice":   {func(_ *site, f url.Values) { f.Add("client_id", "acme-cli") }, "invalid_request"},
		"as a device code": {
			func(_ *site, f url.Values) { f.Set("grant_type", "urn:ietf:params:oauth:grant-type:device_code") },
			"invalid_grant",
		},
		"a deleted user": {func(s *site, _ url.Values) {
			if err := s.store.DeleteUser(s.Context(), "ada"); err != nil {
				s.Fatal(err)
			}
		}, "invalid_grant"},
		"sessions ended": {func(s *site, _ url.Values) {
			if _, err := s.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
				s.Fatal(err)
			}
		}, "invalid_grant"},
		"nothing": {func(*site, url.Values) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = core.StrategyDatabase })
			config, verifier := s.config(), oauth2.GenerateVerifier()
			to := s.allow(s.as("ada"), config.AuthCodeURL("x", oauth2.S256ChallengeOption(verifier)))
			form := url.Values{
				"grant_type": {"authorization_code"}, "client_id": {"acme-cli"}, "code": {to.Query().Get("code")},
				"code_verifier": {verifier}, "redirect_uri": {config.RedirectURL},
			}
			row.change(s, form)
			r := s.program("token", form)
			if r.code() != row.want || (r.StatusCode == 200) != (row.want == "") {
				t.Errorf("%d %s, want %q", r.StatusCode, r.body, row.want)
			}
			if got := r.Header.Get("Cache-Control"); !strings.Contains(got, "no-store") || len(r.Cookies()) > 0 {
				t.Errorf("Cache-Control is %q, cookies %v", got, r.Cookies())
			}
		})
	}
}

// TestCodeTwice uses a code twice, which ends the sign-in, also if both requests arrive at the same time.
func TestCodeTwice(t *testing.T) {
	s := newSite(t)
	config, verifier := s.config(), oauth2.GenerateVerifier()
	form := func() url.Values {
		to := s.allow(s.as("ada"), config.AuthCodeURL("x", oauth2.S256ChallengeOption(verifier)))
		return url.Values{
			"grant_type": {"authorization_code"}, "client_id": {"acme-cli"}, "code": {to.Query().Get("code")},
			"code_verifier": {verifier}, "redirect_uri": {config.RedirectURL},
		}
	}
	one := form()
	token := s.tokenOf(s.program("token", one))
	if r := s.program("token", one); r.code() != "invalid_grant" {
		t.Errorf("the second use: %d %s", r.StatusCode, r.body)
	}
	if r := s.call(token.Access); r.StatusCode != 401 {
		t.Errorf("the first access token: %d %s", r.StatusCode, r.body)
	}
	if got := s.log.events(); got != "app.signed-in ok ada, app.ended ok ada replayed" {
		t.Errorf("audited %s", got)
	}
	two, won := form(), make(chan reply, 50)
	var all sync.WaitGroup
	for range cap(won) {
		all.Go(func() { won <- s.program("token", two) })
	}
	all.Wait()
	close(won)
	for r := range won {
		if r.StatusCode == 200 && s.call(s.tokenOf(r).Access).StatusCode == 200 {
			t.Error("a token works although its code was used again")
		}
	}
	if grants, err := s.apps.Of(t.Context(), "ada"); err != nil || len(grants) != 0 {
		t.Errorf("grants %+v, %v", grants, err)
	}
}

// TestAuditNamesTheApp ends sign-ins of an app in each way. The events name the sign-in by its public ID.
func TestAuditNamesTheApp(t *testing.T) {
	for name, end := range map[string]func(s *site, ada *http.Client, id string, first *oauth2.Token){
		"on the page": func(s *site, ada *http.Client, id string, _ *oauth2.Token) {
			page := s.send(ada, "GET", "/auth/apps", nil, "Accept", "text/html")
			if r := s.submit(ada, page, "id", id); r.StatusCode >= 400 {
				s.Errorf("%d %s", r.StatusCode, r.body)
			}
		},
		"by the app": func(s *site, _ *http.Client, _ string, first *oauth2.Token) {
			s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {first.AccessToken}})
		},
		"by a token that is used again": func(s *site, _ *http.Client, _ string, first *oauth2.Token) {
			second := s.tokenOf(s.refresh(first.RefreshToken))
			s.tokenOf(s.refresh(second.Refresh))
			s.refresh(first.RefreshToken)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			first := s.signIn("ada")
			all, err := s.apps.Of(t.Context(), "ada")
			if err != nil || len(all) != 1 {
				t.Fatalf("the apps are %v, %v", all, err)
			}
			end(s, s.as("ada"), all[0].ID, first)
			s.log.mu.Lock()
			other := func(e string) bool { return !strings.HasPrefix(e, "app.") }
			named := slices.DeleteFunc(slices.Clone(s.log.named), other)
			s.log.mu.Unlock()
			want := []string{"app.signed-in app:" + all[0].ID, "app.ended app:" + all[0].ID}
			if !slices.Equal(named, want) {
				t.Errorf("audited %q, want %q", named, want)
			}
			s.without(first.AccessToken, first.RefreshToken)
		})
	}
}

// TestRotation refreshes tokens: each refresh token works once, and a second use ends the sign-in.
func TestRotation(t *testing.T) {
	t.Run("a stolen token", func(t *testing.T) {
		s := newSite(t)
		first := s.signIn("ada").RefreshToken
		second := s.tokenOf(s.refresh(first))
		third := s.tokenOf(s.refresh(second.Refresh))
		if r := s.refresh(first); r.code() != "invalid_grant" { // two numbers behind
			t.Errorf("the stolen token: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(third.Refresh); r.code() != "invalid_grant" {
			t.Errorf("the newest token: %d %s", r.StatusCode, r.body)
		}
		if r := s.call(third.Access); r.StatusCode != 401 {
			t.Errorf("the newest access token: %d", r.StatusCode)
		}
		if got := s.log.events(); got != "app.signed-in ok ada, app.ended ok ada replayed" {
			t.Errorf("audited %s", got)
		}
	})
	t.Run("a lost response", func(t *testing.T) {
		s := newSite(t)
		first := s.signIn("ada").RefreshToken
		lost := s.tokenOf(s.refresh(first))
		s.clock.wait(10 * time.Second)
		again := s.tokenOf(s.refresh(first))
		if r := s.call(lost.Access); r.StatusCode != 401 {
			t.Errorf("the lost access token: %d", r.StatusCode)
		}
		if r := s.call(again.Access); r.StatusCode != 200 {
			t.Errorf("the access token of the retry: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(again.Refresh); r.StatusCode != 200 {
			t.Errorf("the refresh token of the retry: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(lost.Refresh); r.code() != "invalid_grant" {
			t.Errorf("the lost refresh token: %d %s", r.StatusCode, r.body)
		}
		if grants, err := s.apps.Of(t.Context(), "ada"); err != nil || len(grants) != 0 {
			t.Errorf("grants %+v, %v", grants, err)
		}
	})
	t.Run("a lost response that somebody has", func(t *testing.T) {
		s := newSite(t)
		first := s.signIn("ada").RefreshToken
		lost := s.tokenOf(s.refresh(first))
		again := s.tokenOf(s.refresh(first))
		if r := s.refresh(lost.Refresh); r.code() != "invalid_grant" {
			t.Errorf("the lost refresh token: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(again.Refresh); r.code() != "invalid_grant" {
			t.Errorf("the refresh token of the retry: %d %s", r.StatusCode, r.body)
		}
	})
	t.Run("too late", func(t *testing.T) {
		s := newSite(t)
		first := s.signIn("ada").RefreshToken
		s.tokenOf(s.refresh(first))
		s.clock.wait(6 * time.Second)
		next := s.tokenOf(s.refresh(first)) // does not start the ten seconds again
		s.clock.wait(5 * time.Second)
		if r := s.refresh(first); r.code() != "invalid_grant" {
			t.Errorf("after eleven seconds: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(next.Refresh); r.code() != "invalid_grant" {
			t.Errorf("its successor: %d %s", r.StatusCode, r.body)
		}
	})
	t.Run("at the same time", func(t *testing.T) {
		s := newSite(t)
		other := s.again()
		first, replies := s.signIn("ada").RefreshToken, make(chan reply, 100)
		var all sync.WaitGroup
		for i := range cap(replies) {
			all.Go(func() { replies <- []*site{s, other}[i%2].refresh(first) })
		}
		all.Wait()
		close(replies)
		works, wins := "", 0
		for r := range replies {
			switch r.StatusCode {
			case 200:
				wins++
				if next := s.tokenOf(r); s.call(next.Access).StatusCode == 200 {
					works += next.Refresh + " "
				}
			case 503:
			default:
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
		}
		if strings.Count(works, " ") != 1 || wins == 0 {
			t.Fatalf("%d requests got tokens, of which %d work", wins, strings.Count(works, " "))
		}
		if r := other.refresh(strings.TrimSpace(works)); r.StatusCode != 200 {
			t.Errorf("the newest token: %d %s", r.StatusCode, r.body)
		}
	})
	t.Run("another app", func(t *testing.T) {
		s := newSite(t)
		first := s.signIn("ada").RefreshToken
		r := s.program("token", url.Values{"grant_type": {"refresh_token"}, "client_id": {"other"}, "refresh_token": {first}})
		if r.code() != "invalid_grant" {
			t.Errorf("another app: %d %s", r.StatusCode, r.body)
		}
		if r := s.refresh(first); r.StatusCode != 200 {
			t.Errorf("afterwards: %d %s", r.StatusCode, r.body)
		}
	})
}

// TestGrantEnds ends a sign-in in each way.
func TestGrantEnds(t *testing.T) {
	for name, end := range map[string]func(s *site, token *oauth2.Token) *site{
		"not used for 30 days": func(s *site, _ *oauth2.Token) *site { s.clock.wait(30 * 24 * time.Hour); return s },
		"the user is deleted": func(s *site, _ *oauth2.Token) *site {
			if err := s.store.DeleteUser(s.Context(), "ada"); err != nil {
				s.Fatal(err)
			}
			return s
		},
		"all sessions end": func(s *site, _ *oauth2.Token) *site {
			if _, err := s.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
				s.Fatal(err)
			}
			return s
		},
		"the application ends it": func(s *site, _ *oauth2.Token) *site {
			grants, err := s.apps.Of(s.Context(), "ada")
			if err != nil || len(grants) != 1 {
				s.Fatal(grants, err)
			}
			if err := s.apps.End(s.Context(), "eve", grants[0].ID); !errors.Is(err, core.ErrNotFound) {
				s.Errorf("another user ends it: %v", err)
			}
			if err := s.apps.End(s.Context(), "ada", grants[0].ID); err != nil {
				s.Fatal(err)
			}
			return s
		},
		"the app is removed": func(s *site, _ *oauth2.Token) *site {
			return s.again(func(c *core.Config, o *tokens.Options) {
				c.Session.Strategy, o.Apps = core.StrategyDatabase, o.Apps[1:]
			})
		},
		"revoked by its access token": func(s *site, token *oauth2.Token) *site {
			s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {token.AccessToken}})
			return s
		},
		"too many sign-ins": func(s *site, _ *oauth2.Token) *site {
			for range 3 {
				s.clock.wait(time.Second)
				s.signIn("ada")
			}
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, o *tokens.Options) {
				c.Session.Strategy, o.MaxGrants = core.StrategyDatabase, 3
			})
			token := s.signIn("ada")
			s.program("token/revoke", url.Values{"client_id": {"other"}, "token": {token.AccessToken}})
			s.program("token/revoke", url.Values{"client_id": {"acme-cli"}, "token": {"x"}})
			if r := s.call(token.AccessToken); r.StatusCode != 200 {
				t.Fatalf("before: %d %s", r.StatusCode, r.body)
			}
			in := end(s, token)
			if r := in.call(token.AccessToken); r.StatusCode != 401 {
				t.Errorf("the access token: %d %s", r.StatusCode, r.body)
			}
			if r := in.refresh(token.RefreshToken); r.code() != "invalid_grant" && r.code() != "invalid_client" {
				t.Errorf("the refresh token: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

// TestMaxAge refreshes a sign-in until its longest lifetime.
func TestMaxAge(t *testing.T) {
	s := newSite(t, func(_ *core.Config, o *tokens.Options) { o.MaxAge = 50 * 24 * time.Hour })
	token := s.signIn("ada").RefreshToken
	for range 2 {
		s.clock.wait(24 * 24 * time.Hour)
		token = s.tokenOf(s.refresh(token)).Refresh
	}
	s.clock.wait(2*24*time.Hour - time.Minute)
	last := s.tokenOf(s.refresh(token))
	if last.Expires != 60 {
		t.Errorf("the last access token lives for %d seconds", last.Expires)
	}
	s.clock.wait(time.Minute)
	if r := s.refresh(last.Refresh); r.code() != "invalid_grant" {
		t.Errorf("after 50 days: %d %s", r.StatusCode, r.body)
	}
}

// TestAccessTokens sends access tokens that are not valid. Those that this site did not issue never reach the store.
func TestAccessTokens(t *testing.T) {
	s := newSite(t)
	token := s.signIn("ada")
	s.store.count()
	for name, text := range map[string]string{
		"garbage": "lka_x", "cut off": token.AccessToken[:len(token.AccessToken)-1], "a refresh token": token.RefreshToken,
		"a refresh token with the other prefix": "lka_" + strings.TrimPrefix(token.RefreshToken, "lkr_"),
	} {
		if r := s.call(text); r.StatusCode != 401 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	if n := s.store.count(); n != 0 {
		t.Errorf("wrong tokens cost %d reads", n)
	}
	if r := s.call(token.AccessToken); r.StatusCode != 200 || s.store.count() != 1 {
		t.Errorf("a valid token: %d %s", r.StatusCode, r.body)
	}
	if r := s.send(s.as("ada"), "GET", "/api", nil, "Authorization", "Bearer lka_x"); r.StatusCode != 401 {
		t.Errorf("a wrong token and a session: %d %s", r.StatusCode, r.body)
	}
	s.store.breaks(errors.New("the database is down"))
	if r := s.call(token.AccessToken); r.StatusCode < 500 {
		t.Errorf("without the store: %d %s", r.StatusCode, r.body)
	}
	if r := s.refresh(token.RefreshToken); r.StatusCode < 500 {
		t.Errorf("a refresh without the store: %d %s", r.StatusCode, r.body)
	}
	s.store.breaks(nil)
	if r := s.refresh(token.RefreshToken); r.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", r.StatusCode, r.body)
	}
}

// TestClientAuthentication identifies the app in each way.
func TestClientAuthentication(t *testing.T) {
	s := newSite(t)
	for name, row := range map[string]struct {
		form          url.Values
		authorization string
		status        int
	}{
		"a field":                {url.Values{"client_id": {"acme-cli"}}, "", 200},
		"a header":               {url.Values{}, "Basic YWNtZS1jbGk6", 200},
		"both":                   {url.Values{"client_id": {"acme-cli"}}, "Basic YWNtZS1jbGk6", 200},
		"different apps":         {url.Values{"client_id": {"other"}}, "Basic YWNtZS1jbGk6", 401},
		"a secret":               {url.Values{}, "Basic YWNtZS1jbGk6eA==", 401},
		"a bearer token as well": {url.Values{"client_id": {"acme-cli"}}, "Bearer x", 200},
	} {
		t.Run(name, func(t *testing.T) {
			first := s.signIn("ada").RefreshToken
			row.form.Set("grant_type", "refresh_token")
			row.form.Set("refresh_token", first)
			var header []string
			if row.authorization != "" {
				header = []string{"Authorization", row.authorization}
			}
			r := s.program("token", row.form, header...)
			if r.StatusCode != row.status || (r.Header.Get("Www-Authenticate") != "") != (row.status == 401) {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
		})
	}
}

// TestAppsPage lists and ends sign-ins on the page and through the JSON API.
func TestAppsPage(t *testing.T) {
	s := newSite(t)
	one, two := s.signIn("ada"), s.signIn("ada")
	s.clock.wait(time.Minute)
	ada, eve := s.as("ada"), s.as("eve")
	page := s.send(ada, "GET", "/auth/apps", nil, "Accept", "text/html")
	if strings.Count(page.body, "Acme CLI") < 2 || strings.Contains(page.body, one.AccessToken) {
		t.Errorf("the page is %d %s", page.StatusCode, page.body)
	}
	var list struct {
		Apps []struct{ ID, App string }
	}
	r := s.send(ada, "GET", "/auth/apps", nil, "Accept", "application/json")
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list.Apps) != 2 || list.Apps[0].App != "acme-cli" {
		t.Fatalf("the list is %s", r.body)
	}
	empty := s.send(eve, "GET", "/auth/apps", nil, "Accept", "text/html")
	if !strings.Contains(empty.body, "No apps are signed in") {
		t.Errorf("the page of another user is %s", empty.body)
	}
	if r := s.submit(eve, page, "id", list.Apps[0].ID); r.StatusCode != 403 {
		t.Errorf("with the CSRF token of another browser: %d", r.StatusCode)
	}
	if r := s.submit(ada, page); r.StatusCode != 303 {
		t.Errorf("end: %d %s", r.StatusCode, r.body)
	}
	page = s.send(ada, "GET", "/auth/apps", nil, "Accept", "text/html")
	if !strings.Contains(page.body, "The app was signed out.") {
		t.Errorf("the page is %s", page.body)
	}
	works := 0
	for _, token := range []*oauth2.Token{one, two} {
		if s.call(token.AccessToken).StatusCode == 200 {
			works++
		}
	}
	if works != 1 {
		t.Errorf("%d sign-ins work", works)
	}
	r = s.send(http.DefaultClient, "GET", "/auth/apps", nil, "Authorization", "Bearer "+two.AccessToken)
	if r.StatusCode == 200 {
		t.Errorf("an app reads the list: %s", r.body)
	}
}

// TestMetadata reads the metadata (RFC 8414).
func TestMetadata(t *testing.T) {
	s := newSite(t)
	r := s.send(http.DefaultClient, "GET", "/.well-known/oauth-authorization-server", nil)
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil || m["issuer"] != s.url ||
		m["token_endpoint"] != s.url+"/auth/token" ||
		m["device_authorization_endpoint"] != s.url+"/auth/device/authorization" {
		t.Errorf("the metadata is %s", r.body)
	}
}

// TestConfigErrors lists the problems of options.
func TestConfigErrors(t *testing.T) {
	app := func(change func(*tokens.App)) tokens.Options {
		a := tokens.App{ID: "a", Name: "A", Device: true}
		change(&a)
		return tokens.Options{Apps: []tokens.App{a}}
	}
	uri := func(text string) tokens.Options {
		return app(func(a *tokens.App) { a.RedirectURIs = []string{text} })
	}
	for name, row := range map[string]struct {
		options tokens.Options
		want    string
	}{
		"no apps":       {tokens.Options{}, "Options.Apps is empty"},
		"no ID":         {app(func(a *tokens.App) { a.ID = "" }), "Options.Apps[0].ID"},
		"an invalid ID": {app(func(a *tokens.App) { a.ID = "a b" }), "Options.Apps[0].ID"},
		"no name":       {app(func(a *tokens.App) { a.Name = "" }), "Options.Apps[0].Name"},
		"no flow":       {app(func(a *tokens.App) { a.Device = false }), "set RedirectURIs, Device or IDTokens"},
		"a wildcard":    {app(func(a *tokens.App) { a.Scopes = []tokens.Scope{{Name: "orders:*"}} }), "Scopes[0].Name"},
		"http":          {uri("http://app.example/x"), "http is only possible on the same computer"},
		"a script":      {uri("javascript:alert(1)"), "use https"},
		"a fragment":    {uri("https://app.example/#x"), "without a fragment"},
		"a user name":   {uri("https://x@app.example/"), "user name"},
		"no host":       {uri("https:/x"), "use https"},
		"twice": {tokens.Options{Apps: []tokens.App{{ID: "a", Name: "A", Device: true}, {ID: "a", Name: "B", Device: true}}},
			"as in another entry"},
		"resources without an issuer": {app(func(a *tokens.App) { a.Resources = []string{orders} }), "Options.AccessTokens"},
		"an unknown resource": {func() tokens.Options {
			o := app(func(a *tokens.App) { a.Resources = []string{orders} })
			o.AccessTokens = accesstoken.New(accesstoken.Options{})
			return o
		}(), "Options.Apps[0].Resources[0]"},
		"a negative time":   {tokens.Options{Apps: []tokens.App{cli}, AccessTTL: -1}, "Options.AccessTTL"},
		"a negative number": {tokens.Options{Apps: []tokens.App{cli}, MaxGrants: -1}, "Options.MaxGrants"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: (&faulty{}).Store,
				Getenv: func(string) string { return "" }, Plugins: []core.Plugin{tokens.New(row.options)},
			})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if _, err := (&tokens.Tokens{}).Of(context.Background(), "ada"); err == nil {
		t.Error("a plugin without an Auth lists apps")
	}
}

// accountPage is a plugin with the route of plugins/account.
type accountPage struct{}

func (accountPage) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{Method: http.MethodGet, Name: "account", Handle: func(
		context.Context, *core.ActionRequest,
	) (*core.Response, error) {
		return &core.Response{}, nil
	}})
	return nil
}

// TestAdvice: each weakness of the configuration is reported, and nothing else.
func TestAdvice(t *testing.T) {
	withAccount := func(c *core.Config, _ *tokens.Options) {
		c.Plugins = append(c.Plugins, accountPage{})
	}
	for name, row := range map[string]struct {
		changes []change
		want    string
	}{
		"no account page": {nil, "no account page"},
		"an account page": {[]change{withAccount}, ""},
		"a long time without use": {[]change{withAccount, func(_ *core.Config, o *tokens.Options) {
			o.IdleTimeout = 91 * 24 * time.Hour
		}}, "more than 90 days"},
	} {
		var said []string
		newSite(t, row.changes...).apps.Advise(func(what, fix string) { said = append(said, what+": "+fix) })
		text := strings.Join(said, "\n")
		if (row.want == "") != (text == "") || len(said) > 1 || !strings.Contains(text, row.want) {
			t.Errorf("%s: the advice is %q", name, text)
		}
	}
}
