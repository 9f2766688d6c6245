package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/forminput"
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
	typed, others := forminput.Names(credentials, f.Identifier, len(f.Fields) > 0)
	out := outcome{typed: typed}
	if c.reauth == nil { // the user of a session has passed a challenge before
		if err := f.challenges.check(ctx, c, challenge.SignIn); err != nil {
			return out, err
		}
	}
	var attempts []LimitParams
	for _, name := range append(others, typed) {
		attempts = append(attempts, LimitParams{
			Params:      limit.Params{Attempt: limit.AttemptCredentials, Identifier: name},
			Credentials: credentials,
		})
	}
	var err error
	out.identity, err = f.authorize(ctx, c, typed, attempts, credentials)
	return out, err
}

// authorize asks the application, unless one of the attempts exceeds a limit.
func (f *credentialsFlow) authorize(
	ctx context.Context, c *call, typed string, attempts []LimitParams, credentials map[string]string,
) (*identity, error) {
	for _, attempt := range attempts {
		if err := f.limits.ask(ctx, c, attempt); err != nil {
			return nil, err
		}
	}
	row := newAttempt(limit.AttemptInARow, typed)
	if f.InARow {
		switch err := f.limits.ask(ctx, c, row); {
		case errors.Is(err, ErrTooManyRequests):
			return nil, errorf(autherr.TooManyFailures, "too many consecutive wrong attempts")
		case err != nil:
			return nil, err
		}
	}
	ctx = f.limits.withClient(ctx, c, typed)
	var still func(context.Context) error
	user, err := guarded("Authorize", func() (user *User, err error) {
		user, still, err = f.Admit(ctx, credentials, c.r)
		return user, err
	})
	switch {
	case errors.Is(err, ErrCredentialsSignin):
		return nil, err
	case err != nil:
		return nil, errormarks.As(err, autherr.CallbackRoute)
	}
	if f.InARow {
		attempts = append(attempts, row)
	}
	for _, attempt := range attempts {
		f.limits.right(ctx, c, attempt)
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

// toSignInPage is the response of flows without a start action: their forms post to the callback.
func toSignInPage(c *call) *Response { return redirectTo(c.base + "/signin") }

// noCallback returns the error of a callback with a method that the flow does not support.
func noCallback(c *call) error {
	return errorf(autherr.InvalidProvider, "a provider of type %s has no callback by %s", c.kind, c.r.Method)
}
