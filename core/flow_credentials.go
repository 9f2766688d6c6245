package core

import (
	"context"
	"errors"
	"maps"

	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

// credentialsFlow signs users in with form fields that the application checks.
type credentialsFlow struct {
	*CredentialsProvider
	*site
	limits     *limits
	challenges *challengeGuard
}

// start implements [flow].
func (f *credentialsFlow) start(_ context.Context, c *call) (*Response, error) {
	return toSignInPage(c), nil
}

// needsToken implements [flow].
func (f *credentialsFlow) needsToken() bool { return true }

// finish implements [flow]. It asks the application whether the fields are correct (docs/protocol.md §10).
func (f *credentialsFlow) finish(ctx context.Context, c *call) (outcome, error) {
	if c.r.Method != "POST" {
		return outcome{}, noCallback(c)
	}
	credentials := make(map[string]string)
	for _, name := range c.fields.Names() {
		if text, ok := c.fields.Text(name); ok {
			credentials[name] = text
		}
	}
	out := outcome{typed: f.name(credentials)}
	if c.reauth == nil { // the user of a session has passed a challenge before
		if err := f.challenges.check(ctx, c, challenge.SignIn); err != nil {
			return out, err
		}
	}
	others := f.otherNames(credentials, out.typed)
	err := f.limits.askAll(ctx, c, others)
	if err != nil {
		return out, err
	}
	if out.identity, err = f.authorize(ctx, c, credentials); err == nil {
		f.limits.rightAll(ctx, c, others)
	}
	return out, err
}

// otherNames returns the attempts for the other names in a form that declares no fields. Only Authorize knows which
// field names the user, and an attacker could put a new name into the other fields with each guess.
func (f *credentialsFlow) otherNames(credentials map[string]string, typed string) (all []LimitParams) {
	if f.Identifier != "" || len(f.Fields) > 0 {
		return nil
	}
	for _, field := range usualNames {
		if name := mailaddr.Canonical(credentials[field]); name != "" && name != typed {
			all = append(all, LimitParams{
				Params: limit.Params{Attempt: limit.AttemptCredentials, Identifier: name}, Credentials: maps.Clone(credentials),
			})
		}
	}
	return all
}

// askAll calls ask for each attempt and returns the first error.
func (l *limits) askAll(ctx context.Context, c *call, all []LimitParams) error {
	for _, p := range all {
		if err := l.ask(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

func (l *limits) rightAll(ctx context.Context, c *call, all []LimitParams) {
	for _, p := range all {
		l.right(ctx, c, p)
	}
}

func (f *credentialsFlow) authorize(ctx context.Context, c *call, credentials map[string]string) (*identity, error) {
	attempt := LimitParams{
		Params:      limit.Params{Attempt: limit.AttemptCredentials, Identifier: f.name(credentials)},
		Credentials: maps.Clone(credentials),
	}
	if err := f.limits.ask(ctx, c, attempt); err != nil {
		return nil, err
	}
	row := newAttempt(limit.AttemptInARow, attempt.Identifier)
	if f.InARow {
		switch err := f.limits.ask(ctx, c, row); {
		case errors.Is(err, ErrTooManyRequests):
			return nil, errorf(errTooManyFailures, "too many consecutive wrong attempts")
		case err != nil:
			return nil, err
		}
	}
	ctx = f.limits.withClient(ctx, c, attempt.Identifier)
	var still func(context.Context) error
	user, err := guarded("Authorize", func() (user *User, err error) {
		user, still, err = f.Admit(ctx, credentials, c.r)
		return user, err
	})
	switch {
	case errors.Is(err, ErrCredentialsSignin):
		return nil, err
	case err != nil:
		return nil, asError(err, errCallbackRoute)
	case user == nil:
		return nil, errorf(ErrCredentialsSignin, "Authorize refused")
	}
	f.limits.right(ctx, c, attempt)
	if f.InARow {
		f.limits.right(ctx, c, row)
	}
	user = user.Clone()
	if user.ID == "" {
		if user.ID, err = uuid(f.rand); err != nil {
			return nil, err
		}
	}
	account := &Account{Type: TypeCredentials, Provider: c.providerID, ProviderAccountID: user.ID}
	return &identity{user: user, account: account, form: &formResult{credentials, still}}, nil
}

// usualNames lists the usual names of the field for the user name.
var usualNames = []string{"email", "username", "name"}

// name returns the user name in a form, for limits. It is the field that Identifier names, else the first declared
// field that is not a secret. If no fields are declared, it is the first of usualNames that is not empty.
func (p *CredentialsProvider) name(form map[string]string) string {
	if p.Identifier != "" {
		return mailaddr.Canonical(form[p.Identifier])
	}
	for _, f := range p.Fields {
		if f.Type == "" || f.Type == "text" || f.Type == "email" || f.Type == "tel" {
			return mailaddr.Canonical(form[f.Name])
		}
	}
	for _, name := range usualNames {
		if form[name] != "" {
			return mailaddr.Canonical(form[name])
		}
	}
	return ""
}

// toSignInPage is the response of flows without a start action: their forms post to the callback.
func toSignInPage(c *call) *Response { return redirectTo(c.base + "/signin") }

// noCallback returns the error of a callback with a method that the flow does not support.
func noCallback(c *call) error {
	return errorf(errInvalidProvider, "a provider of type %s has no callback by %s", c.kind, c.r.Method)
}
