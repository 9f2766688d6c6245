package core_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestMetadataRequest reads sessions from metadata with lower-case names, as in gRPC.
func TestMetadataRequest(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			store := newPeople()
			ada, err := store.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: "ada@example.com"})
			if err != nil {
				t.Fatal(err)
			}
			auth, err := core.New(core.Config{
				URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
				Getenv:  func(string) string { return "" },
				Session: core.SessionConfig{Strategy: strategy, Bearer: true},
				Providers: []core.Provider{&core.CredentialsProvider{Authorize: func(context.Context, map[string]string,
					*core.Request) (*core.User, error) {
					return nil, nil
				}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			browser := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.example"}, Header: http.Header{}}
			cookies, err := auth.NewSession(t.Context(), browser, ada)
			if err != nil {
				t.Fatal(err)
			}
			line := ""
			for _, c := range cookies {
				line += c.Name + "=" + c.Value + "; "
			}
			browser.Header.Set("Cookie", line)
			token, err := auth.RawToken(t.Context(), browser)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range []struct {
				name     string
				metadata map[string][]string
				want     bool
			}{
				{"a token", map[string][]string{"authorization": {"Bearer " + token}, ":authority": {"10.0.0.7:50051"}}, true},
				{"a token, without a host", map[string][]string{"authorization": {"Bearer " + token}}, true},
				{"a cookie", map[string][]string{"cookie": {line}}, true},
				{"a name in capitals", map[string][]string{"AUTHORIZATION": {"Bearer " + token}}, true},
				{"another token", map[string][]string{"authorization": {"Bearer " + token + "x"}}, false},
				{"two tokens", map[string][]string{"authorization": {"Bearer " + token, "Bearer x"}}, false},
				{"two tokens, by two names", map[string][]string{"authorization": {"Bearer " + token},
					"Authorization": {"Bearer x"}}, false},
				{"a pseudo-header field", map[string][]string{":authorization": {"Bearer " + token}}, false},
				{"nothing", nil, false},
			} {
				t.Run(row.name, func(t *testing.T) {
					session, _ := auth.Session(t.Context(), core.MetadataRequest(row.metadata), http.Header{})
					if (session != nil) != row.want {
						t.Errorf("session %v", session)
					}
				})
			}
		})
	}
}
