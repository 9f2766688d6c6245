package tokens_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/plugins/tokens"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	exchange    = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeIDToken = "urn:ietf:params:oauth:token-type:id_token"
	typeAccess  = "urn:ietf:params:oauth:token-type:access_token"
)

// idProvider is an OpenID Connect provider whose SDK gives apps ID tokens.
type idProvider struct {
	*testing.T
	url   string
	clock *clock
	mu    sync.Mutex
	down  bool
}

var issuerKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newIssuer(t *testing.T) *idProvider {
	t.Helper()
	i := &idProvider{T: t}
	mux := http.NewServeMux()
	reply := func(path string, v func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			i.mu.Lock()
			defer i.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			if i.down {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_ = json.NewEncoder(w).Encode(v())
		})
	}
	reply("/.well-known/openid-configuration", func() any {
		return map[string]any{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
			"jwks_uri": i.url + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		}
	})
	reply("/keys", func() any {
		public := issuerKey().PublicKey
		return map[string]any{"keys": []any{map[string]string{
			"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": base64.RawURLEncoding.EncodeToString(public.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(public.E)).Bytes()),
		}}}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// sets makes the issuer unavailable or available.
func (i *idProvider) sets(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// sign returns a signed token with these claims.
func (i *idProvider) sign(claims map[string]any) string {
	i.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			i.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := part(map[string]string{"alg": "RS256", "kid": "1"}) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, issuerKey(), crypto.SHA256, sum[:])
	if err != nil {
		i.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// google returns the claims of an ID token as Android gets it: for the server, requested by the app.
func (i *idProvider) google(nonce string) map[string]any {
	now := i.clock.Now().Unix()
	return map[string]any{
		"iss": i.url, "aud": "web.apps.example", "azp": "android.apps.example", "sub": "g-1", "iat": now, "exp": now + 3600,
		"nonce": nonce, "email": "lin@gmail.example", "email_verified": true, "name": "Lin", "at_hash": "bm90LXVzZWQ",
	}
}

// apple returns the claims of an ID token as iOS gets it.
func (i *idProvider) apple(nonce string) map[string]any {
	now, hash := i.clock.Now().Unix(), sha256.Sum256([]byte(nonce))
	return map[string]any{
		"iss": i.url, "aud": "com.example.app", "sub": "000123.abc.0456", "iat": now, "exp": now + 86400, "auth_time": now,
		"nonce": hex.EncodeToString(hash[:]), "nonce_supported": true, "c_hash": "bm90LXVzZWQ",
		"email": "x7@privaterelay.example", "email_verified": "true", "is_private_email": "true",
	}
}

// withProviders configures a Google-like and an Apple-like provider, and an app that exchanges their ID tokens.
func (i *idProvider) withProviders(s *core.Config, o *tokens.Options) {
	app := core.OAuthProvider{
		Type: core.TypeOIDC, Issuer: i.url, ClientID: "web.apps.example", ClientSecret: "a-secret",
	}
	google, apple := app, app
	google.ID, apple.ID = "google", "apple"
	apple.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	apple.EmailVerified = func(p core.Profile) bool { return p.Text("email_verified") == "true" }
	apple.Profile = func(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
		user, _ := p["user"].(core.Profile)
		name, _ := user["name"].(map[string]any)
		first, _ := name["firstName"].(string)
		return &core.Person{AccountID: p.Text("sub"), Name: first, Email: p.Text("email")}, nil
	}
	s.Providers = append(s.Providers, &google, &apple)
	o.Apps = slices.Clone(o.Apps)
	for j := range o.Apps {
		o.Apps[j].IDTokens = map[string][]string{
			"google": {"web.apps.example", "android.apps.example"}, "apple": {"com.example.app"},
		}
	}
}

// newAppSite is a site with the providers of an issuer.
func newAppSite(t *testing.T, changes ...change) (*site, *idProvider) {
	t.Helper()
	i := newIssuer(t)
	s := newSite(t, append([]change{i.withProviders}, changes...)...)
	i.clock = s.clock
	return s, i
}

// nonce requests a nonce for an app.
func (s *site) nonce(app string) string {
	s.Helper()
	r := s.program("token/nonce", url.Values{"client_id": {app}})
	var n struct {
		Nonce   string
		Expires int `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(r.body), &n); err != nil || r.StatusCode != 200 || n.Nonce == "" || n.Expires != 600 {
		s.Fatalf("the nonce: %d %s", r.StatusCode, r.body)
	}
	return n.Nonce
}

func exchangeForm(provider, nonce, idToken string) url.Values {
	return url.Values{
		"grant_type": {exchange}, "client_id": {"acme-cli"}, "provider": {provider}, "nonce": {nonce},
		"subject_token": {idToken}, "subject_token_type": {typeIDToken},
	}
}

// TestExchange signs users in with ID tokens of Google and Apple, with both strategies and in two processes.
func TestExchange(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			var events []string
			strategy := func(c *core.Config, _ *tokens.Options) {
				c.Session.Strategy = strategy
				c.Events.SignIn = func(_ context.Context, e core.SignInEvent) error {
					events = append(events, e.Account.Provider+" "+e.User.Name)
					return nil
				}
			}
			s, i := newAppSite(t, strategy)
			other := s.again(i.withProviders, strategy)
			nonce := s.nonce("acme-cli")
			idToken := i.sign(i.google(nonce))
			r := other.program("token", exchangeForm("google", nonce, idToken))
			google := s.tokenOf(r)
			if google.Type != "Bearer" || google.Scope != "orders:read orders:write" || google.Expires != 900 ||
				!strings.Contains(r.body, `"issued_token_type":"`+typeAccess+`"`) {
				t.Errorf("the token response is %s", r.body)
			}
			user, err := s.store.UserByAccount(t.Context(), "google", "g-1")
			if err != nil || user.Email != "lin@gmail.example" {
				t.Fatalf("the user is %v, %v", user, err)
			}
			for _, in := range []*site{s, other} {
				if r := in.call(google.Access); r.StatusCode != 200 || r.body != user.ID+" Acme CLI false" {
					t.Errorf("the API: %d %s", r.StatusCode, r.body)
				}
			}
			if got := s.log.events(); got != "app.signed-in ok "+user.ID {
				t.Errorf("audited %s", got)
			}
			if again := s.tokenOf(s.refresh(google.Refresh)); again.Access == google.Access {
				t.Error("the refresh returned the same token")
			}
			if sessions, err := s.store.Sessions(t.Context(), user.ID); err != nil || len(sessions) != 0 {
				t.Errorf("the user has %d sessions, %v", len(sessions), err)
			}

			appleNonce := other.nonce("acme-cli")
			form := exchangeForm("apple", appleNonce, i.sign(i.apple(appleNonce)))
			form.Set("user", `{"name":{"firstName":"Kim"}}`)
			form.Set("scope", "orders:read")
			apple := s.tokenOf(s.program("token", form))
			if user, err = s.store.UserByAccount(t.Context(), "apple", "000123.abc.0456"); err != nil || user.Name != "Kim" {
				t.Errorf("the user is %v, %v", user, err)
			}
			if grants, err := s.apps.Of(t.Context(), user.ID); err != nil || len(grants) != 1 ||
				grants[0].App != "acme-cli" || !grants[0].AuthTime.Equal(s.clock.Now()) || grants[0].SessionID != "" ||
				!slices.Equal(grants[0].Methods, []amr.Method{amr.Federated}) {
				t.Errorf("the grants are %+v, %v", grants, err)
			}
			if want := []string{"google Lin", "apple Kim"}; !slices.Equal(events, want) {
				t.Errorf("events %v", events)
			}
			s.without(idToken, nonce, google.Access, google.Refresh, apple.Access, form.Get("subject_token"), appleNonce)
		})
	}
}

// TestExchangeRefusals sends one wrong field or claim each.
func TestExchangeRefusals(t *testing.T) {
	s, i := newAppSite(t, func(_ *core.Config, o *tokens.Options) {
		o.Apps = append(o.Apps, tokens.App{ID: "web-only", Name: "Web only", Device: true})
	})
	hour := time.Hour
	type request struct {
		form   url.Values
		claims map[string]any
		edit   func(signed string) string
	}
	for name, row := range map[string]struct {
		change func(*request)
		want   string
	}{
		"nothing":                        {func(*request) {}, ""},
		"nonce as it is":                 {func(r *request) { r.claims["nonce"] = r.form.Get("nonce") }, ""},
		"requested an access token":      {func(r *request) { r.form.Set("requested_token_type", typeAccess) }, ""},
		"requested by the server itself": {func(r *request) { delete(r.claims, "azp") }, ""},
		"two audiences of the app": {func(r *request) {
			r.claims["aud"] = []string{"web.apps.example", "android.apps.example"}
		}, ""},

		"another audience":               {func(r *request) { r.claims["aud"] = "other.apps.example" }, "invalid_request"},
		"no audience":                    {func(r *request) { delete(r.claims, "aud") }, "invalid_request"},
		"an empty audience":              {func(r *request) { r.claims["aud"] = "" }, "invalid_request"},
		"audience of the other provider": {func(r *request) { r.claims["aud"] = "com.example.app" }, "invalid_request"},
		"requested by another app":       {func(r *request) { r.claims["azp"] = "other.apps.example" }, "invalid_request"},
		"two audiences and no azp": {func(r *request) {
			r.claims["aud"] = []string{"web.apps.example", "other.apps.example"}
			delete(r.claims, "azp")
		}, "invalid_request"},
		"another issuer":      {func(r *request) { r.claims["iss"] = "https://accounts.google.com" }, "invalid_request"},
		"no nonce in it":      {func(r *request) { delete(r.claims, "nonce") }, "invalid_request"},
		"an empty nonce":      {func(r *request) { r.claims["nonce"] = "" }, "invalid_request"},
		"another nonce in it": {func(r *request) { r.claims["nonce"] = s.nonce("acme-cli") }, "invalid_request"},
		"no nonce":            {func(r *request) { r.form.Del("nonce") }, "invalid_request"},
		"the nonce of another app": {func(r *request) {
			r.form.Set("nonce", s.nonce("other"))
			r.claims["nonce"] = r.form.Get("nonce")
		}, "invalid_request"},
		"a nonce of the app itself": {func(r *request) {
			r.form.Set("nonce", "mine")
			r.claims["nonce"] = "mine"
		}, "invalid_request"},
		"a nonce that lives longer": {func(r *request) {
			r.form.Set("nonce", "z"+r.form.Get("nonce"))
			r.claims["nonce"] = r.form.Get("nonce")
		}, "invalid_request"},
		"the hash as nonce": {func(r *request) {
			hash := sha256.Sum256([]byte(r.form.Get("nonce")))
			r.form.Set("nonce", hex.EncodeToString(hash[:]))
		}, "invalid_request"},
		"expired": {func(r *request) { r.claims["exp"] = s.clock.Now().Unix() - 31 }, "invalid_request"},
		"no iat":  {func(r *request) { delete(r.claims, "iat") }, "invalid_request"},
		"not valid yet": {
			func(r *request) { r.claims["nbf"] = s.clock.Now().Add(hour).Unix() }, "invalid_request",
		},
		"no subject":        {func(r *request) { delete(r.claims, "sub") }, "invalid_request"},
		"no token":          {func(r *request) { r.edit = func(string) string { return "" } }, "invalid_request"},
		"a wrong signature": {func(r *request) { r.edit = flipped }, "invalid_request"},
		"an opaque token": {
			func(r *request) { r.edit = func(string) string { return "ya29.abc" } }, "invalid_request",
		},
		"alg none":                 {func(r *request) { r.edit = unsigned }, "invalid_request"},
		"no provider":              {func(r *request) { r.form.Del("provider") }, "invalid_request"},
		"an unknown provider":      {func(r *request) { r.form.Set("provider", "github") }, "invalid_request"},
		"the other provider":       {func(r *request) { r.form.Set("provider", "apple") }, "invalid_request"},
		"another type of token":    {func(r *request) { r.form.Set("subject_token_type", typeAccess) }, "invalid_request"},
		"another type requested":   {func(r *request) { r.form.Set("requested_token_type", typeIDToken) }, "invalid_request"},
		"an actor":                 {func(r *request) { r.form.Set("actor_token", "x") }, "invalid_request"},
		"an unknown scope":         {func(r *request) { r.form.Set("scope", "admin") }, "invalid_scope"},
		"an unknown app":           {func(r *request) { r.form.Set("client_id", "x") }, "invalid_client"},
		"another app":              {func(r *request) { r.form.Set("client_id", "other") }, "invalid_request"},
		"an app without the grant": {func(r *request) { r.form.Set("client_id", "web-only") }, "unauthorized_client"},
	} {
		t.Run(name, func(t *testing.T) {
			s.clock.wait(hour) // refills the limit of wrong tokens
			nonce := s.nonce("acme-cli")
			r := &request{form: exchangeForm("google", nonce, ""), claims: i.google(nonce)}
			hash := sha256.Sum256([]byte(nonce))
			r.claims["nonce"] = hex.EncodeToString(hash[:])
			row.change(r)
			raw := i.sign(r.claims)
			if r.edit != nil {
				raw = r.edit(raw)
			}
			r.form.Set("subject_token", raw)
			answer := s.program("token", r.form)
			if answer.code() != row.want || (answer.StatusCode == 200) != (row.want == "") {
				t.Errorf("%d %s, want %q", answer.StatusCode, answer.body, row.want)
			}
			if row.want == "" {
				return
			}
			// The wrong request has not used the nonce.
			if r := s.program("token", exchangeForm("google", nonce, i.sign(i.google(nonce)))); r.StatusCode != 200 {
				t.Errorf("the right token: %d %s", r.StatusCode, r.body)
			}
		})
	}
	if r := s.program("token/nonce", url.Values{"client_id": {"web-only"}}); r.code() != "unauthorized_client" {
		t.Errorf("a nonce for an app without the grant: %s", r.body)
	}
}

// flipped changes a signature.
func flipped(token string) string {
	at := len(token) - 10
	c := "A"
	if token[at] == 'A' {
		c = "B"
	}
	return token[:at] + c + token[at+1:]
}

// unsigned is a token with the algorithm none.
func unsigned(token string) string {
	parts := strings.Split(token, ".")
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
}

// TestNonceOnce exchanges one nonce many times.
func TestNonceOnce(t *testing.T) {
	database := func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = core.StrategyDatabase }
	s, i := newAppSite(t, database)
	other := s.again(i.withProviders, database)
	nonce := s.nonce("acme-cli")
	form := exchangeForm("google", nonce, i.sign(i.google(nonce)))
	var mu sync.Mutex
	won, codes := 0, map[string]int{}
	var all sync.WaitGroup
	for n := range 50 {
		in := []*site{s, other}[n%2]
		all.Go(func() {
			r := in.program("token", form)
			mu.Lock()
			defer mu.Unlock()
			codes[r.code()]++
			if r.StatusCode == 200 {
				won++
			}
		})
	}
	all.Wait()
	if won != 1 || codes["invalid_request"] != 49 {
		t.Errorf("%d exchanges succeeded, codes %v", won, codes)
	}
	user, err := s.store.UserByAccount(t.Context(), "google", "g-1")
	if err != nil {
		t.Fatal(err)
	}
	if grants, err := s.apps.Of(t.Context(), user.ID); err != nil || len(grants) != 1 {
		t.Errorf("the grants are %v, %v", grants, err)
	}
	if got := s.log.events(); strings.Count(got, "replayed") == 0 || strings.Count(got, "app.signed-in ok") != 1 {
		t.Errorf("audited %s", got)
	}
	// A new token with the same nonce does not help, and the nonce does not work after it has expired.
	if r := s.program("token", exchangeForm("google", nonce, i.sign(i.google(nonce)))); r.code() != "invalid_request" {
		t.Errorf("a second token: %d %s", r.StatusCode, r.body)
	}
	late := s.nonce("acme-cli")
	s.clock.wait(10 * time.Minute)
	if r := s.program("token", exchangeForm("google", late, i.sign(i.google(late)))); r.code() != "invalid_request" {
		t.Errorf("an expired nonce: %d %s", r.StatusCode, r.body)
	}
}

// TestExchangeRules checks that the rules of a sign-in in the browser decide about an exchange too.
func TestExchangeRules(t *testing.T) {
	link := func(c *core.Config, _ *tokens.Options) {
		for _, p := range c.Providers {
			p.(*core.OAuthProvider).AllowDangerousEmailAccountLinking = true
		}
	}
	signIn := func(decide func(core.SignInParams) (core.SignInResult, error)) change {
		return func(c *core.Config, _ *tokens.Options) {
			c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) { return decide(p) }
		}
	}
	for name, row := range map[string]struct {
		change   change
		claims   map[string]any
		want     string
		browser  bool // the app learns the authorization endpoint
		userID   string
		newUsers int
		audited  string
	}{
		"the address of another user": {
			nil, map[string]any{"email": "ada@example.com"}, "account_not_linked", true, "", 0, "not_linked",
		},
		"linked by a verified address": {link, map[string]any{"email": "ada@example.com"}, "", false, "ada", 0, ""},
		"an address that is not verified": {
			link, map[string]any{"email": "ada@example.com", "email_verified": false}, "account_not_linked", true, "", 0,
			"not_linked",
		},
		"no statement about the address": {
			link, map[string]any{"email": "ada@example.com", "email_verified": nil}, "account_not_linked", true, "", 0,
			"not_linked",
		},
		"denied by the callback": {
			signIn(func(p core.SignInParams) (core.SignInResult, error) {
				if p.Account.Provider != "google" || p.Profile.Text("sub") != "g-1" || p.Request == nil {
					return core.SignInResult{}, errors.New("wrong parameters")
				}
				return core.Deny(), nil
			}), nil, "access_denied", false, "", 0, "denied",
		},
		"redirected by the callback": {
			signIn(func(core.SignInParams) (core.SignInResult, error) { return core.RedirectTo("/invite"), nil }),
			nil, "interaction_required", true, "", 0, "redirected",
		},
		"held by a gate": {gate("", "held"), nil, "interaction_required", true, "", 1, "gate.held"},
		"denied by a gate": {
			gate("denied", ""), nil, "access_denied", false, "", 1, "denied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
				changes := []change{func(c *core.Config, _ *tokens.Options) { c.Session.Strategy = strategy }}
				if row.change != nil {
					changes = append(changes, row.change)
				}
				s, i := newAppSite(t, changes...)
				nonce := s.nonce("acme-cli")
				claims := i.google(nonce)
				maps.Copy(claims, row.claims)
				r := s.program("token", exchangeForm("google", nonce, i.sign(claims)))
				if r.code() != row.want || (r.StatusCode == 200) != (row.want == "") {
					t.Errorf("%d %s, want %q", r.StatusCode, r.body, row.want)
				}
				if strings.Contains(r.body, `"authorization_endpoint":"`+s.url+`/auth/authorize"`) != row.browser {
					t.Errorf("the endpoint: %s", r.body)
				}
				user, err := s.store.UserByAccount(t.Context(), "google", "g-1")
				if row.userID != "" && (err != nil || user.ID != row.userID) ||
					row.userID == "" && (err == nil) != (row.newUsers == 1) {
					t.Errorf("the user is %v, %v", user, err)
				}
				s.log.mu.Lock()
				audited := strings.Join(s.log.audit, ", ")
				s.log.mu.Unlock()
				if !strings.Contains(audited, row.audited) {
					t.Errorf("audited %s", audited)
				}
				if err == nil && row.want != "" {
					if grants, err := s.apps.Of(t.Context(), user.ID); err != nil || len(grants) > 0 {
						t.Errorf("the grants are %v, %v", grants, err)
					}
					if pending, err := s.store.UserRecords(t.Context(), user.ID, "pending"); err != nil || len(pending) > 0 {
						t.Errorf("a sign-in is pending: %v, %v", pending, err)
					}
				}
			}
		})
	}
}

// gate is a plugin with a sign-in gate.
func gate(refuse, next string) change {
	return func(c *core.Config, _ *tokens.Options) {
		c.Plugins = append(c.Plugins, gatePlugin{refuse, next})
	}
}

type gatePlugin struct{ refuse, next string }

// Attach implements [core.Plugin].
func (g gatePlugin) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{Method: http.MethodGet, Name: "held", Handle: func(
		ctx context.Context, c *core.ActionRequest,
	) (*core.Response, error) {
		return c.JSON(ctx, http.StatusOK, struct{}{}), nil
	}})
	h.AddSignInGate(func(_ context.Context, p *core.PendingSignIn) (string, error) {
		switch {
		case p.Account.Provider != "google":
			return "", nil
		case g.refuse != "":
			return "", core.NewError(core.ErrAccessDenied, errors.New(g.refuse))
		}
		return g.next, nil
	})
	return nil
}

// TestExchangeKeepsTokens checks that an ID token of an app does not replace the tokens of a sign-in in the browser.
func TestExchangeKeepsTokens(t *testing.T) {
	s, i := newAppSite(t)
	if err := s.store.LinkAccount(t.Context(), &core.Account{
		UserID: "ada", Type: core.TypeOIDC, Provider: "google", ProviderAccountID: "g-1", RefreshToken: "refresh-1",
		AccessToken: "access-1",
	}); err != nil {
		t.Fatal(err)
	}
	nonce := s.nonce("acme-cli")
	pair := s.tokenOf(s.program("token", exchangeForm("google", nonce, i.sign(i.google(nonce)))))
	if r := s.call(pair.Access); r.body != "ada Acme CLI false" {
		t.Errorf("the API: %s", r.body)
	}
	account, err := s.store.Account(t.Context(), "google", "g-1")
	if err != nil || account.RefreshToken != "refresh-1" || account.AccessToken != "access-1" ||
		account.Label != "lin@gmail.example" {
		t.Errorf("the account is %+v, %v", account, err)
	}
}

// TestExchangeWithoutProvider checks that a failure of the provider does not use the nonce.
func TestExchangeWithoutProvider(t *testing.T) {
	s, i := newAppSite(t)
	nonce := s.nonce("acme-cli")
	form := exchangeForm("google", nonce, i.sign(i.google(nonce)))
	i.sets(true)
	if r := s.program("token", form); r.StatusCode != 503 || r.code() != "temporarily_unavailable" {
		t.Errorf("without keys: %d %s", r.StatusCode, r.body)
	}
	i.sets(false)
	s.clock.wait(5 * time.Minute)
	if r := s.program("token", form); r.StatusCode != 200 {
		t.Errorf("afterwards: %d %s", r.StatusCode, r.body)
	}
}

// TestExchangeLimit sends many wrong tokens: they are limited, and right tokens continue to work.
func TestExchangeLimit(t *testing.T) {
	s, i := newAppSite(t, func(c *core.Config, _ *tokens.Options) {
		c.Limits.Rates = map[limit.Attempt]limit.Rates{
			limit.AttemptKey: {Network: limit.Rate{Burst: 2, Every: time.Minute}}, // ten times as much without an address
		}
	})
	nonce, wrong := s.nonce("acme-cli"), 0
	for range 30 {
		if r := s.program("token", exchangeForm("google", nonce, "a.b.c")); r.StatusCode == http.StatusBadRequest {
			wrong++
		}
	}
	if wrong != 20 {
		t.Errorf("%d wrong tokens were checked", wrong)
	}
	if r := s.program("token", exchangeForm("google", nonce, i.sign(i.google(nonce)))); r.StatusCode != 200 {
		t.Errorf("the right token: %d %s", r.StatusCode, r.body)
	}
}

// TestExchangeConfig checks the configuration errors.
func TestExchangeConfig(t *testing.T) {
	for name, row := range map[string]struct {
		provider *core.OAuthProvider
		ids      []string
		want     string
	}{
		"no provider":  {&core.OAuthProvider{ID: "hub", Type: core.TypeOIDC}, []string{"x"}, `no provider "google"`},
		"no ID tokens": {&core.OAuthProvider{ID: "google", Type: core.TypeOAuth}, []string{"x"}, "has no ID tokens"},
		"from userinfo": {
			&core.OAuthProvider{ID: "google", Type: core.TypeOIDC, ProfileFromUserinfo: true}, []string{"x"}, "userinfo",
		},
		"no client IDs": {&core.OAuthProvider{ID: "google", Type: core.TypeOIDC}, nil, `IDTokens["google"] is empty`},
		"an empty one": {
			&core.OAuthProvider{ID: "google", Type: core.TypeOIDC}, []string{""}, `IDTokens["google"] is empty`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			row.provider.Issuer, row.provider.ClientID, row.provider.ClientSecret = "https://id.example", "id", "secret"
			_, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
				Getenv: func(string) string { return "" }, Providers: []core.Provider{row.provider},
				Plugins: []core.Plugin{tokens.New(tokens.Options{Apps: []tokens.App{{
					ID: "ios", Name: "iOS", IDTokens: map[string][]string{"google": row.ids},
				}}})},
			})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
