package providers

import (
	"context"
	"errors"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// Loops mails sign-in links through https://loops.so. The letter is the service's template with that transactional id,
// in which the data variable url is the link; From and Letter are not used. Environment: AUTH_LOOPS_KEY.
func Loops(transactionalID string, options ...EmailOptions) *core.EmailProvider {
	p := mailService{"loops", "Loops", func(
		ctx context.Context, key string, _ *mail.Address, m core.SignInMail, _ Letter,
	) (*http.Request, error) {
		return post(ctx, "https://app.loops.so/api/v1/transactional", "Bearer "+key, map[string]any{
			"transactionalId": transactionalID, "email": m.To, "dataVariables": map[string]string{"url": string(m.URL)},
		})
	}}.provider(one(options))
	configure := p.Configure
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if transactionalID == "" {
			return errors.New("no transactional id: create a template in Loops and pass its id")
		}
		return configure(p, getenv)
	}
	return p
}
