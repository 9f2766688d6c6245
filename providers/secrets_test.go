package providers_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// The canaries: secrets from the provider and our client credentials. The slash has three spellings in URLs.
const (
	canaryAccess  = "CANARY/access token"
	canaryRefresh = "CANARY/refresh+token"
	canarySecret  = "CANARY-client-secret-of-more-than-thirty-two-bytes"
	canaryCode    = "CANARY-authorization-code"
)

// fragile is a provider with canaries as tokens and a userinfo endpoint that fails.
type fragile struct {
	key     *rsa.PrivateKey
	issuer  string // with or without a trailing slash
	nonce   string
	asked   int // the number of userinfo requests
	trouble func(*http.Request) (*http.Response, error)
}

func reply(r *http.Request, status int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		Header: http.Header{"Content-Type": {contentType}, "Location": {r.URL.String()}},
	}
}

func (f *fragile) RoundTrip(r *http.Request) (*http.Response, error) {
	form := url.Values{}
	if r.Body != nil {
		raw, _ := io.ReadAll(r.Body)
		form, _ = url.ParseQuery(string(raw))
		r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	issuer, _, document := strings.Cut(r.URL.String(), "/.well-known/")
	switch {
	case document && strings.Contains(r.URL.Path, "keys"):
		n := base64.RawURLEncoding.EncodeToString(f.key.N.Bytes())
		e := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(f.key.E)).Bytes())
		return reply(r, 200, "application/json", fmt.Sprintf(`{"keys":[{"kty":"RSA","n":%q,"e":%q}]}`, n, e)), nil
	case document:
		answer := fmt.Sprintf(`{"issuer":%q,"authorization_endpoint":"%[2]s/authorize",`+
			`"token_endpoint":"%[2]s/token","userinfo_endpoint":"%[2]s/userinfo",`+
			`"jwks_uri":"%[2]s/.well-known/keys"}`, f.named(issuer), issuer)
		return reply(r, 200, "application/json", answer), nil
	case strings.HasSuffix(r.URL.Path, "/oauth/request_token"):
		answer := "oauth_token=request-token&oauth_token_secret=" + canarySecret + "&oauth_callback_confirmed=true"
		return reply(r, 200, "application/x-www-form-urlencoded", answer), nil
	case strings.HasSuffix(r.URL.Path, "/oauth/access_token"):
		answer := url.Values{"oauth_token": {canaryAccess}, "oauth_token_secret": {canaryRefresh}}
		return reply(r, 200, "application/x-www-form-urlencoded", answer.Encode()), nil
	case form.Get("grant_type") == "authorization_code":
		answer, _ := json.Marshal(map[string]any{
			"access_token": canaryAccess, "refresh_token": canaryRefresh, "id_token": f.idToken(r),
			"token_type": "bearer", "user_id": "u1", "openid": "u1",
		})
		return reply(r, 200, "application/json", string(answer)), nil
	}
	f.asked++
	return f.trouble(r)
}

// named returns an issuer in the spelling of its provider.
func (f *fragile) named(issuer string) string {
	if strings.TrimSuffix(f.issuer, "/") == issuer {
		return f.issuer
	}
	return issuer
}

// idToken returns an ID token of the issuer that the token endpoint belongs to.
func (f *fragile) idToken(r *http.Request) string {
	payload, _ := json.Marshal(map[string]any{
		"iss": f.named(strings.TrimSuffix(r.URL.String(), "/token")), "aud": "client", "sub": "u1",
		"iat": 1_900_000_000, "exp": 1_900_003_600, "nonce": f.nonce,
	})
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(payload)
	sum := sha256.Sum256([]byte(signed))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, f.key, crypto.SHA256, sum[:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// TestNoTokenInTheLog signs in at every provider while its userinfo endpoint fails in every way, and searches the log
// for secrets. Some providers require the access token in the URL, and errors often contain URLs.
func TestNoTokenInTheLog(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	troubles := map[string]func(*http.Request) (*http.Response, error){
		"connection reset": func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"timeout":          func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded },
		"a transport that tells all": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%s %s %s %s", r.Method, r.URL, r.URL.Path, r.Header)
		},
		"a library's error": func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: errors.New("refused")}
		},
		"a panic": func(r *http.Request) (*http.Response, error) { panic(r.URL.String()) },
		"status 401": func(r *http.Request) (*http.Response, error) {
			return reply(r, 401, "application/json", `{"token":"`+canaryAccess+`"}`), nil
		},
		"status 500": func(r *http.Request) (*http.Response, error) { return reply(r, 500, "text/html", canaryAccess), nil },
		"redirect":   func(r *http.Request) (*http.Response, error) { return reply(r, 302, "text/html", canaryAccess), nil },
		"no JSON": func(r *http.Request) (*http.Response, error) {
			return reply(r, 200, "text/html", "<"+canaryAccess+">"), nil
		},
		"an object of errors": func(r *http.Request) (*http.Response, error) {
			return reply(r, 200, "application/json", `{"error":"`+canaryAccess+`","errmsg":"`+canaryAccess+`"}`), nil
		},
	}
	all := []*core.OAuthProvider{
		providers.OIDC("my-op", "https://op.example"),
		providers.NetSuite("1234567-SB1", "https://x.example/restlet"),
		providers.WeChatWebsite(providers.Options{ID: "wechat-web"}),
		providers.TwitterOAuth1(providers.Options{ID: "twitter-1"}),
	}
	for _, e := range providers.All() {
		if e.ID != "netsuite" {
			all = append(all, e.New())
		}
	}
	failed := map[string]int{}
	for _, p := range all {
		t.Run(p.ID, func(t *testing.T) {
			for name, trouble := range troubles {
				f := &fragile{key: key, issuer: p.Issuer, trouble: trouble}
				log, r := signInAt(t, p, f)
				if f.asked > 0 && r.Err != nil {
					failed[name]++
				}
				for _, secret := range []string{canaryAccess, canaryRefresh, canarySecret, canaryCode, "CANARY"} {
					for _, spelled := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
						if strings.Contains(log, spelled) || r.Err != nil && strings.Contains(r.Err.Error(), spelled) {
							t.Errorf("%s: %q is in the log or in the error: %s", name, spelled, log)
							return
						}
					}
				}
			}
		})
	}
	for name := range troubles {
		if failed[name] < 50 {
			t.Errorf("%s: %d providers failed: the test does not reach them", name, failed[name])
		}
	}
}

// signInAt runs a flow and returns the log and the last response.
func signInAt(t *testing.T, p *core.OAuthProvider, f *fragile) (string, *core.Response) {
	t.Helper()
	env := map[string]string{"AUTH_SECRET": "a-secret-of-more-than-thirty-two-bytes", "AUTH_URL": "https://app.example"}
	for i, name := range providers.Variables(p) {
		env[name] = []string{"client", canarySecret, "https://issuer.example"}[i]
	}
	var log bytes.Buffer
	now := time.Unix(1_900_000_000, 0)
	a, err := core.New(core.Config{
		Providers: []core.Provider{p}, Getenv: func(name string) string { return env[name] },
		Debug: true, HTTPClient: &http.Client{Transport: f},
		Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:    func() time.Time { return now }, CSRF: core.CSRFTokenOrSameOrigin(),
	})
	if err != nil {
		t.Fatal(err)
	}
	cookies := map[string]string{}
	send := func(method, target, contentType, body string) *core.Response {
		r := &core.Request{
			Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https",
			Header: http.Header{"Sec-Fetch-Site": {"same-origin"}}, Body: strings.NewReader(body),
		}
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		var pairs []string
		for name, value := range cookies {
			pairs = append(pairs, name+"="+url.QueryEscape(value))
		}
		r.Header.Set("Cookie", strings.Join(pairs, "; "))
		answer := a.Handle(t.Context(), r)
		for _, c := range answer.Cookies {
			cookies[c.Name] = c.Value
		}
		return answer
	}
	begun := send("POST", "/auth/signin/"+p.ID, "application/x-www-form-urlencoded", "")
	location, err := url.Parse(begun.Redirect)
	if err != nil || begun.Err != nil {
		t.Fatalf("sign-in: %v, %v: %s", begun.Err, err, &log)
	}
	f.nonce = location.Query().Get("nonce")
	answer := url.Values{"code": {canaryCode}}
	if state := location.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	if p.RequestToken.URL != "" {
		answer = url.Values{"oauth_token": {"request-token"}, "oauth_verifier": {canaryCode}}
	}
	if location.Query().Get("response_mode") == "form_post" {
		r := send("POST", "/auth/callback/"+p.ID, "application/x-www-form-urlencoded", answer.Encode())
		return log.String(), r
	}
	r := send("GET", "/auth/callback/"+p.ID+"?"+answer.Encode(), "", "")
	return log.String(), r
}
