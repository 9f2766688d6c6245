package core_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// oauth1Service returns an OAuth 1.0a provider that issues the request token CANARY-request.
func oauth1Service() *core.OAuthProvider {
	answers := map[string]string{
		"/request":  "oauth_token=CANARY-request&oauth_token_secret=CANARY-secret&oauth_callback_confirmed=true",
		"/access":   "oauth_token=CANARY-access&oauth_token_secret=CANARY-of-access",
		"/userinfo": `{"id":"7","name":"Ann"}`,
	}
	return &core.OAuthProvider{
		ID: "op", Type: core.TypeOAuth, ClientID: "key", ClientSecret: "secret",
		RequestToken:  core.Endpoint{URL: "https://op.example/request"},
		Token:         core.Endpoint{URL: "https://op.example/access"},
		Authorization: core.Endpoint{URL: "https://op.example/authenticate"},
		Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if !strings.HasPrefix(r.Header.Get("Authorization"), "OAuth oauth_") {
				return nil, errors.New("not signed")
			}
			return answered(r, 200, answers[r.URL.Path]), nil
		})},
	}
}

func TestOAuth1Callbacks(t *testing.T) {
	t.Parallel()
	own := func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
		if err != nil {
			return nil, err
		}
		return r.Do(request) // the client signs
	}
	fails := func(_ context.Context, r *core.UserinfoRequest) (core.Profile, error) {
		return nil, errors.New("no profile for " + r.Tokens.Extra.Text("oauth_token"))
	}
	const back, verified = "/auth/callback/op", "?oauth_token=CANARY-request&oauth_verifier=v"
	for name, row := range map[string]struct {
		fetch  func(context.Context, *core.UserinfoRequest) (core.Profile, error)
		answer string
		level  string         // level of the log message; empty if the user is signed in
		is     core.ErrorType // type of the error
		spent  bool           // the cookie with the request token is deleted
	}{
		"signed in":                {answer: verified},
		"by a function of its own": {fetch: own, answer: verified},
		"a function of its own fails": {
			fetch: fails, answer: verified, is: core.ErrorType("CallbackRouteError"), level: "ERROR", spent: true,
		},
		"denied": {
			answer: "?denied=CANARY-request", is: core.ErrorType("OAuthCallbackError"), level: "INFO", spent: true,
		},
		"no verifier": {
			answer: "?oauth_token=CANARY-request", is: core.ErrorType("OAuthCallbackError"), level: "INFO", spent: true,
		},
		"a token twice": {answer: verified + "&oauth_token=x", is: core.ErrorType("OAuthCallbackError"), level: "INFO"},
		"the token of another browser": {
			answer: "?oauth_token=CANARY-other&oauth_verifier=v", is: core.ErrorType("InvalidCheck"), level: "WARN",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := oauth1Service()
			p.FetchUserinfo = row.fetch
			a := newApp(t, core.Config{Providers: []core.Provider{p}, Callbacks: core.Callbacks{
				SignIn: func(_ context.Context, s core.SignInParams) (core.SignInResult, error) {
					if s.Account.ProviderAccountID != "7" || s.Profile.Text("name") != "Ann" {
						t.Errorf("account %v, profile %v", s.Account, s.Profile)
					}
					return core.Allow(), nil
				},
			}})
			b := visit(t, a)
			r := b.submit("/auth/signin/op", nil)
			if r.Redirect != "https://op.example/authenticate?oauth_token=CANARY-request" {
				t.Fatalf("sent to %q: %v", r.Redirect, r.Err)
			}
			r = b.get(back + row.answer)
			if signedIn := b.cookies[sessionCookie] != ""; signedIn != (row.level == "") {
				t.Errorf("signed in %t: %v", signedIn, r.Err)
			}
			if row.level == "" {
				return
			}
			if !errors.Is(r.Err, row.is) || !strings.Contains(a.log.String(), "level="+row.level) ||
				strings.Contains(a.log.String()+r.Err.Error(), "CANARY-a") {
				t.Errorf("%v; the log says\n%s", r.Err, a.log)
			}
			if row.spent {
				if r = b.get(back + verified); b.cookies[sessionCookie] != "" {
					t.Errorf("the request token was good twice: %v", r.Err)
				}
			}
		})
	}
}

// TestOAuth1Refuses checks that no sign-in starts that could not be completed safely.
func TestOAuth1Refuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*core.OAuthProvider){
		"before revision A": func(p *core.OAuthProvider) { p.RequestToken.URL = "https://op.example/access" },
		"no oauth_token":    func(p *core.OAuthProvider) { p.RequestToken.URL = "https://op.example/other" },
	} {
		p := oauth1Service()
		change(p)
		r := visit(t, newApp(t, core.Config{Providers: []core.Provider{p}})).submit("/auth/signin/op", nil)
		if !errors.Is(r.Err, core.ErrorType("OAuthSignInError")) || !strings.Contains(r.Err.Error(), says) {
			t.Errorf("%s: %v", says, r.Err)
		}
	}
}
