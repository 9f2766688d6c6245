package core_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// service is an OAuth service without a network. It requires the verifier of the code's challenge.
type service struct {
	mu         sync.Mutex
	challenges map[string]string // by code
}

// grant is the service's part of a sign-in in one tab: it redirects the browser back with a code.
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

// tab is a sign-in that a tab of a browser has started.
type tab struct {
	provider, page string // page is where it continues
	callback       string // the parameters of the provider's callback
}

// tabs starts a sign-in with each of these providers, each with a different callback URL.
func (b *browser) tabs(s *service, providers ...string) []tab {
	b.t.Helper()
	var all []tab
	for i, id := range providers {
		page := fmt.Sprintf("/page-%d", i)
		r := b.submit("/auth/signin/"+id, url.Values{"callbackUrl": {page}})
		all = append(all, tab{id, page, s.grant(b.t, r.Redirect)})
		if a, ok := b.auth.(*app); ok {
			a.clock.Advance(time.Second)
		}
	}
	return all
}

// linked returns a browser whose user has accounts at providers a and b and is signed out.
func linked(t *testing.T, app *app, s *service) *browser {
	t.Helper()
	b := visit(t, app)
	for _, id := range []string{"a", "b"} {
		if r := b.get(b.tabs(s, id)[0].callback); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	b.submit("/auth/signout", nil)
	return b
}

// TestSeveralTabs starts several sign-ins in one browser and completes them in any order: each signs the user in and
// continues on its own page. The browser keeps all cookies, the session of the first tab as well.
func TestSeveralTabs(t *testing.T) {
	t.Parallel()
	both := []core.Check{core.CheckState, core.CheckPKCE}
	for _, row := range []struct {
		name   string
		checks []core.Check
		begin  []string // provider of each tab
		end    []int    // tabs in the order of their callbacks
		lost   []int    // tabs whose flows were deleted because there were too many
	}{
		{"two, oldest first", both, []string{"a", "a"}, []int{0, 1}, nil},
		{"two, newest first", both, []string{"a", "a"}, []int{1, 0}, nil},
		{"three, from the middle", both, []string{"a", "a", "a"}, []int{1, 0, 2}, nil},
		{"checks left to us, oldest first", nil, []string{"a", "a", "b", "a"}, []int{0, 1, 2, 3}, nil},
		{"checks left to us, newest first", nil, []string{"a", "b", "a", "a"}, []int{3, 2, 1, 0}, nil},
		{"checks left to us, the middle first", nil, []string{"a", "b", "a", "b"}, []int{1, 2, 0, 3}, nil},
		{"three checks", []core.Check{core.CheckState, core.CheckPKCE, core.CheckNonce},
			[]string{"a", "b", "a"}, []int{1, 0, 2}, nil},
		{"PKCE alone, oldest first", []core.Check{core.CheckPKCE}, []string{"a", "a", "a"}, []int{0, 1, 2}, nil},
		{"PKCE alone, newest first", []core.Check{core.CheckPKCE}, []string{"a", "a", "a"}, []int{2, 1, 0}, nil},
		{"two providers", []core.Check{core.CheckPKCE}, []string{"a", "b"}, []int{0, 1}, nil},
		{"two providers, newest first", []core.Check{core.CheckPKCE}, []string{"a", "b", "a"}, []int{2, 1, 0}, nil},
		{"six, oldest first", both, []string{"a", "a", "a", "a", "a", "a"}, []int{0, 1, 2, 3, 4, 5}, []int{0, 1}},
		{"six, newest first", both, []string{"a", "a", "a", "a", "a", "a"}, []int{5, 4, 3, 2, 1, 0}, []int{0, 1}},
		{"six, from the middle", both, []string{"a", "a", "a", "a", "a", "a"}, []int{3, 1, 4, 2, 0, 5}, []int{0, 1}},
	} {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(row.name+", "+string(strategy), func(t *testing.T) {
				s := &service{}
				b := linked(t, newApp(t, core.Config{
					Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: strategy},
					Providers: []core.Provider{s.provider("a", row.checks...), s.provider("b", row.checks...)},
				}), s)
				started, signedIn := b.tabs(s, row.begin...), false
				for _, i := range row.end {
					r, lost := b.get(started[i].callback), slices.Contains(row.lost, i)
					switch want := "https://app.test" + started[i].page; {
					case !lost && (r.Err != nil || r.Redirect != want):
						t.Errorf("tab %d continues at %q, want %q: %v", i, r.Redirect, want, r.Err)
					case lost && signedIn && (r.Err == nil || strings.Contains(r.Redirect, "error")):
						t.Errorf("tab %d, whose user is signed in, redirects to %q: %v", i, r.Redirect, r.Err)
					case lost && !signedIn && !strings.Contains(r.Redirect, "error=Configuration&reason=expired"):
						t.Errorf("tab %d, whose flow was deleted, redirects to %q: %v", i, r.Redirect, r.Err)
					}
					if signedIn = signedIn || !lost; signedIn && b.who() != "ann" {
						t.Errorf("after tab %d %q is signed in", i, b.who())
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
}
