package oauth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// twitter returns the configuration of an OAuth 1.0a client.
func twitter(p *provider) oauth.Config {
	c := p.config()
	c.RequestToken = oauth.Endpoint{URL: p.URL + "/request_token"}
	c.Token = oauth.Endpoint{URL: p.URL + "/access_token"}
	return c
}

const confirmed = "oauth_token=rt&oauth_token_secret=rs&oauth_callback_confirmed=true"

// TestOAuth1 runs all steps. The signatures are tested in package oauth1.
func TestOAuth1(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/request_token"] = answer{body: confirmed}
	p.answers["/access_token"] = answer{body: "oauth_token=at&oauth_token_secret=as&user_id=7"}
	p.answers["/userinfo"] = answer{body: `{"id_str":"7"}`}
	config := twitter(p)
	config.Authorization = oauth.Endpoint{URL: p.URL + "/authenticate?a=1", Params: url.Values{"force_login": {"true"}}}
	config.Userinfo.Params = url.Values{"include_email": {"true"}}
	client := oauth.New1(config)

	request, err := client.RequestToken(t.Context(), "https://app.example/callback")
	if err != nil || request != (oauth.Token1{Token: "rt", Secret: "rs"}) {
		t.Fatalf("%v, %v", request, err)
	}
	signedWith(t, p.last(t), `oauth_callback="https%3A%2F%2Fapp.example%2Fcallback"`, `oauth_consumer_key="client"`)
	address, err := client.AuthorizeRequestToken(request)
	if err != nil || address != p.URL+"/authenticate?a=1&force_login=true&oauth_token=rt" {
		t.Errorf("%s, %v", address, err)
	}
	answer, err := oauth.ReadVerifier(query{"oauth_token": {"rt"}, "oauth_verifier": {"v"}})
	if err != nil || answer.Token != "rt" {
		t.Fatal(answer, err)
	}
	access, err := client.AccessToken(t.Context(), answer, "rs")
	if err != nil || string(access.Extra["oauth_token"]) != `"at"` ||
		string(access.Extra["oauth_token_secret"]) != `"as"` || access.Now.IsZero() {
		t.Fatal(access, err)
	}
	signedWith(t, p.last(t), `oauth_token="rt"`, `oauth_verifier="v"`)
	profile, err := client.Userinfo(t.Context(), access)
	if err != nil || profile["id_str"] != "7" || p.last(t).query != "include_email=true" {
		t.Fatal(profile, err)
	}
	signedWith(t, p.last(t), `oauth_token="at"`)

	own := &http.Client{Transport: client.SigningTransport(access)}
	further, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/further", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := own.Do(further)
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	if signedWith(t, p.last(t), `oauth_token="at"`); further.Header.Get("Authorization") != "" {
		t.Error("the caller's request was changed")
	}
	further, err = http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL, strings.NewReader("a=1"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err = own.Do(further); err == nil { // a body is not signed
		_ = got.Body.Close()
		t.Error("sent a body")
	}
}

// signedWith checks parameters in the Authorization header.
func signedWith(t *testing.T, got asked, parameters ...string) {
	t.Helper()
	for _, parameter := range append(parameters, `oauth_signature="`, `oauth_nonce="`, `oauth_timestamp="1900000000"`) {
		if !strings.Contains(got.authorization, parameter) {
			t.Errorf("%s %s: no %s in %s", got.method, got.path, parameter, got.authorization)
		}
	}
}

func TestRequestTokenErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer answer
		change func(*oauth.Config)
		says   string
	}{
		"not confirmed": {
			answer{body: "oauth_token=t&oauth_token_secret=s"}, nil, `provider "op" does not confirm the callback`,
		},
		"refused": {
			answer{status: 401, body: "CANARY"}, nil, `provider "op": request token: status 401 (401: check the key`,
		},
		"no token":   {answer{body: "oauth_token_secret=s"}, nil, "no oauth_token with an oauth_token_secret"},
		"no secret":  {answer{body: "oauth_token=t"}, nil, "no oauth_token with an oauth_token_secret"},
		"two tokens": {answer{body: confirmed + "&oauth_token=x"}, nil, "no oauth_token with an oauth_token_secret"},
		"no form":    {answer{body: confirmed + "&%zz"}, nil, "no oauth_token with an oauth_token_secret"},
		"too long": {
			answer{body: "oauth_token_secret=s&oauth_token=" + strings.Repeat("t", 400)}, nil, "the token is too long",
		},
		"no randomness": {
			answer{body: confirmed}, func(c *oauth.Config) { c.Rand = iotest.ErrReader(errors.New("broken")) },
			"random source: broken",
		},
		"no URL": {
			answer{}, func(c *oauth.Config) { c.RequestToken.URL = "https://op.example/%zz" }, "request token: ",
		},
		"out of reach": {
			answer{}, func(c *oauth.Config) { c.RequestToken.URL = "http://127.0.0.1:1/" }, "request token: POST",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/request_token"] = row.answer
			config := twitter(p)
			if row.change != nil {
				row.change(&config)
			}
			token, err := oauth.New1(config).RequestToken(t.Context(), "https://app.example/callback")
			if tells(t, err, row.says); token != (oauth.Token1{}) {
				t.Error("a token together with an error")
			}
		})
	}
}

// TestAccessTokenErrors checks that errors of the user and of the provider are distinguished.
func TestAccessTokenErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		query   query
		says    string
		visitor bool
		times   int
	}{
		"denied":      {query{"denied": {"rt"}}, `provider "op": the user denied access`, true, 0},
		"no verifier": {query{"oauth_token": {"rt"}}, `provider "op": the callback has no oauth_verifier`, true, 0},
		"refused": {
			query{"oauth_token": {"rt"}, "oauth_verifier": {"v"}}, `provider "op": access token: status 401`, false, 1,
		},
	} {
		p := newProvider(t)
		p.answers["/access_token"] = answer{status: 401}
		client := oauth.New1(twitter(p))
		answer, err := oauth.ReadVerifier(row.query)
		if err != nil || answer.Token != "rt" {
			t.Fatal(name, answer, err)
		}
		_, err = client.AccessToken(t.Context(), answer, "rs")
		if tells(t, err, row.says); errors.Is(err, oauth.ErrNotAllowed) != row.visitor || p.times() != row.times {
			t.Errorf("%s: %v after %d requests", name, err, p.times())
		}
	}
}

func TestOAuth1ResponsesAreUsedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"oauth_token", "oauth_verifier", "denied"} {
		_, err := oauth.ReadVerifier(query{"oauth_token": {"rt"}, name: {"CANARY", "x"}})
		tells(t, err, "the callback has "+name+" more than once")
	}
}

func TestAuthorizeRequestTokenErrors(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://op.example/%zz", "authenticate"} {
		config := twitter(newProvider(t))
		config.Authorization.URL = address
		_, err := oauth.New1(config).AuthorizeRequestToken(oauth.Token1{Token: "CANARY"})
		tells(t, err, `provider "op": authorization endpoint: `)
	}
}

func TestSignedUserinfoErrors(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := oauth.New1(twitter(p))
	for _, a := range []answer{{status: 403, body: `{"id_str":"7"}`}, {body: "CANARY"}} {
		p.answers["/userinfo"] = a
		profile, err := client.Userinfo(t.Context(), &oauth.Tokens{Extra: map[string]json.RawMessage{
			"oauth_token": []byte(`"CANARY"`), "oauth_token_secret": []byte(`"CANARY"`),
		}})
		if tells(t, err, `provider "op": userinfo: `); profile != nil {
			t.Error("a profile together with an error")
		}
	}
}
