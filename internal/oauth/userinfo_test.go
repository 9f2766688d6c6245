package oauth_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

func TestUserinfo(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	const described = `{"sub":"u1"}`
	signed := p.sign(t, p.claims(nil))
	foreign := p.sign(t, p.claims(map[string]any{"aud": "other"}))
	demanded := func(alg string) func(*oauth.Config) { return func(c *oauth.Config) { c.UserinfoAlg = alg } }
	for name, row := range map[string]struct {
		answer  answer
		change  func(*oauth.Config)
		refused string // text of the error; empty means the profile of u1
	}{
		"JSON":       {answer: answer{body: described}},
		"status 201": {answer: answer{status: 201, body: described}},
		"signed":     {answer: answer{media: "application/jwt; charset=utf-8", body: signed}},
		"signed for another": {
			answer: answer{media: "application/jwt", body: foreign}, refused: `provider "op": userinfo: aud`,
		},
		"signed as demanded": {answer: answer{body: signed}, change: demanded("ES256")},
		"signed otherwise": {
			answer: answer{body: signed}, change: demanded("RS256"), refused: "not among the algorithms",
		},
		"not signed as demanded": {answer: answer{body: described}, change: demanded("ES256"), refused: "userinfo: "},
		"signed, without an issuer": {
			answer: answer{media: "application/jwt", body: signed}, refused: "there is no issuer with keys",
			change: func(c *oauth.Config) { c.OpenID, c.Issuer = false, "" },
		},
		"refused":    {answer: answer{status: 401, body: described}, refused: `provider "op": userinfo: status 401`},
		"a redirect": {answer: answer{status: 302, body: described}, refused: "status 302"},
		"no object":  {answer: answer{body: `["CANARY"]`}, refused: "userinfo: "},
		"no endpoint": {
			change: func(c *oauth.Config) { c.OpenID, c.Userinfo.URL = false, "" }, refused: "no userinfo endpoint",
		},
		"no URL": {change: func(c *oauth.Config) { c.Userinfo.URL = "https://op.example/%zz" }, refused: "userinfo: "},
		"out of reach": {
			change: func(c *oauth.Config) { c.Userinfo.URL = "http://127.0.0.1:1/CANARY" }, refused: "userinfo: GET",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p.answers["/userinfo"] = row.answer
			config := p.openID()
			config.Userinfo = oauth.Endpoint{URL: p.URL + "/userinfo?a=1", Params: url.Values{"b": {"2"}}}
			if row.change != nil {
				row.change(&config)
			}
			if config.Userinfo.URL == "" {
				config.Issuer = ""
			}
			client := oauth.New(config)
			profile, err := client.Userinfo(t.Context(), endpoints(t, client), "CANARY")
			if row.refused != "" {
				if tells(t, err, row.refused); profile != nil {
					t.Error("a profile together with an error")
				}
				return
			}
			got := p.last(t)
			asked := got.authorization == "Bearer CANARY" && got.query == "a=1&b=2"
			if err != nil || profile["sub"] != "u1" || !asked {
				t.Errorf("%v, %v; asked %+v", profile, err, got)
			}
		})
	}
}

// TestUserinfoURL checks the URL for applications that send the request themselves: the configured one, else the
// discovered one.
func TestUserinfoURL(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for configured, want := range map[string]string{
		"":                          p.URL + "/userinfo?b=2",
		"https://op.example/me?a=1": "https://op.example/me?a=1&b=2",
		"https://op.example/%zz":    "",
	} {
		config := p.openID()
		config.Userinfo = oauth.Endpoint{URL: configured, Params: url.Values{"b": {"2"}}}
		client := oauth.New(config)
		got, err := client.UserinfoURL(endpoints(t, client))
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q, %v", configured, got, err)
		}
	}
}

// TestUserinfoOfSeveral: each user's token is sent only to the requested endpoint.
func TestUserinfoOfSeveral(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/userinfo"], p.answers["/elsewhere"] = answer{body: `{"sub":"u1"}`}, answer{body: `{"sub":"u2"}`}
	client := oauth.New(p.openID())
	p.metadata["userinfo_endpoint"] = p.URL + "/elsewhere"
	elsewhere := endpoints(t, oauth.New(p.openID()))
	delete(p.metadata, "userinfo_endpoint")
	here := endpoints(t, client)
	for _, row := range []struct {
		token string
		at    oauth.Endpoints
		path  string
	}{
		{"token-1", here, "/userinfo"}, {"token-2", here, "/userinfo"}, {"token-3", elsewhere, "/elsewhere"},
		{"token-4", here, "/userinfo"},
	} {
		if _, err := client.Userinfo(t.Context(), row.at, row.token); err != nil {
			t.Fatal(err)
		}
		if got := p.last(t); got.authorization != "Bearer "+row.token || got.path != row.path {
			t.Errorf("%s was to go to %s; sent %q to %s", row.token, row.path, got.authorization, got.path)
		}
	}
}

// TestSend checks that errors of the application's requests contain no part of the URL but the host.
func TestSend(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/further"], p.answers["/down"] = answer{status: 201, body: "x"}, answer{status: 500, body: "x"}
	p.answers["/moved"] = answer{status: 302}
	send := func(address string) (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := oauth.Send(&http.Client{Transport: oauth.New(p.config()).Transport()}, r)
		if r.Header.Get("Accept") != "application/json" {
			t.Errorf("Accept %q", r.Header.Get("Accept"))
		}
		return string(body), err
	}
	if body, err := send(p.URL + "/further?token=CANARY"); err != nil || body != "x" {
		t.Errorf("%q, %v", body, err)
	}
	for address, text := range map[string]string{
		p.URL + "/down?token=CANARY":        "answered status 500",
		p.URL + "/moved?token=CANARY":       "answered status 302",
		"https://op.invalid/x?token=CANARY": "op.invalid: ",
	} {
		_, err := send(address)
		tells(t, err, text)
	}
}
