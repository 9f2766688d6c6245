package people_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// formType is the header of a program's form.
var formType = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}

// tokenRequest returns a request of the app to the token endpoint.
func tokenRequest(form url.Values) *lastRequest {
	form.Set("client_id", cli.ID)
	return &lastRequest{Method: "POST", Target: "/auth/token", Header: formType, Body: form.Encode()}
}

// tokensOf reads a token response.
func (s *site) tokensOf(r *core.Response) (t appTokens) {
	s.Helper()
	if err := json.Unmarshal(r.Body, &t); err != nil || r.Status != http.StatusOK || t.Access == "" {
		s.Fatalf("the token endpoint: %d %s", r.Status, r.Body)
	}
	return t
}

// accepts reports whether the API accepts a token or key.
func (s *site) accepts(token string) bool {
	visit := s.auth.Visit(s.Context(), &core.Request{
		Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Authorization": {"Bearer " + token}},
	})
	_, refusal := visit.RequirePrincipal(core.Scopes("orders:read"))
	return refusal == nil
}

// beginRefresh signs a user in in the app, which then refreshes its tokens.
func beginRefresh(s *site, address string) (*browser, *lastRequest) {
	b, _ := s.member(address)
	verifier := oauth2.GenerateVerifier()
	allow := b.posting("authorize")
	form, err := url.ParseQuery(allow.Body)
	check(s.T, err)
	maps.Copy(form, allowForm(verifier))
	allow.Body = form.Encode()
	allow.Header.Set("Accept", "text/html")
	to, err := url.Parse(s.auth.Handle(s.Context(), allow.request()).Redirect)
	check(s.T, err)
	first := s.tokensOf(s.auth.Handle(s.Context(), tokenRequest(codeForm(to.Query().Get("code"), verifier)).request()))
	return b, tokenRequest(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.Refresh}})
}

// afterRefresh: the app, which has sent its old token again, stays signed in. The list of the user names it once.
func afterRefresh(s *site, _ *browser, address string, again *core.Response) {
	got := s.tokensOf(again)
	for range 2 {
		if !s.accepts(got.Access) {
			s.Error("the app is signed out")
		}
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}
		got = s.tokensOf(s.auth.Handle(s.Context(), tokenRequest(form).request()))
	}
	grants, err := s.apps.Of(s.Context(), s.user(address).ID)
	if err != nil || len(grants) != 1 {
		s.Errorf("the user's apps are %+v, %v", grants, err)
	}
}

// beginRotate creates an API key, which the user then replaces..
func beginRotate(s *site, address string) (*browser, *lastRequest) {
	b, user := s.member(address)
	key, text, err := s.keys.Create(s.Context(), apikey.NewKey{
		UserID: user.ID, Name: "x", Scopes: []string{"orders:read"},
	})
	check(s.T, err)
	b.key = string(text)
	return b, b.posting("api-keys/rotate", "id", key.ID)
}

// afterRotate: the old key works for another day, and the successor that the user has received works as long as the old
// one would have.
func afterRotate(s *site, b *browser, address string, again *core.Response) {
	var successor struct {
		apikey.Key
		Text string `json:"key"`
	}
	if err := json.Unmarshal(again.Body, &successor); err != nil || again.Status != http.StatusOK {
		s.Fatalf("replacing the key again: %d %s", again.Status, again.Body)
	}
	if !s.accepts(b.key) || !s.accepts(successor.Text) {
		s.Errorf("the old key works: %t, the new one: %t", s.accepts(b.key), s.accepts(successor.Text))
	}
	if d := successor.Expires.Sub(successor.Created); d != 90*24*time.Hour {
		s.Errorf("the new key works for %v", d)
	}
	all, err := s.keys.Of(s.Context(), s.user(address).ID)
	if err != nil || len(all) != 2 && len(all) != 3 { // a successor whose text was lost is listed, and can be revoked
		s.Errorf("the user's keys are %+v, %v", all, err)
	}
	s.ahead.Store(int64(24*time.Hour + 2*time.Minute))
	if s.accepts(b.key) || !s.accepts(successor.Text) {
		s.Errorf("a day later the old key works: %t, the new one: %t", s.accepts(b.key), s.accepts(successor.Text))
	}
	check(s.T, s.keys.Flush(s.Context()))
}
