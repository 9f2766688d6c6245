package people_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
)

const (
	ordersAudience = "https://orders.example"
	ordersSecret   = "the-secret-of-the-orders-service-32b"
)

// tokenSite is an application with access tokens in two processes that share a store.
type tokenSite struct {
	*testing.T
	auths  [2]*core.Auth
	tokens [2]*accesstoken.Tokens
	mu     sync.Mutex
	now    time.Time
}

func (s *tokenSite) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *tokenSite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func newTokenSite(t *testing.T, kept core.Store, strategy core.Strategy) *tokenSite {
	t.Helper()
	s := &tokenSite{T: t, now: time.Now().UTC().Truncate(time.Second)}
	for i := range s.auths {
		s.tokens[i] = accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{{
			ID: ordersAudience, Scopes: []string{"orders:read"}, Secret: ordersSecret,
		}}})
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock,
			Logger:  slog.New(slog.DiscardHandler),
			Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{s.tokens[i]},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// send sends a request to a process and decodes the response into v.
func (s *tokenSite) send(process int, method, target string, header http.Header, form url.Values, v any) {
	s.Helper()
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", Header: header,
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.ContentLength = strings.NewReader(form.Encode()), int64(len(form.Encode()))
	}
	response := s.auths[process].Handle(s.Context(), r)
	if response.Status != http.StatusOK {
		s.Fatalf("%s %s: %d %s", method, target, response.Status, response.Body)
	}
	check(s.T, json.Unmarshal(response.Body, v))
}

// published returns the IDs of the published keys, which must be the same in both processes.
func (s *tokenSite) published() []string {
	s.Helper()
	var all [2]struct{ Keys []struct{ Kid string } }
	together(2, func(i int) bool {
		s.send(i, "GET", "/.well-known/jwks.json", http.Header{}, nil, &all[i])
		return true
	})
	var ids []string
	for i, key := range all[0].Keys {
		ids = append(ids, key.Kid)
		if i >= len(all[1].Keys) || all[1].Keys[i] != key {
			s.Fatalf("the processes publish %v and %v", all[0], all[1])
		}
	}
	return ids
}

// active asks a process whether a token is valid.
func (s *tokenSite) active(process int, token string) bool {
	s.Helper()
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(ordersAudience), ordersSecret)
	var answer struct{ Active bool }
	s.send(process, "POST", "/auth/access-token/introspect", r.Header, url.Values{"token": {token}}, &answer)
	return answer.Active
}

// TestAccessTokens creates and replaces the signing keys on the store of each database, in two processes at the same
// time, and ends the session of a token under both strategies.
func TestAccessTokens(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		newTokenSite(t, kept, strategy).lives(ada)
	})
}

func (s *tokenSite) lives(user *core.User) {
	first := s.published()
	if len(first) != 1 {
		s.Fatalf("the processes created %v", first)
	}
	s.wait(89 * 24 * time.Hour)
	second := s.published()
	if len(second) != 2 || second[0] != first[0] {
		s.Fatalf("the processes added %v to %v", second, first)
	}
	s.wait(25*time.Hour + time.Minute)
	if third := s.published(); len(third) != 1 || third[0] != second[1] {
		s.Fatalf("the processes kept %v of %v", third, second)
	}
	set, err := s.auths[0].NewSession(s.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
	}, user, core.SessionOptions{})
	check(s.T, err)
	var cookies []string
	for _, c := range set {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	var csrf struct{ CSRFToken string }
	at := s.auths[0].Handle(s.Context(), &core.Request{
		Method: "GET", Target: "/auth/csrf", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
	})
	check(s.T, json.Unmarshal(at.Body, &csrf))
	for _, c := range at.Cookies {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	var issued struct {
		Token string `json:"access_token"`
		Scope string
	}
	s.send(1, "POST", "/auth/access-token", http.Header{"Cookie": {strings.Join(cookies, "; ")}}, url.Values{
		"audience": {ordersAudience}, "csrfToken": {csrf.CSRFToken},
	}, &issued)
	if issued.Scope != "orders:read" || !s.active(0, issued.Token) || !s.active(1, issued.Token) {
		s.Fatalf("issued %+v", issued)
	}
	if _, err := s.auths[0].EndSessions(s.Context(), user.ID, core.EndOptions{}); err != nil {
		s.Fatal(err)
	}
	s.wait(time.Minute) // Session.Revocation.Every
	if s.active(0, issued.Token) || s.active(1, issued.Token) {
		s.Error("a token of an ended session is active")
	}
}
