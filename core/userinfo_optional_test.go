package core_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// thinOP is a smallOP with additional claims in the ID token and a configurable userinfo response.
type thinOP struct {
	smallOP
	claims, userinfo string // JSON; claims contains members with a comma before each
	status           int    // of the userinfo response
	scope            string // of the token response
	asked            int    // requests to the userinfo endpoint
	profile          core.Profile
}

func (p *thinOP) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Path {
	case "/x/userinfo":
		p.asked++
		return answered(r, p.status, p.userinfo), nil
	case "/x/token":
		now := p.clock.Now().Unix()
		claims := map[string]any{"iss": "https://op.example/common", "aud": "id", "sub": "u1", "iat": now, "exp": now + 60}
		_ = json.Unmarshal([]byte("{"+p.claims+"}"), &claims)
		raw, _ := json.Marshal(map[string]any{
			"access_token": "CANARY", "token_type": "bearer", "id_token": jws(`{"alg":"EdDSA"}`, claims), "scope": p.scope,
		})
		return answered(r, 200, string(raw)), nil
	}
	return p.smallOP.RoundTrip(r)
}

// signIn signs in and returns the user of the session.
func (p *thinOP) signIn(t *testing.T, change func(*core.OAuthProvider)) (*app, *core.Token) {
	t.Helper()
	provider := &core.OAuthProvider{
		ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example/common", ClientID: "id", ClientSecret: "secret",
		Userinfo: core.Endpoint{URL: "https://op.example/x/userinfo"}, HTTPClient: &http.Client{Transport: p},
	}
	if change != nil {
		change(provider)
	}
	a := newApp(t, core.Config{Providers: []core.Provider{provider}, Callbacks: core.Callbacks{
		SignIn: func(_ context.Context, params core.SignInParams) (core.SignInResult, error) {
			p.profile = params.Profile
			return core.Allow(), nil
		},
	}})
	p.clock = a.clock
	b, r := comeBack(t, a)
	token, err := a.Token(t.Context(), b.request("GET", "/", "", ""))
	if err != nil || token == nil {
		t.Fatalf("not signed in: %v, %v", r.Err, err)
	}
	return a, token
}

// TestThinIDTokens: an ID token without name and email is completed from the userinfo endpoint, if they were requested.
// The response can fail without failing the sign-in, and it never replaces a claim of the ID token.
func TestThinIDTokens(t *testing.T) {
	t.Parallel()
	const annEmail = "ann@example.com"
	const ann = `{"sub":"u1","name":"Ann","email":"` + annEmail + `","email_verified":true}`
	scoped := func(scope string) func(*core.OAuthProvider) {
		return func(p *core.OAuthProvider) { p.Scope = scope }
	}
	for name, row := range map[string]struct {
		op          *thinOP
		change      func(*core.OAuthProvider)
		name, email string
		asked       int
		logged      string
	}{
		"thin": {op: &thinOP{userinfo: ann}, name: "Ann", email: annEmail, asked: 1},
		"thin, email alone": {
			op:     &thinOP{userinfo: ann},
			change: scoped("openid email"), name: "Ann", email: annEmail, asked: 1,
		},
		"thin, granted by name": {
			op:   &thinOP{userinfo: ann, scope: "openid profile"},
			name: "Ann", email: annEmail, asked: 1,
		},
		"thin, scope in the address": {
			op: &thinOP{userinfo: ann}, asked: 1, name: "Ann", email: annEmail,
			change: func(p *core.OAuthProvider) { p.Authorization.Params = map[string][]string{"scope": {"openid email"}} },
		},
		"with null claims": {
			op:   &thinOP{userinfo: ann, claims: `"name":null,"email":null`},
			name: "Ann", email: annEmail, asked: 1,
		},
		"a name":           {op: &thinOP{userinfo: ann, claims: `"name":"Bo"`}, name: "Bo"},
		"an email":         {op: &thinOP{userinfo: ann, claims: `"email":"bo@example.com"`}, email: "bo@example.com"},
		"not requested":    {op: &thinOP{userinfo: ann}, change: scoped("openid groups")},
		"granted for less": {op: &thinOP{userinfo: ann, scope: "openid"}},
		"no scope at all":  {op: &thinOP{userinfo: ann}, change: scoped(core.NoScope)},
		"no endpoint":      {op: &thinOP{userinfo: ann}, change: func(p *core.OAuthProvider) { p.Userinfo.URL = "" }},
		"another subject":  {op: &thinOP{userinfo: `{"sub":"u2","name":"Eve"}`}, asked: 1, logged: "another subject"},
		"no subject":       {op: &thinOP{userinfo: `{"name":"Eve"}`}, asked: 1, logged: "another subject"},
		"two subjects": {
			op:    &thinOP{userinfo: `{"sub":"u1","name":"Eve","sub":"u1"}`},
			asked: 1, logged: "name used twice",
		},
		"out of order":      {op: &thinOP{userinfo: ann, status: 500}, asked: 1, logged: "status 500"},
		"refused":           {op: &thinOP{userinfo: `{"error":"CANARY"}`, status: 403}, asked: 1, logged: "status 403"},
		"no JSON":           {op: &thinOP{userinfo: `<html>CANARY`}, asked: 1, logged: "exactjson"},
		"half an emoji":     {op: &thinOP{userinfo: `{"bio":"\ud83d","sub":"u1","name":"Ann"}`}, name: "Ann", asked: 1},
		"a NUL in the name": {op: &thinOP{userinfo: `{"sub":"u1","name":"A\u0000nn\n"}`}, name: "Ann", asked: 1},
		"half a sub": {
			op:    &thinOP{userinfo: `{"sub":"u1\ud83d","name":"Ann"}`},
			asked: 1, logged: "lone surrogate",
		},
		"an email with NUL": {
			op:   &thinOP{userinfo: `{"sub":"u1","name":"Ann","email":"a\u0000@example.com"}`},
			name: "Ann", asked: 1,
		},
		"a byte order mark": {op: &thinOP{userinfo: "\ufeff" + ann}, name: "Ann", email: annEmail, asked: 1},
		"claims of the token": {
			op: &thinOP{
				userinfo: `{"sub":"u1","name":"Ann","iss":"https://evil.example","auth_time":1,"sid":"x","amr":["mfa"]}`,
			},
			name: "Ann", asked: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			op := row.op
			if op.status == 0 {
				op.status = 200
			}
			a, token := op.signIn(t, row.change)
			if token.Name != row.name || token.Email != row.email || op.asked != row.asked {
				t.Errorf("name %q, email %q after %d requests", token.Name, token.Email, op.asked)
			}
			if op.profile.Text("sub") != "u1" || op.profile.Text("iss") != "https://op.example/common" ||
				op.profile["auth_time"] != nil || op.profile["sid"] != nil || op.profile["amr"] != nil {
				t.Errorf("profile %v", op.profile)
			}
			log := a.log.String()
			if warned := strings.Contains(log, "userinfo failed"); warned != (row.logged != "") ||
				!strings.Contains(log, row.logged) || strings.Contains(log, "CANARY") {
				t.Errorf("log %s", log)
			}
		})
	}
}

// TestVerifiedEmailOfUserinfo: the claim that verifies an email applies only to an email from the same source.
func TestVerifiedEmailOfUserinfo(t *testing.T) {
	t.Parallel()
	op := &thinOP{
		status: 200, claims: `"email_verified":true,"xms_edov":true`, userinfo: `{"sub":"u1","email":"ann@example.com"}`,
	}
	if op.signIn(t, nil); op.profile.Text("email") != "ann@example.com" {
		t.Fatalf("profile %v", op.profile)
	}
	for _, name := range []string{"email_verified", "xms_edov"} {
		if _, there := op.profile[name]; there {
			t.Errorf("%s of the ID token vouches for the email of userinfo", name)
		}
	}
}
