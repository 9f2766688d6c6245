package core_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// rotation is a token endpoint that returns a new refresh token each time and accepts only the latest one.
type rotation struct {
	mu    sync.Mutex
	valid string
	calls []url.Values
	// hold delays responses until it is closed. answer, if not nil, replaces the response.
	hold   chan struct{}
	answer func(*http.Request) (int, string)
}

func (s *rotation) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(raw))
	if s.hold != nil {
		<-s.hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, form)
	status, body := 400, `{"error":"invalid_grant"}`
	switch {
	case s.answer != nil:
		status, body = s.answer(r)
	case form.Get("refresh_token") == s.valid:
		s.valid = fmt.Sprintf("r%d", len(s.calls)+1)
		status, body = 200, fmt.Sprintf(`{"access_token":"a%d","token_type":"Bearer","expires_in":3600,`+
			`"refresh_token":%q,"refresh_token_expires_in":7}`, len(s.calls)+1, s.valid)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (s *rotation) seen() []url.Values { s.mu.Lock(); defer s.mu.Unlock(); return s.calls }

// app returns an Auth with that provider, and an account whose access token expires in half a minute.
func (s *rotation) app(t *testing.T, store core.Store) (*app, *core.Account) {
	jwt := core.SessionConfig{Strategy: core.StrategyJWT}
	a := newApp(t, core.Config{Store: store, Session: jwt, Providers: []core.Provider{&core.OAuthProvider{
		ID: "op", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
		Authorization: core.Endpoint{URL: "https://op.example/authorize"},
		Token: core.Endpoint{
			URL: "https://op.example/token", Params: url.Values{"audience": {"api"}, "legacy": {"{code}"}},
		},
		Userinfo: core.Endpoint{URL: "https://op.example/userinfo"}, HTTPClient: &http.Client{Transport: s},
		Account: func(tokens *core.TokenSet) *core.Account {
			return &core.Account{
				AccessToken: tokens.AccessToken, RefreshToken: tokens.RefreshToken,
				ExpiresAt: tokens.ExpiresAt, Extra: tokens.Extra,
			}
		},
	}}})
	return a, &core.Account{
		Provider: "op", ProviderAccountID: "1", AccessToken: "a1", RefreshToken: "r1",
		ExpiresAt: a.clock.Now().Add(30 * time.Second), Scope: "read",
		Extra: core.Members{"kept": []byte(`true`)},
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	s := &rotation{valid: "r1"}
	a, account := s.app(t, nil)
	fresh, err := a.Refresh(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	if fresh.AccessToken != "a2" || fresh.RefreshToken != "r2" || !fresh.ExpiresAt.Equal(a.clock.Now().Add(time.Hour)) ||
		fresh.Scope != "read" || string(fresh.Extra["kept"]) != "true" ||
		string(fresh.Extra["refresh_token_expires_in"]) != "7" {
		t.Errorf("refreshed to %q, %q, %v, scope %q, %v", string(fresh.AccessToken), string(fresh.RefreshToken),
			fresh.ExpiresAt, fresh.Scope, fresh.Extra)
	}
	if account.AccessToken != "a1" || len(account.Extra) != 1 {
		t.Error("the caller's account was changed")
	}
	want := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"r1"}, "audience": {"api"}}
	if got := s.seen()[0]; got.Encode() != want.Encode() {
		t.Errorf("request parameters %v, want %v", got, want)
	}
	same, err := a.Refresh(t.Context(), fresh)
	if err != nil || same != fresh || len(s.seen()) != 1 {
		t.Errorf("a valid token was refreshed: %v, %d calls", err, len(s.seen()))
	}
	a.clock.Advance(59*time.Minute - time.Second)
	if _, err := a.Refresh(t.Context(), fresh); err != nil || len(s.seen()) != 1 {
		t.Errorf("refreshed long before its expiry: %v", err)
	}
	a.clock.Advance(time.Second)
	if next, err := a.Refresh(t.Context(), fresh); err != nil || next.AccessToken != "a3" || len(s.seen()) != 2 {
		t.Errorf("not refreshed a minute before its expiry: %v", err)
	}
}

func TestRefreshOnce(t *testing.T) {
	t.Parallel()
	s := &rotation{valid: "r1", hold: make(chan struct{})}
	a, account := s.app(t, nil)
	impatient, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { _, err := a.Refresh(impatient, account); gone <- err }()
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled call returned %v", err)
	}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if fresh, err := a.Refresh(t.Context(), account); err != nil || fresh.AccessToken != "a2" {
				t.Errorf("caller %d: %v", i, err)
			}
		})
	}
	close(s.hold)
	all.Wait()
	late, err := a.Refresh(t.Context(), account) // a request sent with the old cookie
	if err != nil || late.AccessToken != "a2" || len(s.seen()) != 1 {
		t.Errorf("late call: %v; %d requests to the provider", err, len(s.seen()))
	}
	late.Extra["kept"] = []byte(`false`)
	if again, err := a.Refresh(t.Context(), account); err != nil || string(again.Extra["kept"]) != "true" {
		t.Errorf("callers share one Account: %v", err)
	}
	a.clock.Advance(5 * time.Minute)
	if _, err := a.Refresh(t.Context(), account); !errors.Is(err, core.ErrInvalidGrant) {
		t.Errorf("a much later call: %v", err)
	}
}

func TestRefreshKeepsTheOldToken(t *testing.T) {
	t.Parallel()
	s := &rotation{answer: func(*http.Request) (int, string) { return 200, `{"access_token":"a2","token_type":"bearer"}` }}
	a, account := s.app(t, nil)
	fresh, err := a.Refresh(t.Context(), account)
	if err != nil || fresh.RefreshToken != "r1" || fresh.AccessToken != "a2" || !fresh.ExpiresAt.IsZero() {
		t.Errorf("%v, refresh token %q, expires %v", err, string(fresh.RefreshToken), fresh.ExpiresAt)
	}
}

// TestRefreshKeepsRotatedTokens: only the refresh response has the new refresh token. No optional member of the
// response may lose it.
func TestRefreshKeepsRotatedTokens(t *testing.T) {
	t.Parallel()
	for _, member := range []string{
		`"expires_in":2147483647`, `"expires_in":-1`, `"expires_in":3599.5`, `"expires_in":""`, `"expires_in":{}`,
		`"scope":{"a":1}`, `"id_token":false`, `"id_token":"none"`, `"bio":"\ud83d"`, `"token_type":"BEARER"`,
	} {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			s := &rotation{answer: func(*http.Request) (int, string) {
				body := `{"access_token":"a2","refresh_token":"r2",` + member
				if !strings.Contains(member, "token_type") {
					body += `,"token_type":"bearer"`
				}
				return 200, body + "}"
			}}
			a, account := s.app(t, nil)
			fresh, err := a.Refresh(t.Context(), account)
			if err != nil || fresh.RefreshToken != "r2" || fresh.AccessToken != "a2" {
				t.Fatalf("%v, %v", fresh, err)
			}
			if years := fresh.ExpiresAt.Sub(a.clock.Now()) / (365 * 24 * time.Hour); years < 0 || years > 10 {
				if !fresh.ExpiresAt.IsZero() {
					t.Errorf("expires at %v", fresh.ExpiresAt)
				}
			}
		})
	}
}

func TestRefreshErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		answer func(*http.Request) (int, string)
		change func(*core.Account)
		is     error
		says   string
		calls  int
	}{
		{name: "refused", answer: func(*http.Request) (int, string) { return 400, `{"error":"invalid_grant"}` },
			is: core.ErrInvalidGrant, calls: 1},
		{name: "refused with status 200",
			answer: func(*http.Request) (int, string) { return 200, `{"error":"invalid_grant"}` },
			is:     core.ErrInvalidGrant, calls: 1},
		{name: "the provider is down", answer: func(*http.Request) (int, string) { return 503, "" }, says: "503", calls: 1},
		{
			name: "no JSON", answer: func(*http.Request) (int, string) { return 200, "<html>" },
			says: "token response", calls: 1,
		},
		{name: "no refresh token", change: func(a *core.Account) { a.RefreshToken = "" }, says: "no refresh token"},
		{name: "unknown provider", change: func(a *core.Account) { a.Provider = "other" }, says: "not an OAuth provider"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &rotation{answer: row.answer}
			a, account := s.app(t, nil)
			if row.change != nil {
				row.change(account)
			}
			fresh, err := a.Refresh(t.Context(), account)
			if err == nil || fresh != nil || row.is != nil && !errors.Is(err, row.is) ||
				row.is == nil && errors.Is(err, core.ErrInvalidGrant) || !strings.Contains(err.Error(), row.says) ||
				strings.Contains(err.Error(), "r1") {
				t.Errorf("got %v", err)
			}
			if len(s.seen()) != row.calls {
				t.Errorf("%d calls", len(s.seen()))
			}
			if row.calls > 0 { // a failure is not remembered for long
				_, _ = a.Refresh(t.Context(), account)
				if len(s.seen()) != 2 {
					t.Errorf("a later call sent no request")
				}
			}
		})
	}
}

// oneAccount is a store with one account.
type oneAccount struct {
	core.Store
	store.AccountStore
	mu      sync.Mutex
	account core.Account
	fails   bool
	updates int
}

func (s *oneAccount) Account(context.Context, string, string) (*core.Account, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.account
	return &c, nil
}

func (s *oneAccount) UpdateAccount(_ context.Context, a *core.Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return errors.New("the store is down")
	}
	s.updates++
	s.account = *a
	return nil
}

func TestRefreshStores(t *testing.T) {
	t.Parallel()
	s, store := &rotation{valid: "r1"}, &oneAccount{}
	a, account := s.app(t, store)
	store.account = *account
	fresh, err := a.Refresh(t.Context(), account)
	if err != nil || store.account.RefreshToken != "r2" || store.account.AccessToken != fresh.AccessToken {
		t.Fatalf("%v; stored %q", err, string(store.account.RefreshToken))
	}

	// Another process with the old account, without the result in memory.
	other, _ := s.app(t, store)
	if fresh, err = other.Refresh(t.Context(), account); err != nil || fresh.AccessToken != "a2" || len(s.seen()) != 1 {
		t.Errorf("another process: %v, %d calls", err, len(s.seen()))
	}

	// The store fails after the refresh token was used.
	other.clock.Advance(2 * time.Hour)
	store.fails = true
	if _, err := other.Refresh(t.Context(), fresh); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("with a failing store: %v", err)
	}
	store.fails = false
	if fresh, err = other.Refresh(t.Context(), fresh); err != nil || fresh.AccessToken != "a3" ||
		store.account.RefreshToken != "r3" || len(s.seen()) != 2 {
		t.Errorf("when the store works again: %v, stored %q, %d calls", err, string(store.account.RefreshToken),
			len(s.seen()))
	}
}

// fragile is a store whose first update panics.
type fragile struct {
	oneAccount
	once sync.Once
}

func (s *fragile) UpdateAccount(ctx context.Context, a *core.Account) error {
	s.once.Do(func() { panic("the driver has a fault") })
	return s.oneAccount.UpdateAccount(ctx, a)
}

// TestRefreshSurvivesPanics: if the store panics, the next caller gets the new tokens, because the old ones are used
// up.
func TestRefreshSurvivesPanics(t *testing.T) {
	s, store := &rotation{valid: "r1"}, &fragile{}
	a, account := s.app(t, store)
	store.account = *account
	if _, err := a.Refresh(t.Context(), account); err == nil || !strings.Contains(err.Error(), "panic in Store") {
		t.Errorf("with a store that panics: %v", err)
	}
	fresh, err := a.Refresh(t.Context(), account)
	if err != nil || fresh.AccessToken != "a2" || store.account.RefreshToken != "r2" || len(s.seen()) != 1 {
		t.Errorf("afterwards: %v, stored %q, %d calls", err, string(store.account.RefreshToken), len(s.seen()))
	}
	broken := &rotation{answer: func(*http.Request) (int, string) { panic("the transport has a fault") }}
	a, account = broken.app(t, nil)
	if _, err := a.Refresh(t.Context(), account); err == nil || !strings.Contains(err.Error(), "panic in refresh") {
		t.Errorf("with a transport that panics: %v", err)
	}
}

// TestRefreshesAreBounded requests more concurrent refreshes than are allowed.
func TestRefreshesAreBounded(t *testing.T) {
	const atOnce = 1000
	s := &rotation{hold: make(chan struct{}), answer: func(*http.Request) (int, string) {
		return 200, `{"access_token":"fresh","token_type":"bearer"}`
	}}
	a, account := s.app(t, nil)
	var all sync.WaitGroup
	failed := make(chan error, atOnce+1)
	for i := range atOnce + 1 {
		own := *account
		own.RefreshToken = core.Secret(fmt.Sprintf("r%d", i))
		all.Go(func() {
			if _, err := a.Refresh(t.Context(), &own); err != nil {
				failed <- err
			}
		})
	}
	err := <-failed
	close(s.hold)
	all.Wait()
	if len(failed) != 0 || len(s.seen()) != atOnce || !strings.HasPrefix(err.Error(), "core: refresh: too many") {
		t.Errorf("%v and %d other errors, %d calls", err, len(failed), len(s.seen()))
	}
}
