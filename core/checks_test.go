package core_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// service is an OAuth service without a network: it insists on the verifier that fits the code's challenge.
type service struct {
	mu         sync.Mutex
	challenges map[string]string // by code
}

// grant is what the service does in one tab: it sends the browser back with a code.
func (s *service) grant(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.challenges == nil {
		s.challenges = map[string]string{}
	}
	code := fmt.Sprintf("code-%d", len(s.challenges))
	s.challenges[code] = u.Query().Get("code_challenge")
	back, err := url.Parse(u.Query().Get("redirect_uri"))
	if err != nil {
		t.Fatal(err)
	}
	answer := url.Values{"code": {code}}
	if state := u.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	return back.Path + "?" + answer.Encode()
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, body := 200, `{"sub":"u1","name":"Ann","email":"ann@example.com"}`
	if r.URL.Path == "/token" {
		raw, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(raw))
		body = `{"access_token":"a","token_type":"bearer"}`
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if want := s.challenges[form.Get("code")]; want != "" && want != base64.RawURLEncoding.EncodeToString(sum[:]) {
			status, body = 400, `{"error":"invalid_grant"}`
		}
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (s *service) provider(id string, checks ...core.Check) *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: id, Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret", Checks: checks,
		Authorization: core.Endpoint{URL: "https://" + id + ".example/authorize"},
		Token:         core.Endpoint{URL: "https://" + id + ".example/token"},
		Userinfo:      core.Endpoint{URL: "https://" + id + ".example/userinfo"}, HTTPClient: &http.Client{Transport: s},
	}
}

// TestSeveralTabs begins several sign-ins in one browser and ends them in any order.
func TestSeveralTabs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		checks []core.Check
		begin  []string // provider of each tab
		end    []int    // tabs in the order in which they come back
		fails  map[int]bool
	}{
		{"state and PKCE, first come first", []core.Check{core.CheckState, core.CheckPKCE},
			[]string{"a", "a"}, []int{0, 1}, nil},
		{"state and PKCE, last come first", []core.Check{core.CheckState, core.CheckPKCE},
			[]string{"a", "a"}, []int{1, 0}, nil},
		{"checks left to us, first come first", nil, []string{"a", "a", "b", "a"}, []int{0, 1, 2, 3}, nil},
		{"checks left to us, last come first", nil, []string{"a", "b", "a", "a"}, []int{3, 2, 1, 0}, nil},
		{"checks left to us, the middle first", nil, []string{"a", "b", "a", "b"}, []int{1, 2, 0, 3}, nil},
		{"three checks", []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce},
			[]string{"a", "b", "a"}, []int{1, 0, 2}, nil},
		{"PKCE alone, first come first", []core.Check{core.CheckPKCE}, []string{"a", "a", "a"}, []int{0, 1, 2}, nil},
		{"PKCE alone, last come first", []core.Check{core.CheckPKCE}, []string{"a", "a", "a"}, []int{2, 1, 0}, nil},
		{"two providers", []core.Check{core.CheckPKCE}, []string{"a", "b"}, []int{0, 1}, nil},
		{"two providers, last come first", []core.Check{core.CheckPKCE}, []string{"a", "b", "a"}, []int{2, 1, 0}, nil},
		{"an answer twice", []core.Check{core.CheckState, core.CheckPKCE}, []string{"a", "a"},
			[]int{0, 0, 1}, map[int]bool{1: true}},
		{"more tabs than are kept", []core.Check{core.CheckState, core.CheckPKCE}, []string{"a", "a", "a", "a", "a"},
			[]int{0, 1, 2, 3, 4}, map[int]bool{0: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &service{}
			b := visit(t,
				newApp(t, core.Config{Providers: []core.Provider{s.provider("a", row.checks...), s.provider("b", row.checks...)}}))
			var answers []string
			for _, id := range row.begin {
				answers = append(answers, s.grant(t, b.submit("/auth/signin/"+id, nil).Redirect))
			}
			for i, tab := range row.end {
				delete(b.cookies, sessionCookie) // each tab ends as it began: signed out
				response := b.get(answers[tab])
				if failed := response.Err != nil; failed != row.fails[i] {
					t.Errorf("answer %d, of tab %d: failed %v, %v", i, tab, failed, response.Err)
				}
				for name, value := range b.cookies {
					if len(name)+len(value) > 4096 {
						t.Errorf("%s has %d bytes", name, len(value))
					}
				}
			}
			for name := range b.cookies {
				if strings.Contains(name, "state") || strings.Contains(name, "pkce") {
					t.Errorf("%s is still there when all is done", name)
				}
			}
		})
	}
}
