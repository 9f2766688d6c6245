package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// userinfoOf is an OAuth provider whose token endpoint returns canaries, and whose userinfo endpoint calls answer.
func userinfoOf(answer func(*http.Request) (*http.Response, error)) *core.OAuthProvider {
	p := (&service{}).provider("op")
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/token" {
			return answered(r, 200,
				`{"access_token":"CANARY/access token","refresh_token":"CANARY/refresh","token_type":"bearer"}`), nil
		}
		return answer(r)
	})}
	return p
}

// comeBack completes the flow of provider op.
func comeBack(t *testing.T, a *app) (*browser, *core.Response) {
	t.Helper()
	b := visit(t, a)
	begun := b.submit("/auth/signin/op", nil)
	return b, b.get((&service{}).grant(t, begun.Redirect))
}

// TestUserinfoStatus accepts a profile from a successful response only. A provider that rejects a token may still
// return a user in the body.
func TestUserinfoStatus(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} { // UserinfoRequest.Get is called by the provider's own function
		for status, good := range map[int]bool{
			200: true, 201: true, 203: true, 301: false, 302: false, 304: false, 400: false, 401: false, 403: false, 404: false,
			429: false, 500: false, 502: false, 503: false,
		} {
			p := userinfoOf(func(r *http.Request) (*http.Response, error) {
				return answered(r, status, `{"sub":"u1","name":"Ann","email":"ann@example.com"}`), nil
			})
			if own {
				p.FetchUserinfo = func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
					return r.Get(ctx, r.URL)
				}
			}
			b, r := comeBack(t, newApp(t, core.Config{Providers: []core.Provider{p}}))
			if got := b.cookies[sessionCookie] != ""; got != good {
				t.Errorf("status %d, own function: %t, signed in: %t: %v", status, own, got, r.Err)
			}
		}
	}
}

// TestLongProfilesSignIn has profiles whose name or picture is too long for a cookie. The sign-in must succeed.
func TestLongProfilesSignIn(t *testing.T) {
	t.Parallel()
	const picture = "https://op.example/ann.png"
	photo := "data:image/jpeg;base64," + strings.Repeat("A", 6000)
	for _, row := range []struct{ name, of, picture, wantName, wantPicture string }{
		{"usual", "Ann", picture, "Ann", picture},
		{"longest", strings.Repeat("a", 1000), photo, strings.Repeat("a", 1000), photo},
		{"name of a megabyte", strings.Repeat("a", 1_000_000), picture, strings.Repeat("a", 1000), picture},
		{"name that is cut within a letter", strings.Repeat("a", 999) + "\u00e9", picture, strings.Repeat("a", 999), picture},
		{"picture of a megabyte", "Ann", "data:image/jpeg;base64," + strings.Repeat("A", 900_000), "Ann", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := userinfoOf(func(r *http.Request) (*http.Response, error) {
				return answered(r, 200, fmt.Sprintf(`{"sub":"u1","name":%q,"picture":%q}`, row.of, row.picture)), nil
			})
			a := newApp(t, core.Config{Providers: []core.Provider{p}})
			b, r := comeBack(t, a)
			token, err := a.Token(t.Context(), b.request("GET", "/", "", ""))
			if err != nil || token == nil {
				t.Fatalf("not signed in: %v, %v", r.Err, err)
			}
			if token.Name != row.wantName || token.Picture != row.wantPicture {
				t.Errorf("name of %d bytes, picture of %d: want %d and %d", len(token.Name), len(token.Picture),
					len(row.wantName), len(row.wantPicture))
			}
		})
	}
}

// TestInvalidCharacters: malformed text in a profile does not fail the sign-in, unless it is in the user's identifier.
func TestInvalidCharacters(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ profile, wantName, wantPicture string }{
		"half an emoji in the bio":  {`{"bio":"\ud83d","id":"1","name":"Ann"}`, "Ann", ""},
		"half an emoji in the name": {`{"id":"1","name":"Ann \ud83d"}`, "Ann \ufffd", ""},
		"Latin-1 in the name":       {"{\"id\":\"1\",\"name\":\"J\xf6rg\"}", "J\ufffdrg", ""},
		"NUL in name and image": {
			`{"id":"1","name":"A\u0000nn\u0000","picture":"https://op.example/\u0000a\n.png"}`, "Ann",
			"https://op.example/a.png",
		},
		"raw control characters": {"{\"id\":\"1\",\"bio\":\"a\nb\x00\",\"name\":\"A\tnn\x7f\"}", "A nn", ""},
		"C1 control characters":  {"{\"id\":\"1\",\"name\":\"\u0085Ann\"}", "Ann", ""},
		"a byte order mark":      {"\ufeff" + `{"id":"1","name":"Ann"}`, "Ann", ""},

		"half an emoji in the id":    {`{"id":"1\ud83d","name":"Ann"}`, "", ""},
		"Latin-1 in the id":          {"{\"id\":\"1\xf6\",\"name\":\"Ann\"}", "", ""},
		"NUL in the id":              {`{"id":"1\u0000","name":"Ann"}`, "", ""},
		"the replacement character":  {`{"id":"1\ufffd","name":"Ann"}`, "", ""},
		"half an emoji in the email": {`{"id":"1","name":"Ann","email":"ann\ud83d@example.com"}`, "", ""},
		"the id twice":               {`{"id":"1","bio":"\ud83d","id":"2","name":"Ann"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{Providers: []core.Provider{userinfoOf(func(r *http.Request) (*http.Response, error) {
				return answered(r, 200, row.profile), nil
			})}})
			b, r := comeBack(t, a)
			token, err := a.Token(t.Context(), b.request("GET", "/", "", ""))
			if err != nil || (token != nil) != (row.wantName != "") {
				t.Fatalf("signed in: %t: %v, %v", token != nil, r.Err, err)
			}
			if token != nil && (token.Name != row.wantName || token.Picture != row.wantPicture) {
				t.Errorf("name %q, picture %q", token.Name, token.Picture)
			}
		})
	}
}

// TestTokensStayOutOfErrors uses functions of a provider, and an HTTP transport, that put their input into errors.
func TestTokensStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const body = `{"sub":"u1"}`
	told := func(tokens *core.TokenSet) error {
		access := string(tokens.AccessToken)
		return fmt.Errorf("%s %s %s %s", access, url.QueryEscape(access), url.PathEscape(access), string(tokens.RefreshToken))
	}
	inPath := func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
		return r.Get(ctx,
			"https://op.example/tokens/"+url.PathEscape(string(r.Tokens.AccessToken))+"?proof=CANARY-of-another-kind")
	}
	for name, change := range map[string]func(p *core.OAuthProvider){
		"FetchUserinfo fails": func(p *core.OAuthProvider) {
			p.FetchUserinfo = func(_ context.Context, r *core.UserinfoRequest) (core.Profile, error) {
				return nil, told(r.Tokens)
			}
		},
		"FetchUserinfo panics": func(p *core.OAuthProvider) {
			p.FetchUserinfo = func(_ context.Context, r *core.UserinfoRequest) (core.Profile, error) { panic(told(r.Tokens)) }
		},
		"Profile fails": func(p *core.OAuthProvider) {
			p.Profile = func(_ context.Context, _ core.Profile, tokens *core.TokenSet) (*core.Person, error) {
				return nil, told(tokens)
			}
		},
		"the token in the path": func(p *core.OAuthProvider) { p.FetchUserinfo = inPath },
	} {
		p := userinfoOf(func(r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.Path, "/tokens/") {
				return nil, errors.New("connection reset")
			}
			return answered(r, 200, body), nil
		})
		change(p)
		a := newApp(t, core.Config{Providers: []core.Provider{p}})
		_, r := comeBack(t, a)
		if r.Err == nil || strings.Contains(a.log.String()+r.Err.Error(), "CANARY") {
			t.Errorf("%s: %v: %s", name, r.Err, a.log)
		}
	}
}

// TestSendNamesTheHost checks that the error of a failed request contains the host and the cause, but not the rest of
// the URL, which may contain a secret, nor a token.
func TestSendNamesTheHost(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection reset")
	tokens := &core.TokenSet{
		Client: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, cause })},
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://op.example/CANARY?CANARY", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tokens.Send(request); !errors.Is(err, cause) || err.Error() != "op.example: connection reset" {
		t.Errorf("got %v", err)
	}
	tokens.AccessToken, cause = "CANARY-access", errors.New("refused CANARY-access")
	if _, err = tokens.Send(request); !errors.Is(err, cause) || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("a cause with the token: %v", err)
	}
}

// TestUserinfoOfAnotherSubject accepts a profile of an OpenID provider only if it has the subject of the ID token
// (OpenID Connect Core section 5.3.2), whichever function requested it.
func TestUserinfoOfAnotherSubject(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, profile string
		good          bool
	}{
		{"the subject of the ID token", `{"sub":"u1","name":"Ann"}`, true},
		{"another subject", `{"sub":"u2","name":"Ann"}`, false},
		{"no subject", `{"name":"Ann"}`, false},
		{"a subject that is no text", `{"sub":["u1"],"name":"Ann"}`, false},
	} {
		for name, fetch := range map[string]func(context.Context, *core.UserinfoRequest) (core.Profile, error){
			"userinfo endpoint": nil,
			"own function": func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
				return r.Get(ctx, r.URL)
			},
		} {
			t.Run(row.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				op := &smallOP{}
				a := newApp(t, core.Config{Providers: []core.Provider{&core.OAuthProvider{
					ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
					Userinfo: core.Endpoint{URL: "https://op.example/x/userinfo"}, ProfileFromUserinfo: true, FetchUserinfo: fetch,
					HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
						if r.URL.Path == "/x/userinfo" {
							return answered(r, 200, row.profile), nil
						}
						return op.RoundTrip(r)
					})},
				}}})
				op.clock = a.clock
				b, r := comeBack(t, a)
				if got := b.cookies[sessionCookie] != ""; got != row.good {
					t.Fatalf("signed in: %t: %v", got, r.Err)
				}
				if !row.good &&
					(!errors.Is(r.Err, core.ErrorType("CallbackRouteError")) || !strings.Contains(r.Err.Error(), "another subject")) {
					t.Errorf("error %v", r.Err)
				}
			})
		}
	}
}

// TestUserinfoDeadline: a userinfo request has a timeout.
func TestUserinfoDeadline(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		bounded := false
		p := userinfoOf(func(r *http.Request) (*http.Response, error) {
			_, bounded = r.Context().Deadline()
			return answered(r, http.StatusOK, `{"sub":"u1","name":"Ann","email":"ann@example.com"}`), nil
		})
		if own {
			p.FetchUserinfo = func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
				return r.Get(ctx, r.URL)
			}
		}
		b, r := comeBack(t, newApp(t, core.Config{Providers: []core.Provider{p}}))
		if !bounded || b.cookies[sessionCookie] == "" {
			t.Errorf("own function: %t, has a deadline: %t, %v", own, bounded, r.Err)
		}
	}
}
