package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestMailThatFails tells the visitor to try again where the sender says that it is the service, and the log why.
func TestMailThatFails(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err      error
		location string
	}{
		"the service": {
			core.NewError(core.ErrEmailSignIn, errors.New("resend: status 500")),
			"https://app.test/auth/signin?error=EmailSignin",
		},
		"something else": {errors.New("resend: status 500"), "https://app.test/auth/error?error=Configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &tokenStore{}
			jwt := core.SessionConfig{Strategy: core.StrategyJWT}
			a := newApp(t, core.Config{Store: store, Session: jwt, Providers: []core.Provider{&core.EmailProvider{
				Configure: func(p *core.EmailProvider, _ func(string) string) error {
					p.Send = func(context.Context, core.SignInMail) error { return row.err }
					return nil
				},
			}}})
			r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			if r.Redirect != row.location {
				t.Errorf("sent to %s", r.Redirect)
			}
			if !strings.Contains(a.log.String(), "resend: status 500") {
				t.Errorf("the log says %s", a.log)
			}
			if store.tokens != 0 {
				t.Errorf("%d tokens that nobody got", store.tokens)
			}
		})
	}
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.EmailProvider{
			Configure: func(*core.EmailProvider, func(string) string) error { return errors.New("no Key") },
		}},
	})
	if err == nil || !strings.Contains(err.Error(), "no Key") {
		t.Errorf("error %v", err)
	}
}

// tokenStore has no users and counts tokens.
type tokenStore struct {
	core.Store
	tokens int
}

func (s *tokenStore) UserByEmail(context.Context, string) (*core.User, error) {
	return nil, core.ErrNotFound
}

func (s *tokenStore) CreateVerificationToken(context.Context, *core.VerificationToken) error {
	s.tokens++
	return nil
}

func (s *tokenStore) UseVerificationToken(context.Context, string, string) (*core.VerificationToken, error) {
	s.tokens--
	return &core.VerificationToken{}, nil
}
