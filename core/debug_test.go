package core_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// canaryService is an OAuth 2.0 service with recognizable secrets.
type canaryService struct{}

func (canaryService) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"access_token":"canary-access","token_type":"bearer","refresh_token":"canary-refresh","team":"canary-team"}`
	if r.URL.Path == "/userinfo" {
		body = `{"sub":"7","name":"Ada","email":"ada@example.com"}`
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}}, nil
}

// TestDebugShowsTheSteps checks that the debug log of a sign-in and a sign-out contains the decisions and no secret.
func TestDebugShowsTheSteps(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			p := plainOAuth()
			p.HTTPClient = &http.Client{Transport: canaryService{}}
			a := newApp(t, core.Config{
				Debug: true, Providers: []core.Provider{p}, Store: newPeople().as(power{}),
				Session: core.SessionConfig{Strategy: strategy},
			})
			b := visit(t, a)
			location, err := url.Parse(b.submit("/auth/signin/plain", nil).Redirect)
			if err != nil {
				t.Fatal(err)
			}
			answer := url.Values{"code": {"canary-code"}}
			if state := location.Query().Get("state"); state != "" {
				answer.Set("state", state)
			}
			b.get("/auth/callback/plain?" + answer.Encode())
			b.submit("/auth/signout", nil)
			for _, line := range []string{
				"authorization url is ready", `members="[access_token refresh_token team token_type]"`,
				"identity", "account_id=7", "email=ada@example.com", "user_created=true", "session issued",
				"strategy=" + string(strategy), "session ended",
			} {
				if !strings.Contains(a.log.String(), line) {
					t.Errorf("no %q in the log:\n%s", line, a.log)
				}
			}
			if strings.Contains(a.log.String(), "canary") || strings.Contains(a.log.String(), "code_verifier") {
				t.Errorf("the log has a secret:\n%s", a.log)
			}
		})
	}
}
