package providers

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// Credentials signs in with an email address and a password. authorize checks them. It returns nil if they are wrong,
// and must take the same time for unknown addresses. For a form with other fields, use a [core.CredentialsProvider]
// literal.
func Credentials(
	authorize func(ctx context.Context, credentials map[string]string, r *core.Request) (*core.User, error),
) *core.CredentialsProvider {
	return &core.CredentialsProvider{
		Fields: []core.Field{
			{Name: "email", Label: "Email", Type: "email", Autocomplete: "username", Required: true},
			{Name: "password", Label: "Password", Type: "password", Autocomplete: "current-password", Required: true},
		},
		Authorize: authorize,
	}
}
