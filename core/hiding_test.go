package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// failingMail are errors of a send function that contain the link. Each also contains its reason.
var failingMail = map[string]struct {
	fail func(link, token string) error
	says string
}{
	"the link": {func(link, _ string) error { return fmt.Errorf("no response to %s", link) }, "no response to"},
	"the token, within an address": {func(_, token string) error {
		return &url.Error{Op: "Post", URL: "https://mail.test/?t=" + url.QueryEscape(token), Err: errors.New("reset")}
	}, "https://mail.test/?t="},
	"an error of this package": {func(link, _ string) error {
		return fmt.Errorf("mail: %w", core.NewError(core.ErrEmailSignIn, errors.New("refused: "+link)))
	}, "refused: "},
	"a panic":               {func(link, _ string) error { panic(link) }, "a string at core_test"},
	"a panic with an error": {func(link, _ string) error { panic(errors.New(link)) }, "a *errors.errorString at "},
	"a panic with a part of it": {func(link, _ string) error {
		panic(strings.Repeat("x", 500) + link)
	}, "a string at core_test"},
	"a panic of Go": {
		func(link, _ string) error { return errors.New(link[len(link):][1:]) }, "slice bounds out of range [1:0]",
	},
}

// TestLinksOfFailedEmails checks that the link of an email that could not be sent is in no log, whatever error the
// application's function returns.
func TestLinksOfFailedEmails(t *testing.T) {
	t.Parallel()
	for name, row := range failingMail {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent core.Email
			a := newApp(t, core.Config{
				Store: &tokenStore{}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{&core.EmailProvider{
					// The URL-encoded form of this token differs.
					GenerateToken: func(context.Context) (string, error) { return "a token/with+signs of its own", nil },
					Send: func(_ context.Context, m core.Email) error {
						sent = m
						return row.fail(string(m.URL), string(m.Token))
					},
				}},
			})
			r := visit(t, a).submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			if r.Redirect != "https://app.test/auth/signin?error=EmailSignin" {
				t.Errorf("sent to %s", r.Redirect)
			}
			tellsNoLink(t, a.log.String(), row.says, string(sent.Token), "callback/email")
		})
	}
}

// TestEmailsThatFail checks the same for the emails of plugins.
func TestEmailsThatFail(t *testing.T) {
	t.Parallel()
	for name, row := range failingMail {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const token, code = "a token/with+signs of its own", "ABCD-EFGH"
			letter := core.Email{
				To: "ada@example.com", Code: code,
				URL: core.Secret("https://app.test/undo?" + url.Values{"token": {token}, "to": {"ada@example.com"}}.Encode()),
			}
			err := letter.Send(t.Context(), mailerFunc(func(_ context.Context, l core.Email) error {
				return errors.Join(errors.New("code "+string(l.Code)+" of ada@example.com"), row.fail(string(l.URL), token))
			}))
			if err == nil {
				t.Fatal("no error")
			}
			tellsNoLink(t, err.Error(), row.says, token, "/undo?", code)
			var within *core.Error
			if errors.As(err, &within) {
				tellsNoLink(t, within.Cause.Error(), row.says, token, "/undo?")
			}
			if !strings.Contains(name, "panic") && !strings.Contains(err.Error(), "of ada@example.com") {
				t.Errorf("the recipient is hidden: %v", err)
			}
		})
	}
	if err := (core.Email{}).Send(t.Context(), mailerFunc(func(context.Context, core.Email) error {
		return nil
	})); err != nil {
		t.Error(err)
	}
}

type mailerFunc func(ctx context.Context, l core.Email) error

func (f mailerFunc) Send(ctx context.Context, l core.Email) error { return f(ctx, l) }

// tellsNoLink checks that a text contains says, but no secret, also not in URL-encoded form.
func tellsNoLink(t *testing.T, text, says string, secrets ...string) {
	t.Helper()
	if !strings.Contains(text, says) {
		t.Errorf("it does not say %q: %s", says, text)
	}
	for _, secret := range secrets {
		for _, spelling := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
			if strings.Contains(text, spelling) {
				t.Errorf("it says %q: %s", spelling, text)
			}
		}
	}
}
