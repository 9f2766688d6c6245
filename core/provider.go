package core

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/ui"
)

// Provider is a sign-in provider: an *[OAuthProvider], *[EmailProvider], *[CredentialsProvider] or *[WebAuthnProvider].
// Other types can implement it only by embedding one of these. New copies a provider and never writes to it, so one
// value may be used in several configurations.
type Provider interface {
	// Describe returns the ID, the name and the type.
	Describe() (id, name string, kind ProviderType)
	// declaration returns the provider itself, without the type that embeds it.
	declaration() Provider
}

// CredentialsProvider signs users in with form fields that the application checks, such as a user name and a password.
// It works under both session strategies. Under the database strategy, which Auth.js does not support here, the user
// must be in the store.
type CredentialsProvider struct {
	// ID and Name default to "credentials" and "Credentials".
	ID, Name string
	// Fields are the inputs of the form, in order.
	Fields []Field
	// Identifier is the name of the field with the user name, for rate limits and the audit log. The default is the first
	// field in Fields that is not a password. If there is none, the fields "email", "username" and "name" are used: the
	// first that is present for the audit log, and all that are present for rate limits.
	Identifier string
	// Authorize checks the fields. It returns nil, or an error of type ErrCredentialsSignin, if the credentials are wrong.
	// Any other error is a failure. Authorize must take the same time for an unknown user name as for a wrong password.
	// Under the database strategy it must return a user whose ID is in the store.
	Authorize func(ctx context.Context, credentials map[string]string, r *Request) (*User, error)
	// Admit replaces Authorize if the credentials may change during the sign-in, for example by a password reset. If the
	// returned function still is not nil, it is called after the session or the pending sign-in was stored and before its
	// cookie is sent. If still returns an error, the sign-in is refused as if Authorize had returned it, and the cookie is
	// not sent. Therefore a password change that ends all sessions after storing the new password also ends the sign-ins
	// that were checked against the old one. still is not called again when a pending sign-in is completed.
	Admit func(ctx context.Context, credentials map[string]string, r *Request) (
		user *User, still func(ctx context.Context) error, err error)
	// InARow also limits consecutive wrong attempts for one name (limit.AttemptInARow). An attacker can lock out a user
	// this way. Set it only if the user can still sign in by other means, such as an email, after which the plugin calls
	// ActionRequest.ResetAttempts to reset the count.
	InARow bool
	// Links open actions of a plugin, for example "Forgot your password?". Place in [ui.Link] selects where they are
	// shown. The default is none.
	Links []ui.Link
	// Style is the look of the button.
	Style Style
}

// Describe implements [Provider].
func (p *CredentialsProvider) Describe() (string, string, ProviderType) {
	return cmp.Or(p.ID, "credentials"), cmp.Or(p.Name, "Credentials"), TypeCredentials
}

func (p *CredentialsProvider) declaration() Provider { return p }

// admit calls Admit or Authorize. No user and no error is a denial.
func (p *CredentialsProvider) admit(ctx context.Context, credentials map[string]string, r *Request) (
	user *User, still func(ctx context.Context) error, err error,
) {
	if p.Admit != nil {
		user, still, err = p.Admit(ctx, credentials, r)
	} else {
		user, err = p.Authorize(ctx, credentials, r)
	}
	if err == nil && user == nil {
		err = errorf(ErrCredentialsSignin, "Authorize refused")
	}
	return user, still, err
}

// ownFields copies the fields and sets their default types, so that later changes by the application have no effect.
func ownFields(fields []Field) []Field {
	own := slices.Clone(fields)
	for i := range own {
		own[i].Type = cmp.Or(own[i].Type, "text")
		own[i].Attributes = slices.Clone(own[i].Attributes)
	}
	return own
}

// EnvName returns the name of a provider's environment variable: EnvName("my-op", "KEY") returns AUTH_MY_OP_KEY.
func EnvName(id, what string) string { return "AUTH_" + envName(id) + "_" + what }

// envName returns the provider ID in the form of environment variable names.
func envName(id string) string { return strings.ToUpper(strings.ReplaceAll(id, "-", "_")) }
