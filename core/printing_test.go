package core_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// TestPrintedValuesContainNoSecrets prints all values that callbacks receive, in every way that log lines are written.
func TestPrintedValuesContainNoSecrets(t *testing.T) {
	t.Parallel()
	const canary = "CANARY"
	request := &core.Request{
		Method: "POST", Target: "/auth/callback/email?token=" + canary, Hosts: []string{"app.test"},
		Header: http.Header{"Cookie": {"session=" + canary}, "Authorization": {"Bearer " + canary}},
		Body:   strings.NewReader(canary),
	}
	members := core.Members{}
	if err := members.Set("access_token", canary); err != nil {
		t.Fatal(err)
	}
	user := &core.User{ID: "1", Name: canary, Email: canary + "@example.com"}
	form := map[string]string{"email": canary, "password": canary}
	account := &core.Account{Provider: "op", ProviderAccountID: canary, AccessToken: canary, Extra: members}
	token := &core.Token{Subject: "1", Email: canary, Extra: members}
	tokens := &core.TokenSet{
		AccessToken: canary, Extra: members, Provider: &core.OAuthProvider{ID: "op"}, Claims: core.Profile{"email": canary},
	}
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{canary + testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
		Providers: []core.Provider{passwords()},
	})
	if err != nil {
		t.Fatal(err)
	}
	attempt := core.LimitParams{
		Params: limit.Params{
			Attempt: limit.AttemptCredentials, Provider: "credentials", Identifier: canary,
			Peer: netip.MustParsePrefix("192.0.2.1/32"),
		},
		Credentials: form, Request: request,
	}
	signIn := core.SignInParams{
		User: user, Account: account, Profile: core.Profile{"x": canary}, Credentials: form, Request: request,
	}
	mail := core.Email{To: canary + "@example.com", URL: canary, Token: canary, ProviderID: "email", Request: request}
	letter := core.Email{
		To: canary + "@example.com", Kind: mailkind.Reset, URL: canary, Code: canary, Request: request,
	}
	response := &core.Response{
		Status: 302, Body: []byte(canary), Redirect: "/?code=" + canary, Cookies: []core.Cookie{{Name: "s", Value: canary}},
	}
	userinfo := &core.UserinfoRequest{Tokens: tokens, URL: "https://op.example/?access_token=" + canary}
	decode := core.DecodeParams{Token: canary, Secrets: []core.Secret{canary}, Salt: "s"}
	for _, row := range []struct {
		name    string
		values  []any
		jsonToo bool // a token is written as JSON on purpose
	}{
		{"Request", []any{request, *request}, true},
		{"Response", []any{response, *response}, true},
		{"LimitParams", []any{attempt, &attempt, attempt.Params}, true},
		{"SignInParams", []any{signIn, &signIn}, true},
		{"Email", []any{mail, &mail}, true},
		{"Letter", []any{letter, &letter}, true},
		{"TokenSet", []any{tokens, *tokens}, true},
		{"Token", []any{token, *token}, false},
		{"UserinfoRequest", []any{userinfo, *userinfo}, false},
		{"DecodeParams", []any{decode, &decode}, false},
		{"Auth", []any{auth}, true},
		{"Visit", []any{auth.Visit(t.Context(), request)}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, v := range row.values {
				held := struct{ Value any }{v}
				for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
					for _, each := range []any{v, held, []any{v}} {
						if got := fmt.Sprintf(verb, each); strings.Contains(got, canary) ||
							strings.Contains(got, fmt.Sprintf("%x", canary)) {
							t.Errorf("%s of %T: %s", verb, each, got)
						}
					}
				}
				var log bytes.Buffer
				slog.New(slog.NewTextHandler(&log, nil)).InfoContext(t.Context(), "asked", "value", v, "held", held)
				lines := []any{v}
				if row.jsonToo {
					lines = append(lines, held)
				}
				slog.New(slog.NewJSONHandler(&log, nil)).InfoContext(t.Context(), "asked", named(lines)...)
				if row.jsonToo {
					raw, err := json.Marshal(held)
					if err != nil {
						t.Errorf("as JSON: %v", err)
					}
					log.Write(raw)
				}
				if strings.Contains(log.String(), canary) || strings.Contains(log.String(), "!ERROR") {
					t.Errorf("logged: %s", log.String())
				}
			}
		})
	}
	var line bytes.Buffer
	slog.New(slog.NewTextHandler(&line, nil)).InfoContext(t.Context(), "asked", "limit", attempt, "sign_in", signIn)
	for _, want := range []string{
		"limit.attempt=credentials", "limit.peer=192.0.2.1/32", "sign_in.user.id=1", "sign_in.account.provider=op",
	} {
		if !strings.Contains(line.String(), want) {
			t.Errorf("logged %s without %s", line.String(), want)
		}
	}
	for value, want := range map[any]string{
		fmt.Sprint(request):             `POST "/auth/callback/email"`,
		fmt.Sprint(attempt):             `attempt credentials at provider "credentials" by 192.0.2.1/32`,
		fmt.Sprint(signIn):              `sign-in of user "1" by account of provider "op"`,
		fmt.Sprint(core.SignInParams{}): `sign-in of user ""`,
		fmt.Sprintf("%s", token):        `token of user "1"`, fmt.Sprint((*core.Auth)(nil)): "<nil>",
		fmt.Sprint((*core.Request)(nil)): "<nil>",
	} {
		if value != want {
			t.Errorf("printed %s, want %s", value, want)
		}
	}
}

// named returns the values as log attributes.
func named(values []any) (attrs []any) {
	for i, v := range values {
		attrs = append(attrs, fmt.Sprint("value", i), v)
	}
	return attrs
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const canary = "canary-9f8e7d"
	account := core.Account{
		Provider: "p", AccessToken: canary, Extra: core.Members{"oauth_token_secret": []byte(`"` + canary + `"`)},
	}
	for format, v := range map[string]any{
		"%v": account, "%+v": &account, "%#v": core.Secret(canary), "%s": core.Secret(canary), "%x": core.Secret(canary),
	} {
		if got := fmt.Sprintf(format, v); strings.Contains(got, "canary") || strings.Contains(got, "63616e617279") {
			t.Errorf("%s prints %s", format, got)
		}
	}
}
