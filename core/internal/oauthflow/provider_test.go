package oauthflow_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/oauthflow"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

const (
	secret = "a-secret-of-more-than-thirty-two-bytes"
	app    = "https://app.test"
	base   = app + "/auth"
)

var clock = time.Unix(1_900_000_000, 0)

func now() time.Time { return clock }

// world is a provider, a browser and the flow between them. It implements [oauthflow.Tools].
type world struct {
	*oauthflow.Flow
	server *httptest.Server
	keys   *flowstate.Keys
	set    *cookies.Set

	cookies     map[string]string
	owner, csrf string
	browserID   string

	mu       sync.Mutex
	asked    map[string]url.Values // the last request by path: its form
	signed   map[string]string     // the last request by path: its Authorization header
	times    map[string]int
	answers  map[string]string // by path; "!" is status 400 with a body
	claims   map[string]any    // changes of the ID token
	received []string
	warned   []error
}

func newWorld(t *testing.T, configure func(w *world, c *oauth.Config)) *world {
	t.Helper()
	w := &world{
		cookies: map[string]string{}, csrf: "browser 1", browserID: "browser 1", asked: map[string]url.Values{},
		signed: map[string]string{}, times: map[string]int{}, answers: map[string]string{}, claims: map[string]any{},
	}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	faults := func(string, ...any) { t.Error("faults") }
	w.set = cookies.NewSets(&cookies.Config{Secrets: []string{secret}, Fault: faults})[1]
	var err error
	w.keys, err = flowstate.NewKeys([]string{secret}, cookies.Sealer{
		Now: now, Rand: rand.Reader, Expired: errors.New("expired"),
	})
	if err != nil {
		t.Fatal(err)
	}
	client := upstream.New(upstream.Options{})
	config := oauth.Config{
		ID: "op", OpenID: true, Issuer: w.server.URL, ClientID: "client", ClientSecret: secret,
		ClientAuth: oauth.ClientSecretPost, IDTokenAlgs: []string{"HS256"}, Scope: "openid email",
		Variable: func(field string) string { return field }, HTTP: client,
		Documents: oidc.New(oidc.Options{Client: client, Now: now}), Now: now, Rand: rand.Reader,
		NewID: func() (string, error) { return "id", nil },
	}
	w.Flow = &oauthflow.Flow{
		OpenID: true, Issuer: w.server.URL, Scope: config.Scope, Exchanges: exchange.New[*oauthflow.Result](now),
		Provider: flowstate.Client{ID: "op", Checks: []string{"state", "pkce", "nonce"}},
	}
	if configure != nil {
		configure(w, &config)
	}
	w.Authorization = config.Authorization
	w.Client = &oauth.Observed{Client: oauth.New(config)}
	if config.RequestToken.URL != "" {
		w.Client1 = &oauth.Observed1{Client1: oauth.New1(config)}
	}
	return w
}

// ServeHTTP implements [http.Handler]: it is the provider.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	w.asked[r.URL.Path], _ = url.ParseQuery(string(raw))
	w.signed[r.URL.Path] = r.Header.Get("Authorization")
	w.times[r.URL.Path]++
	out.Header().Set("Content-Type", "application/json")
	body, there := w.answers[r.URL.Path]
	switch {
	case strings.HasPrefix(body, "!"):
		out.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(out, body[1:])
	case there:
		_, _ = io.WriteString(out, body)
	case r.URL.Path == "/token":
		_ = json.NewEncoder(out).Encode(map[string]any{
			"access_token": "at", "token_type": "bearer", "id_token": w.idToken(), "extra": "member",
		})
	case r.URL.Path == "/userinfo":
		_, _ = io.WriteString(out, `{"sub":"u1","email":"ada@example.com"}`)
	case strings.HasSuffix(r.URL.Path, "openid-configuration"):
		u := w.server.URL
		_ = json.NewEncoder(out).Encode(map[string]any{
			"issuer": u, "jwks_uri": u + "/keys", "authorization_endpoint": u + "/authorize",
			"token_endpoint": u + "/token", "userinfo_endpoint": u + "/userinfo",
			"id_token_signing_alg_values_supported": []string{"HS256"},
		})
	default:
		http.NotFound(out, r)
	}
}

// idToken returns an ID token with the changed claims.
func (w *world) idToken() string {
	claims := map[string]any{
		"iss": w.server.URL, "aud": "client", "sub": "u1", "name": "Ada", "iat": clock.Unix(), "exp": clock.Unix() + 60,
	}
	maps.Copy(claims, w.claims)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	payload, _ := json.Marshal(claims)
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(payload)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, text)
	return text + "." + encode(mac.Sum(nil))
}

// Userinfo implements [oauthflow.Tools].
func (w *world) Userinfo(
	ctx context.Context, at oauth.Endpoints, t *oauth.Tokens, _ map[string]any,
) (map[string]any, error) {
	return w.Flow.Userinfo(ctx, at, t)
}

// Received implements [oauthflow.Tools].
func (w *world) Received(_ context.Context, t *oauth.Tokens) { w.received = t.Members() }

// Incomplete implements [oauthflow.Tools].
func (w *world) Incomplete(_ context.Context, err error) { w.warned = append(w.warned, err) }

// browser returns the browser with its cookies.
func (w *world) browser() *flowstate.Browser {
	h := http.Header{}
	for name, value := range w.cookies {
		h.Add("Cookie", name+"="+value)
	}
	return &flowstate.Browser{
		Keys: w.keys, Jar: cookie.Parse(h["Cookie"]), Cookies: w.set, CSRF: w.csrf,
		Owner: func(context.Context) string { return w.owner },
	}
}

// take stores the cookies of a response.
func (w *world) take(all []cookie.Cookie) {
	for _, c := range all {
		if c.HasMaxAge && c.MaxAge == 0 {
			delete(w.cookies, c.Name)
		} else {
			w.cookies[c.Name] = c.Value
		}
	}
}

// start starts a sign-in and returns the parameters of the authorization request.
func (w *world) start(t *testing.T, change func(r *oauthflow.Request)) url.Values {
	t.Helper()
	r := &oauthflow.Request{Browser: w.browser(), Origin: app, Base: base}
	if change != nil {
		change(r)
	}
	address, stored, err := w.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	w.take(stored)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if nonce := u.Query().Get("nonce"); nonce != "" && w.claims["nonce"] == nil {
		w.claims["nonce"] = nonce
	}
	return u.Query()
}

// read reads a callback with these parameters.
func (w *world) read(t *testing.T, params url.Values) (*oauthflow.Answer, error) {
	t.Helper()
	query, err := weburl.Query("/auth/callback/op?" + params.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return w.Read(t.Context(), &oauthflow.CallbackRequest{
		Browser: w.browser(), Origin: app, Base: base, Query: query, BrowserID: w.browserID,
	})
}

// callback runs all steps of a callback.
func (w *world) callback(t *testing.T, params url.Values) (*oauthflow.Result, error) {
	t.Helper()
	answer, err := w.read(t, params)
	if err != nil {
		return nil, err
	}
	return w.Complete(t.Context(), answer, w)
}

// failure is an error that a test expects.
type failure struct {
	kind   autherr.Type
	cause  func(error) error // the mark with the level, or nil for that of the type
	reason errormarks.Reason
}

// fails checks type, level and reason of an error.
func fails(t *testing.T, name string, err error, want failure) {
	t.Helper()
	level := errormarks.Level(errormarks.As(errors.New("x"), want.kind))
	if want.cause != nil {
		level = errormarks.Level(errormarks.As(errors.New("x"), want.kind, want.cause))
	}
	got, ok := errors.AsType[*autherr.Error](err)
	if !ok || got.Type != want.kind || errormarks.Level(got) != level || errormarks.ReasonIn(err) != want.reason {
		t.Errorf("%s: %#v", name, err)
	}
}
