package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkey-go/latchkey/core"
)

// keyDerivation encrypts a token with the recorded key and key ID, using another library. Latchkey accepts it if it
// derives the same key and key ID.
func keyDerivation(c *call) {
	for name, want := range map[string]string{
		"hash": "SHA-256", "info": "Auth.js Generated Encryption Key (" + c.text("salt") + ")",
	} {
		c.same(name, want)
	}
	enc, length, thumbprint := jose.A256CBC_HS512, 64, "SHA-512"
	if c.text("enc") == "A256GCM" {
		enc, length, thumbprint = jose.A256GCM, 32, "SHA-256"
	}
	c.same("enc", string(enc))
	c.same("length", json.Number(fmt.Sprint(length)))
	c.same("thumbprintHash", thumbprint)
	key, err := hex.DecodeString(c.text("keyHex"))
	if err != nil {
		c.diff("keyHex: %v", err)
		return
	}
	options := (&jose.EncrypterOptions{}).WithHeader("kid", c.text("kid"))
	encrypter, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, options)
	if err != nil {
		c.diff("keyHex: %v", err)
		return
	}
	sealed, err := encrypter.Encrypt([]byte(`{"sub":"1"}`))
	if err != nil {
		c.diff("keyHex: %v", err)
		return
	}
	token, err := sealed.CompactSerialize()
	if err != nil {
		c.diff("keyHex: %v", err)
		return
	}
	a, err := c.auth(func(config *core.Config) {
		// Another secret is the first one, so that the key ID must be correct.
		config.Secrets = append([]core.Secret{"another-secret"}, secretList(c.get("secret"))...)
	})
	if err != nil {
		c.diff("secret: %v", err)
		return
	}
	if _, err := a.DecodeToken(token, c.text("salt")); err != nil {
		c.diff("a token under this key and key id: %v", err)
	}
}

// sessionTokens decrypts tokens, and creates those that Auth.js created.
func sessionTokens(c *call) {
	decode := c.object("decode")
	a, err := c.auth(func(config *core.Config) { config.Secrets = secretList(decode["secret"]) })
	if err != nil {
		c.diff("decode.secret: %v", err)
		return
	}
	token, err := a.DecodeToken(c.text("token"), fmt.Sprint(decode["salt"]))
	if accepted, there := c.get("accepted").(bool); there && accepted != (err == nil) {
		c.diff("accepted: want %v, got %v", accepted, err)
	}
	c.get("claims") // part of the token; the result contains them
	if !c.threw(err) {
		c.sameToken(token)
	}
	encode := c.object("encode")
	if encode == nil {
		c.get("header") // of a token that neither Auth.js nor Latchkey creates
		return
	}
	maker, err := c.auth(func(config *core.Config) { config.Secrets = secretList(encode["secret"]) })
	if err != nil {
		c.diff("encode.secret: %v", err)
		return
	}
	raw, _ := json.Marshal(encode["claims"])
	claims := &core.Token{}
	if err := claims.UnmarshalJSON(raw); err != nil {
		c.diff("encode.claims: %v", err)
		return
	}
	maxAge := 30 * 24 * time.Hour
	if n, ok := encode["maxAge"].(json.Number); ok {
		s, _ := n.Int64()
		maxAge = time.Duration(s) * time.Second
	}
	salt := fmt.Sprint(encode["salt"])
	made, err := maker.EncodeToken(claims, salt, maxAge)
	if err != nil {
		c.diff("encode: %v", err)
		return
	}
	head, _, _ := strings.Cut(made, ".")
	header, _ := base64.RawURLEncoding.DecodeString(head)
	var got object
	_ = decodeExact(header, &got)
	c.same("header", got)
	again, err := maker.DecodeToken(made, salt)
	if err != nil || again.Subject != claims.Subject || again.Expires.Sub(c.now) != maxAge ||
		again.ID == "" || again.ID == "mine" {
		c.diff("encode: made a token that reads as %v, %v", again, err)
	}
}

func csrfCookie(c *call) {
	token, hash := c.text("token"), c.text("hashHex")
	c.get("hashInput") // describes the hash
	c.same("cookieValue", token+"|"+hash)
	for _, member := range []string{"cookieValue", "cookieEncoded"} {
		accepted := signsOut(c, secretList(c.get("secret")), c.text(member), token)
		if want := c.get("acceptedByReference"); want != accepted {
			c.diff("%s: accepted %v, by the reference %v", member, accepted, want)
		}
	}
}

// signsOut reports whether a sign-out with this pair succeeds.
func signsOut(c *call, secrets []core.Secret, cookie, token string) bool {
	a, err := c.auth(func(config *core.Config) { config.Secrets = secrets })
	if err != nil {
		c.diff("secret: %v", err)
		return false
	}
	header := http.Header{"Cookie": {"__Host-authjs.csrf-token=" + cookie}}
	answer := ask(a, "POST", "/auth/signout", "app.test", "https", header, url.Values{"csrfToken": {token}})
	return answer.Err == nil && answer.Redirect == "https://app.test"
}

// tokenHash sends a sign-in email with this token and checks the stored hash.
func tokenHash(c *call) {
	store := newMemory(&recorder{}, c.now)
	a, err := c.auth(func(config *core.Config) {
		config.Store, config.Session.Strategy = store.without(nil), core.StrategyJWT
		config.Providers = []core.Provider{&core.EmailProvider{
			Secret: core.Secret(c.text("secret")), Send: func(context.Context, core.Email) error { return nil },
			GenerateToken: func(context.Context) (string, error) { return c.text("token"), nil },
		}}
	})
	if err != nil {
		c.diff("secret: %v", err)
		return
	}
	submit(a, "/auth/signin/email", url.Values{"email": {"a@b.test"}})
	stored := ""
	for _, t := range store.tokens {
		stored = t.Token
	}
	c.same("storedToken", stored)
}

// submit posts a form with a CSRF token.
func submit(a *core.Auth, target string, form url.Values) *core.Response {
	first := ask(a, "GET", a.BasePath()+"/csrf", "app.test", "https", nil, nil)
	var body struct{ CSRFToken string }
	_ = json.Unmarshal(first.Body, &body)
	form.Set("csrfToken", body.CSRFToken)
	return ask(a, "POST", target, "app.test", "https", cookieHeader(first.Cookies), form)
}

// errorClasses throws each error class in the SignIn callback and checks the redirect.
func errorClasses(c *call) {
	t := core.ErrorType(c.text("type"))
	c.get("class")
	c.get("name")
	c.get("kind")                  // redirectsTo contains the target
	c.get("documentationFragment") // of Auth.js's documentation
	e := &core.Error{Type: t, Code: c.text("code")}
	if !errors.Is(e, t) || e.Error() != "core: "+string(t) {
		c.diff("type: %v", e)
	}
	a, err := c.auth(func(config *core.Config) {
		config.Providers = []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: "1"}, nil
			},
		}}
		config.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
			return core.Deny(), e
		}
	})
	if err != nil {
		c.diff("%v", err)
		return
	}
	answer := submit(a, "/auth/callback/credentials", url.Values{})
	u, err := url.Parse(answer.Redirect)
	if err != nil {
		c.diff("redirectsTo: %v", err)
		return
	}
	where := map[string]string{
		"/auth/error": "pages.error or <basePath>/error", "/auth/signin": "pages.signIn or <basePath>/signin",
	}[u.Path]
	c.same("redirectsTo", where)
	c.same("errorParameter", u.Query().Get("error"))
	c.same("shownToClient", u.Query().Get("error") != "Configuration")
	if code := c.get("code"); code != nil && u.Query().Get("code") != code {
		c.diff("code: want %v, got %q", code, u.Query().Get("code"))
	}
}

func emailNormalize(c *call) {
	c.get("codePoints") // of the input
	store := newMemory(&recorder{}, c.now)
	to := ""
	a, err := c.auth(func(config *core.Config) {
		config.Store, config.Session.Strategy = store.without(nil), core.StrategyJWT
		config.Providers = []core.Provider{&core.EmailProvider{Send: func(_ context.Context, m core.Email) error {
			to = m.To
			return nil
		}}}
	})
	if err != nil {
		c.diff("%v", err)
		return
	}
	answer := submit(a, "/auth/signin/email", url.Values{"email": {c.text("input")}})
	if to == "" {
		err = errors.Join(answer.Err, errors.New("no letter"))
	}
	if !c.threw(err) {
		c.same("result", to)
	}
}

func paths(c *call) {
	a, err := c.auth(func(config *core.Config) { config.BasePath = or(c.text("base"), "/") })
	if err != nil {
		c.diff("base: %v", err)
		return
	}
	answer := ask(a, "GET", c.text("path"), "app.test", "https", nil, nil)
	failure := answer.Err
	named := failure != nil && strings.Contains(failure.Error(), "names a provider")
	if answer.Status != http.StatusBadRequest { // it was an action, whatever its result without a provider
		failure = nil
	}
	if c.threw(failure) {
		return
	}
	result := c.object("result")
	if (result["providerId"] != nil) != named {
		c.diff("result.providerId: want %v, a provider was read: %v", result["providerId"], named)
	}
	if action := fmt.Sprint(result["action"]); !strings.Contains(c.text("path"), action) {
		c.diff("result.action is %q", action)
	}
}

func callbackURLs(c *call) {
	value := c.text("callbackUrl")
	a, err := c.auth(func(*core.Config) {})
	if err != nil {
		c.diff("%v", err)
		return
	}
	answer := ask(a, "GET", "/auth/signin?callbackUrl="+url.QueryEscape(value), "app.test", "https", nil, nil)
	got := object{"status": json.Number(fmt.Sprint(answer.Status)), "storedAs": nil}
	for _, cookie := range answer.Cookies {
		if strings.HasSuffix(cookie.Name, "callback-url") {
			got["storedAs"] = cookie.Value
		}
	}
	c.same("inQuery", got)
	answer = submit(a, "/auth/signout", url.Values{"callbackUrl": {value}})
	c.same("inBody", object{"status": json.Number(fmt.Sprint(answer.Status)), "location": answer.Redirect})
}
