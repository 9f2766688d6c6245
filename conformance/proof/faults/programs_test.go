package faults

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/tokens"
)

// The flows of programs: API keys, and apps with refresh tokens. A failure never reads as a wrong credential: the
// program would discard it.

func newKeys() *apikey.Keys {
	return apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}, ExpiryWarning: -1})
}

func newApps() *tokens.Tokens {
	return tokens.New(tokens.Options{Apps: []tokens.App{{
		ID: "cli", Name: "CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
		Scopes: []tokens.Scope{{Name: "orders:read"}}, IDTokens: map[string][]string{"o": {sdkClientID}},
	}}})
}

// sdkClientID is the client ID of the app at the provider o.
const sdkClientID = "sdk-client"

// wrongCredential are the responses that mean that a credential is not valid.
func wrongCredential(r *core.Response) bool {
	var body struct{ Error string }
	_ = json.Unmarshal(r.Body, &body)
	wrong := []string{"invalid_grant", "expired_token", "invalid_request", "access_denied", "account_not_linked"}
	return r.Status == http.StatusUnauthorized || slices.Contains(wrong, body.Error)
}

var programFlows = []*flow{
	{name: "creating an API key", settled: "create record api-key", again: byKey, before: func(v *visit) {
		byMail(v, v.b)
		v.target, v.form = "/auth/api-keys", v.b.posting("name", "x", "scope orders:read", "1")
	}},
	{name: "using an API key", program: true, again: byKey, before: func(v *visit) {
		v.createKey()
		v.call(v.Context(), v.well, v.bearer)
		if err := v.keys.Flush(v.Context()); err != nil { // otherwise the time of use is stored during the request
			v.Fatal(err)
		}
		v.calls = true
	}},
	{name: "rotating an API key", settled: "create record api-key", again: byKey, before: func(v *visit) {
		v.target, v.form = "/auth/api-keys/rotate", v.b.posting("id", v.createKey())
	}},
	{name: "revoking an API key", settled: "delete record api-key", again: byMail, before: func(v *visit) {
		v.target, v.form = "/auth/api-keys/revoke", v.b.posting("id", v.createKey())
		v.bearer = ""
	}},
	{name: "letting an app sign in", settled: "create record app-code", again: byApp, before: func(v *visit) {
		byMail(v, v.b)
		v.target, v.form = "/auth/authorize", v.b.posting(allowing...)
	}},
	{name: "exchanging the code of an app", again: byApp, before: func(v *visit) {
		byMail(v, v.b)
		v.target, v.form = "/auth/token", v.exchange(v.b)
	}},
	{name: "refreshing the tokens of an app", settled: "update record app-grant", program: true, again: byRefresh,
		before: func(v *visit) {
			byMail(v, v.b)
			v.refresh = v.tokens(v.exchange(v.b)).Refresh
			v.target, v.form = "/auth/token", v.refreshing()
		}},
	{name: "ending the sign-in of an app", settled: "delete record app-grant", again: byApp, before: func(v *visit) {
		byMail(v, v.b)
		v.tokens(v.exchange(v.b))
		var page struct{ Apps []struct{ ID string } }
		v.decode(v.b.get("/auth/apps"), &page)
		v.target, v.form = "/auth/apps/end", v.b.posting("id", page.Apps[0].ID)
	}},
	{name: "starting the sign-in of a device", settled: "create record app-device", again: byDevice,
		before: func(v *visit) {
			byMail(v, v.b)
			v.target, v.form = "/auth/device/authorization", url.Values{"client_id": {"cli"}}
		}},
	{name: "approving a device", settled: "update record app-device", again: byApproval, before: func(v *visit) {
		byMail(v, v.b)
		v.startDevice()
		v.target, v.form = "/auth/device", v.b.posting("code", v.device.UserCode, "decision", "allow")
	}},
	{name: "a device that asks before the decision", again: byApproval, before: func(v *visit) {
		byMail(v, v.b)
		v.startDevice()
		v.b.post("/auth/device", "code", v.device.UserCode)
		v.target, v.form = "/auth/device", v.b.posting("code", v.device.UserCode)
	}},
	{name: "getting the tokens of a device", again: byDevice, before: func(v *visit) {
		byMail(v, v.b)
		v.startDevice()
		v.b.post("/auth/device", "code", v.device.UserCode, "decision", "allow")
		v.target, v.form = "/auth/token", v.polling()
	}},
	{name: "exchanging the first ID token of a user", settled: "create record app-grant", program: true,
		once: "create record app-nonce", again: byIDToken,
		before: func(v *visit) { v.target, v.form = "/auth/token", v.idToken() }},
	{name: "exchanging an ID token of a user", settled: "create record app-grant", program: true,
		once: "create record app-nonce", again: byIDToken,
		before: func(v *visit) {
			v.tokens(v.idToken())
			v.target, v.form = "/auth/token", v.idToken()
		}},
	{name: "asking for a code by email", again: byMailedCode, before: func(v *visit) {
		v.target, v.form = "/auth/signin/code", v.b.posting("email", address(v.person))
	}},
	{name: "a code by email", settled: "create session", signsIn: true, again: byMailedCode, before: func(v *visit) {
		v.target, v.form = "/auth/callback/code", v.b.posting("code", v.mailedCode(v.b))
	}},
	{name: "asking for a code to authenticate again", again: byMail, before: func(v *visit) {
		byMail(v, v.b)
		v.target, v.form = "/auth/reauth", v.b.posting()
	}},
	{name: "authenticating again with a code", settled: "create session", again: byMail, before: func(v *visit) {
		byMail(v, v.b)
		v.b.post("/auth/reauth")
		v.target, v.form = "/auth/reauth", v.b.posting("code", string(v.letter(address(v.person), mailkind.Reauth).Code))
		v.keeps(v.form.Get("code"))
	}},
	{name: "a recovery code", settled: "delete record recovery", signsIn: true, again: byCode, before: func(v *visit) {
		v.enrolled()
		first := v.browser()
		if byCode(v, first) == "" {
			v.Fatal("the code of the app does not sign in")
		}
		var made struct{ RecoveryCodes []string }
		v.decode(first.post("/auth/second-factor/codes"), &made)
		v.keeps(made.RecoveryCodes[0])
		v.b.get(v.link(v.b))
		v.target, v.form = "/auth/second-factor", v.b.posting("code", made.RecoveryCodes[0])
	}},
}

// decode decodes a JSON response.
func (v *visit) decode(r *core.Response, into any) {
	v.Helper()
	if failed(r) {
		v.Fatalf("answered %s %s", told(r), r.Body)
	}
	if err := json.Unmarshal(r.Body, into); err != nil {
		v.Fatalf("%v: %s", err, r.Body)
	}
}

// createKey creates an API key, and returns its ID.
func (v *visit) createKey() string {
	v.Helper()
	byMail(v, v.b)
	var made struct{ ID, Key string }
	v.decode(v.b.post("/auth/api-keys", "name", "x", "scope orders:read", "1"), &made)
	v.bearer = made.Key
	v.keeps(made.Key)
	return made.ID
}

// call requests a route for programs. A nil response of the guard is a success.
func (v *visit) call(ctx context.Context, at *core.Auth, key string) *core.Response {
	visit := at.Visit(ctx, &core.Request{
		Method: http.MethodGet, Target: "/api", Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{"Authorization": {"Bearer " + key}},
	})
	if _, refusal := visit.RequirePrincipal(core.Scopes("orders:read")); refusal != nil {
		return refusal
	}
	return &core.Response{Status: http.StatusOK, Body: []byte("{}")}
}

// byKey signs in by email. The key of before works, and the user can create one.
func byKey(v *visit, b *browser) string {
	v.Helper()
	if v.bearer != "" {
		if r := v.call(v.Context(), v.well, v.bearer); failed(r) {
			v.Errorf("the key is answered %s", told(r))
		}
	}
	who := byMail(v, b)
	var made struct{ Key string }
	v.decode(b.post("/auth/api-keys", "name", "y", "scope orders:read", "1"), &made)
	if r := v.call(v.Context(), v.well, made.Key); failed(r) {
		v.Errorf("a new key is answered %s", told(r))
	}
	return who
}

// allowing are the fields of a user who lets the app sign in. The challenge is that of RFC 7636 appendix B.
var allowing = []string{
	"client_id", "cli", "redirect_uri", "http://127.0.0.1:7777/callback", "response_type", "code", "state", "some-state",
	"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method", "S256", "decision", "allow",
}

// exchange lets the app sign in, and returns the request that exchanges its code.
func (v *visit) exchange(b *browser) url.Values {
	v.Helper()
	allowed := b.post("/auth/authorize", allowing...)
	at, err := url.Parse(allowed.Redirect)
	if err != nil || at.Query().Get("code") == "" {
		v.Fatalf("the consent is answered %s", told(allowed))
	}
	v.keeps(at.Query().Get("code"))
	return url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"cli"}, "code": {at.Query().Get("code")},
		"code_verifier": {"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
		"redirect_uri":  {"http://127.0.0.1:7777/callback"},
	}
}

// appTokens is a token response.
type appTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// tokens sends a request to the token endpoint, which must succeed. The access token opens the API.
func (v *visit) tokens(form url.Values) (got appTokens) {
	v.Helper()
	v.decode(v.browser().request(v.Context(), v.well, http.MethodPost, "/auth/token", form), &got)
	v.keeps(got.Access)
	v.keeps(got.Refresh)
	if r := v.call(v.Context(), v.well, got.Access); failed(r) {
		v.Errorf("the access token is answered %s", told(r))
	}
	return got
}

func (v *visit) refreshing() url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {"cli"}, "refresh_token": {v.refresh}}
}

// byApp signs in by email, and lets the app sign in.
func byApp(v *visit, b *browser) string {
	v.Helper()
	who := byMail(v, b)
	v.refresh = v.tokens(v.exchange(b)).Refresh
	v.tokens(v.refreshing())
	return who
}

// byRefresh sends the refresh token of the failed request again, as an app does that got no response. The app stays
// signed in, with one sign-in in the list of the user.
func byRefresh(v *visit, b *browser) string {
	v.Helper()
	v.refresh = v.tokens(v.refreshing()).Refresh
	v.tokens(v.refreshing())
	who := byMail(v, b)
	var page struct{ Apps []struct{ ID string } }
	if v.decode(b.get("/auth/apps"), &page); len(page.Apps) != 1 {
		v.Errorf("%d apps are signed in", len(page.Apps))
	}
	return who
}

// idToken returns the request that exchanges an ID token with a new nonce.
func (v *visit) idToken() url.Values {
	v.Helper()
	var issued struct{ Nonce string }
	v.decode(v.browser().request(v.Context(), v.well, http.MethodPost, "/auth/token/nonce", url.Values{
		"client_id": {"cli"},
	}), &issued)
	v.keeps(issued.Nonce)
	token := idToken(v.person, issued.Nonce, v.clock.Now())
	v.keeps(token)
	return url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "client_id": {"cli"}, "provider": {"o"},
		"nonce": {issued.Nonce}, "subject_token": {token},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"},
	}
}

// byIDToken exchanges another ID token, as an app does that got no tokens, and returns the address of its user.
func byIDToken(v *visit, _ *browser) string {
	v.Helper()
	v.refresh = v.tokens(v.idToken()).Refresh
	v.tokens(v.refreshing())
	u, err := v.store.UserByAccount(v.Context(), "o", v.person)
	if err != nil {
		v.Error(err)
		return ""
	}
	return u.Email
}

// startDevice starts the sign-in of a device.
func (v *visit) startDevice() {
	v.Helper()
	v.decode(v.browser().request(v.Context(), v.well, http.MethodPost, "/auth/device/authorization", url.Values{
		"client_id": {"cli"},
	}), &v.device)
	v.keeps(v.device.DeviceCode)
	v.keeps(v.device.UserCode)
}

func (v *visit) polling() url.Values {
	return url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {"cli"},
		"device_code": {v.device.DeviceCode},
	}
}

// byDevice signs in by email, and then a device.
func byDevice(v *visit, b *browser) string {
	v.Helper()
	who := byMail(v, b)
	v.startDevice()
	b.post("/auth/device", "code", v.device.UserCode, "decision", "allow")
	v.tokens(v.polling())
	return who
}

// byApproval sends the decision again, if it was not stored. Then the device gets its tokens.
func byApproval(v *visit, b *browser) string {
	v.Helper()
	who := byMail(v, b)
	b.post("/auth/device", "code", v.device.UserCode, "decision", "allow")
	v.tokens(v.polling())
	return who
}

// mailedCode requests an email with a code.
func (v *visit) mailedCode(b *browser) string {
	v.Helper()
	for len(v.box.letters) > 0 { // those of the failed request
		<-v.box.letters
	}
	b.post("/auth/signin/code", "email", address(v.person))
	code := string(v.letter(address(v.person), mailkind.SignIn).Code)
	v.keeps(code)
	return code
}

func byMailedCode(v *visit, b *browser) string {
	v.Helper()
	b.post("/auth/callback/code", "code", v.mailedCode(b))
	return b.who()
}

// TestWrongCredential: the responses that make a program discard a credential are recognized.
func TestWrongCredential(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		want   bool
	}{
		{401, "", true}, {400, `{"error":"invalid_grant"}`, true}, {400, `{"error":"expired_token"}`, true},
		{400, `{"error":"invalid_request"}`, true}, {400, `{"error":"access_denied"}`, true},
		{503, `{"error":"temporarily_unavailable"}`, false}, {500, "", false}, {400, `{"error":"slow_down"}`, false},
	} {
		if got := wrongCredential(&core.Response{Status: row.status, Body: []byte(row.body)}); got != row.want {
			t.Errorf("%d %s: %v", row.status, row.body, got)
		}
	}
}
