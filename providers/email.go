package providers

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// Email signs in with a link that send delivers. from is the sender's address. It needs a store that keeps verification
// tokens.
func Email(from string, send func(ctx context.Context, m core.SignInMail) error) *core.EmailProvider {
	return &core.EmailProvider{From: from, Send: send}
}
