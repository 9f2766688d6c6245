package oauth_test

import (
	"bufio"
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// TestRedeemAuthenticatesTheClient checks each client authentication method: the content of the form and of the header.
func TestRedeemAuthenticatesTheClient(t *testing.T) {
	t.Parallel()
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("client:secret"))
	for _, row := range []struct {
		auth, header string
		form         url.Values // in addition to the grant; nil matches any value
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
				t.Errorf("%d requests with %q and\ngot  %s\nwant %s",
					p.times(), got.authorization, got.form.Encode(), want.Encode())
			}
		})
	}
}

// TestRedeemAgain: if a transport finds its connection closed, it sends the same form again.
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

// again sends each request twice.
type again struct{}

func (again) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if r.Body, err = r.GetBody(); err != nil {
		return nil, err
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestRedeemCreatesTheSecret checks that MakeClientSecret is called if there is no ClientSecret.
func TestRedeemCreatesTheSecret(t *testing.T) {
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
			answer: answer{status: 401, body: `{"error":"invalid_client","error_description":"no"}`},
			says: []string{`token endpoint: status 401, error "invalid_client": "no": the provider does not take this client: ` +
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
			says:   []string{"token response: no access_token", "check ClientID and ClientSecret"},
		},
		"a code that is spent": {
			answer: answer{status: 400, body: `{"error":"invalid_grant"}`}, spent: true,
			says: []string{`status 400, error "invalid_grant"`},
		},
		"a code that is spent, with status 200": {
			answer: answer{body: `{"error":"invalid_grant"}`}, spent: true,
			says: []string{"token response: status 200"},
		},
		"a number for an error": {answer: answer{status: 400, body: `{"error":17}`}, says: []string{`error "17"`}},
		"a redirect":            {answer: answer{status: 307}, says: []string{"status 307"}},
		"a page": {
			answer: answer{media: "text/html", body: "<html>CANARY"}, says: []string{"token response: "},
		},
		"no access token": {answer: answer{body: `{"token_type":"bearer"}`}, says: []string{"no access_token"}},
		"no token type":   {answer: answer{body: `{"access_token":"CANARY"}`}, says: []string{"ConformToken"}},
		"another token type": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"mac"}`},
			says:   []string{`token_type "mac" is not supported`},
		},
		"a token that is not a string": {
			answer: answer{body: `{"access_token":1,"token_type":"bearer"}`}, says: []string{"access_token is not a string"},
		},
		"a token with a control character": {
			answer: answer{body: `{"access_token":"CANARY\u0000","token_type":"bearer"}`},
			says:   []string{"access_token has control"},
		},
		"half an emoji in a token": {
			answer: answer{body: `{"access_token":"CANARY\ud83d","token_type":"bearer"}`}, says: []string{"lone surrogate"},
		},
		"half an emoji in a refresh token": {
			answer: answer{body: `{"access_token":"CANARY","token_type":"bearer","refresh_token":"\ud83d"}`},
			says:   []string{"lone surrogate"},
		},
		"conforming fails": {
			answer: answer{body: good}, says: []string{"token endpoint: not what was expected"},
			change: func(c *oauth.Config) {
				c.ConformToken = func([]byte) ([]byte, error) { return nil, errors.New("not what was expected") }
			},
		},
		"conforming to nothing": {
			answer: answer{body: good}, says: []string{"token response: "},
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

// TestRedeemNeedsACode checks that no request is sent without a code.
func TestRedeemNeedsACode(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := oauth.New(p.config())
	at := endpoints(t, client)
	_, err := client.Redeem(t.Context(), at, accepted(t, client, at, ""), "", "")
	tells(t, err, `provider "op": the authorization response has no code`)
	if !errors.Is(err, oauth.ErrNoCode) || p.times() != 0 {
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
		t.Error("no request was sent")
	}
}

// TestOptionalMembers has token responses with unreadable optional members: the tokens are used anyway.
func TestOptionalMembers(t *testing.T) {
	t.Parallel()
	const century = 10 * 366 * 24 * time.Hour
	for name, row := range map[string]struct {
		member   string // in addition to access_token and token_type
		lifetime time.Duration
		scope    string
		refresh  string
		kept     string // the name of the member of Extra that has the original
	}{
		"a number":                {member: `"expires_in":60`, lifetime: time.Minute},
		"a text":                  {member: `"expires_in":"60"`, lifetime: time.Minute},
		"a whole fraction":        {member: `"expires_in":60.0`, lifetime: time.Minute},
		"a fraction":              {member: `"expires_in":60.9`, lifetime: time.Minute},
		"zero":                    {member: `"expires_in":0`},
		"the largest int32":       {member: `"expires_in":2147483647`, lifetime: century, kept: "expires_in"},
		"a century":               {member: `"expires_in":3153600000`, lifetime: century, kept: "expires_in"},
		"a century in a text":     {member: `"expires_in":"3153600000"`, lifetime: century, kept: "expires_in"},
		"more than 64 bits":       {member: `"expires_in":1e400`, lifetime: century, kept: "expires_in"},
		"exactly ten years":       {member: `"expires_in":316224000`, lifetime: century},
		"negative":                {member: `"expires_in":-1`, kept: "expires_in"},
		"negative without bounds": {member: `"expires_in":-1e400`, kept: "expires_in"},
		"an empty text":           {member: `"expires_in":""`, kept: "expires_in"},
		"a word":                  {member: `"expires_in":"soon"`, kept: "expires_in"},
		"infinity":                {member: `"expires_in":"Infinity"`, kept: "expires_in"},
		"a boolean":               {member: `"expires_in":true`, kept: "expires_in"},
		"a list":                  {member: `"expires_in":[60]`, kept: "expires_in"},
		"null":                    {member: `"expires_in":null`},

		"scope":                      {member: `"scope":"a b"`, scope: "a b"},
		"scope is a list":            {member: `"scope":["a","b"]`, scope: "a b"},
		"scope is an empty list":     {member: `"scope":[]`},
		"scope is a list of numbers": {member: `"scope":[1]`, kept: "scope"},
		"scope is an object":         {member: `"scope":{"a":true}`, kept: "scope"},
		"scope with NUL":             {member: `"scope":"a\u0000 b"`, scope: "a b"},
		"half an emoji in scope":     {member: `"scope":"a \ud83d"`, scope: "a \ufffd"},
		"half an emoji elsewhere":    {member: `"x":"\ud83d"`, kept: "x"},

		"refresh token":               {member: `"refresh_token":"r"`, refresh: "r"},
		"refresh token is false":      {member: `"refresh_token":false`, kept: "refresh_token"},
		"refresh token is empty":      {member: `"refresh_token":""`},
		"id_token is a number":        {member: `"id_token":7`, kept: "id_token"},
		"a lifetime in another place": {member: `"expires":"never"`, kept: "expires"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/token"] = answer{body: `{"access_token":"a","token_type":"bearer",` + row.member + `}`}
			got, err := redeem(t, oauth.New(p.config()))
			if err != nil {
				t.Fatal(err)
			}
			if got.ExpiresIn != row.lifetime || got.Scope != row.scope || got.RefreshToken != row.refresh {
				t.Errorf("lifetime %v, scope %q, refresh token %q", got.ExpiresIn, got.Scope, got.RefreshToken)
			}
			if row.lifetime > 0 && !got.ExpiresAt.Equal(clock.Add(row.lifetime)) || row.kept != "" && row.lifetime == 0 &&
				!got.ExpiresAt.IsZero() {
				t.Errorf("ends at %v", got.ExpiresAt)
			}
			_, original, _ := strings.Cut(row.member, ":")
			if kept := string(got.Extra[row.kept]); row.kept != "" && kept != strings.ReplaceAll(original, `\ud83d`, "\ufffd") ||
				row.kept == "" && len(got.Extra) > 0 {
				t.Errorf("kept %s", got.Extra)
			}
		})
	}
}

// TestRefreshTokenRevoked checks the error codes that services use for a refresh token that is no longer accepted, and
// others.
func TestRefreshTokenRevoked(t *testing.T) {
	t.Parallel()
	own := func(body map[string]any) bool { return body["message"] == "Invalid refresh token" }
	for name, row := range map[string]struct {
		answer  answer
		revoked bool
	}{
		"the standard":       {answer{status: 400, body: `{"error":"invalid_grant"}`}, true},
		"GitHub":             {answer{body: `{"error":"bad_refresh_token","error_description":"expired"}`}, true},
		"Slack":              {answer{body: `{"ok":false,"error":"invalid_refresh_token"}`}, true},
		"Slack, revoked":     {answer{body: `{"ok":false,"error":"token_revoked"}`}, true},
		"HubSpot":            {answer{status: 400, body: `{"status":"BAD_REFRESH_TOKEN","message":"missing"}`}, true},
		"Salesforce":         {answer{status: 400, body: `{"error":"inactive_user"}`}, true},
		"Zoho":               {answer{body: `{"error":"invalid_code"}`}, true},
		"WeChat":             {answer{body: `{"errcode":42002,"errmsg":"refresh_token expired"}`}, true},
		"OpenID Connect":     {answer{status: 400, body: `{"error":"interaction_required"}`}, true},
		"an object":          {answer{status: 401, body: `{"error":{"code":"refresh_token_reused","message":"x"}}`}, true},
		"a function":         {answer{status: 400, body: `{"status":400,"message":"Invalid refresh token"}`}, true},
		"half an emoji":      {answer{status: 400, body: `{"x":"\ud83d","error":"bad_refresh_token"}`}, true},
		"a wrong client":     {answer{status: 401, body: `{"error":"invalid_client"}`}, false},
		"a wrong request":    {answer{status: 400, body: `{"error":"invalid_request"}`}, false},
		"out of order":       {answer{status: 503, body: `{"error":"invalid_token"}`}, false},
		"too many requests":  {answer{status: 429, body: `{"error":"invalid_token"}`}, false},
		"soon again":         {answer{status: 400, body: `{"error":"temporarily_unavailable"}`}, false},
		"no JSON":            {answer{status: 400, body: `invalid_grant`}, false},
		"a success, no word": {answer{body: `{"token_type":"bearer"}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.answers["/token"] = row.answer
			config := p.config()
			config.RefreshTokenRevoked = own
			client := oauth.New(config)
			_, err := client.Refresh(t.Context(), endpoints(t, client), "CANARY")
			if tells(t, err); errors.Is(err, oauth.ErrInvalidGrant) != row.revoked {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestErrorDescriptions: the error contains the service's description, but no secrets that the service repeats in it.
func TestErrorDescriptions(t *testing.T) {
	t.Parallel()
	token := "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlCANARY"
	for name, row := range map[string]struct{ body, says string }{
		"Entra ID": {
			`{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided. Trace ID: ` +
				`0c2e8f3a-1111-2222-3333-444455556666"}`,
			`error "invalid_client": "AADSTS7000215: Invalid client secret provided. Trace ID: ` +
				`0c2e8f3a-1111-2222-3333-444455556666"`,
		},
		"repeats the code":    {`{"error":"x","error_description":"code the-code is unknown"}`, `code [hidden] is`},
		"repeats the secret":  {`{"error":"x","error_description":"not secret+/ but"}`, `"not [hidden] but"`},
		"in the form's words": {`{"error":"x","error_description":"not secret%2B%2F but"}`, `"not [hidden] but"`},
		"the verifier":        {`{"error":"x","error_description":"y the-verifier"}`, `error "x": "y [hidden]"`},
		"a token":             {`{"error":"x","error_description":"got ` + token + `"}`, `"got [hidden]"`},
		"a line break":        {`{"error":"x","error_description":"a\nb"}`, `"a\nb"`},
		"a long text":         {`{"error":"x","error_description":"` + strings.Repeat("a ", 400) + `CANARY"}`, `a a `},
		"the service's name":  {`{"message":"Bad Request","code":17}`, `error "17": "Bad Request"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			config := p.config()
			config.ClientSecret = "secret+/"
			for _, status := range []int{400, 200} {
				p.answers["/token"] = answer{status: status, body: row.body}
				_, err := redeem(t, oauth.New(config))
				tells(t, err, row.says)
				if text := err.Error(); strings.Contains(text, "\n") || len(text) > 700 || strings.Contains(text, "secret+") {
					t.Errorf("%d bytes: %q", len(text), text)
				}
			}
		})
	}
}

// TestClosedConnection has a server that closes a reused connection when the next request arrives, as servers do with
// idle ones. The requests with the code and the refresh token succeed anyway.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"closed", "reset"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			var answers, dropped atomic.Int32
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go serveOnce(conn, how == "reset", &answers, &dropped)
				}
			}()
			config := newProvider(t).config()
			config.OpenID, config.Issuer, config.Token.URL = false, "", "http://"+listener.Addr().String()+"/token"
			config.HTTP = upstream.New(upstream.Options{})
			client := oauth.New(config)
			at := endpoints(t, client)
			for range 3 {
				if _, err := client.Redeem(t.Context(), at, accepted(t, client, at, "the-code"), "v", "u"); err != nil {
					t.Fatalf("code: %v", err)
				}
				if _, err := client.Refresh(t.Context(), at, "r1"); err != nil {
					t.Fatalf("refresh token: %v", err)
				}
			}
			if answers.Load() != 6 || dropped.Load() != 5 {
				t.Errorf("%d answers, %d dropped requests", answers.Load(), dropped.Load())
			}
		})
	}
}

// serveOnce answers the first request of a connection and closes it when the second arrives.
func serveOnce(conn net.Conn, reset bool, answers, dropped *atomic.Int32) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for first := true; ; first = false {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if !first {
			dropped.Add(1)
			if tcp, ok := conn.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0)
			}
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answers.Add(1)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(good), good)
	}
}
