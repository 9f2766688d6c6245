package core_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// service1 is an OAuth 1.0a service without a network. It only accepts requests that are signed according to RFC 5849.
type service1 struct {
	now     func() time.Time
	answers map[string]string // by path; they replace its own responses
}

var secrets1 = map[string]string{"": "", "request-1": "request-secret", "access-1": "access-secret"}

// signed1 returns the protocol parameters of a request if the signature is valid.
func (s *service1) signed1(r *http.Request) (url.Values, error) {
	line, ok := strings.CutPrefix(r.Header.Get("Authorization"), "OAuth ")
	if !ok || r.Body != nil && r.Body != http.NoBody {
		return nil, errors.New("not signed, or with a body")
	}
	protocol := url.Values{}
	for field := range strings.SplitSeq(line, ", ") {
		name, value, _ := strings.Cut(field, "=")
		text, err := url.PathUnescape(strings.Trim(value, `"`))
		if err != nil {
			return nil, err
		}
		protocol.Add(name, text)
	}
	var pairs []string
	for _, values := range []url.Values{protocol, r.URL.Query()} {
		for name, list := range values {
			if name != "oauth_signature" {
				pairs = append(pairs, escaped1(name)+"="+escaped1(list[0]))
			}
		}
	}
	slices.Sort(pairs)
	address := "https://" + r.URL.Host + r.URL.Path
	text := r.Method + "&" + escaped1(address) + "&" + escaped1(strings.Join(pairs, "&"))
	mac := hmac.New(sha1.New, []byte("consumer-secret&"+secrets1[protocol.Get("oauth_token")]))
	mac.Write([]byte(text))
	at, _ := strconv.ParseInt(protocol.Get("oauth_timestamp"), 10, 64)
	switch {
	case protocol.Get("oauth_signature") != base64.StdEncoding.EncodeToString(mac.Sum(nil)):
		return nil, errors.New("the signature is wrong")
	case protocol.Get("oauth_consumer_key") != "consumer" || protocol.Get("oauth_nonce") == "" || at != s.now().Unix():
		return nil, errors.New("the consumer, the nonce or the time is wrong")
	}
	return protocol, nil
}

func escaped1(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func (s *service1) RoundTrip(r *http.Request) (*http.Response, error) {
	protocol, err := s.signed1(r)
	if err != nil {
		return answered(r, http.StatusUnauthorized, err.Error()), nil
	}
	if given, ok := s.answers[r.URL.Path]; ok {
		if status, err := strconv.Atoi(given); err == nil {
			return answered(r, status, ""), nil
		}
		return answered(r, http.StatusOK, given), nil
	}
	token := protocol.Get("oauth_token")
	switch {
	case r.URL.Path == "/request" && protocol.Get("oauth_callback") == "https://app.test/auth/callback/bird":
		const answer = "oauth_token=request-1&oauth_token_secret=request-secret&oauth_callback_confirmed=true"
		return answered(r, http.StatusOK, answer), nil
	case r.URL.Path == "/access" && token == "request-1" && protocol.Get("oauth_verifier") == "allowed":
		return answered(r, http.StatusOK, "oauth_token=access-1&oauth_token_secret=access-secret"), nil
	case r.URL.Path == "/me" && token == "access-1" && r.URL.Query().Get("include email") == "true":
		return answered(r, http.StatusOK, `{"id":7,"name":"Ann","email":"ann@example.com"}`), nil
	}
	return answered(r, http.StatusForbidden, ""), nil
}

func (s *service1) provider() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "bird", Type: core.TypeOAuth, ClientID: "consumer", ClientSecret: "consumer-secret",
		RequestToken:  core.Endpoint{URL: "https://bird.example/request"},
		Authorization: core.Endpoint{URL: "https://bird.example/authorize", Params: url.Values{"lang": {"en"}}},
		Token:         core.Endpoint{URL: "https://bird.example/access"},
		Userinfo:      core.Endpoint{URL: "https://bird.example/me", Params: url.Values{"include email": {"true"}}},
		HTTPClient:    &http.Client{Transport: s},
	}
}

// newBird returns an application with an OAuth 1.0a service, and a browser.
func newBird(t *testing.T, change func(*service1, *core.OAuthProvider)) (*people, *browser) {
	t.Helper()
	store, clock := newPeople(), newClock()
	s := &service1{now: clock.Now, answers: map[string]string{}}
	p := s.provider()
	if change != nil {
		change(s, p)
	}
	return store, visit(t, newApp(t, core.Config{Store: store.as(power{}), Providers: []core.Provider{p}, Now: clock.Now}))
}

// TestOAuth1 signs in with three signed requests. The account stores the token with its secret.
func TestOAuth1(t *testing.T) {
	t.Parallel()
	for name, fetch := range map[string]func(context.Context, *core.UserinfoRequest) (core.Profile, error){
		"userinfo endpoint": nil,
		"own request, signed as well": func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			return r.Get(ctx, r.URL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, b := newBird(t, func(_ *service1, p *core.OAuthProvider) { p.FetchUserinfo = fetch })
			r := b.submit("/auth/signin/bird", url.Values{"callbackUrl": {"/nest"}})
			if r.Redirect != "https://bird.example/authorize?lang=en&oauth_token=request-1" {
				t.Fatalf("sent to %s: %v", r.Redirect, r.Err)
			}
			r = b.get("/auth/callback/bird?oauth_token=request-1&oauth_verifier=allowed")
			if r.Redirect != "https://app.test/nest" || b.who() != "ann" {
				t.Fatalf("ends at %s as %q: %v", r.Redirect, b.who(), r.Err)
			}
			account := store.accounts[accountKey("bird", "7")]
			kept, _ := json.Marshal(account.Extra)
			if string(kept) != `{"oauth_token":"access-1","oauth_token_secret":"access-secret"}` {
				t.Errorf("the account keeps %s", kept)
			}
			b.submit("/auth/signout", nil)
			if r := b.get("/auth/callback/bird?oauth_token=request-1&oauth_verifier=allowed"); r.Err == nil || b.who() != "" {
				t.Errorf("the same callback signs in twice: %v", r.Err)
			}
		})
	}
}

// TestOAuth1Refused: invalid values sign no user in, whether the client, the provider or the user is the cause.
func TestOAuth1Refused(t *testing.T) {
	t.Parallel()
	const good = "oauth_token=request-1&oauth_verifier=allowed"
	const accessToken = "oauth_token_secret=s&oauth_token=a"
	long := strings.Repeat("x", 500)
	wrong := func(_ *service1, p *core.OAuthProvider) { p.ClientSecret = "wrong" }
	answers := func(path, body string) func(*service1, *core.OAuthProvider) {
		return func(s *service1, _ *core.OAuthProvider) { s.answers[path] = body }
	}
	for _, row := range []struct {
		name   string
		change func(*service1, *core.OAuthProvider)
		answer string
		want   core.ErrorType
	}{
		{"the visitor said no", nil, "denied=request-1", core.ErrorType("OAuthCallbackError")},
		{"no verifier", nil, "oauth_token=request-1", core.ErrorType("OAuthCallbackError")},
		{"a verifier of another", nil, "oauth_token=request-1&oauth_verifier=guessed", core.ErrorType("CallbackRouteError")},
		{
			"a request token of another browser", nil, "oauth_token=request-2&oauth_verifier=allowed",
			core.ErrorType("InvalidCheck"),
		},
		{"no request token", nil, "oauth_verifier=allowed", core.ErrorType("InvalidCheck")},
		{"two request tokens", nil, good + "&oauth_token=request-2", core.ErrorType("OAuthCallbackError")},
		{"two verifiers", nil, good + "&oauth_verifier=x", core.ErrorType("OAuthCallbackError")},

		{
			"an access token without its secret", answers("/access", "oauth_token=access-1"), good,
			core.ErrorType("CallbackRouteError"),
		},
		{"two access tokens", answers("/access", accessToken+"&oauth_token=b"), good, core.ErrorType("CallbackRouteError")},
		{"an access token that is a book", answers("/access", accessToken+long), good, core.ErrorType("CallbackRouteError")},
		{"an access token endpoint that is down", answers("/access", "503"), good, core.ErrorType("CallbackRouteError")},
		{"a profile that is none", answers("/me", "[]"), good, core.ErrorType("CallbackRouteError")},
		{"a profile without an id", answers("/me", `{"name":"Ann"}`), good, core.ErrorType("OAuthProfileParseError")},
		{"a userinfo endpoint that is down", answers("/me", "500"), good, core.ErrorType("CallbackRouteError")},

		{"a callback that is not confirmed", answers("/request", accessToken), "", core.ErrorType("OAuthSignInError")},
		{
			"a request token without its secret", answers("/request", "oauth_token=request-1"), "",
			core.ErrorType("OAuthSignInError"),
		},
		{"a request token endpoint that is down", answers("/request", "500"), "", core.ErrorType("OAuthSignInError")},
		{"a wrong secret of the consumer", wrong, "", core.ErrorType("OAuthSignInError")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, b := newBird(t, row.change)
			r := b.submit("/auth/signin/bird", nil)
			if row.answer != "" {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				r = b.get("/auth/callback/bird?" + row.answer)
			}
			if !errors.Is(r.Err, row.want) || b.who() != "" {
				t.Errorf("signed in as %q: %v, want %s", b.who(), r.Err, row.want)
			}
			for _, secret := range []string{"request-secret", "access-secret", "consumer-secret", "access-1"} {
				if r.Err != nil && strings.Contains(r.Err.Error(), secret) {
					t.Errorf("the log shows %s: %v", secret, r.Err)
				}
			}
		})
	}
}

// TestOAuth1OfAnotherProvider sends the callback of one service to another one that has issued the same request token:
// services choose their tokens, and one may be malicious.
func TestOAuth1OfAnotherProvider(t *testing.T) {
	t.Parallel()
	clock := newClock()
	s := &service1{now: clock.Now}
	bird, hostile := s.provider(), s.provider()
	hostile.ID = "hostile"
	a := newApp(t, core.Config{Providers: []core.Provider{bird, hostile}, Now: clock.Now})
	const answer = "?oauth_token=request-1&oauth_verifier=allowed"
	b := visit(t, a)
	if r := b.submit("/auth/signin/bird", nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	if r := b.get("/auth/callback/hostile" + answer); !errors.Is(r.Err, core.ErrorType("InvalidCheck")) || b.who() != "" {
		t.Errorf("signed in as %q by another provider: %v", b.who(), r.Err)
	}
	if r := b.get("/auth/callback/bird" + answer); r.Err != nil || b.who() != "ann" {
		t.Errorf("signed in as %q by the other provider: %v", b.who(), r.Err)
	}
}
