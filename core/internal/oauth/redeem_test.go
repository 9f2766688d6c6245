package oauth_test

import (
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// TestRedeemProves has each way in which a client proves itself: what is in the form and what is in the header.
func TestRedeemProves(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("client:secret"))
	for _, row := range []struct {
		auth, header string
		form         url.Values // besides the grant; nil: any value
	}{
		{oauth.ClientSecretBasic, basic, url.Values{}},
		{oauth.ClientSecretPost, "", url.Values{"client_id": {"client"}, "client_secret": {"secret"}}},
		{oauth.ClientAuthNone, "", url.Values{"client_id": {"client"}}},
		{oauth.ClientSecretJWT, "", url.Values{
			"client_id": {"client"}, "client_assertion": nil,
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
		}},
	} {
		t.Run(row.auth, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/token"] = answer{body: good}
			config := p.config()
			config.ClientAuth = row.auth
			config.Token.Params = url.Values{"audience": {"a", "b"}, "resource": {"of {code}"}}
			if _, err := redeem(t, oauth.New(config)); err != nil {
				t.Fatal(err)
			}
			want := url.Values{
				"grant_type": {"authorization_code"}, "code": {"the-code"}, "code_verifier": {"the-verifier"},
				"redirect_uri": {"https://app.example/callback"}, "audience": {"a b"}, "resource": {"of the-code"},
			}
			got := p.last(t)
			for name, value := range row.form {
				if want[name] = value; value == nil {
					want[name] = got.form[name]
				}
			}
			if got.form.Encode() != want.Encode() || got.authorization != row.header || p.times() != 1 {
				t.Errorf("asked %d times with %q and\ngot  %s\nwant %s",
					p.times(), got.authorization, got.form.Encode(), want.Encode())
			}
		})
	}
}

// TestRedeemAgain: a transport that finds its connection closed sends the same form again.
func TestRedeemAgain(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/token"] = answer{body: good}
	config := p.config()
	config.ClientAuth, config.Token.Params = oauth.ClientSecretJWT, url.Values{"audience": {"a"}}
	config.HTTP = upstream.New(upstream.Options{HTTP: &http.Client{Transport: again{}}})
	if _, err := redeem(t, oauth.New(config)); err != nil {
		t.Fatal(err)
	}
	if form := p.last(t).form; form.Get("audience") != "a" || form.Get("client_assertion") == "" || len(form) != 8 {
		t.Errorf("sent again %v", form)
	}
}

// again sends requests as for the second time.
type again struct{}

func (again) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if r.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestRedeemMakesTheSecret asks the application for a secret where it has none.
func TestRedeemMakesTheSecret(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/token"] = answer{body: good}
	config := p.config()
	config.ClientAuth = oauth.ClientSecretPost
	config.MakeClientSecret = func() (string, error) { return "made", nil }
	if _, err := redeem(t, oauth.New(config)); err != nil || p.last(t).form.Get("client_secret") != "secret" {
		t.Errorf("made a secret although there is one: %v", err)
	}
	config.ClientSecret = ""
	if _, err := redeem(t, oauth.New(config)); err != nil || p.last(t).form.Get("client_secret") != "made" {
		t.Errorf("did not make a secret: %v", err)
	}
	cause := errors.New("the key is gone")
	config.MakeClientSecret = func() (string, error) { return "", cause }
	_, err := redeem(t, oauth.New(config))
	tells(t, err, `provider "op": client secret: the key is gone`)
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
}

func TestRedeemErrors(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer answer
		auth   string
		change func(*oauth.Config)
		says   []string
		spent  bool // the error is ErrInvalidGrant
	}{
		"no endpoint": {
			change: func(c *oauth.Config) { c.Token.URL = "" }, says: []string{`provider "op" has no token endpoint`},
		},
		"out of reach": {
			change: func(c *oauth.Config) { c.Token.URL = "http://127.0.0.1:1/CANARY" },
			says:   []string{`provider "op": token endpoint: POST `},
		},
		"wrong secret": {
			answer: answer{status: 401, body: `{"error":"invalid_client","error_description":"CANARY"}`},
			says: []string{`token endpoint: status 401, error "invalid_client": the provider does not take this client: ` +
				`check ClientID and ClientSecret (AUTH_OP_ID, AUTH_OP_SECRET), and ClientAuth, which is client_secret_basic`},
		},
		"a public client": {
			answer: answer{status: 400, body: `{"error":"unauthorized_client"}`}, auth: oauth.ClientAuthNone,
			says: []string{"check ClientID (AUTH_OP_ID), and whether the client is registered as a public one"},
		},
		"a wrong key": {
			answer: answer{status: 401, body: `{"error":"invalid_client"}`}, auth: oauth.PrivateKeyJWT,
			change: func(c *oauth.Config) { c.ClientKey = curve(t, elliptic.P256()) },
			says: []string{
				"check ClientID (AUTH_OP_ID) and ClientKey (AUTH_OP_PRIVATE_KEY), and ClientAuth, which is private_key_jwt",
			},
		},
		"a word of GitHub's, with status 200": {
			answer: answer{body: `{"error":"incorrect_client_credentials"}`},
			says:   []string{"token answer: no access_token", "check ClientID and ClientSecret"},
		},
		"a code that is spent": {
			answer: answer{status: 400, body: `{"error":"invalid_grant"}`}, spent: true,
			says: []string{`status 400, error "invalid_grant"`},
		},
		"a code that is spent, with status 200": {
			answer: answer{body: `{"error":"invalid_grant"}`}, spent: true,
			says: []string{"token answer: status 200"},
		},
		"a number for an error": {answer: answer{status: 400, body: `{"error":17}`}, says: []string{`error "17"`}},
		"a redirect":            {answer: answer{status: 307}, says: []string{"status 307"}},
		"a page":                {answer: answer{media: "text/html", body: "<html>CANARY"}, says: []string{"token answer: "}},
		"no access token":       {answer: answer{body: `{"token_type":"bearer"}`}, says: []string{"no access_token"}},
		"no token type":         {answer: answer{body: `{"access_token":"CANARY"}`}, says: []string{"ConformToken"}},
		"another token type": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"mac"}`},
			says:   []string{`token_type "mac" is not supported`},
		},
		"a token that is no text": {
			answer: answer{body: `{"access_token":1,"token_type":"bearer"}`}, says: []string{"access_token is no text"},
		},
		"a life that is no number": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"bearer","expires_in":"soon"}`},
			says:   []string{"expires_in"},
		},
		"a life of a century": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"bearer","expires_in":3153600000}`},
			says:   []string{"expires_in"},
		},
		"a life that is over": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"bearer","expires_in":-1}`},
			says:   []string{"expires_in"},
		},
		"conforming fails": {
			answer: answer{body: good}, says: []string{"token endpoint: not what was expected"},
			change: func(c *oauth.Config) {
				c.ConformToken = func([]byte) ([]byte, error) { return nil, errors.New("not what was expected") }
			},
		},
		"conforming to nothing": {
			answer: answer{body: good}, says: []string{"token answer: "},
			change: func(c *oauth.Config) {
				c.ConformToken = func([]byte) ([]byte, error) { return nil, nil }
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/token"] = row.answer
			config := p.config()
			if row.auth != "" {
				config.ClientAuth = row.auth
			}
			if row.change != nil {
				row.change(&config)
			}
			tokens, err := redeem(t, oauth.New(config))
			tells(t, err, row.says...)
			refused, ok := errors.AsType[*oauth.Refusal](err)
			if ok && strings.Contains(err.Error(), "check") != refused.OfClient() {
				t.Errorf("what to check: %v", err)
			}
			if tokens != nil || errors.Is(err, oauth.ErrInvalidGrant) != row.spent {
				t.Errorf("%v, %v", tokens, err)
			}
			if p.times() > 1 {
				t.Error("the code went out twice")
			}
		})
	}
}

// TestRedeemNeedsACode sends no request when an answer had no code.
func TestRedeemNeedsACode(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := oauth.New(p.config())
	at := endpoints(t, client)
	_, err := client.Redeem(t.Context(), at, accepted(t, client, at, ""), "", "")
	if tells(t, err, `provider "op": the answer has no code`); !errors.Is(err, oauth.ErrNoCode) || p.times() != 0 {
		t.Errorf("%v after %d requests", err, p.times())
	}
}

func TestReadTokens(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	config := p.config()
	config.ConformToken = func(body []byte) ([]byte, error) {
		return append([]byte(`{"token_type":"BEARER",`), body[1:]...), nil
	}
	client := oauth.New(config)
	p.answers["/token"] = answer{body: `{"access_token":"a","refresh_token":"r","id_token":null,"scope":"b c",` +
		`"expires_in":"60","Access_Token":"x","more":{"n":1.50}}`}
	tokens, err := redeem(t, client)
	if err != nil {
		t.Fatal(err)
	}
	if tokens.AccessToken != "a" || tokens.RefreshToken != "r" || tokens.IDToken != "" || tokens.Scope != "b c" ||
		tokens.TokenType != "bearer" || tokens.ExpiresIn != time.Minute ||
		!tokens.ExpiresAt.Equal(clock.Truncate(time.Second).Add(time.Minute)) ||
		!tokens.Now.Equal(clock) {
		t.Errorf("%+v", tokens)
	}
	extra := tokens.Extra
	if len(extra) != 2 || string(extra["more"]) != `{"n":1.50}` || string(extra["Access_Token"]) != `"x"` {
		t.Errorf("other members: %s", tokens.Extra)
	}
	p.answers["/token"] = answer{body: `{"access_token":"a","expires_in":null}`}
	if tokens, err = redeem(t, client); err != nil || tokens.ExpiresIn != 0 || !tokens.ExpiresAt.IsZero() {
		t.Errorf("without a life: %+v, %v", tokens, err)
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/token"] = answer{body: good}
	config := p.config()
	config.Token.Params = url.Values{"audience": {"api"}, "resource": {"of {code}"}}
	client := oauth.New(config)
	at := endpoints(t, client)
	tokens, err := client.Refresh(t.Context(), at, "CANARY")
	want := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"CANARY"}, "audience": {"api"}}
	if err != nil || tokens.AccessToken != "a1" || p.last(t).form.Encode() != want.Encode() {
		t.Errorf("%v, %v", err, p.last(t).form)
	}
	p.answers["/token"] = answer{status: 400, body: `{"error":"invalid_grant"}`}
	_, err = client.Refresh(t.Context(), at, "CANARY")
	if tells(t, err, "invalid_grant"); !errors.Is(err, oauth.ErrInvalidGrant) {
		t.Errorf("refused: %v", err)
	}
	if _, err = client.Refresh(t.Context(), oauth.Endpoints{}, "CANARY"); err == nil {
		t.Error("asked no endpoint")
	}
}
