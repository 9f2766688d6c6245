package providers

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// Email signs in with an emailed link. send sends it. from is the sender's address. Email requires a store with
// verification tokens.
func Email(from string, send func(ctx context.Context, m core.Email) error) *core.EmailProvider {
	return &core.EmailProvider{From: from, Send: send}
}
