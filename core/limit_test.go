package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func TestLimit(t *testing.T) {
	var asked []core.LimitParams
	var wait time.Duration
	var failure error
	checked := 0
	provider := passwords()
	authorize := provider.Authorize
	provider.Authorize = func(ctx context.Context, form map[string]string, r *core.Request) (*core.User, error) {
		checked++
		return authorize(ctx, form, r)
	}
	a := newApp(t, core.Config{Providers: []core.Provider{provider}, Callbacks: core.Callbacks{
		Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			asked = append(asked, p)
			return wait, failure
		},
	}})
	b := visit(t, a)
	form := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}

	wait = 1500 * time.Millisecond
	r := b.submit("/auth/callback/credentials", form)
	if r.Status != 429 || r.Header.Get("Retry-After") != "2" || checked != 0 || b.cookies[sessionCookie] != "" {
		t.Errorf("answered %d, Retry-After %q, fields checked %d times", r.Status, r.Header.Get("Retry-After"), checked)
	}
	b.header.Set("Accept", "text/html")
	if r := b.submit("/auth/callback/credentials", form); r.Status != 429 || !strings.Contains(string(r.Body), "Too many attempts") {
		t.Errorf("a browser sees %d: %s", r.Status, r.Body)
	}
	wait, failure = 0, errors.New("limiter is down")
	if r := b.submit("/auth/callback/credentials", form); r.Err == nil || checked != 0 {
		t.Error("an attempt went on without its limiter")
	}
	failure = nil
	signIn(t, b)
	if len(asked) != 4 || asked[3].Attempt != core.AttemptCredentials || asked[3].Credentials["email"] != "ada@example.com" || asked[3].Provider != "credentials" {
		t.Errorf("asked %d times, at last about %+v", len(asked), asked[len(asked)-1].Attempt)
	}
}

// tokenRows is a store of sign-in tokens, in which nobody is known.
type tokenRows struct {
	*sessionRows
	tokens map[string]core.VerificationToken
	users  []*core.User
}

func (s *tokenRows) CreateVerificationToken(_ context.Context, token *core.VerificationToken) error {
	s.tokens[token.Token] = *token
	return nil
}

func (s *tokenRows) UseVerificationToken(_ context.Context, identifier, token string) (*core.VerificationToken, error) {
	row, ok := s.tokens[token]
	if !ok || row.Identifier != identifier {
		return nil, core.ErrNotFound
	}
	delete(s.tokens, token)
	return &row, nil
}

func (s *tokenRows) UserByEmail(context.Context, string) (*core.User, error) {
	return nil, core.ErrNotFound
}

func (s *tokenRows) CreateUser(_ context.Context, u *core.User) (*core.User, error) {
	s.users = append(s.users, u)
	return u.AsStored(), nil
}

// TestConfirmLink: opening a link, as scanners of mail do, uses nothing up; the button of its page does.
func TestConfirmLink(t *testing.T) {
	store := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]core.VerificationToken{}}
	var link string
	a := newApp(t, core.Config{Store: store, Providers: []core.Provider{&core.EmailProvider{
		ConfirmLink: true,
		Send:        func(_ context.Context, m core.SignInMail) error { link = string(m.URL); return nil },
	}}})
	visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	target := strings.TrimPrefix(link, "https://app.test")
	for range 3 {
		scanner := visit(t, a)
		if r := scanner.get(target); r.Status != 200 || !strings.Contains(string(r.Body), "ada@example.com") || len(store.tokens) != 1 {
			t.Fatalf("opening the link answered %d, %d tokens left", r.Status, len(store.tokens))
		}
	}
	b := visit(t, a)
	if r := b.post(target, nil); r.Err == nil || len(store.tokens) != 1 {
		t.Error("a POST without the token of the page used the link up")
	}
	b.get(target)
	if r := b.submit(target, nil); r.Err != nil || b.cookies[sessionCookie] == "" || len(store.tokens) != 0 || len(store.users) != 1 {
		t.Errorf("the button answered %d: %v", r.Status, r.Err)
	}
	if r := b.submit(target, nil); r.Err == nil {
		t.Error("the link works twice")
	}
}
