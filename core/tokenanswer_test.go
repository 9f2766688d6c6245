package core_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// granting is a provider whose token responses have additional members.
func granting(further *string) *core.OAuthProvider {
	p := (&service{}).provider("op")
	p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/token" {
			return answered(r, http.StatusOK,
				`{"access_token":"a","token_type":"bearer","refresh_token":"r","expires_in":30`+*further+`}`), nil
		}
		return answered(r, http.StatusOK, `{"id":"1","name":"Ann"}`), nil
	})}
	return p
}

// TestTokenResponseBecomesTheAccount checks the members authorization_details and session_state (docs/protocol.md
// §15.1). The sign-in stores them as the provider sent them, and [core.Auth.Refresh] updates them.
func TestTokenResponseBecomesTheAccount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name                    string
		signIn, refresh         string
		details, state          string
		freshDetails, freshText string
	}{
		{"neither", ``, ``, ``, ``, ``, ``},
		{
			"at the sign-in alone", `,"authorization_details":[{"type":"pay"}],"session_state":"s.1"`, ``,
			`[{"type":"pay"}]`, `"s.1"`, `[{"type":"pay"}]`, `"s.1"`,
		},
		{
			"renewed", `,"authorization_details":[{"type":"pay"}],"session_state":"s.1"`,
			`,"authorization_details":[{"type":"read"}],"session_state":"s.2"`,
			`[{"type":"pay"}]`, `"s.1"`, `[{"type":"read"}]`, `"s.2"`,
		},
		{
			"null is nothing", `,"authorization_details":null,"session_state":null`,
			`,"authorization_details":[{"type":"read"}],"session_state":{"a":1}`,
			``, ``, `[{"type":"read"}]`, `{"a":1}`,
		},
		{
			"null takes nothing away", `,"authorization_details":[{"type":"pay"}],"session_state":"s.1"`,
			`,"authorization_details":null,"session_state":null`,
			`[{"type":"pay"}]`, `"s.1"`, `[{"type":"pay"}]`, `"s.1"`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			further, store := row.signIn, newPeople()
			var seen *core.Account
			a := newApp(t, core.Config{
				Store: store.as(power{lists: true}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{granting(&further)},
				Callbacks: core.Callbacks{SignIn: func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
					seen = p.Account
					return core.Allow(), nil
				}},
			})
			if _, r := comeBack(t, a); r.Err != nil {
				t.Fatal(r.Err)
			}
			for where, account := range map[string]*core.Account{"callback": seen, "store": kept(t, store)} {
				if string(account.AuthorizationDetails) != row.details || string(account.SessionState) != row.state {
					t.Errorf("%s: details %s, state %s", where, account.AuthorizationDetails, account.SessionState)
				}
				for _, name := range []string{"authorization_details", "session_state"} {
					if _, twice := account.Extra[name]; twice {
						t.Errorf("%s: %s is repeated", where, name)
					}
				}
			}
			further = row.refresh
			a.clock.Advance(time.Minute)
			fresh, err := a.Refresh(t.Context(), kept(t, store))
			if err != nil {
				t.Fatal(err)
			}
			for where, account := range map[string]*core.Account{"refreshed": fresh, "store": kept(t, store)} {
				if string(account.AuthorizationDetails) != row.freshDetails || string(account.SessionState) != row.freshText {
					t.Errorf("%s: details %s, state %s", where, account.AuthorizationDetails, account.SessionState)
				}
			}
		})
	}
}

// kept returns the account in the store.
func kept(t *testing.T, store *people) *core.Account {
	t.Helper()
	account, err := store.Account(t.Context(), "op", "1")
	if err != nil {
		t.Fatal(err)
	}
	return account
}
