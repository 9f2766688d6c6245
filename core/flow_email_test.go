package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestMailThatFails checks that the user is asked to check the address and try again, whatever error the Send function
// returns, and that the log has the reason (docs/protocol.md §9.2).
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
		"an error without a class": {errors.New("resend: status 500"), "https://app.test/auth/signin?error=EmailSignin"},
		"an error of another class": {
			core.NewError(core.ErrAccessDenied, errors.New("resend: status 500")),
			"https://app.test/auth/error?error=AccessDenied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := &tokenStore{}
			jwt := core.SessionConfig{Strategy: core.StrategyJWT}
			a := newApp(t, core.Config{Store: store, Session: jwt, Providers: []core.Provider{&core.EmailProvider{
				Configure: func(p *core.EmailProvider, _ func(string) string) error {
					p.Send = func(context.Context, core.Email) error { return row.err }
					return nil
				},
			}}})
			r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			if r.Redirect != row.location {
				t.Errorf("sent to %s", r.Redirect)
			}
			if !strings.Contains(a.log.String(), "resend: status 500") {
				t.Errorf("the log is %s", a.log)
			}
			if store.tokens != 0 {
				t.Errorf("%d tokens without an email", store.tokens)
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

func (s *tokenStore) CreateVerificationToken(context.Context, *store.VerificationToken) error {
	s.tokens++
	return nil
}

func (s *tokenStore) UseVerificationToken(context.Context, string, string) (*store.VerificationToken, error) {
	s.tokens--
	return &store.VerificationToken{}, nil
}

// TestMailThatHangs checks that the user sees a failure within ten seconds if the mail server does not respond.
func TestMailThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t, core.Config{
			Store: &tokenStore{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{&core.EmailProvider{
				Send: func(ctx context.Context, _ core.Email) error { <-ctx.Done(); return ctx.Err() },
			}},
		})
		b := visit(t, a)
		start := time.Now()
		r := b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the user waited %v", took)
		}
		if r.Redirect != "https://app.test/auth/signin?error=EmailSignin" {
			t.Errorf("sent to %s", r.Redirect)
		}
	})
}

// TestRefusedEmailsAreCounted checks that failed emails count against the limit. A mail service may deliver what it
// reported as failed, and an attacker could fill a mailbox this way.
func TestRefusedEmailsAreCounted(t *testing.T) {
	sent := 0
	a := newApp(t, core.Config{Store: &tokenStore{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{&core.EmailProvider{From: "no-reply@app.test",
			Send: func(context.Context, core.Email) error { sent++; return errors.New("451 try again later") },
		}}})
	for range 20 {
		visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	}
	if sent != 5 { // the limit for one client
		t.Errorf("%d mails were tried", sent)
	}
}

// TestSecondClick: the first click on a sign-in link signs the user in. A second click redirects the same user to the
// callback URL. Other users gain nothing by it.
func TestSecondClick(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, confirm := range []core.OptionalBool{core.Default, core.True, core.False} {
			for _, processes := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s, confirm %v, %d processes", strategy, confirm, processes), func(t *testing.T) {
					store, links := newPeople(), []string{}
					config := core.Config{
						Store: store.as(power{}), Session: core.SessionConfig{Strategy: strategy},
						Providers: []core.Provider{lenient("q"), &core.EmailProvider{
							ConfirmLink: confirm,
							Send: func(_ context.Context, m core.Email) error {
								links = append(links, strings.TrimPrefix(string(m.URL), "https://app.test"))
								return nil
							},
						}},
					}
					first := newApp(t, config)
					second := first
					if processes == 2 {
						second = newApp(t, config)
					}
					click := func(b *browser) *core.Response {
						r := b.get(links[0])
						if strings.Contains(string(r.Body), `method="POST"`) { // the page with the button
							r = b.submit(links[0], nil)
						}
						return r
					}
					b := visit(t, first)
					b.submit("/auth/signin/email", url.Values{"email": {"ann@example.com"}, "callbackUrl": {"/orders"}})
					if r := click(b); r.Err != nil || b.who() != "ann" {
						t.Fatalf("the first click: %s, %v", r.Redirect, r.Err)
					}
					b.auth = second
					if processes == 1 {
						if r := b.get(links[0]); r.Redirect != "https://app.test/orders" {
							t.Errorf("it asks again: %d to %s", r.Status, r.Redirect)
						}
					}
					if r := click(b); r.Redirect != "https://app.test/orders" || r.Err == nil || b.who() != "ann" {
						t.Errorf("the second click redirects to %s: %v", r.Redirect, r.Err)
					}
					other := visit(t, second)
					other.finish("q", other.start("q", ""), "bob", false)
					for _, b := range []*browser{other, visit(t, second)} {
						before := b.who()
						if r := click(b); !strings.Contains(r.Redirect, "error=Verification") || b.who() != before {
							t.Errorf("as %q it redirects to %s: %v", before, r.Redirect, r.Err)
						}
					}
				})
			}
		}
	}
}
